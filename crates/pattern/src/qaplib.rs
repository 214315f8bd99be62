//! QAPLIB's `.dat` files (Burkard, Karisch & Rendl 1997).

use crate::{Edge, Pattern};

/// Larger instances than any published one; a file that claims more would only fill the memory.
const MAX_SIZE: usize = 4096;

/// A quadratic assignment problem: minimise the sum of a\[i\]\[j\] x b\[p\[i\]\]\[p\[j\]\].
#[derive(Clone, Debug, PartialEq)]
pub struct Instance {
    /// Items, and as many places.
    pub n: usize,
    /// Row-major n x n.
    pub a: Vec<f64>,
    /// Row-major n x n.
    pub b: Vec<f64>,
}

/// Why a file is no instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct QaplibError {
    /// Counted from 1.
    pub line: usize,
    /// What is wrong.
    pub problem: String,
}

impl Instance {
    /// Reads n and the two matrices; line breaks mean nothing.
    ///
    /// # Errors
    /// [`QaplibError`] with the line of what is missing, superfluous or no number.
    pub fn read(text: &str) -> Result<Self, QaplibError> {
        let mut numbers = Vec::new();
        for (at, line) in text.lines().enumerate() {
            for word in line.split(|c: char| c.is_whitespace() || c == ',').filter(|word| !word.is_empty()) {
                let number = word.parse::<f64>().ok().filter(|number| number.is_finite());
                numbers.push((number.ok_or_else(|| wrong(at + 1, format!("'{word}' is no number")))?, at + 1));
            }
        }
        let Some((n, line)) = numbers.first().copied() else { return Err(wrong(1, "the file is empty".to_owned())) };
        if n < 1.0 || n > MAX_SIZE as f64 || n.fract() != 0.0 {
            return Err(wrong(line, format!("the size {n} is not between 1 and {MAX_SIZE}")));
        }
        let n = n as usize;
        let (wanted, last) = (2 * n * n, numbers.last().map_or(line, |(_, line)| *line));
        if numbers.len() != wanted + 1 {
            let at = numbers.get(wanted + 1).map_or(last, |(_, line)| *line);
            let got = numbers.len() - 1;
            return Err(wrong(at, format!("two {n} x {n} matrices are {wanted} numbers, and the file has {got}")));
        }
        let matrix = |from: usize| numbers[from..from + n * n].iter().map(|(number, _)| *number).collect();
        Ok(Instance { n, a: matrix(1), b: matrix(1 + n * n) })
    }

    /// The first matrix as a pattern: what flows, without the diagonal.
    ///
    /// # Errors
    /// [`QaplibError`] for a negative flow.
    pub fn pattern(&self, name: &str) -> Result<Pattern, QaplibError> {
        if let Some(flow) = self.a.iter().find(|flow| **flow < 0.0) {
            return Err(wrong(1, format!("a flow of {flow}, and no task sends less than nothing")));
        }
        let cells = self.a.iter().enumerate().map(|(at, bytes)| (at / self.n, at % self.n, *bytes));
        let edges = cells.filter(|(from, to, bytes)| from != to && *bytes > 0.0);
        let edges = edges.map(|(from, to, bytes)| Edge { from, to, bytes, messages: 1.0 });
        Ok(Pattern::gathered(name, self.n, edges))
    }
}

fn wrong(line: usize, problem: String) -> QaplibError {
    QaplibError { line, problem }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_breaks_mean_nothing() {
        let instance = Instance::read("2\n\n0 1 2\n 0\n0 5 6 0\n").unwrap();
        assert_eq!((instance.a, instance.b), (vec![0.0, 1.0, 2.0, 0.0], vec![0.0, 5.0, 6.0, 0.0]));
    }

    #[test]
    fn what_is_no_instance_is_refused() {
        let refused = |text: &str| Instance::read(text).unwrap_err().to_string();
        assert_eq!(refused(""), "line 1: the file is empty");
        assert_eq!(refused("2\n0 x"), "line 2: 'x' is no number");
        assert_eq!(refused("2\n0 1\n2"), "line 3: two 2 x 2 matrices are 8 numbers, and the file has 3");
        assert_eq!(refused("1\n0\n0\n7 7"), "line 4: two 1 x 1 matrices are 2 numbers, and the file has 4");
        assert!(refused("99999").contains("not between"));
        assert!(refused("1.5").contains("not between"));
    }
}
