//! Slots in nested groups, with one distance per level.

use crate::Problem;
use seatmap_data::machine::Square;

/// Slots in nested groups: the smallest group with both slots decides their distance.
///
/// Replaces a table of all distances: 1 GiB for 16,384 slots. Groups may differ in size.
#[derive(Clone, Debug)]
pub struct SlotGroups {
    pub(crate) order: Vec<u32>,
    /// Innermost first; the last has a single group.
    pub(crate) levels: Vec<GroupLevel>,
    /// A slot's number in each group, the innermost in the lowest bits.
    pub(crate) code: Vec<u32>,
    /// The distance by the leading zeros of two codes' difference.
    distance: [f64; CODE_BITS + 1],
}

#[derive(Clone, Debug)]
pub(crate) struct GroupLevel {
    pub group_of: Vec<u32>,
    /// The start of each group in the order, and the end of the last.
    pub first: Vec<u32>,
}

const CODE_BITS: usize = 32;

/// More mean a measured machine without an exact hierarchy.
const MOST_LEVELS: usize = 12;

const ROWS_SAMPLED: usize = 64;

/// Distances of different levels differ by this factor.
const GAP: f32 = 1.15;

/// Beyond it groups are useless: meshes have gaps between distances, but no groups.
const MOST_DEVIATION: f64 = 0.1;

impl SlotGroups {
    /// Equal groups, innermost first: members per group, and distances at the level. `None` if
    /// these differ in length or are empty, or with too many slots.
    pub fn uniform(sizes: &[usize], distances: &[f64]) -> Option<Self> {
        if sizes.len() != distances.len() {
            return None;
        }
        let slots = sizes.iter().try_fold(1_usize, |slots, size| slots.checked_mul(*size))?;
        let slots = u32::try_from(slots).ok().filter(|slots| *slots > 0)?;
        let mut inside = 1;
        let mut groups = Vec::with_capacity(sizes.len());
        for size in sizes {
            inside *= *size as u32;
            groups.push((0..slots).map(|slot| slot / inside).collect());
        }
        SlotGroups::new(groups, distances)
    }

    /// The groups with exactly a problem's distances, if any.
    pub fn of(problem: &Problem) -> Option<Self> {
        let known = distinct(&problem.distance)?;
        let levels = known.iter().map(|distance| (*distance, *distance)).collect();
        SlotGroups::within(problem, levels).filter(|groups: &SlotGroups| groups.agrees(problem))
    }

    /// Groups of near slots on a measured machine, if distances have gaps.
    pub fn near(problem: &Problem) -> Option<Self> {
        let mut sampled = sampled(&problem.distance);
        sampled.sort_by(f32::total_cmp);
        let mut levels = Vec::new();
        let mut first = 0;
        for at in 1..=sampled.len() {
            let ends = sampled.get(at).is_none_or(|next| *next > sampled[at - 1] * GAP);
            if ends {
                levels.push((sampled[at - 1] * GAP.sqrt(), sampled[(first + at) / 2]));
                first = at;
            }
        }
        let groups = SlotGroups::within(problem, levels)?;
        let is_divided = (2..=MOST_LEVELS).contains(&groups.levels.len());
        (is_divided && groups.deviation(problem) <= MOST_DEVIATION).then_some(groups)
    }

    /// The mean relative deviation from true distances, by samples.
    fn deviation(&self, problem: &Problem) -> f64 {
        let step = self.slots().div_ceil(ROWS_SAMPLED).max(1);
        let mut sum = 0.0;
        let mut pairs = 0;
        for a in (0..self.slots()).step_by(step) {
            for b in (0..self.slots()).filter(|b| problem.pu_of_slot[*b] != problem.pu_of_slot[a]) {
                let apart = problem.between(a, b);
                sum += (self.between(a, b) - apart).abs() / apart.max(f64::MIN_POSITIVE);
                pairs += 1;
            }
        }
        sum / f64::from(pairs.max(1))
    }

    /// Groups by the largest and usual distance of each level.
    fn within(problem: &Problem, levels: Vec<(f32, f32)>) -> Option<Self> {
        let pus = problem.distance.n();
        let last = levels.len().saturating_sub(1);
        let mut groups: Vec<Vec<u32>> = levels
            .iter()
            .enumerate()
            // The outermost group includes PUs farther apart than any sample.
            .map(|(at, (within, _))| {
                grouped(&problem.distance, if at == last { f32::INFINITY } else { *within })
            })
            .collect();
        let mut distances: Vec<f64> =
            levels.into_iter().map(|(_, usual)| f64::from(usual)).collect();
        // Two slots of one PU meet below all other levels.
        if problem.slots() > pus {
            groups.insert(0, (0..pus as u32).collect());
            distances.insert(0, problem.between(0, 0));
        }
        let of_slots = groups.into_iter().map(|groups: Vec<u32>| {
            problem.pu_of_slot.iter().map(|pu| groups[*pu as usize]).collect()
        });
        SlotGroups::new(of_slots.collect(), &distances)
    }

