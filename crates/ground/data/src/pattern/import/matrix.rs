//! CSV matrices: rows send, columns receive, cells are bytes, and an empty cell is zero.
//!
//! A line of names above and a column of names in front are optional; both have the same order. An
//! ambiguous file is refused.

use super::entries::{ImportedEntries, amount};
use super::error::{FEWER_TASKS, Reading, malformed};
use super::rows::{self, CsvField, CsvRow, rows};
use super::{Imported, PatternImportError};
use crate::document::{DocumentError, Position};
use crate::pattern::Edge;
use crate::pattern::graph::{MAX_TASKS, tasks_problem};
use crate::pattern::words::quoted;
use crate::statistics::words::counted;

const SHAPE: &str = "a matrix must be square; a list of edges begins with the line from,to,bytes";
const CELLS: &str = "cells are bytes; an empty cell is 0";
const NAMES: &str = "give rows and columns the same names, in the same order";
const CORNER: &str = "write 0 on the diagonal, or name the tasks with letters";
const DIAGONAL: &str =
    "begin a list of edges with the line from,to,bytes; write 0 on the diagonal of a matrix";

struct Shape {
    start: Position,
    n: usize,
    has_head: bool,
    has_labels: bool,
    names: Vec<String>,
    /// Whether names are numbers next to an empty corner: they could be cells.
    names_are_numbers: bool,
}

struct Doubt {
    /// Every row begins with the numbers of two different tasks.
    like_edges: bool,
    to_itself: bool,
    empty_diagonal: bool,
    empty: bool,
}

/// # Errors
/// `Malformed` for a file that is not a square matrix of amounts.
pub fn read(text: &str, name: &str) -> Reading<Imported> {
    let mut shape = shape(text)?;
    let mut entries = ImportedEntries::default();
    let mut doubt = Doubt { like_edges: true, to_itself: false, empty_diagonal: true, empty: true };
    for (from, row) in rows(text).skip(usize::from(shape.has_head)).enumerate() {
        let row = row?;
        let cells = shape.cells(from, &row)?;
        doubt.see(from, cells);
        for (to, field) in cells.iter().enumerate().filter(|(_, field)| !field.text.is_empty()) {
            let bytes =
                amount(&field.text).or_else(|problem| malformed(field.place, problem, CELLS))?;
            entries.add(
                field.place,
                Edge { from, to, bytes, messages: f64::from(u8::from(bytes > 0.0)) },
            )?;
        }
    }
    doubt.settle(&shape)?;
    let mut imported = entries.pattern(name, shape.n);
    imported.pattern.names = shape.names;
    Ok(imported)
}

fn shape(text: &str) -> Reading<Shape> {
    let mut rows = rows(text);
    let first = rows.next().ok_or_else(DocumentError::empty)??;
    // The first row may lack the corner; the second is as wide as all others.
    let width = rows.next().transpose()?.map_or(0, |second| second.fields.len());
    let count = rows::count(text);
    let Some((corner, rest)) = first.fields.split_first() else {
        return Err(DocumentError::empty().into());
    };
    let start = corner.place;
    let none = Shape {
        start,
        n: count,
        has_head: false,
        has_labels: false,
        names: Vec::new(),
        names_are_numbers: false,
    };
    let shape = if !corner.text.is_empty() && !corner.is_word() {
        // A number in the corner is a cell, so nothing is named.
        none
    } else if rest.iter().any(CsvField::is_word) {
        let has_labels = width == count;
        Shape {
            n: count - 1,
            has_head: true,
            has_labels,
            names: names(&first, count - 1, has_labels)?,
            ..none
        }
    } else if first.fields.len() == count + 1 {
        // The first row has one field more than there are rows: only the rows have names.
        Shape { has_labels: true, ..none }
    } else if let Some(names) = task_numbers(rest) {
        let names_are_numbers = corner.text.is_empty();
        Shape { n: count - 1, has_head: true, has_labels: true, names, names_are_numbers, ..none }
    } else {
        return malformed(start, "the first cell is not a number", CORNER);
    };
    match shape.n {
        0 => Err(PatternImportError::Unknown),
        n if n > MAX_TASKS => malformed(start, tasks_problem(n), FEWER_TASKS),
        _ => Ok(shape),
    }
}

