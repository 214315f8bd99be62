//! The differences between an applied plan and the present services.

use crate::apply::AppliedPlan;
use crate::apply::targets::SeatingWay;
use crate::bounds::ServiceBounds;
use crate::find::FoundService;
use crate::{PlannedService, Service, ServicesPlan, living};
use seatmap_launch::sets::ComputerCpus;
use seatmap_os::task::{self, ThreadStat};
use seatmap_os::{CpuSet, Root, Tid, affinity, boot, layout};
use serde::Serialize;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-drift/1";

/// The present state of a plan (`seatmap services drift --json`).
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct DriftReport {
    /// Name and version of the format.
    pub format: String,
    /// The plan's name.
    pub plan: String,
    /// Seconds until its time is over; null if it is kept.
    pub left_s: Option<u64>,
    /// All differences.
    pub faults: Vec<ServiceDrift>,
    /// Restarted services on their sets, as by systemd.
    pub started_anew: Vec<String>,
}

impl DriftReport {
    /// The state of an applied plan.
    pub fn of(root: &Root, applied: &AppliedPlan, found: &[FoundService]) -> Self {
        let faults = drift(root, &applied.plan, applied.began_ticks, found);
        let started_anew = started_anew(root, applied, &faults);
        let plan = applied.name.to_string();
        let left_s = applied.left_s();
        DriftReport { format: FORMAT.to_owned(), plan, left_s, faults, started_anew }
    }

    /// Where the services of a plan run that Seatmap did not apply, such as an imported one. Other
    /// programs are ignored.
    pub fn of_file(root: &Root, name: &str, plan: &ServicesPlan) -> Self {
        let mut faults = of_plan(root, plan, None);
        faults.retain(|fault| {
            // An owner may give the set to a group inside, which the masks show.
            !matches!(fault, ServiceDrift::Rewritten { .. } | ServiceDrift::NewCpus { .. })
        });
        let plan = name.to_owned();
        let started_anew = Vec::new();
        DriftReport { format: FORMAT.to_owned(), plan, left_s: None, faults, started_anew }
    }
}

/// Without faults, and only with processes that started after the plan was applied.
fn started_anew(root: &Root, applied: &AppliedPlan, faults: &[ServiceDrift]) -> Vec<String> {
    let named: Vec<&str> = faults.iter().filter_map(ServiceDrift::service).collect();
    let services = applied.plan.services.iter();
    services
        .filter(|planned| !named.contains(&planned.service.name.as_str()))
        .filter(|planned| {
            let pids = living::processes(root, &planned.service).unwrap_or_default();
            !pids.is_empty() && pids.iter().all(|pid| began_since(*pid, applied.began_ticks))
        })
        .map(|planned| planned.service.name.clone())
        .collect()
}

/// False if the time is unknown.
fn began_since(pid: Tid, applied_ticks: Option<u64>) -> bool {
    let started = ThreadStat::of(pid).map_or(0, |task| task.started_ticks);
    applied_ticks.is_some_and(|applied| started > applied)
}

/// A difference from the plan.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ServiceDrift {
    /// A service has no processes now.
    Gone {
        /// The service.
        service: String,
    },
    /// Threads may run outside the set: the service restarted, or another program changed it.
    Outside {
        /// The service.
        service: String,
        /// The CPUs of the plan.
        cpus: String,
        /// The number of threads outside.
        threads: usize,
        /// The number of all its threads.
        of: usize,
        /// Whether its processes started after the plan was applied.
        restarted: bool,
    },
    /// The group's list of CPUs is not the plan's.
    Rewritten {
        /// The service.
        service: String,
        /// The file.
        file: String,
        /// The plan's value.
        planned: String,
        /// The present value.
        found: String,
    },
    /// The words of the service's `cpus` name other CPUs than for the plan.
    OtherCpus {
        /// The service.
        service: String,
        /// Its words.
        words: String,
        /// The CPUs of the plan's time.
        planned: String,
        /// The present ones; empty if there are none.
        found: String,
    },
    /// CPUs of the plan are offline.
    Offline {
        /// The services with these CPUs.
        services: Vec<String>,
        /// The CPUs.
        cpus: String,
    },
    /// CPUs are online that the plan does not have.
    NewCpus {
        /// The CPUs.
        cpus: String,
    },
    /// A busy program runs that the plan does not have.
    NewService {
        /// Its name.
        service: String,
        /// Its unit, group or other target.
        target: String,
        /// Its load, in CPUs.
        used_cpus: f64,
    },
}

impl ServiceDrift {
    /// The affected service, if any.
    pub fn service(&self) -> Option<&str> {
        match self {
            ServiceDrift::Gone { service }
            | ServiceDrift::Outside { service, .. }
            | ServiceDrift::OtherCpus { service, .. }
            | ServiceDrift::Rewritten { service, .. } => Some(service),
            _ => None,
        }
    }
}

/// The least load to report, in CPUs.
const BUSY_CPUS: f64 = 0.1;

/// Younger programs may soon end by themselves.
const SETTLED_S: u64 = 30;

