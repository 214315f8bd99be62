//! A lower bound on the time of any placement.

use super::TimeModel;
use crate::bound::{descending, dot};
use seatmap_data::statistics::least;

/// With more cells of tasks x PUs x partners, partners are not matched.
const MOST_LOOKS: usize = 1 << 26;
/// With more cells, tasks are not matched with PUs.
const MOST_CELLS: usize = 1 << 20;

/// A lower bound in nanoseconds: the larger of the total work divided by the cores' joint speed,
/// and the best matching of tasks with own seats and the cheapest messages there.
pub fn bound(model: &TimeModel) -> f64 {
    let floor = Floor::new(model);
    let tasks = model.tasks();
    let pus = model.pus();
    let is_matched = model.most == 1 && tasks * pus <= MOST_CELLS;
    let mut cells = Vec::new();
    let mut by_task = 0.0_f64;
    let mut messages = 0.0;
    for task in 0..tasks {
        let row = floor.row(task);
        messages += least(row.iter().map(|cell| cell.messages_ns));
        by_task = by_task.max(least(row.iter().map(|cell| cell.least_ns)));
        if is_matched {
            cells.extend(row.into_iter().map(|cell| cell.least_ns));
        }
    }
    let by_seat = if is_matched { bottleneck(&cells, tasks, pus) } else { by_task };
    // Rounding must not put a bound above an equal cost.
    by_seat.max(by_work(model, messages)) * (1.0 - 1e-12)
}

struct Cell {
    least_ns: f64,
    messages_ns: f64,
}

struct Floor<'a> {
    model: &'a TimeModel<'a>,
    /// Nearest first; only the nearest if partners are not matched.
    near_ns: Vec<Vec<f64>>,
    /// Whether each partner is on another PU, the heaviest on the nearest.
    is_matched: bool,
}

impl<'a> Floor<'a> {
    fn new(model: &'a TimeModel) -> Self {
        let tasks = model.tasks();
        let pus = model.pus();
        let partners: usize = (0..tasks).map(|task| model.traffic.degree(task)).sum();
        let is_matched = model.most == 1 && partners * pus <= MOST_LOOKS && pus * pus <= MOST_CELLS;
        Floor {
            near_ns: (0..pus).map(|pu| near(model, pu, is_matched)).collect(),
            model,
            is_matched,
        }
    }

    fn row(&self, task: usize) -> Vec<Cell> {
        let model = self.model;
        let weights = model.traffic.heaviest(task);
        let all: f64 = weights.iter().sum();
        self.near_ns
            .iter()
            .enumerate()
            .map(|(pu, near)| {
                let messages_ns = if self.is_matched {
                    dot(&weights, near)
                } else {
                    // A weaker bound, also valid for shared PUs.
                    all * near.first().copied().unwrap_or(0.0)
                };
                let is_forbidden = model.fixed[task].is_some_and(|fixed| fixed != pu);
                let least_ns = model.work_ns[task] / model.speed[pu] + messages_ns;
                Cell { least_ns: if is_forbidden { f64::INFINITY } else { least_ns }, messages_ns }
            })
            .collect()
    }
}

fn near(model: &TimeModel, pu: usize, is_matched: bool) -> Vec<f64> {
    let others = (0..model.pus()).filter(|other| *other != pu || model.most > 1);
    let others = others.map(|other| model.between_ns(pu, other));
    if !is_matched {
        return others.reduce(f64::min).into_iter().collect();
    }
    let mut near: Vec<f64> = others.collect();
    near.sort_by(f64::total_cmp);
    near
}

/// Total work, plus messages at the least speed, divided by the speed of as many PUs as tasks.
///
/// The sum over seats of speed x time is the work plus speed x messages; the slowest seat's time is
/// at least that divided by the sum of speeds.
fn by_work(model: &TimeModel, messages: f64) -> f64 {
    let mut best_of_core = vec![0.0_f64; model.cores.len()];
    let mut slowest = f64::INFINITY;
    for (pu, core) in model.core.iter().enumerate() {
        best_of_core[*core] = best_of_core[*core].max(model.speed[pu]);
        slowest =
            slowest.min(model.speed[pu] * model.cores[*core].share(model.cores[*core].threads));
    }
    // A core's extra work at the speed of its fastest thread: an upper bound.
    let gains =
        model.core.iter().zip(model.added_work()).map(|(core, more)| best_of_core[*core] * more);
    let gains = descending(gains.collect());
    let speeds: f64 = gains.iter().take(model.tasks()).sum();
    (model.work_ns.iter().sum::<f64>() + slowest * messages) / speeds
}

/// The least value such that each row can have its own column with a cell of at most that.
fn bottleneck(cells: &[f64], rows: usize, columns: usize) -> f64 {
    let mut values: Vec<f64> = cells.iter().copied().filter(|cell| cell.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let mut low = 0;
    let mut high = values.len();
    while low < high {
        let middle = usize::midpoint(low, high);
        if can_match(cells, rows, columns, values[middle]) {
            high = middle
        } else {
            low = middle + 1
        }
    }
    values.get(low).copied().unwrap_or(0.0)
}

fn can_match(cells: &[f64], rows: usize, columns: usize, most: f64) -> bool {
    let mut row_of: Vec<Option<usize>> = vec![None; columns];
    (0..rows).all(|row| augment(cells, columns, most, row, &mut row_of))
}

/// Breadth first: depth first needs a deep stack.
fn augment(
    cells: &[f64],
    columns: usize,
    most: f64,
    root: usize,
    row_of: &mut [Option<usize>],
) -> bool {
    let mut came_from: Vec<Option<usize>> = vec![None; columns];
    let mut seen = vec![false; columns];
    let mut queue = std::collections::VecDeque::from([(root, None)]);
    while let Some((row, through)) = queue.pop_front() {
        for column in 0..columns {
            if seen[column] || cells[row * columns + column] > most {
                continue;
            }
            seen[column] = true;
            came_from[column] = through;
            if let Some(other) = row_of[column] {
                queue.push_back((other, Some(column)));
                continue;
            }
            settle(root, column, &came_from, row_of);
            return true;
        }
    }
    false
}

/// Reassigns a path's columns, from the free one back to the root's.
fn settle(root: usize, free: usize, came_from: &[Option<usize>], row_of: &mut [Option<usize>]) {
    let mut column = free;
    while let Some(before) = came_from[column] {
        row_of[column] = row_of[before];
        column = before;
    }
    row_of[column] = Some(root);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::cheapest_matching;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn bottleneck_matching_matches_exhaustive_minimum(rows in 1..6_usize, more in 0..3_usize, cells in prop::collection::vec(0..20_u8, 40)) {
            let columns = rows + more;
            let cells: Vec<f64> = cells[..rows * columns].iter().map(|cell| f64::from(*cell)).collect();
            prop_assert_eq!(bottleneck(&cells, rows, columns), cheapest_matching(&cells, [rows, columns], f64::max, 0, 0));
        }
    }
}
