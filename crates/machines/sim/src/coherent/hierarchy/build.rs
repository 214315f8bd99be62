//! Builds the layout of a run.

use super::MEASURED_LINE;
use super::tree::CoreTree;
use super::written::{CoreWritten, Hierarchy};
use crate::ModelError;
use crate::coherent::CoherentModel;
use crate::coherent::distance;
use crate::coherent::fabric::{self, Link};
use crate::coherent::homes::{Climbing, Homes};
use crate::coherent::layout::CoherentLayout;
use seatmap_data::machine::{Pu, Topology};
use std::sync::Arc;

/// A link to a home at the top only models a queue; the cores' routes carry its time.
const TO_TOP: u64 = 1;

impl Hierarchy {
    /// The model of the machine.
    ///
    /// # Errors
    /// [`ModelError`] with the reason why it cannot be run; `name` is the file's name in its
    /// message.
    pub fn model(self, name: &str) -> Result<CoherentModel, ModelError> {
        if let Some(flaw) = self.flaw() {
            return Err(ModelError::impossible(name, flaw));
        }
        let layout = layout(&CoreTree::of(&self))
            .ok_or_else(|| ModelError::impossible(name, "its levels are not a tree"))?;
        Ok(CoherentModel {
            topology: topology(&self.cores),
            shape: None,
            name: self.name,
            summary: self.summary,
            sources: self.sources,
            frequency_ghz: self.frequency_ghz.value,
            ticks_per_cycle: self.ticks_per_cycle,
            figures: self.figures,
            layout: Arc::new(layout),
        })
    }
}

fn topology(cores: &[CoreWritten]) -> Topology {
    let mut pus: Vec<Pu> = cores
        .iter()
        .enumerate()
        .flat_map(|(at, core)| {
            core.pus
                .iter()
                .enumerate()
                .map(|(smt, os)| Pu {
                    os: *os,
                    core: Some(at as u32),
                    smt: Some(smt as u32),
                    l2: core.l2,
                    l3: core.l3,
                    die: core.die,
                    numa: core.numa,
                    package: core.package,
                    kind: core.kind,
                    ..Pu::default()
                })
                .collect::<Vec<_>>()
        })
        .collect();
    // The file lists threads by core, a topology by number.
    pus.sort_by_key(|pu| pu.os);
    Topology { pus }
}

fn layout(tree: &CoreTree) -> Option<CoherentLayout> {
    let levels = tree.levels;
    let mut timing = levels.figures.timing(levels.ticks_per_cycle);
    let extra = tree.extra();
    // After the extra time: looks and timing share what is left of each distance.
    let looks = tree.fit_timing(&mut timing, &extra);
    let reach = tree.reach(&timing, &looks, &extra);
    let (up, homes) = nodes(tree, &reach)?;
    let mut layout = CoherentLayout {
        fabric: fabric::tree(&up)?,
        homes: Homes::Climbing(homes),
        is_uncached: false,
        cache_of_pu: caches(tree),
        threads: levels.cores.iter().map(|core| core.pus.len()).max().unwrap_or(1),
        node_of_cache: (0..tree.cores() as u16).collect(),
        looks,
        passing: Vec::new(),
        extra,
        timing,
    };
    layout.passing = passing(tree, &layout)?;
    Some(layout)
}

fn caches(tree: &CoreTree) -> Vec<Option<u16>> {
    let highest = tree.levels.cores.iter().flat_map(|core| &core.pus).max().copied().unwrap_or(0);
    let mut cache_of_pu = vec![None; highest as usize + 1];
    for at in 0..tree.cores() {
        tree.core(at).pus.iter().for_each(|os| cache_of_pu[*os as usize] = Some(at as u16));
    }
    cache_of_pu
}