/// All differences. `applied_ticks` is the plan's start in clock ticks since boot; `found` has the
/// present programs.
pub fn drift(
    root: &Root,
    plan: &ServicesPlan,
    applied_ticks: Option<u64>,
    found: &[FoundService],
) -> Vec<ServiceDrift> {
    let mut all = of_plan(root, plan, applied_ticks);
    let known: Vec<&Service> = plan.services.iter().map(|one| &one.service).collect();
    // The record has earlier programs as load of others.
    let applied = applied_ticks.unwrap_or(0);
    let settled = boot::ticks().saturating_sub(SETTLED_S * boot::ticks_per_s());
    for one in found {
        let is_new = (applied..settled).contains(&one.began_ticks);
        if !is_new || one.used_cpus < BUSY_CPUS {
            continue;
        }
        if let Some(target) = one.service.target()
            && !is_known(root, &known, &one.service)
        {
            all.push(ServiceDrift::NewService {
                service: one.service.name.clone(),
                target: target.to_string(),
                used_cpus: one.used_cpus,
            });
        }
    }
    all
}

fn of_plan(root: &Root, plan: &ServicesPlan, applied_ticks: Option<u64>) -> Vec<ServiceDrift> {
    let services = plan.services.iter();
    let all = services.flat_map(|planned| of_service(root, planned, applied_ticks));
    all.chain(of_words(plan)).chain(of_cpus(root, plan)).collect()
}

fn is_known(root: &Root, planned: &[&Service], service: &Service) -> bool {
    let own = living::processes(root, service).unwrap_or_default();
    own.is_empty()
        || planned.iter().any(|planned| {
            living::processes(root, planned).is_ok_and(|pids| !pids.is_disjoint(&own))
        })
}

fn of_service(
    root: &Root,
    planned: &PlannedService,
    applied_ticks: Option<u64>,
) -> Vec<ServiceDrift> {
    let service = planned.service.name.clone();
    let Ok(pids) = living::processes(root, &planned.service) else {
        return vec![ServiceDrift::Gone { service }];
    };
    let mut all = Vec::new();
    if let Ok(SeatingWay::Group(folder)) = SeatingWay::of(root, planned) {
        let file = format!("{folder}/cpuset.cpus");
        let found = root.read(&file).unwrap_or_default();
        if CpuSet::of_list(&found) != CpuSet::of_list(&planned.cpus) {
            let service = service.clone();
            let planned = planned.cpus.clone();
            all.push(ServiceDrift::Rewritten { service, file, planned, found });
        }
    }
    let cpus = planned.cpu_set();
    let mut threads = 0;
    let mut of = 0;
    let mut restarted = !pids.is_empty();
    for pid in pids.iter().filter(|pid| !is_sandbox(root, planned, **pid)) {
        restarted &= began_since(*pid, applied_ticks);
        for tid in task::threads(*pid).unwrap_or_default() {
            let Ok(mask) = affinity::whole(tid) else { continue };
            let online = mask.without(&affinity::offline());
            of += 1;
            threads += usize::from(!online.is_subset(&cpus));
        }
    }
    if threads > 0 {
        let cpus = planned.cpus.clone();
        all.push(ServiceDrift::Outside { service, cpus, threads, of, restarted });
    }
    all
}

/// CPUs may be offline, or their figures changed.
fn of_words(plan: &ServicesPlan) -> Vec<ServiceDrift> {
    let with_words: Vec<&PlannedService> =
        plan.services.iter().filter(|planned| planned.within.is_some()).collect();
    if with_words.is_empty() {
        return Vec::new();
    }
    let Ok(computer) = ComputerCpus::read_whole() else { return Vec::new() };
    with_words.into_iter().filter_map(|planned| other_cpus(planned, &computer)).collect()
}

fn other_cpus(planned: &PlannedService, computer: &ComputerCpus) -> Option<ServiceDrift> {
    let service = &planned.service;
    let bounds = ServiceBounds::of([service], computer).unwrap_or_default();
    let found = bounds.cpus.get(&service.name).map(ToString::to_string).unwrap_or_default();
    let planned = planned.within.clone()?;
    (found != planned).then(|| ServiceDrift::OtherCpus {
        service: service.name.clone(),
        words: service.cpus.clone().unwrap_or_default(),
        planned,
        found,
    })
}

/// Whether a process only keeps the namespaces of a pod: kubelet does not seat it.
fn is_sandbox(root: &Root, planned: &PlannedService, pid: Tid) -> bool {
    let is_pod = planned.service.cgroup.as_ref().is_some_and(|path| path.contains("kubepods"));
    is_pod && task::name(root, pid).as_deref() == Some("pause")
}

fn of_cpus(root: &Root, plan: &ServicesPlan) -> Vec<ServiceDrift> {
    let Ok(online) = layout::online(root) else { return Vec::new() };
    let sets = plan.caches.iter().filter_map(|list| CpuSet::of_list(list));
    let known = sets.fold(plan.computer.housekeeping_cpus(), |all, one| all.with(&one));
    let mut all = Vec::new();
    let offline = known.without(&online);
    if !offline.is_empty() {
        let having = plan.services.iter().filter(|one| one.cpu_set().meets(&offline));
        let services = having.map(|one| one.service.name.clone()).collect();
        all.push(ServiceDrift::Offline { services, cpus: offline.to_string() });
    }
    let new = online.without(&known);
    if !new.is_empty() {
        all.push(ServiceDrift::NewCpus { cpus: new.to_string() });
    }
    all
}
