//! Traffic on a machine: the loads of links and borders, and the lines at their homes.

use super::{DrawnPlacement, FloorPlan};
use seatmap_data::pattern::Pattern;
use seatmap_measure::appraise::links::{self, border_loads};
use std::collections::{BTreeMap, BTreeSet};

/// The heaviest pairs; more would cover the picture.
const MOST_PAIRS: usize = 160;
/// If all pairs weigh the same, none may be left out.
const MOST_EQUAL_PAIRS: usize = 1000;

/// Two tasks that communicate; both directions if they share a line.
pub struct TaskPair {
    pub from: usize,
    pub to: usize,
    pub bytes: f64,
    pub home: Option<usize>,
}

pub struct Flow {
    /// Load in each direction: bytes, or a simulator's count.
    pub wires: Vec<f64>,
    /// Bytes that cross the border of each area.
    pub borders: Vec<f64>,
    pub pairs: Vec<TaskPair>,
    /// Edges whose lines are at each home.
    pub lines: BTreeMap<usize, Vec<(usize, usize)>>,
    pub tasks: BTreeMap<u32, Vec<usize>>,
}

impl Flow {
    pub fn of(floor: &FloorPlan, pattern: &Pattern, seating: &DrawnPlacement) -> Self {
        let areas = Vec::from_iter(floor.areas.iter().map(|area| area.pus.as_slice()));
        let mut pairs = BTreeMap::new();
        let mut lines = BTreeMap::<usize, Vec<(usize, usize)>>::new();
        let edges = pattern.edges.iter().enumerate();
        for (at, edge) in edges.filter(|(_, edge)| seating.ends(edge).is_some()) {
            let home = seating.home(at);
            if let Some(home) = home {
                lines.entry(home).or_default().push((edge.from, edge.to));
            }
            *pairs.entry((edge.from.min(edge.to), edge.from.max(edge.to), home)).or_insert(0.0) +=
                edge.bytes;
        }
        Flow {
            wires: floor.ways.as_ref().map_or(Vec::new(), |ways| ways.loads(pattern, seating)),
            borders: border_loads(&areas, pattern, seating),
            pairs: heaviest(pairs),
            lines,
            tasks: tasks_by_seat(&seating.placement),
        }
    }

    /// The most loaded wire or, without wires, border.
    pub fn busiest(&self, floor: &FloorPlan) -> Option<(usize, f64)> {
        links::heaviest(if floor.wires.is_empty() { &self.borders } else { &self.wires })
    }
}

/// The tasks on each CPU.
pub fn tasks_by_seat(placement: &[u32]) -> BTreeMap<u32, Vec<usize>> {
    let mut tasks = BTreeMap::<u32, Vec<usize>>::new();
    for (task, os) in placement.iter().enumerate() {
        tasks.entry(*os).or_default().push(task);
    }
    tasks
}

/// The heaviest pairs by the sum over homes: all or none of equal weight, unless all weigh the
/// same.
fn heaviest(bows: BTreeMap<(usize, usize, Option<usize>), f64>) -> Vec<TaskPair> {
    let mut all: BTreeMap<(usize, usize), f64> = BTreeMap::new();
    bows.iter().for_each(|((from, to, _), bytes)| *all.entry((*from, *to)).or_default() += bytes);
    let mut weights = Vec::from_iter(all.values().copied());
    weights.sort_by(|a, b| b.total_cmp(a));
    // Leaves out the first pair beyond the limit, and its equals.
    let least =
        weights.get(MOST_PAIRS).filter(|weight| **weight < weights[0]).copied().unwrap_or(0.0);
    // By the sum over lines, so no pair is drawn partially.
    let is_drawn =
        |((from, to, _), _): &((usize, usize, Option<usize>), f64)| all[&(*from, *to)] > least;
    bows.into_iter()
        .filter(is_drawn)
        .map(|((from, to, home), bytes)| TaskPair { from, to, bytes, home })
        .take(MOST_EQUAL_PAIRS)
        .collect()
}

/// Tasks that communicate, directly or through others, form a part. `None` for tasks without
/// traffic.
pub fn parts(pattern: &Pattern) -> Vec<Option<usize>> {
    let mut above = Vec::from_iter(0..pattern.tasks);
    // Union-find: two tasks that communicate get the same first task.
    for edge in pattern.edges.iter().filter(|edge| edge.from.max(edge.to) < pattern.tasks) {
        let a = first_of(&mut above, edge.from);
        let b = first_of(&mut above, edge.to);
        above[a.max(b)] = a.min(b);
    }
    let first = Vec::from_iter((0..pattern.tasks).map(|task| first_of(&mut above, task)));
    // A task that is not the first shows that the part has several.
    let several = BTreeSet::from_iter(
        (0..pattern.tasks).filter(|task| first[*task] != *task).map(|task| first[task]),
    );
    let numbers =
        BTreeMap::from_iter(several.into_iter().enumerate().map(|(number, first)| (first, number)));
    first.iter().map(|first| numbers.get(first).copied()).collect()
}

/// Each step halves the path for later calls.
fn first_of(above: &mut [usize], mut task: usize) -> usize {
    while above[task] != task {
        above[task] = above[above[task]];
        task = above[task];
    }
    task
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::Edge;

    fn pattern(tasks: usize, edges: &[(usize, usize, f64)]) -> Pattern {
        let edge = |(from, to, bytes): &(usize, usize, f64)| Edge {
            from: *from,
            to: *to,
            bytes: *bytes,
            messages: 1.0,
        };
        Pattern::gathered("any", tasks, edges.iter().map(edge))
    }

    #[test]
    fn connected_tasks_form_parts() {
        let talk = pattern(7, &[(5, 3, 1.0), (1, 2, 1.0), (2, 6, 1.0), (6, 1, 1.0)]);
        assert_eq!(parts(&talk), [None, Some(0), Some(0), Some(1), None, Some(1), Some(0)]);
    }

    #[test]
    fn equally_heavy_pairs_are_drawn_together() {
        let of = |heavy: usize, light: usize| {
            let pair = |at: usize| ((at, at + 1, None), if at < heavy { 2.0 } else { 1.0 });
            heaviest((0..heavy + light).map(pair).collect()).len()
        };
        assert_eq!(
            (of(3, 4), of(10, 150), of(10, 151), of(0, 500), of(0, 5000)),
            (7, 160, 10, 500, 1000)
        );
    }

    #[test]
    fn shared_home_does_not_single_out_pair() {
        let both = |at: usize| [((at, at + 1, Some(at)), 1.0), ((at, at + 1, Some(7)), 1.0)];
        let bows = BTreeMap::from_iter((0..200).flat_map(both).chain([((500, 501, Some(7)), 2.0)]));
        assert_eq!(heaviest(bows.clone()).len(), bows.len());
    }
}
