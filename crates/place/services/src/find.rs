//! Finds the running services for a first `services.toml`.
//!
//! A service is an innermost systemd unit, a control group with a cpuset, or programs of one name,
//! without kernel threads, this program and user sessions.

use crate::file::{MOST_SERVICES, service_name, stem};
use crate::{Service, ServiceTarget, ServicesFile, living};
use seatmap_data::document::visible;
use seatmap_data::statistics::words::counted;
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::layout::CpusetMounts;
use seatmap_os::root::FileError;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{Root, Tid, usage};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::time::{Duration, Instant};

/// The least load of programs without their own group, in CPUs.
const LEAST_CPUS: f64 = 0.01;

/// The most entries, because the user reads them all.
const MOST_FOUND: usize = 20;

/// Units with users' programs, or systemd itself.
const OF_PEOPLE: [&str; 5] = ["session-", "user@", "init.scope", "user-", "run-"];

/// A running service.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundService {
    /// Its entry.
    pub service: Service,
    /// The number of its processes.
    pub processes: usize,
    /// Its load during the observation, in CPUs.
    pub used_cpus: f64,
    /// When its oldest process started, in clock ticks since boot.
    pub began_ticks: u64,
}

/// Observes the load of all programs outside known services. Returns the busiest first.
///
/// # Errors
/// [`FileError`]: the processes cannot be listed.
pub fn find(
    root: &Root,
    known: Option<&ServicesFile>,
    time: Duration,
    stop: &dyn Fn() -> bool,
) -> Result<Vec<FoundService>, FileError> {
    let begun = Instant::now();
    let before = times(root)?;
    while begun.elapsed() < time && !stop() {
        std::thread::sleep(Duration::from_millis(20).min(time));
    }
    let seconds = begun.elapsed().as_secs_f64().max(1e-3);
    let after = times(root)?;
    let mut groups: BTreeMap<Option<ServiceTarget>, FoundService> = BTreeMap::new();
    let finder = Finder { layout: CpusetMounts::read(root), hierarchies: Hierarchies::read(root) };
    for (process, cpu_ns) in &after {
        let Some(service) = finder.service(root, process.tid) else { continue };
        let used_ns = cpu_ns.saturating_sub(*before.get(process).unwrap_or(&0));
        let began_ticks = process.started_ticks;
        let none = FoundService { processes: 0, used_cpus: 0.0, began_ticks, service };
        let found = groups.entry(none.service.target()).or_insert(none);
        found.processes += 1;
        found.used_cpus += used_ns as f64 / 1e9 / seconds;
        found.began_ticks = found.began_ticks.min(began_ticks);
    }
    Ok(apart(root, known, chosen(groups)))
}

fn times(root: &Root) -> Result<BTreeMap<ThreadIdentity, u64>, FileError> {
    let own = Tid::try_from(std::process::id()).unwrap_or(0);
    let pids = task::processes(root)?.filter(|pid| *pid != own);
    let pids = pids.filter(|pid| !task::is_of_kernel(*pid));
    Ok(task::by_identity(pids, usage::process_cpu_ns))
}

struct Finder {
    layout: CpusetMounts,
    hierarchies: Hierarchies,
}

impl Finder {
    /// The entry of a process's service.
    fn service(&self, root: &Root, pid: Tid) -> Option<Service> {
        let membership = root.read(&format!("/proc/{pid}/cgroup")).unwrap_or_default();
        let paths: Vec<&str> =
            membership.lines().filter_map(|line| line.splitn(3, ':').nth(2)).collect();
        for path in &paths {
            let unit = path.rsplit('/').find(|part| is_unit(part));
            if let Some(unit) = unit {
                let is_of_people = OF_PEOPLE.iter().any(|begin| unit.starts_with(begin));
                let unit = Some(unit.to_owned()).filter(|_| !is_of_people)?;
                return Some(Service { unit: Some(unit.clone()), ..named(stem(&unit)) });
            }
        }
        let groups = self.hierarchies.groups(root, pid, &membership);
        let own = Hierarchies::limits(root, &groups).path;
        let is_cpuset = self.layout.v1.as_deref().or(self.layout.v2.as_deref());
        let has_cpuset = is_cpuset
            .is_some_and(|base| own.len() > 1 && root.has(&format!("{base}{own}/cpuset.cpus")));
        if has_cpuset {
            let last = own.rsplit('/').next().unwrap_or("group").to_owned();
            return Some(Service { cgroup: Some(own), ..named(&last) });
        }
        let name = task::name(root, pid)?;
        // An empty name could not be found again.
        if name.trim().is_empty() {
            return Some(Service { pid: Some(pid), ..named(&format!("pid-{pid}")) });
        }
        Some(Service { command: Some(name.clone()), ..named(&name) })
    }
}

