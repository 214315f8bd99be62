//! Linear assignment.

/// With an infinitely long path the search would not end.
const LARGEST_CELL: f64 = 1e150;

/// Solves the linear assignment problem: the least sum of one cell per row, in different columns,
/// and the column of each row.
///
/// `cost` is row-major, `rows` x `columns`, with `rows` <= `columns`. Shortest augmenting paths
/// (Jonker & Volgenant 1987), O(rows^2 x columns).
pub fn assign(rows: usize, columns: usize, cost: &[f64]) -> (f64, Vec<usize>) {
    // Row 0 and column 0 mean "none".
    let mut u = vec![0.0; rows + 1];
    let mut v = vec![0.0; columns + 1];
    let mut row_of = vec![0_usize; columns + 1];
    let mut way = vec![0_usize; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let mut column = 0;
        let mut least = vec![f64::INFINITY; columns + 1];
        let mut used = vec![false; columns + 1];
        while row_of[column] != 0 {
            used[column] = true;
            let at = row_of[column];
            let mut delta = f64::INFINITY;
            let mut next = 0;
            for to in (1..=columns).filter(|to| !used[*to]) {
                // Zero on used edges, and never negative.
                let reduced = clamped(cost[(at - 1) * columns + to - 1]) - u[at] - v[to];
                if reduced < least[to] {
                    (least[to], way[to]) = (reduced, column);
                }
                if least[to] < delta {
                    (delta, next) = (least[to], to);
                }
            }
            for to in 0..=columns {
                if used[to] {
                    u[row_of[to]] += delta;
                    v[to] -= delta;
                } else {
                    least[to] -= delta;
                }
            }
            column = next;
        }
        while column != 0 {
            row_of[column] = row_of[way[column]];
            column = way[column];
        }
    }
    let mut column_of = vec![0; rows];
    (1..=columns)
        .filter(|column| row_of[*column] > 0)
        .for_each(|column| column_of[row_of[column] - 1] = column - 1);
    let sum = column_of.iter().enumerate().map(|(row, column)| cost[row * columns + column]).sum();
    (sum, column_of)
}

fn clamped(cost: f64) -> f64 {
    if cost.is_nan() { LARGEST_CELL } else { cost.clamp(-LARGEST_CELL, LARGEST_CELL) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::for_tests::cheapest_matching;
    use proptest::prelude::*;

    fn wild() -> impl Strategy<Value = f64> {
        prop_oneof![
            Just(0.0),
            Just(f64::INFINITY),
            Just(f64::NAN),
            Just(f64::MAX),
            prop::num::f64::ANY,
            -1e3..1e3
        ]
    }

    proptest! {
        #[test]
        fn assignment_terminates_for_any_cell_values(rows in 1..9_usize, more in 0..3_usize, cells in prop::collection::vec(wild(), 88)) {
            let (_, column_of) = assign(rows, rows + more, &cells[..rows * (rows + more)]);
            let distinct: std::collections::HashSet<_> = column_of.iter().collect();
            prop_assert_eq!(distinct.len(), rows);
        }

        #[test]
        fn assignment_matches_exhaustive_minimum(rows in 1..5_usize, more in 0..3_usize, cells in prop::collection::vec(-9..9_i32, 35)) {
            let columns = rows + more;
            let cost: Vec<f64> = cells[..rows * columns].iter().map(|cell| f64::from(*cell)).collect();
            let (sum, column_of) = assign(rows, columns, &cost);
            prop_assert_eq!(sum, cheapest_matching(&cost, [rows, columns], |one, rest| one + rest, 0, 0));
            let distinct: std::collections::HashSet<_> = column_of.iter().collect();
            prop_assert_eq!(distinct.len(), rows);
        }
    }
}
