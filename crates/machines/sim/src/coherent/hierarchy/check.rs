//! Checks of a hierarchical machine's file: the reasons why it cannot be run.

use super::written::{CoreWritten, Hierarchy};
use crate::coherent::FORMAT;
use seatmap_data::machine::description::shape::MAX_PUS;
use seatmap_data::statistics::words::counted;
use std::collections::BTreeSet;

/// The highest OS index: Linux's CONFIG_NR_CPUS goes up to 8192.
const HIGHEST_PU: u32 = 8191;
/// The most cores: routes between all nodes are kept.
const MOST_CORES: usize = 1024;
const MOST_HOMES: u32 = 256;
const MOST_TICKS: u32 = 1000;
/// The longest round trip between cores; a longer one would be a hundred round trips across the
/// slowest link.
const LONGEST_NS: f64 = 1e5;
/// Figures in files have two decimals, and a distance is a sum of four.
const ROUNDING_NS: f64 = 0.05;

impl Hierarchy {
    pub(super) fn flaw(&self) -> Option<String> {
        self.head_flaw()
            .or_else(|| self.homes_flaw())
            .or_else(|| self.cores_flaw())
            .or_else(|| self.distances_flaw())
            .or_else(|| self.figures.flaw())
    }

    fn head_flaw(&self) -> Option<String> {
        if self.format != FORMAT {
            return Some(format!("unknown format '{}'; expected {FORMAT}", self.format));
        }
        if self.fabric.kind != "levels" {
            return Some(format!("fabric.kind is '{}'; expected levels", self.fabric.kind));
        }
        if !(0.1..=100.0).contains(&self.frequency_ghz.value) {
            return Some("frequency_ghz must be from 0.1 to 100".to_owned());
        }
        let fits = (1..=MOST_TICKS).contains(&self.ticks_per_cycle);
        (!fits)
            .then(|| format!("ticks_per_cycle is {}; give 1 to {MOST_TICKS}", self.ticks_per_cycle))
    }

    fn homes_flaw(&self) -> Option<String> {
        let homes = self.homes.as_ref()?;
        let fits = (2..=MOST_HOMES).contains(&homes.count);
        (!fits).then(|| {
            format!("homes.count is {}; give 2 to {MOST_HOMES}, or no [homes]", homes.count)
        })
    }

    fn cores_flaw(&self) -> Option<String> {
        if !(2..=MOST_CORES).contains(&self.cores.len()) {
            return Some(format!("{}; give 2 to {MOST_CORES}", counted(self.cores.len(), "core")));
        }
        let mut seen = BTreeSet::new();
        let flaw = self.cores.iter().enumerate().find_map(|(at, core)| {
            let flaw = self.core_flaw(core).or_else(|| {
                let twice = core.pus.iter().find(|os| !seen.insert(**os))?;
                Some(format!("PU {twice} is listed twice"))
            });
            flaw.map(|flaw| format!("cores[{at}]: {flaw}"))
        });
        flaw.or_else(|| (seen.len() > MAX_PUS as usize).then(|| format!("more than {MAX_PUS} PUs")))
    }

    fn core_flaw(&self, core: &CoreWritten) -> Option<String> {
        if core.pus.is_empty() {
            return Some("it has no PU".to_owned());
        }
        if let Some(os) = core.pus.iter().find(|os| **os > HIGHEST_PU) {
            return Some(format!("PU {os}; the highest is {HIGHEST_PU}"));
        }
        if core.group as usize >= self.distances.between_ns.len() {
            return Some(format!("group {} has no row in distances.between_ns", core.group));
        }
        if core.offset_ns.len() != self.home_count() {
            return Some(format!(
                "offset_ns has {} for {}",
                counted(core.offset_ns.len(), "figure"),
                counted(self.home_count(), "home")
            ));
        }
        if let Some(ns) = core.sibling_ns.filter(|ns| *ns <= 0.0) {
            return Some(format!("sibling_ns is {ns:?}, but must be positive"));
        }
        let figures = core.offset_ns.iter().chain(core.sibling_ns.iter());
        // An offset may be negative: it is a difference from the mean of a group.
        let wild = figures.copied().find(|ns| ns.is_nan() || ns.abs() > LONGEST_NS);
        wild.map(|ns| format!("{ns:?} ns cannot be part of a round trip"))
    }

    fn distances_flaw(&self) -> Option<String> {
        let between = &self.distances.between_ns;
        let rest = &self.distances.rest_ns;
        if let Some(at) = between.iter().position(|row| row.len() != between.len()) {
            return Some(format!(
                "distances.between_ns[{at}] has {} for {}",
                counted(between[at].len(), "figure"),
                counted(between.len(), "group")
            ));
        }
        if !rest.is_empty() && rest.len() != self.cores.len() {
            return Some(format!(
                "distances.rest_ns has {} for {}",
                counted(rest.len(), "row"),
                counted(self.cores.len(), "core")
            ));
        }
        if let Some(at) = (0..rest.len()).find(|at| rest[*at].len() != *at) {
            return Some(format!(
                "distances.rest_ns[{at}] has {}; give {at}",
                counted(rest[at].len(), "figure")
            ));
        }
        (0..self.cores.len()).find_map(|a| (0..a).find_map(|b| self.pair_flaw(a, b)))
    }

    fn pair_flaw(&self, a: usize, b: usize) -> Option<String> {
        let [one, other] = [a, b].map(|core| self.cores[core].group as usize);
        let there = self.distances.between_ns[one][other];
        let back = self.distances.between_ns[other][one];
        // A group of one core has no distance inside, and no pair that needs it.
        if one == other && there.is_nan() {
            return Some(format!(
                "distances.between_ns[{one}][{one}] is nan, but the group has several cores"
            ));
        }
        if there != back {
            return Some(format!(
                "distances.between_ns has {there} ns one way and {back} ns the other"
            ));
        }
        let measured = self.home_of(super::MEASURED_LINE);
        let is_same = one == other && self.settles();
        // A pair that settles lines itself never goes to another home, so its other distances do
        // not matter.
        let mut homes = (0..self.home_count()).filter(|home| !is_same || *home == measured);
        let wild = homes.find_map(|home| {
            Some(self.round_trip_ns(a, b, home)).filter(|ns| !(0.0..=LONGEST_NS).contains(ns))
        });
        if let Some(wild) = wild {
            return Some(format!("cores {a} and {b} are {wild:?} ns apart, which is impossible"));
        }
        let apart = self.round_trip_ns(a, b, measured);
        let core = [a, b]
            .into_iter()
            .find(|core| self.cores[*core].sibling_ns.is_some_and(|ns| ns > apart + ROUNDING_NS))?;
        let sibling = self.cores[core].sibling_ns?;
        Some(format!(
            "cores[{core}]: sibling_ns is {sibling:?}, but cores {a} and {b} are {apart:?} ns \
             apart; the threads of one core are never further apart than two cores"
        ))
    }
}
