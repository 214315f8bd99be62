//! A pattern's traffic: a matrix reduced to the size of a picture, and totals in words.

use seatmap_data::machine::{Matrix, Square};
use seatmap_data::pattern::Pattern;

/// Bytes from row to column; neighbours may share a cell.
pub struct TrafficMatrix {
    /// Tasks in each row and column of a cell.
    pub block: usize,
    pub cells: Matrix,
    pub most: f64,
    pub n: usize,
}

impl TrafficMatrix {
    pub fn of(pattern: &Pattern, room: usize) -> Self {
        // Avoid dividing by zero for an empty pattern or a picture without room.
        let block = pattern.tasks.div_ceil(room.max(1)).max(1);
        let n = pattern.tasks.div_ceil(block);
        let mut cells = Square::filled(n, 0.0);
        for edge in &pattern.edges {
            cells[(edge.from / block, edge.to / block)] += edge.bytes;
        }
        let most = (0..n).flat_map(|row| cells.row(row)).copied().fold(0.0, f64::max);
        TrafficMatrix { block, cells, most, n }
    }

    /// The square root of the share of the largest: small values stay visible. `None` without
    /// traffic.
    pub fn strength(&self, row: usize, column: usize) -> Option<f64> {
        let bytes = self.cells[(row, column)];
        (bytes > 0.0).then(|| (bytes / self.most).sqrt())
    }

    /// Whether all cells with traffic have the same amount.
    pub fn is_even(&self) -> bool {
        (0..self.n)
            .flat_map(|row| self.cells.row(row))
            .all(|bytes| *bytes == 0.0 || *bytes == self.most)
    }
}

pub fn name(pattern: &Pattern) -> String {
    seatmap_data::document::visible(&pattern.name)
}

/// `8 tasks, 16 edges, 16 bytes in 16 messages`
pub fn size(pattern: &Pattern) -> String {
    // Begins at 0, because the sum of an empty iterator is -0.
    let bytes = pattern.edges.iter().fold(0.0, |sum, edge| sum + edge.bytes);
    let messages = pattern.edges.iter().fold(0.0, |sum, edge| sum + edge.messages);
    let edges = counted(pattern.edges.len() as f64, "edge");
    let tasks = counted(pattern.tasks as f64, "task");
    format!("{tasks}, {edges}, {} in {}", counted(bytes, "byte"), counted(messages, "message"))
}

/// How many others each task sends to, and whether traffic is symmetric.
pub fn degrees(pattern: &Pattern) -> String {
    let mut degree = vec![0_usize; pattern.tasks.max(1)];
    pattern.edges.iter().for_each(|edge| degree[edge.from] += 1);
    degree.sort_unstable();
    let least = degree[0];
    let middle = degree[degree.len() / 2];
    let most = degree[degree.len() - 1];
    let others = counted(most as f64, "other");
    let sent = if least == most {
        format!("Each task sends to {others}")
    } else {
        format!("A task sends to {least} to {others}, median {middle}")
    };
    let back = if !pattern.edges.is_empty() && is_symmetric(pattern) {
        "; traffic is symmetric"
    } else {
        ""
    };
    format!("{sent}{back}.")
}

/// Whether each edge has an equal reverse edge.
fn is_symmetric(pattern: &Pattern) -> bool {
    let [straight, turned] = [false, true].map(|turned| {
        // f64 is not Ord; the bits of equal numbers sort equally.
        let mut edges = Vec::from_iter(pattern.edges.iter().map(|edge| {
            let ends = if turned { (edge.to, edge.from) } else { (edge.from, edge.to) };
            (ends, edge.bytes.to_bits())
        }));
        edges.sort_unstable();
        edges
    });
    straight == turned
}

/// `1 byte`, `4096 bytes`, `16.8 M bytes`.
pub fn counted(number: f64, thing: &str) -> String {
    format!("{} {thing}{}", short(number), if number == 1.0 { "" } else { "s" })
}

/// A whole number of up to six digits in full; any other with three significant digits.
pub fn short(number: f64) -> String {
    if number.fract() == 0.0 && number.abs() < 1e6 {
        // Adding 0 removes the sign of a negative zero.
        (number + 0.0).to_string()
    } else {
        three_digits(number)
    }
}

/// Three significant digits and a multiplier.
pub fn three_digits(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let mut rest = number;
    let mut multiplier = "";
    for next in [" k", " M", " G", " T", " P", " E"] {
        // 999.5 would be rounded to 1000, which has four digits.
        if rest.abs() < 999.5 {
            break;
        }
        (rest, multiplier) = (rest / 1000.0, next);
    }
    // The bounds at which rounding adds a digit: 9.995 becomes 10.0 rather than 10.00.
    let decimals = match rest.abs() {
        99.95.. => 0,
        9.995.. => 1,
        _ => 2,
    };
    // Below 0.01, two decimals would hide the figure.
    let text =
        if rest.abs() >= 0.01 { format!("{rest:.decimals$}") } else { format!("{rest:.1e}") };
    text + multiplier
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn numbers_are_shortened() {
        let numbers = [
            0.0,
            1.0,
            4096.0,
            999_999.0,
            1e6,
            16_777_216.0,
            999_999_999.0,
            1.5,
            0.3,
            1e-9,
            12.345,
            5e25,
        ];
        insta::assert_snapshot!(numbers.map(short).join(", "), @"0, 1, 4096, 999999, 1.00 M, 16.8 M, 1.00 G, 1.50, 0.30, 1.0e-9, 12.3, 50000000 E");
        assert_eq!([0.0, -0.0].map(three_digits), ["0", "0"]);
        assert_eq!(short(-0.0), "0");
        assert_eq!(
            (counted(1.0, "byte"), counted(2.0, "byte")),
            ("1 byte".to_owned(), "2 bytes".to_owned())
        );
    }

    #[test]
    fn reduced_traffic_keeps_total() {
        let pattern = samples::pattern("all-to-all:10");
        let traffic = TrafficMatrix::of(&pattern, 4);
        assert_eq!((traffic.block, traffic.n, traffic.most), (3, 4, 9.0));
        let sum: f64 = (0..4).flat_map(|row| traffic.cells.row(row)).sum();
        assert_eq!(sum, 90.0);
        assert_eq!((traffic.strength(3, 3), traffic.strength(0, 1)), (None, Some(1.0)));
        assert!(!traffic.is_even() && TrafficMatrix::of(&pattern, 10).is_even());
    }
}
