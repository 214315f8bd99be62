//! Starts for searches.
//!
//! No single start wins on all machines and patterns, and random starts do badly on rings and
//! stencils. Four good starts, each refined, come within a fraction of a percent of the best known.

mod bisect;
mod cut_graph;
mod greedy;
mod halves;
mod lawful;
mod multisection;
mod orders;
mod recursive;
mod sides;

pub use greedy::greedy;
pub use lawful::lawful;
pub(crate) use lawful::put_fixed;
pub(crate) use multisection::{CutCare, multisection};
pub use orders::{rcm, spectral};
pub use recursive::{nested, recursive};

use crate::{Problem, Zones};
use seatmap_data::statistics::Xoshiro;

/// Items in one order on slots in another.
pub fn in_order(items: &[u32], slots: &[u32]) -> Vec<u32> {
    let mut slot_of = vec![0; items.len()];
    items.iter().zip(slots).for_each(|(item, slot)| slot_of[*item as usize] = *slot);
    slot_of
}

pub(crate) fn inverse(slot_of: &[u32]) -> Vec<u32> {
    let mut item_at = vec![0; slot_of.len()];
    slot_of.iter().enumerate().for_each(|(item, slot)| item_at[*slot as usize] = item as u32);
    item_at
}

/// A random assignment that the zones allow.
pub fn random(problem: &Problem, rng: &mut Xoshiro) -> Vec<u32> {
    let mut slot_of: Vec<u32> = (0..problem.slots() as u32).collect();
    rng.shuffle(&mut slot_of);
    if !problem.zones.are_free() {
        // A plain shuffle rarely meets many small zones' bounds, and repairs are biased.
        slot_of = in_zones(&problem.zones, problem.tasks(), &slot_of);
        // Zone minimums came first, so their tasks must be random too.
        rng.shuffle(&mut slot_of[..problem.tasks()]);
    }
    lawful(problem, slot_of)
}

fn in_zones(zones: &Zones, tasks: usize, slots: &[u32]) -> Vec<u32> {
    let mut count = vec![0; zones.least.len()];
    let mut chosen = Vec::with_capacity(slots.len());
    let mut is_chosen = vec![false; slots.len()];
    // Otherwise full zones could use up the tasks for others.
    for bound in [&zones.least, &zones.most] {
        for slot in slots {
            let zone = zones.zone_of_slot[*slot as usize] as usize;
            if chosen.len() < tasks && !is_chosen[*slot as usize] && count[zone] < bound[zone] {
                count[zone] += 1;
                is_chosen[*slot as usize] = true;
                chosen.push(*slot);
            }
        }
    }
    chosen.extend(slots.iter().filter(|slot| !is_chosen[**slot as usize]));
    chosen
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use crate::for_tests::is_permutation;
    use crate::search::SearchLimit;
    use seatmap_data::machine::Square;

    #[test]
    fn bisection_without_time_splits_items_in_order() {
        let traffic = Traffic::new(4, [(0, 2, 1.0), (1, 3, 1.0)]);
        let cut = |limit| {
            bisect::bisect(&traffic, &[0, 1, 2, 3], 2, &[0.0; 4], &mut Xoshiro::new(1), &limit)
        };
        assert_eq!(cut(SearchLimit::seconds(0.0)), [false, false, true, true]);
        let searched = cut(SearchLimit::kicks(1));
        assert!(
            searched[0] == searched[2] && searched[1] == searched[3] && searched[0] != searched[1]
        );
    }

    #[test]
    fn random_assignments_respect_zones_and_reach_all_slots() {
        let mut problem = Problem::new(Traffic::new(5, []), Square::filled(8, 1.0));
        let zone_of_slot = vec![0, 0, 0, 0, 1, 1, 2, 2];
        problem.zones = Zones { zone_of_slot, least: vec![1; 3], most: vec![2; 3] };
        let mut rng = Xoshiro::new(1);
        let mut used = [0; 8];
        for _ in 0..200 {
            let slot_of = random(&problem, &mut rng);
            let of_tasks = &slot_of[..5];
            let count = |zone: u32| {
                of_tasks
                    .iter()
                    .filter(|slot| problem.zones.zone_of_slot[**slot as usize] == zone)
                    .count()
            };
            assert!((0..3).all(|zone| (1..=2).contains(&count(zone))), "{of_tasks:?}");
            of_tasks.iter().for_each(|slot| used[*slot as usize] += 1);
            assert!(slot_of.len() == 8 && is_permutation(&slot_of));
        }
        assert!(used.iter().all(|used| *used > 50), "{used:?}");
    }
}
