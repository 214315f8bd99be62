//! A profile in parts: cores, groups, offsets, and the rest.

use super::MEASURED_LINE;
use super::written::{CoreWritten, Hierarchy, HierarchyDistances, HierarchyHomes, Ties};
use crate::ModelError;
use crate::coherent::FORMAT;
use crate::figure::ModelFigure;
use seatmap_data::machine::description::Basis;
use seatmap_data::machine::{CoreDistance, Matrix, Profile, Pu};
use seatmap_data::statistics::least;
use seatmap_data::statistics::words::counted;
use std::collections::BTreeMap;

/// Cycles for which a message keeps a link to another package busy: 64 bytes take 4 ns on a QPI
/// link of 16 GB/s each way (Intel, "An introduction to the Intel QuickPath Interconnect", 2009),
/// 11 cycles at 2.7 GHz; a message without data takes a fifth of that.
const PACKAGE_BUSY_CYCLES: [u32; 3] = [2, 11, 2];
/// The largest root mean square of the distances, in nanoseconds, that groups and offsets may leave
/// unexplained; a larger rest is written pair by pair.
const LEFT_NS: f64 = 0.2;
/// The same limit relative to the distances, so near pairs count as much as far ones.
const LEFT_SHARE: f64 = 0.005;

/// The parts into which a profile's distances are divided.
pub struct DistanceParts {
    /// Core of each PU of the distances, numbered from 0 without gaps.
    pub core_of: Vec<usize>,
    /// Group of each core, numbered from 0 without gaps.
    pub group_of: Vec<u32>,
    /// Package of each core, if the topology does not give it.
    pub package_of: Vec<Option<u32>>,
    /// Nanoseconds that each core (row) adds by home (column).
    pub offset_ns: Vec<Vec<f64>>,
    /// Homes, if there are several, and the home of the distances.
    pub homes: Option<(HierarchyHomes, usize)>,
    /// Core clock.
    pub frequency_ghz: ModelFigure,
    /// Ticks of a core cycle.
    pub ticks_per_cycle: u32,
}

impl DistanceParts {
    /// The machine of the profile's distances, divided into these parts.
    ///
    /// # Errors
    /// [`ModelError`], for a profile without distances, or with distances within one core only.
    pub fn levels(&self, profile: &Profile) -> Result<Hierarchy, ModelError> {
        let distance = profile
            .core_distance
            .as_ref()
            .ok_or_else(|| ModelError::impossible(&profile.name, "it has no core distances"))?;
        if self.group_of.len() < 2 {
            return Err(ModelError::impossible(
                &profile.name,
                "it has one core, but distances need two",
            ));
        }
        let between_cores = self.between_cores(distance);
        let between_ns = self.between(&between_cores).ok_or_else(|| {
            ModelError::impossible(&profile.name, "it has no distance between two cores")
        })?;
        let mut levels = Hierarchy {
            format: FORMAT.to_owned(),
            name: profile.name.clone(),
            summary: format!(
                "{}, {}",
                counted(self.group_of.len(), "core"),
                counted(distance.pus.len(), "PU")
            ),
            sources: vec![profile.origin.source.clone()],
            frequency_ghz: self.frequency_ghz.clone(),
            ticks_per_cycle: self.ticks_per_cycle,
            fabric: ties(),
            homes: self.homes.as_ref().map(|(homes, _)| homes.clone()),
            distances: HierarchyDistances {
                kind: Basis::Calibration,
                source: format!("the core distances of {}", profile.origin.source),
                rest_ns: self.rest(&between_cores, &between_ns),
                between_ns,
            },
            cores: self.cores(profile, distance),
            figures: Hierarchy::ordinary()?,
        };
        levels.bring_siblings_near();
        Ok(levels)
    }

    /// Mean distances between cores; NaN for unknown ones.
    fn between_cores(&self, distance: &CoreDistance) -> Matrix {
        let cores = self.group_of.len();
        let mut sum = Matrix::filled(cores, 0.0);
        let mut count = Matrix::filled(cores, 0.0);
        let known = distance.median_ns.pairs().filter(|(_, _, ns)| ns.is_finite());
        for (i, j, ns) in known {
            let a = self.core_of[i];
            let b = self.core_of[j];
            sum.set_both(a, b, sum[(a, b)] + ns);
            count.set_both(a, b, count[(a, b)] + 1.0);
        }
        Matrix::from_fn(cores, |a, b| sum[(a, b)] / count[(a, b)])
    }

    fn offset(&self, core: usize) -> f64 {
        self.offset_ns[core][self.homes.as_ref().map_or(0, |(_, home)| *home)]
    }

    /// B between all groups: the median of the distances less the offsets. Unknown values get the
    /// largest known one, which attracts no task; `None` if none is known.
    fn between(&self, cores: &Matrix) -> Option<Vec<Vec<f64>>> {
        let groups = *self.group_of.iter().max()? as usize + 1;
        let mut left = vec![vec![Vec::new(); groups]; groups];
        for (a, b, ns) in cores.pairs().filter(|(_, _, ns)| ns.is_finite()) {
            let [one, other] = [a, b].map(|core| self.group_of[core] as usize);
            left[one.min(other)][one.max(other)].push(ns - self.offset(a) - self.offset(b));
        }
        let known: Vec<Vec<Option<f64>>> = (0..groups)
            .map(|a| (0..groups).map(|b| middle(&left[a.min(b)][a.max(b)])).collect())
            .collect();
        let largest = known.iter().flatten().copied().flatten().max_by(f64::total_cmp)?;
        let mut between: Vec<Vec<f64>> =
            known.iter().map(|row| row.iter().map(|ns| ns.unwrap_or(largest)).collect()).collect();
        for (group, row) in between.iter_mut().enumerate() {
            let cores = self.group_of.iter().filter(|other| **other as usize == group).count();
            if cores < 2 && known[group][group].is_none() {
                row[group] = f64::NAN;
            }
        }
        Some(between)
    }

