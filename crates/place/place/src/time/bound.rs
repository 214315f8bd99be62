//! What no placement can undercut.

use super::TimeModel;

/// Cells of a table of tasks and PUs, times partners, up to which each cell matches partners with the nearest PUs one
/// by one.
const MOST_LOOKS: usize = 1 << 26;
/// Cells up to which tasks are matched with PUs.
const MOST_CELLS: usize = 1 << 20;

/// Every placement's slowest seat takes at least this long, in nanoseconds: the larger of two bounds.
///
/// All work over what the cores can do together, and the best matching of tasks with seats: each task on its own
/// seat, the slowest pair as fast as possible, each with the cheapest messages that the seat allows.
#[must_use]
pub(super) fn bound(model: &TimeModel) -> f64 {
    let cells = Cells::new(model);
    let by_seat = match model.most == 1 && model.tasks() * model.pus() <= MOST_CELLS {
        true => bottleneck(&cells.least_ns, model.tasks(), model.pus()),
        false => (0..model.tasks()).map(|task| cells.cheapest(task)).fold(0.0, f64::max),
    };
    by_seat.max(by_work(model, &cells)) * (1.0 - 1e-12)
}

/// The least time of each task on each PU, if no other task slowed it down.
struct Cells {
    pus: usize,
    least_ns: Vec<f64>,
    /// The part of it that is messages.
    messages_ns: Vec<f64>,
}

impl Cells {
    fn new(model: &TimeModel) -> Self {
        let (tasks, pus) = (model.tasks(), model.pus());
        let near: Vec<Vec<f64>> = (0..pus).map(|pu| near(model, pu)).collect();
        let partners: usize = (0..tasks).map(|task| model.traffic.degree(task)).sum();
        let is_matched = model.most == 1 && partners * pus <= MOST_LOOKS;
        let (mut least_ns, mut messages_ns) = (Vec::with_capacity(tasks * pus), Vec::with_capacity(tasks * pus));
        for task in 0..tasks {
            let mut weights: Vec<f64> = model.traffic.of(task).map(|(_, weight)| weight).collect();
            weights.sort_by(|a, b| b.total_cmp(a));
            for (pu, near) in near.iter().enumerate() {
                let ns: f64 = match is_matched {
                    true => weights.iter().zip(near).map(|(weight, ns)| weight * ns).sum(),
                    false => weights.iter().sum::<f64>() * near.first().copied().unwrap_or(0.0).min(same(model)),
                };
                let is_forbidden = model.fixed[task].is_some_and(|fixed| fixed != pu);
                let least = if is_forbidden { f64::INFINITY } else { model.work_ns[task] / model.speed[pu] + ns };
                messages_ns.push(ns);
                least_ns.push(least);
            }
        }
        Cells { pus, least_ns, messages_ns }
    }

    fn cheapest(&self, task: usize) -> f64 {
        self.least_ns[task * self.pus..(task + 1) * self.pus].iter().copied().fold(f64::INFINITY, f64::min)
    }
}

fn same(model: &TimeModel) -> f64 {
    if model.most == 1 { f64::INFINITY } else { model.same_ns }
}

/// The distances from a PU to the others, nearest first.
fn near(model: &TimeModel, pu: usize) -> Vec<f64> {
    let others = (0..model.pus()).filter(|other| *other != pu);
    let mut near: Vec<f64> = others.map(|other| model.between_ns(pu, other)).collect();
    near.sort_by(f64::total_cmp);
    near
}

/// All work, and the messages at the least speed, over the speed of as many PUs as tasks can keep busy.
///
/// The sum over seats of speed x time is the work of all tasks plus speed x messages; the slowest seat's time is no
/// less than that sum over the sum of speeds.
fn by_work(model: &TimeModel, cells: &Cells) -> f64 {
    let mut best_of_core = vec![0.0_f64; model.cores.len()];
    let mut slowest = f64::INFINITY;
    for (pu, core) in model.core.iter().enumerate() {
        best_of_core[*core] = best_of_core[*core].max(model.speed[pu]);
        slowest = slowest.min(model.speed[pu] * model.cores[*core].share(model.cores[*core].threads));
    }
    let mut met = vec![0_u32; model.cores.len()];
    let mut gains: Vec<f64> = Vec::with_capacity(model.pus());
    for core in &model.core {
        met[*core] += 1;
        let before = if met[*core] > 1 { model.cores[*core].work(met[*core] - 1) } else { 0.0 };
        gains.push(best_of_core[*core] * (model.cores[*core].work(met[*core]) - before));
    }
    gains.sort_by(|a, b| b.total_cmp(a));
    let speeds: f64 = gains.iter().take(model.tasks()).sum();
    let row = |task: usize| &cells.messages_ns[task * cells.pus..(task + 1) * cells.pus];
    let messages: f64 = (0..model.tasks()).map(|task| row(task).iter().copied().fold(f64::INFINITY, f64::min)).sum();
    (model.work_ns.iter().sum::<f64>() + slowest * messages) / speeds
}

/// The least value such that each row has a column of its own with no more than it.
fn bottleneck(cells: &[f64], rows: usize, columns: usize) -> f64 {
    let mut values: Vec<f64> = cells.iter().copied().filter(|cell| cell.is_finite()).collect();
    values.sort_by(f64::total_cmp);
    values.dedup();
    let (mut low, mut high) = (0, values.len());
    while low < high {
        let middle = usize::midpoint(low, high);
        match can_match(cells, rows, columns, values[middle]) {
            true => high = middle,
            false => low = middle + 1,
        }
    }
    values.get(low).copied().unwrap_or(0.0)
}

fn can_match(cells: &[f64], rows: usize, columns: usize, most: f64) -> bool {
    let mut row_of: Vec<Option<usize>> = vec![None; columns];
    (0..rows).all(|row| augment(cells, columns, most, row, &mut row_of))
}

/// Finds a column for a row, moving other rows where they have a choice. Breadth first, so that thousands of rows do
/// not need a deep stack.
fn augment(cells: &[f64], columns: usize, most: f64, root: usize, row_of: &mut [Option<usize>]) -> bool {
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

/// Gives each column of a path to the row that reached it, from the free one back to the root's.
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
    use proptest::prelude::*;

    fn exhaustive(cells: &[f64], rows: usize, columns: usize, row: usize, used: u32) -> f64 {
        if row == rows {
            return 0.0;
        }
        let free = (0..columns).filter(|column| used & (1 << column) == 0);
        let rest = |column: usize| exhaustive(cells, rows, columns, row + 1, used | (1 << column));
        free.map(|column| cells[row * columns + column].max(rest(column))).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn no_matching_has_a_smaller_largest_cell(rows in 1..6_usize, more in 0..3_usize, cells in prop::collection::vec(0..20_u8, 40)) {
            let columns = rows + more;
            let cells: Vec<f64> = cells[..rows * columns].iter().map(|cell| f64::from(*cell)).collect();
            prop_assert_eq!(bottleneck(&cells, rows, columns), exhaustive(&cells, rows, columns, 0, 0));
        }
    }
}
