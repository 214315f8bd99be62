//! QAPLIB's `.dat` files (Burkard, Karisch & Rendl 1997).

use crate::document::{DocumentError, Position, decimal_number, whole_number};
use crate::pattern::edge::{MAX_AMOUNT, is_amount};
use crate::pattern::words::{quoted, words};
use crate::pattern::{Edge, Pattern};
use crate::statistics::words::counted;

/// Larger than any published instance; a file that claims more would only fill the memory.
const MAX_SIZE: usize = 4096;

/// A quadratic assignment problem: minimise the sum of a\[i\]\[j\] x b\[p\[i\]\]\[p\[j\]\].
#[derive(Clone, Debug)]
pub struct Instance {
    /// Items, and as many locations.
    pub n: usize,
    /// Row-major n x n.
    pub a: Vec<f64>,
    /// Row-major n x n.
    pub b: Vec<f64>,
}

/// One of the two matrices of a file, which does not say which is the flow: the first in some
/// instances, the second in others.
#[derive(Clone, Copy, Debug)]
pub enum Which {
    /// The first matrix, `a`.
    First,
    /// The second matrix, `b`.
    Second,
}

impl Instance {
    /// Reads n and the two matrices; line breaks mean nothing.
    ///
    /// # Errors
    /// [`DocumentError::Syntax`] with the position of missing, superfluous or invalid text.
    pub fn read(text: &str) -> Result<Self, DocumentError> {
        let mut words = words(text);
        let Some((place, word)) = words.next() else {
            return Err(DocumentError::at(Position::end(text), "the file is empty"));
        };
        let size = whole_number::<usize>(word).filter(|n| (1..=MAX_SIZE).contains(n));
        let n = size.ok_or_else(|| {
            DocumentError::at(
                place,
                format!("the size {} is not between 1 and {MAX_SIZE}", quoted(word)),
            )
        })?;
        let whole = 2 * n * n;
        let mut numbers = Vec::new();
        for (place, word) in words {
            if numbers.len() == whole {
                return Err(DocumentError::at(
                    place,
                    format!(
                        "two {n} x {n} matrices need {whole}, but the file has more",
                        whole = counted(whole, "number")
                    ),
                ));
            }
            // Some files have commas after their numbers.
            let number = decimal_number(word.strip_suffix(',').unwrap_or(word));
            let number = number.filter(|number| is_amount(number.abs()));
            numbers.push(number.ok_or_else(|| {
                DocumentError::at(
                    place,
                    format!("{} is not a number up to {MAX_AMOUNT:e}", quoted(word)),
                )
            })?);
        }
        if numbers.len() < whole {
            let got = numbers.len();
            let problem = format!(
                "two {n} x {n} matrices need {whole}, but the file has {got}",
                whole = counted(whole, "number")
            );
            return Err(DocumentError::at(Position::end(text), problem));
        }
        let b = numbers.split_off(n * n);
        Ok(Instance { n, a: numbers, b })
    }

    /// One of the matrices as a pattern, without the diagonal.
    ///
    /// # Errors
    /// [`DocumentError::Syntax`] for a negative flow.
    pub fn pattern(&self, which: Which, name: &str) -> Result<Pattern, DocumentError> {
        let cells = match which {
            Which::First => &self.a,
            Which::Second => &self.b,
        };
        if let Some(flow) = cells.iter().find(|flow| **flow < 0.0) {
            let problem = format!("the flow {flow} is negative; take the other matrix");
            return Err(DocumentError::at(Position { line: 1, column: 1 }, problem));
        }
        let cells = cells.iter().enumerate().map(|(at, bytes)| (at / self.n, at % self.n, *bytes));
        let edges = cells.filter(|(from, to, bytes)| from != to && *bytes > 0.0);
        let edges = edges.map(|(from, to, bytes)| Edge { from, to, bytes, messages: 1.0 });
        Ok(Pattern::gathered(name, self.n, edges))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn qaplib_reader_ignores_line_breaks() {
        let instance = Instance::read("2\n\n0 1 2\n 0\n0 5, 6 0\n").unwrap();
        assert_eq!(
            (&instance.a[..], &instance.b[..]),
            (&[0.0, 1.0, 2.0, 0.0][..], &[0.0, 5.0, 6.0, 0.0][..])
        );
        let bytes = |which| {
            instance
                .pattern(which, "x")
                .unwrap()
                .edges
                .iter()
                .map(|edge| edge.bytes)
                .collect::<Vec<_>>()
        };
        assert_eq!((bytes(Which::First), bytes(Which::Second)), (vec![1.0, 2.0], vec![5.0, 6.0]));
    }

    #[test]
    fn invalid_qaplib_instance_is_refused() {
        let refused = |text: &str| Instance::read(text).unwrap_err().to_string();
        let texts = [
            "",
            "2\n0 1e-320",
            "2\n0 nan",
            "2\n0 1e-400",
            "2\n0 1,,",
            "2\n0 1.234,5",
            "2\n0 0x1",
            "2\n0 x",
            "2\n0 1\n2",
            "1\n0\n0\n7 7",
            "99999",
            "1.5",
        ];
        insta::assert_snapshot!(texts.map(refused).join("\n"));
    }
}
