//! Ordinary machines: levels of caches, dies and packages, from the distances of a profile.
//!
//! Cores hang on what they share, level by level. A line's requests climb to the first level below which all are that hold
//! it, as under inclusive caches, so that two cores of a package settle a line between them. The median distance of each
//! level becomes the latency of its links: six ways of each core a round trip, and what they leave of whole cycles is added
//! where the line is passed on.

use crate::ModelError;
use crate::coherent::CoherentModel;
use crate::coherent::fabric::{self, LANES, Link};
use crate::coherent::homes::Homes;
use crate::coherent::layout::{Layout, Timing};
use crate::coherent::written::Figures;
use crate::figure::syntax;
use seatmap_machine::{Profile, Pu};
use std::collections::BTreeMap;
use std::sync::Arc;

/// What profiles do not tell, each with its reason.
pub const ORDINARY: &str = include_str!("ordinary.toml");

/// Ways of each of two cores to the home a round trip and direction; see [`CoherentModel::round_trip_cycles`].
const WAYS: u64 = 6;

/// What a link to another package is busy with a message: 64 bytes take 4 ns on a QPI link of 16 GB/s each way (Intel, "An
/// introduction to the Intel QuickPath Interconnect", 2009), 11 cycles at 2.7 GHz; a message without data a fifth.
const PACKAGE_BUSY: [u32; LANES] = [2, 11, 2];

/// Of the nearest level's distance, the most that caches and directories may take; ways take the rest.
const MOST_FIXED: f64 = 0.8;

/// One level: which group each core belongs to, and how far apart cores are that meet there.
struct Level {
    group_of_core: Vec<usize>,
    one_way_cycles: u64,
    busy: [u32; LANES],
}

/// A machine of levels.
pub fn model(profile: &Profile, summary: &str, frequency_ghz: f64) -> Result<CoherentModel, ModelError> {
    let impossible = |message: String| ModelError::Impossible { name: profile.name.clone(), message };
    let figures: Figures = toml::from_str(ORDINARY).map_err(|error| syntax("ordinary.toml", ORDINARY, &error))?;
    let cores = Cores::of(profile, frequency_ghz).map_err(impossible)?;
    let levels = cores.levels(figures.busy()).map_err(impossible)?;
    let timing = timing(&figures, &levels, cores.siblings_cycles);
    let layout = layout(&cores, &levels, timing).ok_or_else(|| impossible("its levels make no tree".to_owned()))?;
    Ok(CoherentModel {
        name: profile.name.clone(),
        summary: summary.to_owned(),
        sources: vec![profile.origin.source.clone()],
        frequency_ghz,
        topology: profile.topology.clone(),
        figures,
        layout: Arc::new(layout),
    })
}

/// The cores of a profile, neighbours side by side, and the distances between them.
struct Cores<'a> {
    profile: &'a Profile,
    frequency_ghz: f64,
    /// The first PU of each core.
    first: Vec<&'a Pu>,
    cache_of_pu: Vec<Option<u16>>,
    threads: usize,
    /// The median round trip of SMT siblings.
    siblings_cycles: Option<f64>,
}

/// Where a core lies, from the outermost to the innermost.
fn place(pu: &Pu) -> [Option<u32>; 4] {
    [pu.package, pu.die, pu.l3, pu.core]
}

impl<'a> Cores<'a> {
    fn of(profile: &'a Profile, frequency_ghz: f64) -> Result<Self, String> {
        let mut threads = BTreeMap::<_, Vec<&Pu>>::new();
        for pu in &profile.topology.pus {
            let core = pu.core.ok_or("its profile does not say which PUs share a core")?;
            threads.entry((place(pu), core)).or_default().push(pu);
        }
        let highest = profile.topology.os_indices().max().unwrap_or(0);
        let mut cache_of_pu = vec![None; highest as usize + 1];
        for (core, pus) in threads.values().enumerate() {
            pus.iter().for_each(|pu| cache_of_pu[pu.os as usize] = Some(core as u16));
        }
        let mut cores = Cores {
            profile,
            frequency_ghz,
            threads: threads.values().map(Vec::len).max().unwrap_or(1),
            first: threads.values().map(|pus| pus[0]).collect(),
            cache_of_pu,
            siblings_cycles: None,
        };
        if cores.first.len() < 2 {
            return Err("a machine of one core has no distances to run with".to_owned());
        }
        cores.siblings_cycles = cores.median_cycles(|a, b| a == b);
        Ok(cores)
    }

    /// The median round trip over the pairs of PUs whose cores are as wanted.
    fn median_cycles(&self, is_wanted: impl Fn(u16, u16) -> bool) -> Option<f64> {
        let known = self.profile.core_distance.as_ref()?;
        let cache = |at: usize| self.cache_of_pu.get(known.pus[at] as usize).copied().flatten();
        let wanted = known
            .median_ns
            .pairs()
            .filter(|(i, j, ns)| ns.is_finite() && cache(*i).zip(cache(*j)).is_some_and(|(a, b)| is_wanted(a, b)));
        let mut ns: Vec<f64> = wanted.map(|(_, _, ns)| *ns).collect();
        ns.sort_by(f64::total_cmp);
        ns.get(ns.len() / 2).map(|ns| ns * self.frequency_ghz)
    }

