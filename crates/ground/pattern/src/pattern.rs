//! `seatmap-pattern/1`: a weighted directed graph of tasks.

use crate::edge::{Edge, gather};
use seatmap_document::DocumentError;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-pattern/1";

/// More tasks than any placement here can handle; a file that claims more would only fill the memory.
pub const MAX_TASKS: usize = 1 << 20;

/// More edges than this (all pairs of 2,896 tasks) would not fit in a file that is read.
pub const MAX_EDGES: usize = 1 << 23;

/// A communication pattern: how much each task sends to each other task. Unknown fields on file are ignored, unknown
/// versions refused.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pattern {
    /// [`FORMAT`].
    pub format: String,
    /// The pattern's name for people: `stencil2d:8x8`, a file's stem.
    pub name: String,
    /// How many tasks there are; they are numbered from 0.
    pub tasks: usize,
    /// The name of each task; empty where they have no names.
    #[serde(default)]
    pub names: Vec<String>,
    /// At most one for each ordered pair of tasks.
    pub edges: Vec<Edge>,
}

impl Pattern {
    /// A pattern of tasks without names. Edges of one ordered pair are added up, in ascending order of their ends.
    #[must_use]
    pub fn gathered(name: impl Into<String>, tasks: usize, edges: impl IntoIterator<Item = Edge>) -> Self {
        let mut edges: Vec<Edge> = edges.into_iter().collect();
        gather(&mut edges);
        Pattern { format: FORMAT.to_owned(), name: name.into(), tasks, names: Vec::new(), edges }
    }

    /// Reads a pattern and checks that its parts fit together.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for text that is not such JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let pattern: Pattern = seatmap_document::read(text, FORMAT)?;
        pattern.check()?;
        Ok(pattern)
    }

    /// The pattern as JSON with a final newline.
    #[must_use]
    pub fn to_json(&self) -> String {
        seatmap_document::written(self)
    }

    /// Checks sizes, references and values.
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`] with the first thing found wrong.
    pub fn check(&self) -> Result<(), DocumentError> {
        let wrong = |what: String| Err(DocumentError::Inconsistent(what));
        if !(1..=MAX_TASKS).contains(&self.tasks) {
            return wrong(tasks_problem(self.tasks));
        }
        if !self.names.is_empty() && self.names.len() != self.tasks {
            return wrong(format!("names: {} for {} tasks; give all or none", self.names.len(), self.tasks));
        }
        if self.edges.len() > MAX_EDGES {
            return wrong(format!("edges: {}, and no more than {MAX_EDGES} are read", self.edges.len()));
        }
        self.check_edges()
    }

    fn check_edges(&self) -> Result<(), DocumentError> {
        let wrong = |at: usize, what: String| Err(DocumentError::Inconsistent(format!("edges[{at}]: {what}")));
        let ascend = self.edges.is_sorted_by(|a, b| a.ends() < b.ends());
        let mut seen = HashSet::new();
        for (at, edge) in self.edges.iter().enumerate() {
            if let Some(problem) = edge.problem(self.tasks) {
                return wrong(at, problem);
            }
            if !ascend && !seen.insert(edge.ends()) {
                let (from, to) = edge.ends();
                return wrong(at, format!("a second edge from task {from} to task {to}; add the two up"));
            }
        }
        Ok(())
    }
}

/// Why a number of tasks is refused.
pub(crate) fn tasks_problem(tasks: impl std::fmt::Display) -> String {
    format!("{tasks} tasks, and a pattern has 1 to {MAX_TASKS}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_comes_back_from_file() {
        let pattern = Pattern::gathered("two", 3, [Edge::unit(1, 0), Edge::unit(0, 2), Edge::unit(1, 0)]);
        assert_eq!(pattern.edges[1], Edge { from: 1, to: 0, bytes: 2.0, messages: 2.0 });
        assert_eq!(Pattern::from_json(&pattern.to_json()).unwrap(), pattern);
    }

    #[test]
    fn what_does_not_fit_is_refused() {
        let refused = |rest: &str| {
            let text = format!("{{\"format\":\"seatmap-pattern/1\",\"name\":\"x\",{rest}}}");
            Pattern::from_json(&text).unwrap_err().to_string()
        };
        assert!(refused(r#""tasks":0,"edges":[]"#).contains("1 to"));
        assert!(refused(r#""tasks":2,"names":["a"],"edges":[]"#).contains("1 for 2 tasks"));
        assert!(refused(r#""tasks":2,"edges":[{"from":0,"to":2,"bytes":1}]"#).contains("edges[0]: there is no task 2"));
        assert!(refused(r#""tasks":2,"edges":[{"from":1,"to":1,"bytes":1}]"#).contains("to itself"));
        assert!(refused(r#""tasks":2,"edges":[{"from":1,"to":0,"bytes":-1}]"#).contains("between 0 and 1e18"));
        let twice = r#""tasks":2,"edges":[{"from":1,"to":0,"bytes":1},{"from":1,"to":0,"bytes":1}]"#;
        assert!(refused(twice).contains("edges[1]: a second edge"));
        assert!(Pattern::from_json("{\"format\":\"seatmap-pattern/9\"}").unwrap_err().to_string().contains("/9"));
        assert!(Pattern::from_json("{\n!").unwrap_err().to_string().starts_with("line 2, column 1"));
    }
}
