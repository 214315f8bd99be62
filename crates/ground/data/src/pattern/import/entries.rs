//! The entries that importers collect.

use super::error::{Reading, malformed};
use super::{Imported, PatternNote};
use crate::document::{Position, decimal_number};
use crate::pattern::edge::{MAX_AMOUNT, gather, is_amount};
use crate::pattern::graph::MAX_EDGES;
use crate::pattern::words::quoted;
use crate::pattern::{Edge, Pattern};

const SMALLER: &str = "leave out edges with few bytes";

#[derive(Debug, Default)]
pub struct ImportedEntries {
    edges: Vec<Edge>,
    to_itself: usize,
}

impl ImportedEntries {
    /// Adds an entry. One without data is skipped; one from a task to itself is only counted.
    pub fn add(&mut self, place: Position, edge: Edge) -> Reading<()> {
        let is_something = edge.bytes > 0.0 || edge.messages > 0.0;
        self.to_itself += usize::from(is_something && edge.from == edge.to);
        if is_something && edge.from != edge.to {
            self.edges.push(edge);
        }
        // Only at twice the limit, so each sort follows as many new entries.
        if self.edges.len() > 2 * MAX_EDGES { self.condense(place) } else { Ok(()) }
    }

    /// Lists may have a pair many times: only pairs count.
    fn condense(&mut self, place: Position) -> Reading<()> {
        gather(&mut self.edges);
        if self.edges.len() > MAX_EDGES {
            malformed(place, format!("more than {MAX_EDGES} edges"), SMALLER)
        } else {
            Ok(())
        }
    }

    pub fn pattern(self, name: &str, tasks: usize) -> Imported {
        let notes =
            (self.to_itself > 0).then_some(PatternNote::ToItself { entries: self.to_itself });
        Imported {
            pattern: Pattern::gathered(name, tasks, self.edges),
            notes: notes.into_iter().collect(),
        }
    }
}

pub fn amount(word: &str) -> Result<f64, String> {
    let number: f64 = word.parse().map_err(|_| format!("{} is not a number", quoted(word)))?;
    // A smaller number would be read as 0, or as another one.
    let is_tiny = number.is_finite() && decimal_number(word).is_none();
    if is_tiny {
        return Err(format!("{} is too small to be exact", quoted(word)));
    }
    if !is_amount(number) {
        return Err(format!("{} is not between 0 and {MAX_AMOUNT:e}", quoted(word)));
    }
    // The sum turns -0 into 0.
    Ok(number + 0.0)
}
