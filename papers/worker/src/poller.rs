//! Queues served in proportion to weights.

/// Chooses the queue that a poller serves next: deficit round robin (Shreedhar & Varghese 1996,
/// "Efficient fair queuing using deficit round robin").
///
/// Each queue in turn gets its weight in quanta as credit and is served while its credit lasts. An
/// empty queue loses its credit, and the others share its time. While all are busy, no queue
/// exceeds its share by more than a quantum times its weight plus one item. The kernel's weights
/// for several pollers would vary by a factor of two within 10 ms.
///
/// ```
/// use seatmap_worker::WeightedPoller;
/// let mut poller = WeightedPoller::new(&[4, 3], 1);
/// let served: Vec<usize> = (0..7).filter_map(|_| poller.next(|_| Some(1))).collect();
/// assert_eq!(served, [0, 0, 0, 0, 1, 1, 1]);
/// ```
#[derive(Clone, Debug)]
pub struct WeightedPoller {
    grants: Vec<u64>,
    credit: Vec<u64>,
    at: usize,
    is_granted: bool,
}

impl WeightedPoller {
    /// A poller with one queue for each weight. `quantum` is the credit of a weight of one in each
    /// turn, in the unit of costs. Small quanta mix finely; below an item's cost, serving it takes
    /// several turns.
    pub fn new(weights: &[u32], quantum: u64) -> Self {
        WeightedPoller {
            grants: weights
                .iter()
                .map(|weight| u64::from(*weight).saturating_mul(quantum.max(1)))
                .collect(),
            credit: vec![0; weights.len()],
            at: 0,
            is_granted: false,
        }
    }

    /// The next queue to serve, if any. `cost` returns the cost of a queue's first item, or `None`
    /// if it is empty.
    pub fn next(&mut self, mut cost: impl FnMut(usize) -> Option<u64>) -> Option<usize> {
        let mut empty = 0;
        let mut unserved = 0;
        let mut rounds = u64::MAX;
        while empty < self.grants.len() {
            let at = self.at;
            // The queue already got its credit of this turn in an earlier call.
            unserved += usize::from(!self.is_granted);
            match cost(at).filter(|_| self.grants[at] > 0) {
                None => {
                    self.credit[at] = 0;
                    empty += 1;
                }
                Some(cost) => {
                    empty = 0;
                    if !std::mem::replace(&mut self.is_granted, true) {
                        self.credit[at] = self.credit[at].saturating_add(self.grants[at]);
                    }
                    let Some(missing) = cost.checked_sub(self.credit[at]).filter(|it| *it > 0)
                    else {
                        self.credit[at] -= cost;
                        return Some(at);
                    };
                    rounds = rounds.min(missing.div_ceil(self.grants[at]));
                }
            }
            self.at = (at + 1) % self.grants.len();
            self.is_granted = false;
            if unserved == self.grants.len() {
                self.skip(rounds.saturating_sub(1));
                unserved = 0;
                rounds = u64::MAX;
            }
        }
        None
    }

    /// Adds the credit of rounds in which no queue is served. For costly items, single rounds would
    /// take too long.
    fn skip(&mut self, rounds: u64) {
        for (credit, grant) in self.credit.iter_mut().zip(&self.grants) {
            if *credit > 0 {
                *credit = credit.saturating_add(grant.saturating_mul(rounds));
            }
        }
    }
}

/// Pollers for each queue, out of `count`, in proportion to weights, by largest remainders. Every
/// queue with a weight gets one if there are enough.
pub fn pollers(weights: &[u32], count: usize) -> Vec<usize> {
    let total: u64 = weights.iter().map(|weight| u64::from(*weight)).sum();
    let wanting = weights.iter().filter(|weight| **weight > 0).count();
    if total == 0 || count == 0 {
        return vec![0; weights.len()];
    }
    let floor = usize::from(count >= wanting);
    let spare = (count - if floor == 1 { wanting } else { 0 }) as u64;
    let mut shares: Vec<usize> = weights
        .iter()
        .map(|weight| part_of(spare, total, *weight).0 as usize + floor * usize::from(*weight > 0))
        .collect();
    let mut by_remainder: Vec<usize> = (0..weights.len()).collect();
    by_remainder.sort_by_key(|at| std::cmp::Reverse(part_of(spare, total, weights[*at]).1));
    let left = count - shares.iter().sum::<usize>();
    by_remainder.iter().take(left).for_each(|at| shares[*at] += 1);
    shares
}

