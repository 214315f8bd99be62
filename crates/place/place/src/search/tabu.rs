//! Robust tabu search on dense matrices.

use super::{DeadlineWatch, Dense, SearchEngine, SearchLimit, Solution};
use seatmap_data::statistics::Xoshiro;

/// Always makes the best swap that does not undo a recent one, even at a loss (Taillard 1991, with
/// tenure 0.9 n to 1.1 n and forced diversification).
///
/// On matrices without structure it beats kicks. The engine keeps the last state.
pub fn tabu(engine: &mut Dense, rng: &mut Xoshiro, limit: &SearchLimit) -> Solution {
    let n = engine.items();
    let mut best = engine.solution();
    // Then a place counts as unused for very long.
    let patience = (n * n * 5) as u64;
    // When an item may return to a place.
    let mut free_at = vec![0_u64; n * n];
    let mut left = limit.kicks;
    let mut now = 0_u64;
    let mut watch = DeadlineWatch::new(limit, n * n);
    while left > 0 && !watch.is_late() {
        left -= 1;
        now += 1;
        let long_ago = now.saturating_sub(patience);
        let Some((i, j)) = choose(engine, &free_at, now, long_ago, best.cost) else { break };
        let place_i = engine.places()[i] as usize;
        let place_j = engine.places()[j] as usize;
        engine.swap(i, j);
        // Random times prevent cycles of a fixed length.
        for cell in [i * n + place_i, j * n + place_j] {
            free_at[cell] = now + (n as f64 * (0.9 + 0.2 * rng.unit())) as u64 + 2;
        }
        if engine.cost() < best.cost - 1e-9 * best.cost.abs() {
            best = engine.solution();
        }
    }
    best
}

/// The best swap: not tabu, better than all before, or unused for very long.
fn choose(
    engine: &Dense,
    free_at: &[u64],
    now: u64,
    long_ago: u64,
    best: f64,
) -> Option<(usize, usize)> {
    let n = engine.items();
    let places = engine.places();
    let mut least = f64::INFINITY;
    let mut chosen = None;
    let mut forced = false;
    for i in 0..n {
        let tabu_i = &free_at[i * n..(i + 1) * n];
        let home_i = places[i] as usize;
        for (j, change) in (i + 1..n).zip(engine.row(i)) {
            // After an aspired swap only cheaper ones matter.
            if *change >= least && (forced || long_ago == 0) {
                continue;
            }
            let at_j = tabu_i[places[j] as usize];
            let at_i = free_at[j * n + home_i];
            // A swap is tabu only if both items would return.
            let is_free = at_j <= now || at_i <= now;
            let aspired = engine.cost() + change < best || (at_j < long_ago && at_i < long_ago);
            if aspired && !forced {
                (least, chosen, forced) = (*change, Some((i, j)), true);
            } else if *change < least && (aspired || (is_free && !forced)) {
                (least, chosen) = (*change, Some((i, j)));
            }
        }
    }
    chosen
}
