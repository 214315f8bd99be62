//! A placement for a picture: the PU of each task and the lines between tasks.

use seatmap_data::machine::Profile;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::plan::Plan;

/// One placement of a pattern's tasks.
#[derive(Clone, Debug)]
pub struct DrawnPlacement {
    /// Title above it.
    pub title: String,
    /// PU of each task.
    pub placement: Vec<u32>,
    /// Objective's value.
    pub cost: Option<f64>,
    /// Home of each edge's line, if known; or empty.
    pub homes: Vec<Option<usize>>,
    /// Simulator's traffic count of each link, in the fabric's order.
    pub counted: Option<Vec<f64>>,
}

impl DrawnPlacement {
    /// An unplanned placement: tasks in the order of these PUs.
    pub fn in_order(
        profile: &Profile,
        pattern: &Pattern,
        plan: &Plan,
        placement: Vec<u32>,
    ) -> Self {
        let cost = plan.baselines.map(|baselines| baselines.os);
        let title = "OS order (CPU 0, 1, 2 ...)".to_owned();
        DrawnPlacement::unplanned(title, profile, pattern, plan, (placement, cost))
    }

    /// A random placement, with the median cost of `drawn` placements.
    pub fn at_random(
        profile: &Profile,
        pattern: &Pattern,
        plan: &Plan,
        (placement, cost): (Vec<u32>, f64),
        drawn: usize,
    ) -> Self {
        let title = format!("the median of {drawn} random placements");
        DrawnPlacement::unplanned(title, profile, pattern, plan, (placement, Some(cost)))
    }

    /// Homes are known only if the plan has them too.
    fn unplanned(
        title: String,
        profile: &Profile,
        pattern: &Pattern,
        plan: &Plan,
        (placement, cost): (Vec<u32>, Option<f64>),
    ) -> Self {
        let lines = profile.home_model.as_ref().and_then(|model| model.lines.as_ref());
        let lines = lines.filter(|_| !plan.channels.is_empty());
        let homes = lines.map_or(&[][..], |lines| &lines.home_of_line).iter();
        let homes = homes.map(|home| Some(*home as usize)).cycle().take(pattern.edges.len());
        DrawnPlacement { title, placement, cost, homes: homes.collect(), counted: None }
    }

    /// The placement of a plan.
    pub fn planned(pattern: &Pattern, plan: &Plan) -> Self {
        let homes = if plan.channels.is_empty() {
            Vec::new()
        } else {
            pattern.edges.iter().map(|edge| home(plan, edge)).collect()
        };
        let placement = plan.placement.clone();
        let cost = plan.cost;
        DrawnPlacement { title: "as planned".to_owned(), placement, cost, homes, counted: None }
    }

    /// The PUs of an edge's tasks; `None` if the placement lacks one.
    pub fn ends(&self, edge: &Edge) -> Option<[u32; 2]> {
        Some([*self.placement.get(edge.from)?, *self.placement.get(edge.to)?])
    }

    /// The home of an edge's line, if known; edges by index in the pattern.
    pub fn home(&self, edge: usize) -> Option<usize> {
        self.homes.get(edge).copied().flatten()
    }
}

fn home(plan: &Plan, edge: &Edge) -> Option<usize> {
    // A plan has one channel per pair; a pattern may have an edge each way.
    let ends = [(edge.from, edge.to), (edge.to, edge.from)];
    plan.channels
        .iter()
        .find(|channel| ends.contains(&(channel.from, channel.to)))
        .map(|channel| channel.home)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::plan::Channel;

    #[test]
    fn either_end_of_a_channel_may_send() {
        let pattern = seatmap_data::pattern::generate("ring:3").unwrap();
        let channel = |from, to, home| Channel { from, to, home, line: None, distance_ns: 1.0 };
        let plan = Plan {
            channels: vec![channel(1, 0, 4), channel(1, 2, 5)],
            ..Plan::new("x", vec![2, 1, 0])
        };
        let planned = DrawnPlacement::planned(&pattern, &plan);
        assert_eq!([0, 1, 2, 3].map(|edge| planned.home(edge)), [Some(4), Some(5), None, None]);
        let plain = Plan::new("x", vec![2, 1, 0]);
        assert_eq!(DrawnPlacement::planned(&pattern, &plain).home(0), None);
    }

    #[test]
    fn lines_are_used_in_turn() {
        let mut profile = crate::profiles_for_tests::two_packages();
        let lines = seatmap_data::machine::HomeLines {
            home_of_line: vec![1, 0],
            nearest_pu: vec![0, 7],
            confidence: 1.0,
            resolvable: true,
            samples: 0,
            checked: None,
        };
        profile.home_model.as_mut().unwrap().lines = Some(lines);
        let pattern = seatmap_data::pattern::generate("ring:3").unwrap();
        let channel =
            seatmap_data::plan::Channel { from: 0, to: 1, home: 0, line: None, distance_ns: 1.0 };
        let plan = Plan { channels: vec![channel], ..Plan::new("x", vec![2, 1, 0]) };
        let seating = DrawnPlacement::in_order(&profile, &pattern, &plan, vec![0, 1, 2]);
        assert_eq!(seating.homes, [Some(1), Some(0), Some(1)]);
        let chance =
            DrawnPlacement::at_random(&profile, &pattern, &plan, (vec![2, 0, 1], 7.5), 101);
        assert_eq!(
            (chance.homes, chance.cost, chance.placement),
            (seating.homes, Some(7.5), vec![2, 0, 1])
        );
    }
}
