//! The CSV of core-to-core-latency: one row per PU, one-way nanoseconds, usually only the lower
//! triangle.
//!
//! The tool (github.com/nviennot/core-to-core-latency, and -plus by KCORES) halves the round trip
//! of a compare-exchange ping-pong, so figures are doubled here. Row k is taken for PU k. Also
//! accepted: the upper triangle, full matrices (the two directions of a pair add up to its round
//! trip), either line end, spaces around figures, blank lines at the end.

use super::round_trip::{self, MAX_ONE_WAY_NS};
use super::{File, Imported, MAX_PUS, MachineImportError, ProfileNote, quantisation};
use crate::document::{Position, decimal_number};
use crate::machine::{Clock, Matrix, Topology};
use crate::statistics::words::counted;

const TOOL: &str = "core-to-core-latency";
const MATRIX_REMEDY: &str =
    "the matrix must be square: latencies in nanoseconds, empty on the diagonal";
const CONSOLE_LOG_REMEDY: &str = "this is the tool's console log: run it with --csv and import its \
                                  standard output";

const QUOTED: usize = 24;

/// Reads the text of such a file.
///
/// # Errors
/// [`MachineImportError::Malformed`] for a file that is not a square matrix of latencies.
pub(super) fn read(text: &str, file: File<'_>) -> Result<Imported, MachineImportError> {
    let n = columns(text)?;
    let cells = cells(text, n)?;
    let (median_ns, mut notes) = round_trip::from_one_way(n, |i, j| cells[i * n + j]);
    if median_ns.pairs().all(|(_, _, ns)| ns.is_nan()) {
        return Err(wrong(text, 0, "the file has no latencies".to_owned()));
    }
    let clock = clock(&median_ns);
    notes.extend(clock.step_ns.map(|step_ns| ProfileNote::Quantised { step_ns }));
    let topology = Topology::unknown((0..n).map(|row| row as u32));
    let mut profile = file.profile_of_matrix(TOOL, topology, median_ns);
    profile.clock = clock;
    notes.push(ProfileNote::RowsInOrder { rows: n });
    Ok(Imported { profile, notes })
}

fn clock(median_ns: &Matrix) -> Clock {
    let step_ns = quantisation::step(median_ns);
    Clock { step_ns, quantised: step_ns.is_some(), ..Clock::default() }
}

/// Counts cells in the first row. It looks at no more bytes than [`MAX_PUS`] cells can need.
fn columns(text: &str) -> Result<usize, MachineImportError> {
    let first = text.split('\n').next().unwrap_or_default();
    // Before memory is allocated: the number of cells is the square of the columns.
    let too_many = first.bytes().enumerate().filter(|(_, byte)| *byte == b',').nth(MAX_PUS - 1);
    if let Some((offset, _)) = too_many {
        return Err(wrong(text, offset, format!("more than {MAX_PUS} columns")));
    }
    Ok(first.bytes().filter(|byte| *byte == b',').count() + 1)
}

fn cells(text: &str, n: usize) -> Result<Vec<f64>, MachineImportError> {
    let body = text.trim_end();
    let mut cells = Vec::new();
    let mut offset = 0;
    for (row, line) in body.split('\n').enumerate() {
        read_row(text, offset, line, row, n, &mut cells)?;
        offset += line.len() + 1;
    }
    let rows = cells.len() / n;
    match (rows, n) {
        (1, 1) => Err(wrong(text, 0, "the matrix has one PU, so it has no pairs".to_owned())),
        _ if rows < n => Err(wrong(
            text,
            body.len(),
            format!("the matrix has {}, but {n}", counted(rows, "row"), n = counted(n, "column")),
        )),
        _ => Ok(cells),
    }
}

fn read_row(
    text: &str,
    start: usize,
    line: &str,
    row: usize,
    n: usize,
    cells: &mut Vec<f64>,
) -> Result<(), MachineImportError> {
    let mut offset = start;
    for (column, cell) in line.split(',').enumerate() {
        // A cell without a number explains more than an excess one.
        let value = value(cell, row == column).map_err(|problem| wrong(text, offset, problem))?;
        if column == n || row == n {
            let which = if row == n { "row" } else { "column" };
            return Err(wrong(
                text,
                offset,
                format!(
                    "unexpected {which} {}: the matrix has {n}",
                    n + 1,
                    n = counted(n, "column")
                ),
            ));
        }
        cells.push(value);
        offset += cell.len() + 1;
    }
    let count = line.split(',').count();
    if count < n {
        Err(wrong(
            text,
            offset - 1,
            format!(
                "row {} has {count}, but the first row has {n}",
                row + 1,
                count = counted(count, "cell")
            ),
        ))
    } else {
        Ok(())
    }
}

