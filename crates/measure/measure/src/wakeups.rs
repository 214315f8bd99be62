//! The cost of waking a sleeping thread.

use seatmap_data::machine::{Nearness, Topology, WakeupPair, Wakeups};
use seatmap_data::statistics::{Xoshiro, summarise};
use std::collections::BTreeMap;
use std::ops::ControlFlow;

/// The default number of pairs per nearness.
pub const USUAL_PAIRS: u32 = 2;

/// Round trips per batch: enough for any clock, because a wakeup takes at least a microsecond.
const ROUND_TRIPS: u32 = 40;
const BATCHES: u32 = 8;

/// Random pairs to measure: this many of each nearness, including CPUs with themselves.
pub fn pairs(topology: &Topology, pus: &[u32], most: u32, seed: u64) -> Vec<[u32; 2]> {
    let mut order = pus.to_vec();
    Xoshiro::new(seed).shuffle(&mut order);
    let mut taken: BTreeMap<Nearness, Vec<[u32; 2]>> = BTreeMap::new();
    for (at, a) in order.iter().enumerate() {
        for b in &order[at..] {
            let found = taken.entry(Nearness::of(topology, [*a, *b])).or_default();
            if found.len() < most as usize {
                found.push([*a.min(b), *a.max(b)]);
            }
        }
    }
    taken.into_values().flatten().collect()
}

/// The round trips of these pairs over this many passes; `None` if `go_on` ended it. Each pass has
/// a random order, so changes affect all pairs alike.
///
/// `round_trips_ns` returns batches of round trips between sleeping threads on two CPUs (possibly
/// the same), in nanoseconds per round trip; it receives the CPUs, the number of batches and the
/// round trips per batch.
///
/// # Errors
///
/// The source's.
pub fn wakeups<E>(
    mut round_trips_ns: impl FnMut([u32; 2], u32, u32) -> Result<Vec<f64>, E>,
    pairs: &[[u32; 2]],
    passes: u32,
    seed: u64,
    mut go_on: impl FnMut() -> ControlFlow<()>,
) -> Result<Option<Wakeups>, E> {
    let mut rng = Xoshiro::new(seed);
    let mut order: Vec<usize> = (0..pairs.len()).collect();
    let mut by_pass: Vec<Vec<Vec<f64>>> = vec![Vec::new(); pairs.len()];
    for _ in 0..passes {
        rng.shuffle(&mut order);
        for at in &order {
            if go_on().is_break() {
                return Ok(None);
            }
            by_pass[*at].push(round_trips_ns(pairs[*at], BATCHES, ROUND_TRIPS)?);
        }
    }
    let summed =
        pairs.iter().zip(&by_pass).filter_map(|(pus, passes)| pair(*pus, passes, seed)).collect();
    Ok(Some(Wakeups { passes, round_trips: ROUND_TRIPS, pairs: summed }))
}

fn pair(pus: [u32; 2], passes: &[Vec<f64>], seed: u64) -> Option<WakeupPair> {
    let summary = summarise(passes, seed)?;
    Some(WakeupPair {
        pus,
        median_ns: summary.median,
        p10_ns: summary.p10,
        mad_ns: summary.mad,
        ci95_low_ns: summary.ci95_low,
        ci95_high_ns: summary.ci95_high,
        batches: summary.n as u64,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made_up() -> impl FnMut([u32; 2], u32, u32) -> Result<Vec<f64>, String> {
        let mut rng = Xoshiro::new(7);
        move |pus, batches, _| {
            let ns = if pus[0] == pus[1] { 3000.0 } else { 9000.0 };
            let disturbed = |at: u32| if at.is_multiple_of(4) { 10.0 } else { 1.0 };
            if pus[1] < 4 {
                Ok((0..batches).map(|at| ns * disturbed(at) + rng.below(10) as f64).collect())
            } else {
                Err("no such CPU".to_owned())
            }
        }
    }

    #[test]
    fn disturbed_batches_do_not_move_the_figures() {
        let told = wakeups(made_up(), &[[0, 0], [0, 1]], 5, 1, || ControlFlow::Continue(()))
            .unwrap()
            .unwrap();
        let [own, across] = [&told.pairs[0], &told.pairs[1]];
        assert!(
            (3000.0..3010.0).contains(&own.median_ns)
                && (9000.0..9010.0).contains(&across.median_ns),
            "{told:?}"
        );
        assert!(own.ci95_high_ns < 3010.0 && own.batches == u64::from(5 * BATCHES), "{told:?}");
    }

    #[test]
    fn every_nearness_has_its_pairs() {
        let mut topology = Topology::unknown(0..8);
        topology
            .pus
            .iter_mut()
            .for_each(|pu| (pu.core, pu.l3) = (Some(pu.os % 4), Some(pu.os % 2)));
        let drawn = pairs(&topology, &[0, 1, 2, 3, 4, 5, 6, 7], 2, 1);
        let of =
            |wanted| drawn.iter().filter(|pus| Nearness::of(&topology, **pus) == wanted).count();
        let nearness = [[0, 0], [0, 4], [0, 2], [0, 1]].map(|pus| of(Nearness::of(&topology, pus)));
        assert_eq!((nearness, drawn.len()), ([2, 2, 2, 2], 8));
        assert_eq!(pairs(&topology, &[3], 2, 1), [[3, 3]]);
        assert!(pairs(&topology, &[0, 1], 0, 1).is_empty());
    }

    #[test]
    fn wakeups_end_on_request_or_source_error() {
        assert_eq!(wakeups(made_up(), &[[0, 0]], 5, 1, || ControlFlow::Break(())), Ok(None));
        assert!(wakeups(made_up(), &[[0, 9]], 5, 1, || ControlFlow::Continue(())).is_err());
    }
}