fn part_of(spare: u64, total: u64, weight: u32) -> (u64, u64) {
    let weighed = u128::from(spare) * u128::from(weight);
    let total = u128::from(total);
    ((weighed / total) as u64, (weighed % total) as u64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn pollers_are_divided_by_weight() {
        assert_eq!(pollers(&[4, 3], 14), [8, 6]);
        assert_eq!(pollers(&[4, 3], 1), [1, 0]);
        assert_eq!(pollers(&[100, 1, 0], 3), [2, 1, 0]);
        assert_eq!(pollers(&[0, 0], 3), [0, 0]);
    }

    #[test]
    fn idle_queues_give_none() {
        let mut poller = WeightedPoller::new(&[1, 0], 1);
        assert_eq!(poller.next(|_| None), None);
        assert_eq!(
            poller.next(|queue| (queue == 1).then_some(1)),
            None,
            "a weight of zero is never served"
        );
        assert_eq!(WeightedPoller::new(&[], 1).next(|_| Some(1)), None);
    }

    #[test]
    fn extreme_weights_and_costs_do_not_overflow() {
        let mut poller = WeightedPoller::new(&[u32::MAX, 1], u64::MAX);
        assert_eq!(poller.next(|_| Some(u64::MAX)), Some(0));
        assert_eq!(pollers(&[u32::MAX, 0], usize::MAX), [usize::MAX, 0]);
    }

    #[test]
    fn costly_item_is_served_soon() {
        let mut poller = WeightedPoller::new(&[1, 2, 1], 1);
        let mut looks = 0;
        let costs = [Some(u64::MAX), Some(u64::MAX - 2), None];
        let served = poller.next(|queue| {
            looks += 1;
            costs[queue]
        });
        assert_eq!(served, Some(1), "it is granted twice as much a round");
        assert!(looks < 10, "{looks}");
    }

    proptest! {
        #[test]
        fn skipped_rounds_change_nothing(
            weights in prop::collection::vec(0u32..5, 1..5),
            costs in prop::collection::vec(prop::option::of(0u64..50), 5..20),
        ) {
            let mut poller = WeightedPoller::new(&weights, 1);
            let mut credit = vec![0; weights.len()];
            let mut at = 0;
            let mut is_granted = false;
            for turn in 0..20 {
                let cost_of = |queue: usize| costs[(turn + 3 * queue) % costs.len()];
                let served = poller.next(cost_of);
                let mut queues = 0..weights.len();
                let has_some = queues.any(|it| weights[it] > 0 && cost_of(it).is_some());
                prop_assert_eq!(served.is_some(), has_some);
                if !has_some {
                    // It looks at every queue once, and each loses its credit.
                    credit.fill(0);
                    is_granted = false;
                    continue;
                }
                // The original algorithm: one visit after another.
                loop {
                    let cost = cost_of(at).filter(|_| weights[at] > 0);
                    match cost {
                        None => credit[at] = 0,
                        Some(_) if !is_granted => credit[at] += u64::from(weights[at]),
                        Some(_) => {}
                    }
                    is_granted = true;
                    if let Some(left) = cost.and_then(|cost| credit[at].checked_sub(cost)) {
                        credit[at] = left;
                        break;
                    }
                    at = (at + 1) % weights.len();
                    is_granted = false;
                }
                prop_assert_eq!(served, Some(at));
            }
        }

        #[test]
        fn busy_queues_get_their_shares(
            weights in prop::collection::vec(1u32..20, 1..6),
            quantum in 1u64..2000,
            costs in prop::collection::vec(1u64..1500, 1..20),
        ) {
            let mut poller = WeightedPoller::new(&weights, quantum);
            let mut served = vec![0_u64; weights.len()];
            for turn in 0..3000 {
                let cost = costs[turn % costs.len()];
                let queue = poller.next(|_| Some(cost)).unwrap();
                served[queue] += cost;
            }
            // The distance of two queues, in rounds, is at most a round and an item.
            let rounds = |queue: usize| served[queue] as f64 / (quantum * u64::from(weights[queue])) as f64;
            let slack = |queue: usize| 1.0 + 1500.0 / (quantum * u64::from(weights[queue])) as f64;
            for a in 0..weights.len() {
                for b in 0..weights.len() {
                    prop_assert!(rounds(a) - rounds(b) <= slack(a) + slack(b), "{served:?} by {weights:?}");
                }
            }
        }

        #[test]
        fn all_pollers_are_assigned(weights in prop::collection::vec(0u32..50, 1..8), count in 0usize..40) {
            let shares = pollers(&weights, count);
            let wanted = if weights.iter().all(|weight| *weight == 0) { 0 } else { count };
            prop_assert_eq!(shares.iter().sum::<usize>(), wanted);
        }
    }
}