fn named(name: &str) -> Service {
    Service { name: name.to_owned(), share: true, ..Service::default() }
}

fn is_unit(part: &str) -> bool {
    part.ends_with(".service") || part.ends_with(".scope")
}

fn chosen(groups: BTreeMap<Option<ServiceTarget>, FoundService>) -> Vec<FoundService> {
    let mut found = Vec::from_iter(groups.into_values());
    found.retain(|found| {
        let has_group = found.service.command.is_none() && found.service.pid.is_none();
        has_group || found.used_cpus >= LEAST_CPUS
    });
    found.sort_by(|a, b| b.used_cpus.total_cmp(&a.used_cpus));
    found.truncate(MOST_FOUND);
    found
}

/// Drops services with processes of a known service or of a busier one.
fn apart(
    root: &Root,
    known: Option<&ServicesFile>,
    mut found: Vec<FoundService>,
) -> Vec<FoundService> {
    let known = known.map(|file| &file.services[..]).unwrap_or_default();
    // Stopped services have no processes.
    let mut taken: BTreeSet<Tid> =
        known.iter().flat_map(|one| living::processes(root, one).unwrap_or_default()).collect();
    found.retain(|one| {
        let own = living::processes(root, &one.service).unwrap_or_default();
        let is_apart = own.is_disjoint(&taken);
        taken.extend(own);
        is_apart
    });
    found
}

const HEAD: &str = "\
# The services that share this computer. 'seatmap services show' draws them.
#
# Keys of a service: unit, cgroup, container, domain, step, pid or command names its processes;
# least_cpus and most_cpus limit its set; share = false gives it exclusive CPUs; quiet = true also
# keeps device interrupts away; near = \"eth0\" places it near a device; memory = \"64g\" and
# memory_nodes = \"0\" keep it on NUMA nodes with that memory; cpus = \"kind:efficiency\" names CPUs
# that its set must be within.
format = \"seatmap-services/1\"

[computer]
# CPUs that no service gets: housekeeping = \"0\"
# Room above the recorded load, in percent.
head_room_percent = 20
";

/// A new file with these services, or text to append to `known`. `None` without additions.
pub fn text(known: Option<&ServicesFile>, found: &[FoundService]) -> Option<String> {
    let entries = found.iter().map(|one| {
        let processes = counted(one.processes, "process");
        (format!("used {:.2} CPUs, {processes}", one.used_cpus), one.service.clone())
    });
    with_entries(known, None, entries)
}

