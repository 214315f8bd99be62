//! The orders of launchers: `--map-by slot`, `--map-by node`, `--distribution=plane=K` (mpirun(1),
//! srun(1)).

use seatmap_data::statistics::Xoshiro;

/// Fills each node before the next.
pub fn block(ranks: usize, seats: &[usize]) -> Vec<usize> {
    plane(ranks, seats, usize::MAX)
}

/// `at_once` ranks per node, round robin. There must be enough seats.
pub fn plane(ranks: usize, seats: &[usize], at_once: usize) -> Vec<usize> {
    assert!(seats.iter().sum::<usize>() >= ranks && at_once > 0, "a seat for each rank");
    let mut free = seats.to_vec();
    let mut order = Vec::with_capacity(ranks);
    while order.len() < ranks {
        for (node, free) in free.iter_mut().enumerate() {
            let taken = at_once.min(*free).min(ranks - order.len());
            *free -= taken;
            order.extend(std::iter::repeat_n(node, taken));
        }
    }
    order
}

/// A random seat for each rank.
pub fn random(ranks: usize, seats: &[usize], rng: &mut Xoshiro) -> Vec<usize> {
    let mut all: Vec<usize> = seats
        .iter()
        .enumerate()
        .flat_map(|(node, seats)| std::iter::repeat_n(node, *seats))
        .collect();
    rng.shuffle(&mut all);
    all.truncate(ranks);
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn launcher_orders_match_manuals() {
        assert_eq!(block(5, &[2, 0, 2, 2]), [0, 0, 2, 2, 3]);
        assert_eq!(plane(5, &[2, 1, 2], 1), [0, 1, 2, 0, 2]);
        assert_eq!(plane(8, &[4, 4], 2), [0, 0, 1, 1, 0, 0, 1, 1]);
    }

    proptest! {
        #[test]
        fn orders_never_exceed_seats_of_node(
            seats in prop::collection::vec(0..9_usize, 1..9), part in 0.0..=1.0, at_once in 1..9_usize, seed: u64
        ) {
            let ranks = (seats.iter().sum::<usize>() as f64 * part) as usize;
            for order in [plane(ranks, &seats, at_once), random(ranks, &seats, &mut Xoshiro::new(seed))] {
                prop_assert_eq!(order.len(), ranks);
                for (node, seats) in seats.iter().enumerate() {
                    prop_assert!(order.iter().filter(|at| **at == node).count() <= *seats);
                }
            }
        }
    }
}
