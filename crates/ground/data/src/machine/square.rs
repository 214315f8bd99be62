//! Square matrices, kept row by row and written to file as rows.

use crate::machine::PairStatus;
use crate::machine::nanoseconds::Nanoseconds;
use crate::statistics::words::counted;
use serde::de::{DeserializeOwned, Error as _};
use serde::ser::SerializeSeq;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// An n x n matrix of `T`, row-major.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Square<T> {
    n: usize,
    cells: Vec<T>,
}

/// A square matrix of nanoseconds; NaN means unknown and is `null` in files.
pub type Matrix = Square<f64>;

impl<T: Clone> Square<T> {
    /// A matrix with the same value everywhere.
    pub fn filled(n: usize, value: T) -> Self {
        Square { n, cells: vec![value; n * n] }
    }

    /// A matrix computed cell by cell, from row and column.
    pub fn from_fn(n: usize, mut cell: impl FnMut(usize, usize) -> T) -> Self {
        let cells = (0..n * n).map(|at| cell(at / n, at % n)).collect();
        Square { n, cells }
    }

    /// Sets (i, j) and (j, i).
    pub fn set_both(&mut self, i: usize, j: usize, value: T) {
        self[(j, i)] = value.clone();
        self[(i, j)] = value;
    }
}

impl<T> Square<T> {
    /// The number of rows and columns.
    pub fn n(&self) -> usize {
        self.n
    }

    /// One row, as a slice of n cells.
    pub fn row(&self, i: usize) -> &[T] {
        &self.cells[i * self.n..(i + 1) * self.n]
    }

    /// One row, mutable.
    pub fn row_mut(&mut self, i: usize) -> &mut [T] {
        &mut self.cells[i * self.n..(i + 1) * self.n]
    }

    /// The cells above the diagonal, as (row, column, cell): each unordered pair once.
    pub fn pairs(&self) -> impl Iterator<Item = (usize, usize, &T)> + '_ {
        (0..self.n).flat_map(move |i| (i + 1..self.n).map(move |j| (i, j, &self[(i, j)])))
    }
}

impl<T> std::ops::Index<(usize, usize)> for Square<T> {
    type Output = T;

    fn index(&self, (i, j): (usize, usize)) -> &T {
        &self.cells[i * self.n + j]
    }
}

impl<T> std::ops::IndexMut<(usize, usize)> for Square<T> {
    fn index_mut(&mut self, (i, j): (usize, usize)) -> &mut T {
        &mut self.cells[i * self.n + j]
    }
}

/// The form of a cell in files, if it differs from the form in memory.
pub trait MatrixCell: Sized {
    /// The form in files.
    type Wire: Serialize + DeserializeOwned;
    /// Converts a cell to its form in files.
    fn to_wire(&self) -> Self::Wire;
    /// Converts a cell from its form in files.
    fn from_wire(wire: Self::Wire) -> Self;
}

impl MatrixCell for f64 {
    type Wire = Nanoseconds;

    fn to_wire(&self) -> Nanoseconds {
        // JSON has neither NaN nor infinity.
        Nanoseconds(self.is_finite().then_some(*self))
    }

    fn from_wire(wire: Nanoseconds) -> f64 {
        wire.0.unwrap_or(f64::NAN)
    }
}

impl MatrixCell for Option<PairStatus> {
    type Wire = Option<PairStatus>;

    fn to_wire(&self) -> Self::Wire {
        *self
    }

    fn from_wire(wire: Self::Wire) -> Self {
        wire
    }
}

#[cfg(feature = "schema")]
impl<T: MatrixCell<Wire: schemars::JsonSchema>> schemars::JsonSchema for Square<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "Square".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Vec::<Vec<T::Wire>>::json_schema(generator)
    }
}

impl<T: MatrixCell> Serialize for Square<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut rows = serializer.serialize_seq(Some(self.n))?;
        for i in 0..self.n {
            let row: Vec<T::Wire> = self.row(i).iter().map(MatrixCell::to_wire).collect();
            rows.serialize_element(&row)?;
        }
        rows.end()
    }
}

impl<'de, T: MatrixCell> Deserialize<'de> for Square<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let rows = Vec::<Vec<T::Wire>>::deserialize(deserializer)?;
        let n = rows.len();
        if let Some(bad) = rows.iter().position(|row| row.len() != n) {
            let got = rows[bad].len();
            return Err(D::Error::custom(format!(
                "row {bad} of a {n} x {n} matrix has {got}",
                got = counted(got, "cell")
            )));
        }
        Ok(Square { n, cells: rows.into_iter().flatten().map(T::from_wire).collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_cells_are_null_in_json() {
        let mut matrix = Matrix::filled(2, f64::NAN);
        matrix.set_both(0, 1, 80.5);
        let text = serde_json::to_string(&matrix).unwrap();
        assert_eq!(text, "[[null,80.5],[80.5,null]]");
        let back: Matrix = serde_json::from_str(&text).unwrap();
        assert_eq!(back[(1, 0)], 80.5);
        assert!(back[(1, 1)].is_nan());
    }

    #[test]
    fn ragged_matrix_is_refused() {
        let error = serde_json::from_str::<Matrix>("[[0,1],[1]]").unwrap_err().to_string();
        assert!(error.contains("row 1 of a 2 x 2 matrix has 1 cell"), "{error}");
    }

    #[test]
    fn pairs_lists_each_pair_once() {
        let matrix = Matrix::from_fn(3, |i, j| (10 * i + j) as f64);
        let pairs: Vec<_> = matrix.pairs().map(|(i, j, v)| (i, j, *v)).collect();
        assert_eq!(pairs, [(0, 1, 1.0), (0, 2, 2.0), (1, 2, 12.0)]);
    }
}