/// A new file also gets housekeeping CPUs.
pub(crate) fn with_entries(
    known: Option<&ServicesFile>,
    housekeeping: Option<&str>,
    entries: impl Iterator<Item = (String, Service)>,
) -> Option<String> {
    let known = known.map(|file| &file.services[..]).unwrap_or_default();
    let mut names: BTreeSet<String> = known.iter().map(|service| service.name.clone()).collect();
    let mut targets: BTreeSet<_> = known.iter().map(Service::target).collect();
    let mut text = if known.is_empty() { HEAD.to_owned() } else { String::new() };
    if let Some(list) = housekeeping.filter(|_| known.is_empty()) {
        let _ = writeln!(text, "housekeeping = \"{list}\"");
    }
    let mut added = 0;
    let mut left_out = 0_usize;
    for (comment, mut service) in entries {
        if !targets.insert(service.target()) {
            continue;
        }
        if known.len() + added == MOST_SERVICES {
            left_out += 1;
            continue;
        }
        let first = service.name.clone();
        service.name = service_name(&first, "");
        let mut number = 1;
        while !names.insert(service.name.clone()) {
            number += 1;
            service.name = service_name(&first, &format!("-{number}"));
        }
        let keys = toml::to_string(&service).unwrap_or_default();
        let _ = write!(text, "\n# {}\n[[service]]\n{keys}", visible(&comment));
        added += 1;
    }
    if left_out > 0 {
        let more = counted(left_out, "more service");
        let _ = writeln!(text, "\n# {more} left out: a plan has at most {MOST_SERVICES}.");
    }
    (added > 0).then_some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::process::Command;

    fn found(service: Service) -> FoundService {
        FoundService { service, processes: 2, used_cpus: 0.5, began_ticks: 7 }
    }

    #[test]
    fn existing_file_gets_only_new_services() {
        let all = [
            found(Service { unit: Some("redis.service".into()), ..named("redis") }),
            found(Service { command: Some("redis".into()), ..named("redis") }),
        ];
        let first = text(None, &all[..1]).unwrap();
        let file = ServicesFile::from_toml(&first).unwrap();
        assert_eq!(file.services[0].name, "redis");
        assert_eq!(text(Some(&file), &all[..1]), None);
        let more = text(Some(&file), &all).unwrap();
        let both = ServicesFile::from_toml(&(first + &more)).unwrap();
        assert_eq!(both.services[1].name, "redis-2");
        assert_eq!(both.services[1].target(), Some(ServiceTarget::Command("redis".into())));
    }

    fn odd_name() -> impl Strategy<Value = String> {
        prop_oneof![
            Just(String::new()),
            " {1,3}",
            "[a-c]",
            "[ -~]{1,70}",
            "[./'\"\\\\#=\\[\\]*\n\t\u{1}\u{7f}]{1,8}",
            "\\PC{1,70}",
            Just("\u{fffd}".repeat(5)),
            Just("\u{e9}".repeat(64)),
            Just("x".repeat(64)),
        ]
    }

    fn odd_service() -> impl Strategy<Value = Service> {
        (odd_name(), 0..5).prop_map(|(name, kind)| {
            let own = named(&name);
            match kind {
                0 => Service { unit: Some(name), ..own },
                1 => Service { cgroup: Some(name), ..own },
                2 => Service { container: Some(name), ..own },
                3 => Service { domain: Some(name), ..own },
                _ => Service { command: Some(name), ..own },
            }
        })
    }

    proptest! {
        #[test]
        fn written_services_file_is_readable(services in prop::collection::vec(odd_service(), 1..90)) {
            let all: Vec<FoundService> = services.into_iter().map(found).collect();
            let (some, others) = all.split_at(all.len().div_ceil(2));
            let first = text(None, some).unwrap();
            let file = ServicesFile::from_toml(&first).map_err(|error| error.to_string());
            let file = file.map_err(TestCaseError::fail)?;
            let more = text(Some(&file), others).unwrap_or_default();
            let both = ServicesFile::from_toml(&(first + &more)).map_err(|error| error.to_string());
            prop_assert!(both.is_ok(), "{both:?}");
        }
    }

    fn is_busy_service(found: &FoundService) -> bool {
        found.service.command.as_deref() == Some("busyservice")
    }

    #[test]
    fn busy_program_is_found_by_command_name() {
        let folder = tempfile::tempdir().unwrap();
        let program = folder.path().join("busyservice");
        std::fs::copy("/bin/sh", &program).unwrap();
        let mut child = Command::new(&program).args(["-c", "while :; do :; done"]).spawn().unwrap();
        let root = Root::new("/");
        let look = Duration::from_millis(500);
        let all = find(&root, None, look, &|| false).unwrap();
        // The process belongs to its entry's service alone.
        let entry = format!("[[service]]\nname = \"mine\"\npid = {}\n", child.id());
        let known = ServicesFile::from_toml(&(HEAD.to_owned() + &entry)).unwrap();
        let others = find(&root, Some(&known), look, &|| false).unwrap();
        child.kill().unwrap();
        child.wait().unwrap();
        // It may get little CPU time, and this test's own group may be a service.
        let is_there = all.iter().any(|one| is_busy_service(one) || one.service.command.is_none());
        assert!(is_there, "{all:?}");
        assert!(!others.iter().any(is_busy_service), "{others:?}");
    }
}