    /// The rest that B and offsets leave for each pair of cores; empty if it is small.
    fn rest(&self, cores: &Matrix, between_ns: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let mut rows: Vec<Vec<f64>> = Vec::with_capacity(cores.n());
        for a in 0..cores.n() {
            let of_pairs = (0..a).map(|b| {
                let base = between_ns[self.group_of[a] as usize][self.group_of[b] as usize];
                let left = cores[(a, b)] - base - self.offset(a) - self.offset(b);
                if left.is_finite() { (100.0 * left).round() / 100.0 } else { 0.0 }
            });
            rows.push(of_pairs.collect());
        }
        let known = cores.pairs().filter(|(_, _, ns)| ns.is_finite());
        let (left, shares): (Vec<f64>, Vec<f64>) =
            known.map(|(a, b, ns)| (rows[b][a], rows[b][a] / ns.max(f64::MIN_POSITIVE))).unzip();
        if rms(&left) > LEFT_NS || rms(&shares) > LEFT_SHARE { rows } else { Vec::new() }
    }

    fn cores(&self, profile: &Profile, distance: &CoreDistance) -> Vec<CoreWritten> {
        let known: BTreeMap<u32, &Pu> = profile.topology.pus.iter().map(|pu| (pu.os, pu)).collect();
        (0..self.group_of.len())
            .map(|core| {
                let rows: Vec<usize> =
                    (0..self.core_of.len()).filter(|row| self.core_of[*row] == core).collect();
                let pairs = rows
                    .iter()
                    .flat_map(|i| rows.iter().map(move |j| (*i, *j)))
                    .filter(|(i, j)| i < j);
                let siblings: Vec<f64> = pairs
                    .map(|pair| distance.median_ns[pair])
                    .filter(|ns| ns.is_finite())
                    .collect();
                let pu = rows.first().and_then(|row| known.get(&distance.pus[*row]));
                CoreWritten {
                    pus: rows.iter().map(|row| distance.pus[*row]).collect(),
                    group: self.group_of[core],
                    l2: pu.and_then(|pu| pu.l2),
                    l3: pu.and_then(|pu| pu.l3),
                    die: pu.and_then(|pu| pu.die),
                    numa: pu.and_then(|pu| pu.numa),
                    package: pu.and_then(|pu| pu.package).or(self.package_of[core]),
                    kind: pu.and_then(|pu| pu.kind),
                    sibling_ns: middle(&siblings),
                    offset_ns: self.offset_ns[core].clone(),
                }
            })
            .collect()
    }
}

impl Hierarchy {
    /// Lowers the distance between the threads of a core to that of the nearest other core, because
    /// the simulator's threads of one core share its cache. A profile can contradict this if a
    /// hypervisor moved its CPUs; the fit then shows the error.
    fn bring_siblings_near(&mut self) {
        for core in 0..self.cores.len() {
            let others = (0..self.cores.len()).filter(|other| *other != core);
            let nearest =
                others.map(|other| self.round_trip_ns(core, other, self.home_of(MEASURED_LINE)));
            let nearest = least(nearest.filter(|ns| *ns > 0.0));
            self.cores[core].sibling_ns = self.cores[core].sibling_ns.map(|ns| ns.min(nearest));
        }
    }

    /// A hierarchical machine from a description, whose topology explains all its distances.
    ///
    /// # Errors
    /// [`ModelError`], for a profile without topology, distances or a sufficient frequency.
    pub fn described(
        profile: &Profile,
        summary: &str,
        frequency_ghz: f64,
    ) -> Result<Self, ModelError> {
        let distance = profile.core_distance.as_ref();
        let mut cores = BTreeMap::new();
        let mut groups = BTreeMap::new();
        let mut core_of = Vec::new();
        let mut group_of = Vec::new();
        for os in distance.map_or(&[][..], |distance| &distance.pus) {
            let pu = profile.topology.pu(*os).cloned().unwrap_or_default();
            let around = (pu.package, pu.die, pu.l3);
            let next = groups.len() as u32;
            let group = *groups.entry(around).or_insert(next);
            let next = cores.len();
            let core =
                *cores.entry((around, pu.core, pu.core.is_none().then_some(*os))).or_insert(next);
            if core == group_of.len() {
                group_of.push(group);
            }
            core_of.push(core);
        }
        let parts = DistanceParts {
            offset_ns: vec![vec![0.0]; group_of.len()],
            package_of: vec![None; group_of.len()],
            core_of,
            group_of,
            homes: None,
            frequency_ghz: ModelFigure {
                value: frequency_ghz,
                kind: Basis::Document,
                source: "the description".to_owned(),
            },
            ticks_per_cycle: 1,
        };
        Ok(Hierarchy { summary: summary.to_owned(), ..parts.levels(profile)? })
    }
}

fn ties() -> Ties {
    Ties {
        kind: "levels".to_owned(),
        package_busy_cycles: PACKAGE_BUSY_CYCLES,
        basis: Basis::Assumption,
        source: "a line takes 4 ns on a QPI link of 16 GB/s each way, 11 cycles at 2.7 GHz; other \
                 messages a fifth"
            .to_owned(),
    }
}

fn rms(values: &[f64]) -> f64 {
    (values.iter().map(|value| value * value).sum::<f64>() / values.len().max(1) as f64).sqrt()
}

fn middle(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let at = sorted.len() / 2;
    let upper = *sorted.get(at)?;
    Some(if sorted.len().is_multiple_of(2) { 0.5 * (sorted[at - 1] + upper) } else { upper })
}