/// The link above each node, and the levels that settle lines. A single home is the root; several
/// homes are below the root.
fn nodes(tree: &CoreTree, reach: &[u64]) -> Option<(Vec<Link>, Climbing)> {
    let count = tree.cores();
    let homes = tree.levels.home_count();
    let mut below: Vec<(u16, u16)> = (0..count as u16).map(|cache| (cache, cache + 1)).collect();
    let mut above: Vec<(usize, usize)> = Vec::new();
    let mut inner: Vec<usize> = (0..count).collect();
    // Level by level the groups of cores become nodes; `inner` has each core's node of the level
    // below.
    for (level, groups) in tree.group_at.iter().enumerate() {
        let first_inner = above.len();
        let first = below.len();
        for node in first_inner..first {
            // All cores of a node have the same group above it.
            let core = inner.iter().position(|group| first_inner + group == node)?;
            above.push((level, first + groups[core]));
        }
        for group in 0..=*groups.iter().max()? {
            // The cores of a group are adjacent, so two numbers give its caches.
            let from = groups.iter().position(|at| *at == group)?;
            let length = groups[from..].iter().take_while(|at| **at == group).count();
            below.push((from as u16, (from + length) as u16));
        }
        inner.clone_from(groups);
    }
    let first_top = above.len();
    // Several homes meet in one node above them, or each would need a tree of routes.
    let hub = if homes > 1 { first_top + homes } else { first_top };
    let seed = tree.levels.homes.as_ref().map_or(0, |homes| homes.hash_seed.into());
    let climbing = Climbing {
        parent: (0..first_top + homes)
            .map(|at| {
                // From the settling level on, a request goes straight to the homes at the top.
                above
                    .get(at)
                    .filter(|(level, _)| *level < tree.settling)
                    .map_or(first_top, |(_, to)| *to) as u16
            })
            .collect(),
        below,
        first_top: first_top as u16,
        seed,
    };
    let up = (0..hub).map(|node| link(tree, reach, node, above.get(node).copied(), hub)).collect();
    Some((up, climbing))
}

fn link(
    tree: &CoreTree,
    reach: &[u64],
    node: usize,
    above: Option<(usize, usize)>,
    hub: usize,
) -> Link {
    let levels = tree.levels;
    let last = tree.last();
    let busy = levels.figures.busy(levels.ticks_per_cycle);
    let Some((level, to)) = above else {
        return Link { from: node as u16, to: hub as u16, cycles: TO_TOP as u32, busy };
    };
    // The reach counts from the cores; subtract the links below.
    let inner = if level == 0 { 0 } else { reach[level - 1] };
    let to_top = if level == last && levels.home_count() > 1 { TO_TOP } else { 0 };
    // A link takes at least a tick, so time advances.
    let cycles = (reach[level] - inner).saturating_sub(to_top).max(1) as u32;
    // A machine of one package has no link between packages; its last level is on the die.
    let packages = levels.cores.iter().any(|core| core.package != levels.cores[0].package);
    let busy = if level == last && packages {
        levels
            .fabric
            .package_busy_cycles
            .map(|cycles| cycles.saturating_mul(levels.ticks_per_cycle))
    } else {
        busy
    };
    Link { from: node as u16, to: if level == last { hub } else { to } as u16, cycles, busy }
}

/// The part of each distance between two caches that routes, caches and directories do not explain:
/// half of it for each direction.
fn passing(tree: &CoreTree, layout: &CoherentLayout) -> Option<Vec<u32>> {
    let mut passing = vec![0; tree.cores() * tree.cores()];
    for (a, b) in tree.pairs() {
        let [one, other] = [a, b].map(|core| tree.core(core).pus[0]);
        let left = tree.target_ticks(a, b).saturating_sub(distance::round_trip(
            layout,
            one,
            other,
            MEASURED_LINE,
        )?) as u32;
        // A round trip passes the line once each way; an odd tick goes to one of them.
        passing[a * tree.cores() + b] = left / 2;
        passing[b * tree.cores() + a] = left - left / 2;
    }
    Some(passing)
}
