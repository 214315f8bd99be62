//! The answer to a request.

use crate::PlaceRequest;
use seatmap_data::plan::{Agreement, Baselines, Channel, Plan};

/// A placement with the facts known about it.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacementResult {
    /// The OS index of each task's PU.
    pub placement: Vec<u32>,
    /// Weight x ns for distance, weight for congestion, nanoseconds for measured runs.
    pub cost: f64,
    /// Every placement costs at least this.
    pub lower_bound: f64,
    /// Whether this placement is proven cheapest.
    pub optimal: bool,
    /// The costs of the usual placements.
    pub baselines: Baselines,
    /// How well cheaper objectives rank the placements, if runs judged them.
    pub agreement: Option<Agreement>,
    /// The name of the winning method.
    pub method: String,
    /// The home for each communicating pair, if requested.
    pub channels: Vec<Channel>,
    /// The most loaded link and the weight through it, if links are known.
    pub busiest_link: Option<(String, f64)>,
    /// The weight between chips or sections and the total weight, if requested.
    pub crossing: Option<(f64, f64)>,
}

impl PlaceRequest<'_> {
    /// The answer as a plan file, without date, duration and tool.
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