    /// The innermost level first.
    fn new(groups: Vec<Vec<u32>>, distances: &[f64]) -> Option<Self> {
        let slots = groups.last()?.len();
        let mut order: Vec<u32> = (0..slots as u32).collect();
        // Stable sorts: the outermost decides first.
        groups.iter().for_each(|group_of| order.sort_by_key(|slot| group_of[*slot as usize]));
        let levels: Vec<GroupLevel> =
            groups.into_iter().map(|group_of| GroupLevel::new(&order, &group_of)).collect();
        if levels.last()?.groups() != 1 {
            return None;
        }
        let mut hierarchy =
            SlotGroups { code: vec![0; slots], distance: [0.0; CODE_BITS + 1], order, levels };
        hierarchy.encode(distances)?;
        Some(hierarchy)
    }

    fn encode(&mut self, distances: &[f64]) -> Option<()> {
        let mut bits = 0;
        for (at, distance) in distances.iter().enumerate() {
            let numbers = self.numbers_in_group(at);
            let most = numbers.iter().copied().max().unwrap_or(0);
            let more = (u32::BITS - most.leading_zeros()) as usize;
            if bits + more > CODE_BITS {
                return None;
            }
            for (code, number) in self.code.iter_mut().zip(&numbers) {
                // A shift by all bits is undefined.
                *code |= number.checked_shl(bits as u32).unwrap_or(0);
            }
            // If the k-th bit, from 1, is the highest differing one, 32 - k bits before it are 0.
            (bits + 1..=bits + more).for_each(|bit| self.distance[CODE_BITS - bit] = *distance);
            bits += more;
        }
        Some(())
    }

    /// The number of each slot, or its inner group, in its group.
    fn numbers_in_group(&self, at: usize) -> Vec<u32> {
        let level = &self.levels[at];
        let mut number_of = vec![0; self.order.len()];
        for (place, slot) in self.order.iter().enumerate() {
            let group = level.group_of[*slot as usize] as usize;
            let first = level.first[group];
            // Groups are numbered in order, so members have consecutive numbers.
            number_of[*slot as usize] = match at.checked_sub(1) {
                Some(inner) => {
                    let inner = &self.levels[inner].group_of;
                    inner[*slot as usize] - inner[self.order[first as usize] as usize]
                }
                None => place as u32 - first,
            };
        }
        number_of
    }

    fn agrees(&self, problem: &Problem) -> bool {
        let pus = problem.distance.n();
        let mut slot_on = vec![None; pus];
        for (slot, pu) in problem.pu_of_slot.iter().enumerate() {
            let first = slot_on[*pu as usize].get_or_insert(slot);
            if *first != slot
                && self.between(*first, slot) as f32
                    != problem.distance[(*pu as usize, *pu as usize)]
            {
                return false;
            }
        }
        let Some(codes) =
            slot_on.iter().map(|slot| Some(self.code[(*slot)?])).collect::<Option<Vec<u32>>>()
        else {
            return false;
        };
        (0..pus).all(|pu| {
            others(&problem.distance, pu)
                .all(|(other, distance)| self.by_codes(codes[pu], codes[other]) as f32 == *distance)
        })
    }

    /// The number of slots.
    pub fn slots(&self) -> usize {
        self.order.len()
    }

    /// The distance of two different slots.
    pub fn between(&self, a: usize, b: usize) -> f64 {
        self.by_codes(self.code[a], self.code[b])
    }

    /// 0 between a slot and itself.
    #[inline]
    pub(crate) fn by_codes(&self, a: u32, b: u32) -> f64 {
        self.distance[(a ^ b).leading_zeros() as usize]
    }

    #[inline]
    pub(crate) fn group(&self, level: usize, slot: u32) -> &[u32] {
        let level = &self.levels[level];
        let group = level.group_of[slot as usize] as usize;
        &self.order[level.first[group] as usize..level.first[group + 1] as usize]
    }
}

