//! Patterns from other tools' files, recognised by what stands in them.

use crate::pattern::MAX_TASKS;
use crate::qaplib::{Instance, QaplibError};
use crate::{Edge, Pattern, PatternError};

/// Why a file is no pattern.
#[derive(Debug, thiserror::Error)]
pub enum ImportError {
    /// It looks like our own format and is not.
    #[error(transparent)]
    Pattern(#[from] PatternError),
    /// It looks like a QAPLIB instance and is not.
    #[error(transparent)]
    Qaplib(#[from] QaplibError),
    /// A cell that is no amount.
    #[error("line {line}, column {column}: {problem}")]
    Cell {
        /// Counted from 1.
        line: usize,
        /// The field, counted from 1.
        column: usize,
        /// What is wrong.
        problem: String,
    },
    /// Nothing that is known here.
    #[error("this is no pattern; Seatmap reads seatmap-pattern/1, CSV matrices, MatrixMarket and QAPLIB .dat")]
    Unknown,
}

/// Reads a pattern of any kind: `seatmap-pattern/1`, a MatrixMarket file, a QAPLIB instance (its first matrix), a CSV
/// matrix (row = sender, cell = bytes). `name` becomes the pattern's name where the file has none.
///
/// # Errors
/// [`ImportError`] with line and column.
pub fn read(text: &str, name: &str) -> Result<Pattern, ImportError> {
    let start = text.trim_start();
    if start.starts_with('{') {
        return Ok(Pattern::from_json(text)?);
    }
    if start.to_ascii_lowercase().starts_with("%%matrixmarket") {
        return matrix_market(text, name);
    }
    let first: Vec<&str> = start.lines().next().unwrap_or_default().split_whitespace().collect();
    let is_alone = matches!(first[..], [n] if n.parse::<usize>().is_ok());
    if is_alone && start.lines().filter(|line| !line.trim().is_empty()).count() > 1 {
        return Ok(Instance::read(text)?.pattern(name)?);
    }
    csv(text, name)
}

fn cell(line: usize, column: usize, problem: impl Into<String>) -> ImportError {
    ImportError::Cell { line, column, problem: problem.into() }
}

fn amount(text: &str, line: usize, column: usize) -> Result<f64, ImportError> {
    let number = text.parse::<f64>().map_err(|_| cell(line, column, format!("'{text}' is no number")))?;
    let is_amount = number.is_finite() && number >= 0.0;
    is_amount
        .then_some(number)
        .ok_or_else(|| cell(line, column, format!("{text}: amounts are finite and not negative")))
}

/// A square matrix, with a row of names above and a column of names before it, or without.
fn csv(text: &str, name: &str) -> Result<Pattern, ImportError> {
    let separator = [',', ';', '\t'].into_iter().find(|c| text.contains(*c));
    let split = |line: &str| -> Vec<String> {
        match separator {
            Some(separator) => line.split(separator).map(|field| field.trim().trim_matches('"').to_owned()).collect(),
            None => line.split_whitespace().map(str::to_owned).collect(),
        }
    };
    let is_row = |line: &&(usize, &str)| !line.1.trim().is_empty() && !line.1.trim_start().starts_with('#');
    let lines: Vec<(usize, &str)> = text.lines().enumerate().map(|(at, line)| (at + 1, line)).collect();
    let mut rows: Vec<(usize, Vec<String>)> =
        lines.iter().filter(is_row).map(|(at, line)| (*at, split(line))).collect();
    let is_number = |field: &String| field.parse::<f64>().is_ok();
    let names = match rows.first() {
        None => return Err(ImportError::Unknown),
        Some((_, first)) if first.iter().skip(1).any(|field| !is_number(field)) => rows.remove(0).1,
        _ => Vec::new(),
    };
    let n = rows.len();
    let extra = usize::from(rows.first().is_some_and(|(_, row)| row.len() == n + 1));
    if n == 0 || n > MAX_TASKS {
        return Err(ImportError::Unknown);
    }
    let mut edges = Vec::new();
    for (from, (line, row)) in rows.iter().enumerate() {
        if row.len() != n + extra {
            let problem =
                format!("{} cells, and a pattern of {n} rows has {n} in each", row.len().saturating_sub(extra));
            return Err(cell(*line, row.len().min(n + extra + 1), problem));
        }
        for (to, field) in row[extra..].iter().enumerate().filter(|(_, field)| !field.is_empty()) {
            let bytes = amount(field, *line, to + extra + 1)?;
            if from != to && bytes > 0.0 {
                edges.push(Edge { from, to, bytes, messages: 1.0 });
            }
        }
    }
    let mut pattern = Pattern::gathered(name, n, edges);
    if names.len() >= n {
        pattern.names = names[names.len() - n..].to_vec();
    }
    Ok(pattern)
}

/// NIST's exchange format (Boisvert, Pozo & Remington 1996): coordinates or a dense array, column by column.
fn matrix_market(text: &str, name: &str) -> Result<Pattern, ImportError> {
    let header = text.lines().next().unwrap_or_default().to_ascii_lowercase();
    let words: Vec<&str> = header.split_whitespace().collect();
    let (layout, field, symmetry) = match words[..] {
        [_, "matrix", layout @ ("coordinate" | "array"), field, symmetry @ ("general" | "symmetric")]
            if matches!(field, "real" | "integer" | "pattern") =>
        {
            (layout, field, symmetry)
        }
        _ => {
            let known = "matrix coordinate|array real|integer|pattern general|symmetric";
            return Err(cell(1, 1, format!("'{header}' is not among what is read here: {known}")));
        }
    };
    let is_data = |(_, line): &(usize, &str)| !line.starts_with('%') && !line.trim().is_empty();
    let mut lines = text.lines().enumerate().map(|(at, line)| (at + 1, line)).filter(is_data);
    let (at, sizes) = lines.next().ok_or_else(|| cell(1, 1, "the line with the sizes is missing"))?;
    let sizes = sizes.split_whitespace().map(|word| word.parse::<usize>()).collect::<Result<Vec<_>, _>>();
    let sizes = sizes.map_err(|_| cell(at, 1, "sizes are whole numbers"))?;
    let n = match sizes[..] {
        [rows, columns, ..] if rows == columns && (1..=MAX_TASKS).contains(&rows) => rows,
        _ => return Err(cell(at, 1, format!("a pattern is a square matrix of 1 to {MAX_TASKS} rows"))),
    };
    let mut edges = Vec::new();
    let mut dense =
        (0..n).flat_map(|column| (if symmetry == "symmetric" { column } else { 0 }..n).map(move |r| (r, column)));
    for (at, line) in lines {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (from, to, bytes) = match (layout, &words[..]) {
            ("array", [value]) => {
                let (from, to) = dense.next().ok_or_else(|| cell(at, 1, "more cells than the matrix has"))?;
                (from, to, amount(value, at, 1)?)
            }
            ("coordinate", [from, to]) if field == "pattern" => (index(from, n, at, 1)?, index(to, n, at, 2)?, 1.0),
            ("coordinate", [from, to, value]) if field != "pattern" => {
                (index(from, n, at, 1)?, index(to, n, at, 2)?, amount(value, at, 3)?)
            }
            _ => return Err(cell(at, 1, format!("{} fields are not what the header promises", words.len()))),
        };
        if from != to && bytes > 0.0 {
            edges.push(Edge { from, to, bytes, messages: 1.0 });
            edges.extend((symmetry == "symmetric").then_some(Edge { from: to, to: from, bytes, messages: 1.0 }));
        }
    }
    Ok(Pattern::gathered(name, n, edges))
}

fn index(text: &str, n: usize, line: usize, column: usize) -> Result<usize, ImportError> {
    let index = text.parse::<usize>().ok().filter(|index| (1..=n).contains(index));
    index.map(|index| index - 1).ok_or_else(|| cell(line, column, format!("'{text}' is not between 1 and {n}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn edges(text: &str) -> Vec<(usize, usize, f64)> {
        let pattern = read(text, "x").unwrap();
        pattern.check().unwrap();
        pattern.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect()
    }

    #[test]
    fn matrices_are_read_whatever_separates_them() {
        for text in ["0,5\n1.5,9\n", "0 5\n1.5 9", "# who\n0;5\n1.5;\n", ",a,b\na,0,5\nb,1.5,0\n"] {
            assert_eq!(edges(text), [(0, 1, 5.0), (1, 0, 1.5)], "{text}");
        }
        assert_eq!(read(",a,b\na,0,5\nb,1.5,0\n", "x").unwrap().names, ["a", "b"]);
    }

    #[test]
    fn matrix_market_is_read() {
        let head = "%%MatrixMarket matrix";
        assert_eq!(edges(&format!("{head} coordinate real general\n% c\n2 2 2\n1 2 7\n2 2 9\n")), [(0, 1, 7.0)]);
        let both = [(0, 1, 3.0), (1, 0, 3.0)];
        assert_eq!(edges(&format!("{head} coordinate integer symmetric\n2 2 1\n2 1 3\n")), both);
        assert_eq!(edges(&format!("{head} array real symmetric\n2 2\n0\n3\n0\n")), both);
        assert_eq!(edges(&format!("{head} coordinate pattern general\n2 2 1\n2 1\n")), [(1, 0, 1.0)]);
    }

    #[test]
    fn the_first_matrix_of_a_qaplib_file_is_a_pattern() {
        assert_eq!(edges("2\n0 1\n2 0\n0 5\n6 0\n"), [(0, 1, 1.0), (1, 0, 2.0)]);
    }

    #[test]
    fn what_is_wrong_is_said_with_its_place() {
        let refused = |text: &str| read(text, "x").unwrap_err().to_string();
        assert_eq!(refused("0,1\n-2,0\n"), "line 2, column 1: -2: amounts are finite and not negative");
        assert_eq!(refused("0,1\nx,0\n"), "line 2, column 1: 'x' is no number");
        assert!(refused("0,1\n2\n").starts_with("line 2, column 1: 1 cells"));
        assert!(refused("").contains("no pattern"));
        let market = |rest: &str| refused(&format!("%%MatrixMarket matrix {rest}"));
        assert!(market("coordinate complex general\n").starts_with("line 1"));
        assert!(market("coordinate real general\n2 3 1\n").starts_with("line 2, column 1: a pattern is a square"));
        assert!(market("coordinate real general\n2 2 1\n3 1 4\n").starts_with("line 3, column 1: '3' is not between"));
        assert!(market("array real general\n1 1\n3\n4\n").starts_with("line 4"));
    }
}