    /// The levels that tell cores apart, from the innermost to the whole machine.
    fn levels(&self, busy: [u32; LANES]) -> Result<Vec<Level>, String> {
        let mut levels: Vec<Level> = Vec::new();
        let mut inner: Vec<usize> = (0..self.first.len()).collect();
        // By L3, by die, by package, all together.
        for depth in (0..=3).rev() {
            let group_of_core = self.grouped(depth);
            if group_of_core == inner {
                continue;
            }
            let meet = |a: u16, b: u16| {
                let (a, b) = (a as usize, b as usize);
                inner[a] != inner[b] && group_of_core[a] == group_of_core[b]
            };
            let round_trip = self.median_cycles(meet).ok_or("its profile lacks distances between some of its cores")?;
            levels.push(Level {
                one_way_cycles: (round_trip / 2.0).round() as u64,
                busy,
                group_of_core: group_of_core.clone(),
            });
            inner = group_of_core;
        }
        let has_packages = self.first.iter().any(|pu| pu.package != self.first[0].package);
        if let Some(root) = levels.last_mut().filter(|_| has_packages) {
            root.busy = PACKAGE_BUSY;
        }
        Ok(levels)
    }

    /// The number of each core's group, if so much of its place counts.
    fn grouped(&self, depth: usize) -> Vec<usize> {
        let mut numbers = BTreeMap::new();
        let mut number = |key| {
            let next = numbers.len();
            *numbers.entry(key).or_insert(next)
        };
        self.first.iter().map(|pu| number(place(pu)[..depth].to_vec())).collect()
    }
}

/// What caches and directories take: the usual, or less where the nearest cores are nearer than that.
fn timing(figures: &Figures, levels: &[Level], siblings_cycles: Option<f64>) -> Timing {
    let mut timing = figures.timing();
    if let Some(round_trip) = siblings_cycles {
        timing.look = ((round_trip / 2.0).round() as u64).saturating_sub(timing.hit).max(1);
    }
    let nearest = levels.first().map_or(0, |level| level.one_way_cycles);
    let share = MOST_FIXED * nearest as f64 / fixed(&timing, 0) as f64;
    if share < 1.0 {
        let parts = [&mut timing.hit, &mut timing.miss, &mut timing.look, &mut timing.cache, &mut timing.directory];
        parts.into_iter().for_each(|part| *part = ((*part as f64 * share) as u64).max(1));
    }
    timing
}

/// What one direction takes beside its ways, where so many directories are passed on the way up.
fn fixed(timing: &Timing, passed: u64) -> u64 {
    let asks = (timing.look + timing.miss + passed * timing.directory).max(timing.directory_busy);
    timing.miss + asks + (3 + passed) * timing.directory + 2 * timing.cache + timing.hit
}

fn layout(cores: &Cores, levels: &[Level], timing: Timing) -> Option<Layout> {
    let count = cores.first.len();
    let (mut up, mut parent, mut passing) = (Vec::new(), Vec::new(), vec![0; count]);
    let mut below: Vec<(u16, u16)> = (0..count as u16).map(|cache| (cache, cache + 1)).collect();
    let (mut inner, mut first_inner, mut ways) = ((0..count).collect::<Vec<_>>(), 0, 0);
    for (passed, level) in levels.iter().enumerate() {
        let left = level.one_way_cycles.saturating_sub(fixed(&timing, passed as u64));
        let cycles = (left / WAYS).saturating_sub(ways).max(1);
        ways += cycles;
        let first = below.len();
        let groups = level.group_of_core.iter().max()? + 1;
        for node in first_inner..first {
            let core = inner.iter().position(|group| first_inner + group == node)?;
            let to = (first + level.group_of_core[core]) as u16;
            up.push(Link { from: node as u16, to, cycles: cycles as u32, busy: level.busy });
            parent.push(to);
        }
        for group in 0..groups {
            let from = level.group_of_core.iter().position(|at| *at == group)?;
            let length = level.group_of_core[from..].iter().take_while(|at| **at == group).count();
            below.push((from as u16, (from + length) as u16));
            passing.push(left.saturating_sub(WAYS * ways));
        }
        (inner, first_inner) = (level.group_of_core.clone(), first);
    }
    parent.push(up.len() as u16);
    Some(Layout {
        fabric: fabric::tree(&up)?,
        homes: Homes::Climbing { parent, below },
        is_uncached: false,
        cache_of_pu: cores.cache_of_pu.clone(),
        threads: cores.threads,
        node_of_cache: (0..count as u16).collect(),
        passing,
        timing,
    })
}
