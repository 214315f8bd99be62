//! Cores in groups, groups in groups, and the lengths of the routes between them.

use super::MEASURED_LINE;
use super::written::{CoreWritten, Hierarchy};
use crate::coherent::distance::ROUTES;
use crate::coherent::layout::CoherentTiming;
use std::collections::BTreeMap;

/// The largest share of the nearest pair's distance at each level for caches and directories;
/// routes take the rest.
const MOST_FIXED: f64 = 0.8;
/// The smallest share of the distances across the machine that offsets must leave for the routes to
/// be routes themselves.
const LEAST_LEFT: f64 = 0.5;

/// The cores by position, which also identifies them, and the level at which each two meet.
pub struct CoreTree<'a> {
    pub levels: &'a Hierarchy,
    /// Core in the file for each position.
    pub order: Vec<usize>,
    /// Group of each core, level by level from the inside, numbered from 0 along the positions.
    pub group_at: Vec<Vec<usize>>,
    /// Levels, from the inside, that settle lines below the last level: all of them with a single
    /// home; with several, at most the groups, because measurements show offsets by home between
    /// the groups of a package too.
    pub settling: usize,
}

fn place(core: &CoreWritten) -> [Option<u32>; 3] {
    [core.package, core.die, Some(core.group)]
}

impl<'a> CoreTree<'a> {
    pub fn of(levels: &'a Hierarchy) -> Self {
        let mut order: Vec<usize> = (0..levels.cores.len()).collect();
        order.sort_by_key(|at| (place(&levels.cores[*at]), *at));
        let mut tree = CoreTree { levels, order, group_at: Vec::new(), settling: 0 };
        let mut inner: Vec<usize> = (0..levels.cores.len()).collect();
        let has_groups = tree.grouped(3) != inner;
        for depth in (0..=3).rev() {
            let groups = tree.grouped(depth);
            // A level that divides cores as the one inside does adds nothing.
            if groups != inner {
                tree.group_at.push(groups.clone());
                inner = groups;
            }
        }
        let below_homes =
            if levels.home_count() > 1 { usize::from(has_groups) } else { usize::MAX };
        tree.settling = if levels.settles() { below_homes.min(tree.last()) } else { 0 };
        tree
    }

    fn grouped(&self, depth: usize) -> Vec<usize> {
        let mut numbers = BTreeMap::new();
        self.order
            .iter()
            .map(|core| {
                let next = numbers.len();
                *numbers.entry(place(&self.levels.cores[*core])[..depth].to_vec()).or_insert(next)
            })
            .collect()
    }

    pub fn core(&self, at: usize) -> &CoreWritten {
        &self.levels.cores[self.order[at]]
    }

    pub fn cores(&self) -> usize {
        self.order.len()
    }

