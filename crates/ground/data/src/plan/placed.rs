//! `seatmap-plan/1`: a placement with its provenance.

use crate::document::DocumentError;
use crate::machine::{Pu, Topology};
use crate::plan::{Agreement, Baselines, Channel, Effect, Objective, OtherMachine};
use seatmap_os::host_names;
use serde::{Deserialize, Serialize};

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-plan/1";

const ANY_HOST: &str = "host";

/// The most tasks of a plan, as of a pattern.
pub const MAX_TASKS: usize = 1 << 20;

/// The largest NUMA node of a plan: Linux supports 1024 nodes (`NODES_SHIFT`).
pub const MAX_NODE: u32 = 1023;

/// A placement of tasks on PUs with its provenance. A plan written by hand needs three keys.
/// Readers ignore unknown keys and refuse unknown versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Plan {
    /// Name and version of the format.
    pub format: String,
    /// The name of the machine that the plan is for.
    pub machine: String,
    /// The pattern's name; null for a placement written by hand.
    #[serde(default)]
    pub pattern: Option<String>,
    /// The OS index of the PU of each task. Several tasks may share a PU.
    #[cfg_attr(feature = "schema", schemars(
        length(min = 1, max = MAX_TASKS),
        inner(range(max = seatmap_os::cpu_list::MAX_CPU))
    ))]
    pub placement: Vec<u32>,
    /// The PUs that each task may run on, by OS index, ascending, including its PU in `placement`.
    /// Empty if every task may run on that PU alone.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub seats: Vec<Vec<u32>>,
    /// The words that named the PUs when the plan was made (`kind:performance`); absent if none
    /// did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The CPUs that these words named then, as a list; absent without words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The NUMA nodes for each task's memory, by OS index, ascending. An empty list does not
    /// restrict its task; no lists at all restrict no task.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(inner(range(max = MAX_NODE)))))]
    pub memory: Vec<Vec<u32>>,
    /// The name of each task. Give one for every task or none.
    #[serde(default)]
    pub names: Vec<String>,
    /// Each thread's place in the order of creation: `0.2` is the third thread that the first one
    /// made. Empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub paths: Vec<String>,
    /// The PUs in use, described, by ascending OS index; empty if unknown.
    #[serde(default)]
    pub pus: Vec<Pu>,
    /// The objective that the placement minimises.
    #[serde(default)]
    pub objective: Option<Objective>,
    /// The objective's value: weight x nanoseconds for `distance`, weight for `congestion`,
    /// nanoseconds for the others.
    #[serde(default)]
    pub cost: Option<f64>,
    /// Whether a message costs the wakeup of a sleeping thread. If not, threads spin and a message
    /// costs their distance.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub waits: bool,
    /// A lower bound: no placement costs less.
    #[serde(default)]
    pub lower_bound: Option<f64>,
    /// Whether the search has proved that no placement costs less.
    #[serde(default)]
    pub optimal: bool,
    /// The costs of the usual placements; null if they were not computed.
    #[serde(default)]
    pub baselines: Option<Baselines>,
    /// How much the plan can change the program's speed; absent if the pattern was not observed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub effect: Option<Effect>,
    /// The cache line for each pair of communicating tasks, on machines with known homes.
    #[serde(default)]
    pub channels: Vec<Channel>,
    /// How well cheaper objectives ranked placements, compared with runs.
    #[serde(default)]
    pub agreement: Option<Agreement>,
    /// The method that found the placement.
    #[serde(default)]
    pub method: Option<String>,
    /// The time of the search, in seconds.
    #[serde(default)]
    pub seconds: Option<f64>,
    /// The seed of random orders; null for a method without randomness.
    #[serde(default)]
    pub seed: Option<u64>,
    /// The day, as `YYYY-MM-DD`.
    #[serde(default)]
    pub date: Option<String>,
    /// The program that made the plan, with its version.
    #[serde(default)]
    pub tool: Option<String>,
}

/// Whether a file claims to be a plan, of any version.
pub fn is_plan(bytes: &[u8]) -> bool {
    crate::document::is_kind(bytes, "seatmap-plan/")
}

impl Plan {
    /// A plan of a placement alone, without provenance.
    ///
    /// ```
    /// let plan = seatmap_data::plan::Plan::new("desk", vec![3, 1]);
    /// assert!(plan.check().is_ok());
    /// ```
    pub fn new(machine: impl Into<String>, placement: Vec<u32>) -> Self {
        Plan { format: FORMAT.to_owned(), machine: machine.into(), placement, ..Plan::default() }
    }

