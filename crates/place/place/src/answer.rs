//! The answer to a request.

use crate::PlaceRequest;
use seatmap_data::plan::{Agreement, Baselines, Channel, Plan};

/// A placement with the facts known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementResult {
    /// The OS index of the PU of each task.
    pub placement: Vec<u32>,
    /// The cost: weight x ns for distance, weight for congestion, nanoseconds where runs judged.
    pub cost: f64,
    /// A proven limit: every placement costs at least this.
    pub lower_bound: f64,
    /// Whether it is proven that no placement is cheaper.
    pub optimal: bool,
    /// The costs of the usual placements.
    pub baselines: Baselines,
    /// How well cheaper objectives would have ranked the placements, where runs of the program
    /// judged them.
    pub agreement: Option<Agreement>,
    /// The method that found it.
    pub method: String,
    /// Which home each communicating pair should use, where that was asked for.
    pub channels: Vec<Channel>,
    /// The weight that flows through the most loaded link, and its name, where the machine has
    /// links that are known.
    pub busiest_link: Option<(String, f64)>,
    /// The weight that crosses between chips or sections, and the weight of all, where these were
    /// asked for.
    pub crossing: Option<(f64, f64)>,
}

impl PlaceRequest<'_> {
    /// An answer on file. Date, duration and tool are the caller's to add.
    #[must_use]
    pub fn plan(&self, answer: &PlacementResult) -> Plan {
        let used: std::collections::BTreeSet<u32> = answer.placement.iter().copied().collect();
        Plan {
            pattern: Some(self.pattern.name.clone()),
            names: self.pattern.names.clone(),
            paths: self.pattern.paths().to_vec(),
            pus: used.into_iter().filter_map(|os| self.profile.topology.pu(os).cloned()).collect(),
            objective: Some(self.objective),
            cost: Some(answer.cost),
            waits: self.counts_wakeups(),
            lower_bound: Some(answer.lower_bound),
            optimal: answer.optimal,
            baselines: Some(answer.baselines),
            channels: answer.channels.clone(),
            agreement: answer.agreement,
            method: Some(answer.method.clone()),
            seed: Some(self.seed),
            ..Plan::new(self.profile.name.clone(), answer.placement.clone())
        }
    }
}