/// The names in the first line; if rows have names, its first field may be the corner.
fn names(head: &CsvRow, n: usize, has_labels: bool) -> Reading<Vec<String>> {
    let skipped = usize::from(has_labels && head.fields.len() == n + 1);
    let names: Vec<String> =
        head.fields.iter().skip(skipped).map(|field| field.text.to_string()).collect();
    if names.len() == n {
        Ok(names)
    } else {
        malformed(
            head.end,
            format!("{} for {n}", counted(names.len(), "name"), n = counted(n, "row")),
            SHAPE,
        )
    }
}

fn task_numbers(fields: &[CsvField]) -> Option<Vec<String>> {
    // Tools in C count tasks from 0, those in Fortran and MATLAB from 1.
    (count_from(fields, 0) || count_from(fields, 1))
        .then(|| fields.iter().map(|field| field.text.to_string()).collect())
}

fn count_from(fields: &[CsvField], first: usize) -> bool {
    fields.iter().enumerate().all(|(at, field)| field.text == (at + first).to_string())
}

impl Shape {
    fn cells<'a, 'b>(&mut self, from: usize, row: &'b CsvRow<'a>) -> Reading<&'b [CsvField<'a>]> {
        let before = usize::from(self.has_labels);
        if row.fields.len() != self.n + before {
            let place = row.fields.get(self.n + before).map_or(row.end, |field| field.place);
            let cells = row.fields.len().saturating_sub(before);
            return malformed(
                place,
                format!(
                    "this row has {}, but the matrix has {}",
                    counted(cells, "cell"),
                    counted(self.n, "row")
                ),
                SHAPE,
            );
        }
        if let Some(label) = row.fields.first().filter(|_| self.has_labels) {
            if !self.has_head {
                self.names.push(label.text.to_string());
            }
            let column = self.names.get(from).map_or("", String::as_str);
            if label.text != column || label.text.is_empty() {
                let problem =
                    format!("row {} does not match column {}", quoted(&label.text), quoted(column));
                return malformed(label.place, problem, NAMES);
            }
        }
        Ok(&row.fields[before..])
    }
}

impl Doubt {
    fn see(&mut self, from: usize, cells: &[CsvField]) {
        let ends = cells
            .iter()
            .take(2)
            .map(|cell| cell.text.parse::<usize>().ok())
            .collect::<Option<Vec<_>>>();
        self.like_edges &= ends.is_some_and(|ends| ends.first() != ends.get(1));
        let own = cells.get(from).map_or("", |cell| &*cell.text);
        self.to_itself |= own.parse::<f64>().is_ok_and(|bytes| bytes > 0.0);
        self.empty_diagonal &= own.is_empty();
        self.empty &= cells.iter().all(|cell| cell.text.is_empty());
    }

    fn settle(&self, shape: &Shape) -> Reading<()> {
        // Each row may be from, to, bytes and perhaps messages.
        if self.like_edges && self.to_itself && !shape.has_labels && (shape.n == 3 || shape.n == 4)
        {
            // Plural: three or four.
            let problem =
                format!("{0} rows of {0} numbers may be a matrix or a list of edges", shape.n);
            return malformed(shape.start, problem, DIAGONAL);
        }
        match self {
            Doubt { empty: true, .. } => Err(PatternImportError::Unknown),
            Doubt { empty_diagonal: true, .. } if shape.names_are_numbers => {
                malformed(shape.start, "the first line may hold cells or task numbers", CORNER)
            }
            _ => Ok(()),
        }
    }
}
