//! The profile of a coherent model: topology, core distances, homes.

use crate::coherent::{CoherentBed, CoherentModel, MEASURED_LINE as LINE};
use crate::error::SimError;
use seatmap_data::machine::{
    CoreDistance, HomeLines, HomeModel, Matrix, Origin, OriginKind, Profile,
};
use seatmap_data::port::{Addr, Testbed};
use seatmap_data::port::{Barrier, Port, Workload};
use seatmap_os::pool;
use std::collections::HashMap;
use std::sync::Arc;

/// Candidate lines with a home in a profile: four for each home of the Xeon Phi, by chance.
const CANDIDATES: u32 = 256;
/// Round trips until the tasks are in step, and counted ones.
const ROUNDS: [u32; 2] = [3, 1];

struct RoundTrips;

impl Workload for RoundTrips {
    type Output = u64;

    fn tasks(&self) -> usize {
        2
    }

    fn lines(&self) -> u32 {
        LINE + 1
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> u64 {
        let word = Addr::line(LINE);
        let own = rank as u64;
        // A nonzero word gives rank 0 the first turn.
        if rank == 0 {
            port.store(word, 1);
        }
        Barrier::new(Addr::line(0), 2).wait(port);
        let began = ROUNDS.map(|rounds| {
            for _ in 0..rounds {
                port.wait_while(word, own);
                port.store(word, own);
            }
            port.stamp().ticks
        });
        began[1] - began[0]
    }
}

/// The machine's topology, every core pair's simulated distance for one line, and lines' fixed
/// homes, if any.
///
/// # Errors
/// [`SimError`], if the model cannot be run.
pub fn profile(model: &Arc<CoherentModel>) -> Result<Profile, SimError> {
    let pus: Vec<u32> = model.topology.os_indices().collect();
    let cores = cores(model, &pus);
    let numbers: Vec<usize> = (0..cores.len()).collect();
    let rows: Vec<Vec<f64>> = pool::try_map(
        &numbers,
        || CoherentBed::new(Arc::clone(model)),
        |bed, core| row(bed, &cores, *core),
    )?;
    let core_of: HashMap<u32, usize> = cores
        .iter()
        .enumerate()
        .flat_map(|(core, pus)| pus.iter().map(move |os| (*os, core)))
        .collect();
    // Rows hold the cores before their own: the greater number comes first.
    let median_ns = Matrix::from_fn(pus.len(), |i, j| {
        let a = core_of[&pus[i]];
        let b = core_of[&pus[j]];
        if i == j { 0.0 } else { rows[a.max(b)][a.min(b)] }
    });
    let origin = Origin {
        kind: OriginKind::Model,
        source: model.sources.join("; "),
        date: None,
        tool: None,
    };
    let mut profile = Profile::new(&model.name, origin, model.topology.clone());
    profile.clock.frequency_hz = Some(model.frequency_ghz * 1e9);
    profile.home_model = home_model(model, &pus);
    profile.core_distance = Some(CoreDistance::imported(pus, median_ns));
    Ok(profile)
}

/// The PUs of each core, from which other cores are equally far.
fn cores(model: &CoherentModel, pus: &[u32]) -> Vec<Vec<u32>> {
    let mut cores = vec![Vec::new(); model.layout.caches()];
    for os in pus {
        let cache = model.layout.cache_of(*os);
        cache.into_iter().for_each(|cache| cores[cache as usize].push(*os));
    }
    cores
}

fn row(bed: &mut CoherentBed, cores: &[Vec<u32>], core: usize) -> Result<Vec<f64>, SimError> {
    (0..=core)
        .map(|other| {
            // First and last: two different threads if a core is compared with itself.
            let pair = (cores[core].last(), cores[other].first());
            let (Some(one), Some(other)) = pair else { return Ok(f64::NAN) };
            if one == other {
                return Ok(f64::NAN);
            }
            let ticks = bed.run(&[*one, *other], &RoundTrips)?[0];
            Ok(ticks as f64 * Testbed::ns_per_tick(bed) / f64::from(ROUNDS[1]))
        })
        .collect()
}

/// The model d(i, j, home) = B + a_i(home) + a_j(home), by formula, if lines are cached and have
/// fixed homes.
fn home_model(model: &CoherentModel, pus: &[u32]) -> Option<HomeModel> {
    let ns = |ticks: u64| ticks as f64 * model.ns_per_tick();
    let homes = model.homes() as u32;
    let line_of_home = (0..homes).map(|home| (0..).find(|line| model.home_of(*line) == Some(home)));
    let lines: Vec<u32> = line_of_home.collect::<Option<_>>()?;
    let first = *lines.first()?;
    let offset_ns: Option<Vec<Vec<f64>>> = pus
        .iter()
        .map(|pu| lines.iter().map(|line| model.ways_to_home(*pu, *line).map(ns)).collect())
        .collect();
    let offset_ns = offset_ns?;
    // Any pair of two cores gives the same base.
    let other = pus.iter().position(|pu| core_of(model, *pu) != core_of(model, pus[0]))?;
    let base_ns = ns(model.round_trip_ticks(pus[0], pus[other], first)?)
        - offset_ns[0][0]
        - offset_ns[other][0];
    let sibling = pus[1..].iter().find(|pu| core_of(model, **pu) == core_of(model, pus[0]));
    Some(HomeModel {
        groups: vec![pus.to_vec()],
        between_ns: Matrix::filled(1, base_ns),
        inside_ns: None,
        offset_ns,
        // The figures come from the formula itself, so nothing is left over.
        r2: 1.0,
        residual_ns: 0.0,
        pair_view_empty: true,
        star_r2: Some(1.0),
        smt_ns: sibling.and_then(|pu| model.round_trip_ticks(pus[0], *pu, 0)).map(ns),
        lines: Some(HomeLines {
            home_of_line: (0..CANDIDATES).filter_map(|line| model.home_of(LINE + line)).collect(),
            nearest_pu: lines
                .iter()
                .filter_map(|line| model.pus_at_home(*line)?.first().copied())
                .collect(),
            confidence: 1.0,
            resolvable: true,
            samples: 0,
            checked: None,
        }),
    })
}

fn core_of(model: &CoherentModel, pu: u32) -> Option<u32> {
    model.topology.pu(pu).and_then(|pu| pu.core)
}