impl GroupLevel {
    fn new(order: &[u32], given: &[u32]) -> Self {
        let mut level = GroupLevel { group_of: vec![0; order.len()], first: Vec::new() };
        let mut last = None;
        for (place, slot) in order.iter().enumerate() {
            let group = given[*slot as usize];
            if last != Some(group) {
                level.first.push(place as u32);
                last = Some(group);
            }
            level.group_of[*slot as usize] = level.groups() as u32;
        }
        level.first.push(order.len() as u32);
        level
    }

    fn groups(&self) -> usize {
        self.first.len() - 1
    }
}

fn others(distance: &Square<f32>, pu: usize) -> impl Iterator<Item = (usize, &f32)> {
    distance.row(pu).iter().enumerate().filter(move |(other, _)| *other != pu)
}

fn sampled(distance: &Square<f32>) -> Vec<f32> {
    let step = distance.n().div_ceil(ROWS_SAMPLED).max(1);
    let rows = (0..distance.n()).step_by(step);
    rows.flat_map(|row| others(distance, row).map(|(_, distance)| *distance)).collect()
}

/// Ascending; `None` if too many for a hierarchy.
fn distinct(distance: &Square<f32>) -> Option<Vec<f32>> {
    let mut known: Vec<f32> = Vec::new();
    for distance in sampled(distance) {
        if !known.contains(&distance) {
            known.push(distance);
        }
        if known.len() > MOST_LEVELS {
            return None;
        }
    }
    known.sort_by(f32::total_cmp);
    Some(known)
}

/// PUs within this distance of the first member.
fn grouped(distance: &Square<f32>, within: f32) -> Vec<u32> {
    let mut group_of = vec![u32::MAX; distance.n()];
    let mut groups = 0;
    for first in 0..distance.n() {
        if group_of[first] != u32::MAX {
            continue;
        }
        group_of[first] = groups;
        for (group, apart) in group_of.iter_mut().zip(distance.row(first)) {
            if *group == u32::MAX && *apart <= within {
                *group = groups;
            }
        }
        groups += 1;
    }
    group_of
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Traffic;
    use crate::for_tests::with_slots;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn nested_groups_are_detected_under_any_numbering(
            pus in 2..40_usize, sizes in (1..6_usize, 1..4_usize), slots_a_pu in 1..3_usize, seed: u64
        ) {
            let mut rng = seatmap_data::statistics::Xoshiro::new(seed);
            let mut number: Vec<usize> = (0..pus).collect();
            rng.shuffle(&mut number);
            let distance = Square::from_fn(pus, |a, b| {
                let [a, b] = [number[a], number[b]];
                match (a == b, a / sizes.0 == b / sizes.0, a / sizes.0 / sizes.1 == b / sizes.0 / sizes.1) {
                    (true, ..) => 0.5,
                    (_, true, _) => 2.0,
                    (_, _, true) => 5.0,
                    _ => 9.0,
                }
            });
            let mut problem = with_slots(Traffic::new(0, []), distance, slots_a_pu);
            let hierarchy = SlotGroups::of(&problem).unwrap();
            for (a, b) in (0..problem.slots()).flat_map(|a| (0..a).map(move |b| (a, b))) {
                prop_assert_eq!(hierarchy.between(a, b), problem.between(a, b));
            }
            if pus > 2 {
                problem.distance.set_both(0, pus - 1, 11.0);
                prop_assert!(SlotGroups::of(&problem).is_none());
            }
        }
    }

    #[test]
    fn line_distances_form_no_hierarchy() {
        let line = Square::from_fn(5, |a, b| a.abs_diff(b) as f32);
        assert!(SlotGroups::of(&Problem::new(Traffic::new(0, []), line)).is_none());
    }

    #[test]
    fn uniform_groups_compute_distance_by_level() {
        let hierarchy = SlotGroups::uniform(&[16, 16, 64], &[1.0, 6.0, 30.0]).unwrap();
        assert_eq!(
            [(0, 15), (0, 16), (255, 256), (0, 16_383)].map(|(a, b)| hierarchy.between(a, b)),
            [1.0, 6.0, 30.0, 30.0]
        );
        let ends = hierarchy.levels[1].first.windows(2).map(|two| two[1] - two[0]);
        assert_eq!(ends.collect::<Vec<_>>(), [256; 64]);
        assert_eq!(hierarchy.group(0, 17), (16..32).collect::<Vec<u32>>());
        assert!(SlotGroups::uniform(&[0, 2], &[1.0, 2.0]).is_none());
        assert!(SlotGroups::uniform(&[2], &[1.0, 2.0]).is_none());
    }
}