    /// Reads and checks a plan.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for invalid JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let plan: Plan = crate::document::read(text, FORMAT)?;
        plan.check()?;
        Ok(plan)
    }

    /// The PUs that a task may run on.
    ///
    /// ```
    /// let mut plan = seatmap_data::plan::Plan::new("desk", vec![3, 1]);
    /// assert_eq!(plan.seat(1), [1]);
    /// plan.seats = vec![vec![2, 3], vec![0, 1]];
    /// assert_eq!(plan.seat(1), [0, 1]);
    /// ```
    ///
    /// # Panics
    /// The plan has no such task.
    pub fn seat(&self, task: usize) -> &[u32] {
        match self.seats.get(task) {
            Some(seat) => seat,
            None => std::slice::from_ref(&self.placement[task]),
        }
    }

    /// The plan as JSON with a final newline.
    pub fn to_json(&self) -> String {
        crate::document::written(self)
    }

    /// Checks that the plan is for this computer, because PU numbers mean nothing elsewhere. A plan
    /// for `host` fits any computer.
    ///
    /// # Errors
    /// [`OtherMachine`] with both names.
    ///
    /// ```
    /// let plan = seatmap_data::plan::Plan::new("desk", vec![3, 1]);
    /// assert!(plan.check_machine("desk").is_ok());
    /// let error = plan.check_machine("rack7").unwrap_err().to_string();
    /// assert!(error.starts_with("the plan is for 'desk', but this computer is 'rack7'"));
    /// ```
    pub fn check_machine(&self, here: &str) -> Result<(), OtherMachine> {
        let is_here = host_names::node_of(here, &[&self.machine]).is_some();
        if is_here || self.machine == ANY_HOST {
            Ok(())
        } else {
            Err(OtherMachine { plan: self.machine.clone(), here: here.to_owned() })
        }
    }

    /// The OS indices of the PUs in use, ascending, each once.
    pub fn pus_in_use(&self) -> Vec<u32> {
        let mut pus: Vec<u32> =
            self.placement.iter().chain(self.seats.iter().flatten()).copied().collect();
        pus.sort_unstable();
        pus.dedup();
        pus
    }

    /// The NUMA nodes of a task's memory; empty if the plan does not restrict it.
    pub fn memory_of(&self, task: usize) -> &[u32] {
        self.memory.get(task).map_or(&[], Vec::as_slice)
    }

    /// The NUMA nodes of all tasks' memory, ascending, each once. `None` if a task may use any
    /// memory: one set for all tasks would restrict that task.
    ///
    /// ```
    /// let mut plan = seatmap_data::plan::Plan::new("desk", vec![3, 1]);
    /// assert_eq!(plan.memory_in_use(), None);
    /// plan.memory = vec![vec![1], vec![0, 1]];
    /// assert_eq!(plan.memory_in_use(), Some(vec![0, 1]));
    /// ```
    pub fn memory_in_use(&self) -> Option<Vec<u32>> {
        let all_say = !self.memory.is_empty() && self.memory.iter().all(|nodes| !nodes.is_empty());
        let nodes: std::collections::BTreeSet<u32> =
            self.memory.iter().flatten().copied().collect();
        all_say.then(|| nodes.into_iter().collect())
    }

    /// Takes each task's memory from its PUs' NUMA nodes, or from the nearest with memory. A task
    /// with a PU of unknown node is not restricted.
    ///
    /// ```
    /// use seatmap_data::machine::{Pu, Topology};
    /// let pus = (0..4).map(|os| Pu { os, numa: Some(os / 2), ..Pu::default() }).collect();
    /// let mut plan = seatmap_data::plan::Plan::new("desk", vec![3, 0]);
    /// plan.near_memory(&Topology { pus });
    /// assert_eq!(plan.memory, [[1], [0]]);
    /// ```
    pub fn near_memory(&mut self, topology: &Topology) {
        self.memory = (0..self.placement.len())
            .map(|task| {
                let nodes = self.seat(task).iter().map(|os| topology.pu(*os)?.memory_node());
                let nodes: Option<std::collections::BTreeSet<u32>> = nodes.collect();
                nodes.unwrap_or_default().into_iter().collect()
            })
            .collect();
    }

    /// Lets each task run anywhere in the core, cache, node or package of its PU. A task keeps its
    /// PU if `level` is unknown for it.
    ///
    /// ```
    /// use seatmap_data::machine::{Pu, Topology};
    /// let pus = (0..4).map(|os| Pu { os, l3: Some(os / 2), ..Pu::default() }).collect();
    /// let mut plan = seatmap_data::plan::Plan::new("desk", vec![3, 0]);
    /// plan.widen(&Topology { pus }, |pu| pu.l3);
    /// assert_eq!(plan.seats, [[2, 3], [0, 1]]);
    /// ```
    pub fn widen(&mut self, topology: &Topology, level: impl Fn(&Pu) -> Option<u32>) {
        self.seats = self
            .placement
            .iter()
            .map(|os| match topology.pu(*os).and_then(&level) {
                Some(group) => {
                    let mut seat: Vec<u32> = topology
                        .pus
                        .iter()
                        .filter(|pu| level(pu) == Some(group))
                        .map(|pu| pu.os)
                        .collect();
                    // A topology written by hand need not be sorted; a plan's seats must be.
                    seat.sort_unstable();
                    seat
                }
                None => vec![*os],
            })
            .collect();
    }

    /// Whether tasks share a PU.
    pub fn is_oversubscribed(&self) -> bool {
        self.placement.iter().collect::<std::collections::HashSet<_>>().len() < self.placement.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_keeps_plan() {
        let plan = Plan::new("small", vec![4, 0, 4]);
        assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
        assert_eq!(plan.pus_in_use(), [0, 4]);
        assert!(plan.is_oversubscribed() && !Plan::new("small", vec![4, 0]).is_oversubscribed());
    }

    #[test]
    fn seats_ascend_even_if_topology_does_not() {
        let pus = [3, 2, 1, 0].map(|os| Pu { os, l3: Some(os / 2), ..Pu::default() }).to_vec();
        let mut plan = Plan::new("desk", vec![3, 0]);
        plan.widen(&Topology { pus }, |pu| pu.l3);
        assert_eq!(plan.seats, [[2, 3], [0, 1]]);
        assert!(plan.check().is_ok());
    }

    #[test]
    fn plan_is_refused_on_another_machine() {
        let plan = Plan::new("desk", vec![4, 0]);
        assert_eq!(plan.check_machine("desk"), Ok(()));
        let error = plan.check_machine("rack7").unwrap_err();
        assert_eq!((error.plan.as_str(), error.here.as_str()), ("desk", "rack7"));
        assert!(error.to_string().contains("--any-machine"), "{error}");
        assert_eq!(Plan::new("host", vec![4, 0]).check_machine("rack7"), Ok(()));
        assert!(Plan::new("", vec![4, 0]).check_machine("rack7").is_err());
    }

    #[test]
    fn plan_needs_only_three_keys() {
        let text = r#"{"format": "seatmap-plan/1", "machine": "desk", "placement": [3, 1]}"#;
        assert_eq!(Plan::from_json(text).unwrap(), Plan::new("desk", vec![3, 1]));
    }

    #[test]
    fn plan_files_are_recognised_in_any_version() {
        assert!(is_plan(Plan::new("small", vec![4]).to_json().as_bytes()));
        assert!(
            is_plan(br#"{"format": "seatmap-plan/9"}"#),
            "so that the version is what is complained of"
        );
        for other in [
            &br#"{"format": "seatmap-profile/1"}"#[..],
            b"{\"format\": 1}",
            b",\n40,\n",
            b"\xff",
            b"",
        ] {
            assert!(!is_plan(other));
        }
    }

    #[test]
    fn invalid_plan_is_refused_with_its_position() {
        let refusal = |text: &str| Plan::from_json(text).unwrap_err().to_string();
        assert_eq!(
            refusal("{\n \"format\": 3}"),
            "line 2, column 12: invalid type: integer `3`, expected a string"
        );
        let text = Plan::new("small", vec![4, 0]).to_json();
        assert_eq!(
            refusal(&text.replace("[4,0]", "[4,\n-1]")),
            "line 2, column 2: invalid value: integer `-1`, expected u32"
        );
        assert!(
            refusal(&text.replace("placement", "places")).contains("missing field `placement`")
        );
        assert!(matches!(
            Plan::from_json(&format!("{{\"format\": {}", "[".repeat(100_000))),
            Err(DocumentError::Syntax { .. })
        ));
    }
}