fn value(cell: &str, diagonal: bool) -> Result<f64, String> {
    let cell = cell.trim();
    if cell.is_empty() {
        return Ok(f64::NAN);
    }
    let quoted: String = cell.chars().take(QUOTED).collect();
    let ns: f64 = cell.parse().map_err(|_| format!("'{quoted}' is not a number"))?;
    // Too small a number is read as 0, valid on the diagonal.
    let in_range = decimal_number(cell).is_some()
        && (0.0..=MAX_ONE_WAY_NS).contains(&ns)
        && (ns.is_normal() || ns == 0.0 && diagonal);
    if in_range { Ok(ns) } else { Err(format!("{quoted} ns is not a latency between two PUs")) }
}

fn wrong(text: &str, offset: usize, problem: String) -> MachineImportError {
    // The output without `--csv`, which people save by mistake.
    let is_console_log =
        ["Num cores:", "latency=round-trip-time"].iter().any(|words| text.contains(words));
    let remedy = if is_console_log { CONSOLE_LOG_REMEDY } else { MATRIX_REMEDY };
    MachineImportError::Malformed { place: Position::of(text.as_bytes(), offset), problem, remedy }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix(text: &str) -> Result<Matrix, String> {
        let file = File { name: "x.csv", path: "x.csv", date: None };
        let imported = read(text, file).map_err(|error| error.to_string())?;
        Ok(imported.profile.core_distance.unwrap().median_ns)
    }

    fn refusal(text: &str) -> String {
        let full = matrix(text).unwrap_err();
        full.split("; ").next().unwrap_or_default().to_owned()
    }

    #[test]
    fn one_way_matrix_variants_become_round_trips() {
        for text in [
            ",,\n1,,\n2,3.5,\n",
            ",,\r\n1,,\r\n 2 , 3.5,\r\n\r\n",
            ",1,2\n,,3.5\n,,",
            "0,1,2\n1,0,3.5\n2,3.5,0\n",
        ] {
            let matrix = matrix(text).unwrap();
            assert_eq!(matrix.row(2), [4.0, 7.0, 0.0], "{text:?}");
            assert_eq!(matrix.row(0), [0.0, 2.0, 4.0], "{text:?}");
        }
    }

    #[test]
    fn ambiguous_numbers_are_refused() {
        for number in ["nan", "inf", "1e-320", "1e-400", "0x10", "1_000", "3.5x", "1;5"] {
            assert!(matrix(&format!(",,\n1,,\n2,{number},\n")).is_err(), "{number}");
        }
    }

    #[test]
    fn empty_cell_is_unknown() {
        assert!(matrix(",,\n1,,\n,3,\n").unwrap()[(2, 0)].is_nan());
    }

    #[test]
    fn core_to_core_errors_name_the_position() {
        let all: Vec<String> = [
            ",,\n1,,\n2,nan,\n",
            ",\n-1,\n",
            ",\n0,\n",
            ",\n1e300,\n",
            ",\ninf,\n",
            ",\n1e-320,\n",
            ",,\n1,,\n2,\n",
            ",,\n1,,,\n2,3,\n",
            ",\n1,\n2,\n",
            ",,\n1,,\n",
            "\n5\n",
            "5",
            ",\n,\n",
            "name,1\n2,\n",
        ]
        .map(refusal)
        .into();
        insta::assert_snapshot!(all.join("\n"), @"
        line 3, column 3: nan ns is not a latency between two PUs
        line 2, column 1: -1 ns is not a latency between two PUs
        line 2, column 1: 0 ns is not a latency between two PUs
        line 2, column 1: 1e300 ns is not a latency between two PUs
        line 2, column 1: inf ns is not a latency between two PUs
        line 2, column 1: 1e-320 ns is not a latency between two PUs
        line 3, column 3: row 3 has 2 cells, but the first row has 3
        line 2, column 5: unexpected column 4: the matrix has 3 columns
        line 3, column 1: unexpected row 3: the matrix has 2 columns
        line 2, column 4: the matrix has 2 rows, but 3 columns
        line 2, column 1: unexpected row 2: the matrix has 1 column
        line 1, column 1: the matrix has one PU, so it has no pairs
        line 1, column 1: the file has no latencies
        line 1, column 1: 'name' is not a number
        ");
    }

    #[test]
    fn console_log_is_recognised() {
        let text = "Num cores: 2\nUsing RDTSC to measure time: false\n";
        insta::assert_snapshot!(matrix(text).unwrap_err(), @"line 1, column 1: 'Num cores: 2' is not a number; this is the tool's console log: run it with --csv and import its standard output");
    }

    #[test]
    fn comma_line_is_refused_at_the_column_limit() {
        assert_eq!(refusal(&",".repeat(10_000_000)), "line 1, column 8192: more than 8192 columns");
    }
}