    pub fn last(&self) -> usize {
        self.group_at.len() - 1
    }

    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize)> + '_ {
        (0..self.cores()).flat_map(|a| (0..a).map(move |b| (a, b)))
    }

    fn level(&self, a: usize, b: usize) -> usize {
        let meet =
            (0..self.settling).find(|level| self.group_at[*level][a] == self.group_at[*level][b]);
        meet.unwrap_or(self.last())
    }

    pub fn target_ticks(&self, a: usize, b: usize) -> u64 {
        let home = self.levels.home_of(MEASURED_LINE);
        let ns = self.levels.round_trip_ns(self.order[a], self.order[b], home);
        (ns * self.levels.ticks_per_ns()).round() as u64
    }

    fn passed(&self, level: usize) -> u64 {
        level.min(self.settling) as u64
    }

    /// The offsets as ticks of each route of a core (row) to the homes at the top, as far as whole
    /// ticks allow; empty if they are too large for the distances.
    pub fn extra(&self) -> Vec<u32> {
        let homes = self.levels.home_count();
        let least = self.least_offsets();
        let ticks = |core: usize, home: usize| {
            let core = self.core(core);
            let offset_ns = core.offset_ns[home] - least[core.group as usize];
            (offset_ns * self.levels.ticks_per_ns() / ROUTES as f64) as u32
        };
        let extra: Vec<u32> = (0..self.cores())
            .flat_map(|core| (0..homes).map(move |home| (core, home)))
            .map(|(c, h)| ticks(c, h))
            .collect();
        let left = self.nearest(self.last(), &extra);
        let all = self.nearest(self.last(), &[]);
        let bears = left >= LEAST_LEFT * all && extra.iter().any(|ticks| *ticks > 0);
        if bears { extra } else { Vec::new() }
    }

    fn least_offsets(&self) -> Vec<f64> {
        let mut least = vec![f64::INFINITY; self.levels.distances.between_ns.len()];
        for core in &self.levels.cores {
            let least = &mut least[core.group as usize];
            *least = core.offset_ns.iter().copied().fold(*least, f64::min);
        }
        least
    }

    /// Ticks of one direction of the nearest pair that settles at this level or further out, less
    /// its offsets.
    fn nearest(&self, from_level: usize, extra: &[u32]) -> f64 {
        let homes = self.levels.home_count();
        let home = self.levels.home_of(MEASURED_LINE);
        self.pairs()
            .filter_map(|(a, b)| {
                let level = self.level(a, b);
                let of_routes: u32 = [a, b]
                    .into_iter()
                    .filter(|_| level == self.last())
                    .filter_map(|core| extra.get(core * homes + home))
                    .sum();
                let ways = ROUTES / 2 * u64::from(of_routes);
                (level >= from_level).then(|| (self.target_ticks(a, b) / 2) as f64 - ways as f64)
            })
            .fold(f64::INFINITY, f64::min)
    }

    /// Sets the times of caches and directories so that the distances of the nearest pairs can be
    /// reached. Returns each core's time of a look: from its threads' distance, which involves no
    /// directory, or the assumed time.
    pub fn fit_timing(&self, timing: &mut CoherentTiming, extra: &[u32]) -> Vec<u64> {
        let sibling_ticks: Vec<Option<u64>> = (0..self.cores())
            .map(|core| {
                self.core(core)
                    .sibling_ns
                    .map(|ns| (ns * self.levels.ticks_per_ns() / 2.0).round() as u64)
            })
            .collect();
        let assumed = self.levels.figures.look_cycles.ticks(self.levels.ticks_per_cycle);
        let longest = sibling_ticks.iter().copied().flatten().max();
        // The level with the least time to spare decides for all.
        let share = (0..=self.last())
            .map(|level| {
                let left = MOST_FIXED * self.nearest(level, extra) - longest.unwrap_or(0) as f64;
                let look = if longest.is_some() { 0 } else { assumed };
                left / fixed(timing, look, self.passed(level)) as f64
            })
            .fold(1.0, f64::min)
            .max(0.0);
        let parts = [&mut timing.hit, &mut timing.miss, &mut timing.cache, &mut timing.directory];
        parts.into_iter().for_each(|part| *part = ((*part as f64 * share) as u64).max(1));
        sibling_ticks
            .into_iter()
            .map(|sibling_ticks| {
                sibling_ticks.map_or(((assumed as f64 * share) as u64).max(1), |one_way| {
                    // Between threads of a core, one way is a look and a hit.
                    one_way.saturating_sub(timing.hit).max(1)
                })
            })
            .collect()
    }

    /// Ticks from a core to each level. They grow outwards, and leave time for every pair's other
    /// steps.
    pub fn reach(&self, timing: &CoherentTiming, looks: &[u64], extra: &[u32]) -> Vec<u64> {
        let look = looks.iter().copied().max().unwrap_or(1);
        // Every level has at least one link of one tick; with several homes there is one more link
        // above the last level.
        let links = |level| 1 + u64::from(level == self.last() && self.levels.home_count() > 1);
        let mut reach: Vec<u64> = (0..=self.last())
            .map(|level| {
                let left =
                    self.nearest(level, extra) - fixed(timing, look, self.passed(level)) as f64;
                (left / ROUTES as f64) as u64
            })
            .collect();
        for level in (0..self.last()).rev() {
            reach[level] = reach[level].min(reach[level + 1].saturating_sub(links(level + 1)));
        }
        for level in 0..reach.len() {
            let inner = if level == 0 { 0 } else { reach[level - 1] };
            reach[level] = reach[level].max(inner + links(level));
        }
        reach
    }
}

fn fixed(timing: &CoherentTiming, look: u64, passed: u64) -> u64 {
    let asks = (look + timing.miss + passed * timing.directory).max(timing.directory_busy);
    timing.miss + asks + (3 + passed) * timing.directory + 2 * timing.cache + timing.hit
}
