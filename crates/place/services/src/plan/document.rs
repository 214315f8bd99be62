//! `seatmap-services-plan/1`: a set of CPUs for each service, with its provenance.

use super::cost::CostTerms;
use super::replay::Lateness;
use crate::Service;
use crate::file::{SharedComputer, check_service};
use seatmap_data::document::{Checked, DocumentError, inconsistent};
use seatmap_data::machine::{Origin, OriginKind, Profile, Pu, Topology};
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-plan/1";

/// The sets of all services of a computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ServicesPlan {
    /// Name and version of the format.
    pub format: String,
    /// The machine for these sets.
    pub machine: String,
    /// The computer of the recording.
    pub recorded_on: String,
    /// When the recording started.
    pub recorded: String,
    /// The number of samples in the record.
    pub samples: usize,
    /// The interval between samples, in seconds.
    pub interval_s: f64,
    /// Settings for the whole computer, from the file.
    pub computer: SharedComputer,
    /// The services with their sets, in the order of the file.
    pub services: Vec<PlannedService>,
    /// The CPUs for services, by last-level cache, each as a list.
    pub caches: Vec<String>,
    /// The CPUs for device interrupts, as a list; empty if no service should be quiet.
    pub interrupts: String,
    /// The cost of the plan; null if it was not judged.
    pub cost: Option<CostTerms>,
    /// The sum of the cost's terms, in percent; null if it was not judged.
    pub cost_percent: Option<f64>,
    /// A lower bound on the cost of any plan, in percent; null if it was not judged.
    pub bound_percent: Option<f64>,
    /// Whether the plan is proven to be within 1 % of the best division into runs of units.
    pub is_proven: bool,
    /// The lateness when the record is replayed on the plan; null without a record.
    pub lateness: Option<Lateness>,
    /// The sets that other tools would give, judged in the same way.
    pub baselines: Vec<PackingBaseline>,
    /// Whether the plan is worth applying.
    pub verdict: PlanVerdict,
    /// Whether the core distances are assumed, because they were not measured.
    pub distances_are_assumed: bool,
    /// The reason why no talk was seen; null if talk was seen.
    pub talk_unseen: Option<String>,
}

impl ServicesPlan {
    /// Whether a text is such a plan.
    pub fn is_plan(bytes: &[u8]) -> bool {
        let begin = &bytes[..bytes.len().min(200)];
        String::from_utf8_lossy(begin).contains("\"seatmap-services-plan/")
    }

    /// The machine as known from the plan, which suffices for a picture: its CPUs by last-level
    /// cache.
    pub fn known_machine(&self) -> Profile {
        let mut pus = Vec::new();
        for (cache, list) in (0_u32..).zip(&self.caches) {
            let cpus = CpuSet::of_list(list).unwrap_or_default();
            pus.extend(cpus.iter().map(|os| Pu { os, l3: Some(cache), ..Pu::default() }));
        }
        let of_plan = self.services.iter().flat_map(|one| one.cpu_set().iter().collect::<Vec<_>>());
        for os in of_plan {
            if !pus.iter().any(|pu| pu.os == os) {
                pus.push(Pu { os, ..Pu::default() });
            }
        }
        let source = "a plan of services".to_owned();
        let origin = Origin { kind: OriginKind::Imported, source, date: None, tool: None };
        Profile::new(&self.machine, origin, Topology { pus })
    }
}

/// The use of a plan.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum PlanVerdict {
    /// It saves a useful amount of CPU time.
    Seat,
    /// The present sets break a limit of the file; the plan keeps all limits.
    KeepLimits,
    /// The services lose next to nothing with their present sets.
    NothingToGain,
    /// The sets come from files of other tools, and were not judged.
    #[default]
    AsWritten,
}

/// One service and its set.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlannedService {
    /// The entry of the file.
    pub service: Service,
    /// Its CPUs, as a list.
    pub cpus: String,
    /// The CPUs that the words of its `cpus` named for this plan, as a list; absent without words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The NUMA nodes for its memory, as a list; empty on a machine with one.
    pub nodes: String,
    /// The pool: services with the same number share their CPUs.
    pub pool: usize,
    /// The median of its load, in CPUs; null if it was not recorded.
    pub median_cpus: Option<f64>,
    /// The 99th percentile of its load, in CPUs; null if it was not recorded.
    pub p99_cpus: Option<f64>,
    /// The largest load in any sample, in CPUs; null if it was not recorded.
    pub most_cpus: Option<f64>,
}

/// The sets of another policy.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackingBaseline {
    /// The policy: as it is now, all share all, kubelet-like, balloons-like, equal shares, or as it
    /// is written.
    pub name: String,
    /// The CPUs of each service, in their order, each as a list.
    pub cpus: Vec<String>,
    /// Its cost.
    pub cost: CostTerms,
    /// The sum of the cost's terms, in percent.
    pub cost_percent: f64,
    /// The lateness when the record is replayed on these sets.
    pub lateness: Lateness,
    /// Whether it keeps the limits of the file.
    pub keeps_limits: bool,
}

impl PlannedService {
    /// Its CPUs.
    pub fn cpu_set(&self) -> CpuSet {
        CpuSet::of_list(&self.cpus).unwrap_or_default()
    }
}

impl ServicesPlan {
    /// Reads and checks a plan.
    ///
    /// # Errors
    /// [`DocumentError`].
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let plan: ServicesPlan = seatmap_data::document::read(text, FORMAT)?;
        plan.check()?;
        Ok(plan)
    }

    fn check(&self) -> Checked {
        if self.services.is_empty() {
            return inconsistent("services is empty");
        }
        let mut names = BTreeSet::new();
        for (at, planned) in self.services.iter().enumerate() {
            if let Err(error) = check_service(&planned.service) {
                return inconsistent(format!("services[{at}].service: {error}"));
            }
            if !names.insert(&planned.service.name) {
                return inconsistent(format!("services[{at}].service.name is not unique"));
            }
            for (key, list, may_be_empty) in
                [("cpus", &planned.cpus, false), ("nodes", &planned.nodes, true)]
            {
                let set = CpuSet::of_list(list);
                let is_fine =
                    list.is_empty() && may_be_empty || set.is_some_and(|set| !set.is_empty());
                if !is_fine {
                    return inconsistent(format!(
                        "services[{at}].{key} is '{list}', not a valid list"
                    ));
                }
            }
        }
        Ok(())
    }

    /// The sets of another policy, by its name.
    pub fn baseline(&self, name: &str) -> Option<&PackingBaseline> {
        self.baselines.iter().find(|baseline| baseline.name == name)
    }
}
