//! `seatmap-pattern/1`: a weighted directed graph of tasks.

use crate::document::{Checked, DocumentError, inconsistent};
use crate::pattern::edge::{Edge, MAX_AMOUNT, gather, is_amount};
use crate::statistics::words::counted;
use serde::{Deserialize, Serialize};
use std::collections::HashSet;
use std::fmt::Display;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-pattern/1";

/// The most tasks, more than any placement can handle. A file that claims more would only fill the
/// memory.
pub const MAX_TASKS: usize = 1 << 20;

/// The most edges: all pairs of 2,896 tasks. More would not fit in a readable file.
pub const MAX_EDGES: usize = 1 << 23;

/// The largest working set of a task: an exbibyte.
pub const MAX_CACHE_BYTES: u64 = 1 << 60;

/// A communication pattern: a weighted directed graph of how much each task sends to each other
/// task. Readers ignore unknown keys and refuse unknown versions.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Pattern {
    /// Name and version of the format.
    pub format: String,
    /// The pattern's name for people: `stencil2d:8x8`, or a file's name without extension.
    pub name: String,
    /// The number of tasks; they are numbered from 0.
    #[cfg_attr(feature = "schema", schemars(range(min = 1, max = MAX_TASKS)))]
    pub tasks: usize,
    /// The name of each task. Give one for every task or none.
    #[serde(default)]
    pub names: Vec<String>,
    /// The messages: at most one edge for each ordered pair of tasks, and none from a task to
    /// itself.
    #[cfg_attr(feature = "schema", schemars(length(max = MAX_EDGES)))]
    pub edges: Vec<Edge>,
    /// The work of each task between its messages, in any unit. Empty means a load of 1 for all.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(range(min = 0, max = MAX_AMOUNT))))]
    pub loads: Vec<f64>,
    /// The time of a load of 1 on the fastest PU of the machine, in nanoseconds, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0, max = MAX_AMOUNT)))]
    pub load_ns: Option<f64>,
    /// The bytes of each task's working set; empty if unknown.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "schema", schemars(inner(range(max = MAX_CACHE_BYTES))))]
    pub cache_bytes: Vec<u64>,
    /// How the pattern was observed; null for an unobserved pattern.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub observation: Option<PatternObservation>,
}

/// The part of an observation that placement needs. Files of `seatmap observe` have more keys.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PatternObservation {
    /// The names of the methods, such as `wakeups`.
    #[serde(default)]
    pub methods: Vec<String>,
    /// Each thread's place in the order of creation: `0.2` is the third thread that the first one
    /// made. Empty if unknown.
    #[serde(default)]
    pub paths: Vec<String>,
    /// Whether observation began with the program's first instruction. Only then are the paths
    /// complete, and valid for the next run.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub from_start: bool,
    /// The observed time, in seconds; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(range(min = 0)))]
    pub seconds: Option<f64>,
    /// Processes outside the program that woke its threads. The edges do not include them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub outsiders: Vec<Outsider>,
}

/// A process outside an observed program that woke threads of the program.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Outsider {
    /// The process id.
    pub pid: i32,
    /// Its name; empty if it exited before the name was read.
    #[serde(default)]
    pub name: String,
    /// The number of wakeups.
    #[serde(default)]
    pub wakeups: f64,
    /// Whether it is a kernel thread.
    #[serde(skip)]
    pub is_kernel: bool,
}

const WAKEUPS: &str = "wakeups";

impl Pattern {
    /// A pattern of unnamed tasks. Edges of the same ordered pair are added up; the result is
    /// sorted by their ends.
    pub fn gathered(
        name: impl Into<String>,
        tasks: usize,
        edges: impl IntoIterator<Item = Edge>,
    ) -> Self {
        let mut edges: Vec<Edge> = edges.into_iter().collect();
        gather(&mut edges);
        Pattern { edges, ..Pattern::silent(name, tasks) }
    }

    /// A pattern of unnamed tasks with equal loads and no messages.
    pub fn silent(name: impl Into<String>, tasks: usize) -> Self {
        Pattern { format: FORMAT.to_owned(), name: name.into(), tasks, ..Pattern::default() }
    }

    /// The sum of this pattern and others, each with a factor on its bytes and messages.
    ///
    /// ```
    /// use seatmap_data::pattern::generate;
    /// let both = generate("ring:4")?.with(&[(0.5, generate("all-to-all:4")?)]).unwrap();
    /// let edge = both.edges.iter().find(|edge| (edge.from, edge.to) == (0, 1)).unwrap();
    /// assert_eq!(edge.messages, 1.5);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`]: the patterns have different numbers of tasks, or a sum is
    /// too large.
    pub fn with(&self, others: &[(f64, Pattern)]) -> Result<Self, DocumentError> {
        let mut whole = self.clone();
        for (factor, other) in others {
            if other.tasks != self.tasks {
                let [name, with] = [&self.name, &other.name];
                return inconsistent(format!(
                    "patterns to add need equal numbers of tasks; {name} has {}, but {with} has {}",
                    counted(self.tasks, "task"),
                    other.tasks
                ));
            }
            whole.name += &format!(" + {factor} x {}", other.name);
            whole.edges.extend(other.edges.iter().map(|edge| Edge {
                bytes: edge.bytes * factor,
                messages: edge.messages * factor,
                ..*edge
            }));
        }
        gather(&mut whole.edges);
        whole.check()?;
        Ok(whole)
    }

    /// The load of a task; 1 in a pattern without loads.
    pub fn load(&self, task: usize) -> f64 {
        self.loads.get(task).copied().unwrap_or(1.0)
    }

    /// Whether the observation counted wakeups, so that tasks sleep until a message arrives.
    pub fn waits(&self) -> bool {
        self.observation
            .as_ref()
            .is_some_and(|observed| observed.methods.iter().any(|method| method == WAKEUPS))
    }

    /// Each thread's place in order of creation; empty if unknown.
    pub fn paths(&self) -> &[String] {
        self.observation
            .as_ref()
            .filter(|observed| observed.from_start)
            .map_or(&[], |observed| &observed.paths)
    }

    /// Reads and checks a pattern.
    ///
    /// # Errors
    /// [`DocumentError`], with line and column for invalid JSON.
    pub fn from_json(text: &str) -> Result<Self, DocumentError> {
        let pattern: Pattern = crate::document::read(text, FORMAT)?;
        pattern.check()?;
        Ok(pattern)
    }

    /// The pattern as JSON with a final newline.
    pub fn to_json(&self) -> String {
        crate::document::written(self)
    }

    /// Checks sizes, references and values.
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`] with the first inconsistency.
    pub fn check(&self) -> Checked {
        if !(1..=MAX_TASKS).contains(&self.tasks) {
            return inconsistent(tasks_problem(self.tasks));
        }
        self.all_or_none("names", self.names.len())?;
        if let Some(observed) = &self.observation {
            self.all_or_none("observation.paths", observed.paths.len())?;
            check_amount("observation.seconds", observed.seconds.unwrap_or(0.0))?;
        }
        if self.edges.len() > MAX_EDGES {
            return inconsistent(format!(
                "edges: {} are too many; the limit is {MAX_EDGES}",
                self.edges.len()
            ));
        }
        self.check_work()?;
        self.check_edges()
    }

    fn check_work(&self) -> Checked {
        self.all_or_none("loads", self.loads.len())?;
        self.all_or_none("cache_bytes", self.cache_bytes.len())?;
        for (at, load) in self.loads.iter().enumerate() {
            check_amount(format_args!("loads[{at}]"), *load)?;
        }
        if let Some(at) = self.cache_bytes.iter().position(|bytes| *bytes > MAX_CACHE_BYTES) {
            return inconsistent(format!(
                "cache_bytes[{at}]: {} is above {MAX_CACHE_BYTES}",
                self.cache_bytes[at]
            ));
        }
        check_amount("load_ns", self.load_ns.unwrap_or(0.0))
    }

    fn all_or_none(&self, key: &str, given: usize) -> Checked {
        if given == 0 || given == self.tasks {
            return Ok(());
        }
        inconsistent(format!(
            "{key}: {given} for {}; give all or none",
            counted(self.tasks, "task")
        ))
    }

    fn check_edges(&self) -> Checked {
        // Files of Seatmap are sorted, and then need no set of a million edges.
        let ascend = self.edges.is_sorted_by(|a, b| a.ends() < b.ends());
        let mut seen = HashSet::new();
        for (at, edge) in self.edges.iter().enumerate() {
            if let Some(problem) = edge.problem(self.tasks) {
                return inconsistent(format!("edges[{at}]: {problem}"));
            }
            if !ascend && !seen.insert(edge.ends()) {
                let Edge { from, to, .. } = edge;
                return inconsistent(format!(
                    "edges[{at}]: a second edge from task {from} to task {to}; add the two up"
                ));
            }
        }
        Ok(())
    }
}

fn check_amount(key: impl Display, amount: f64) -> Checked {
    if is_amount(amount) {
        return Ok(());
    }
    inconsistent(format!("{key}: {amount} is not between 0 and {MAX_AMOUNT:e}"))
}

pub(crate) fn tasks_problem(tasks: impl Display) -> String {
    format!("a pattern has 1 to {MAX_TASKS} tasks, not {tasks}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_round_trip_keeps_pattern() {
        let pattern =
            Pattern::gathered("two", 3, [Edge::unit(1, 0), Edge::unit(0, 2), Edge::unit(1, 0)]);
        assert_eq!(pattern.edges[1], Edge { from: 1, to: 0, bytes: 2.0, messages: 2.0 });
        assert_eq!(Pattern::from_json(&pattern.to_json()).unwrap(), pattern);
    }

    #[test]
    fn observation_reports_whether_tasks_wait() {
        let read = |observation: &str| {
            let text = format!(
                r#"{{"format":"seatmap-pattern/1","name":"x","tasks":1,"edges":[],"observation":{observation}}}"#
            );
            Pattern::from_json(&text)
        };
        let seen =
            read(r#"{"methods":["sockets","wakeups"],"paths":["0"],"from_start":true}"#).unwrap();
        assert!(seen.waits() && seen.paths() == ["0"]);
        let living = read(r#"{"methods":["wakeups"],"paths":["0"],"means":"eBPF"}"#).unwrap();
        assert!(living.paths().is_empty(), "its threads were there before");
        assert!(
            !read(r#"{"methods":["tsan"]}"#).unwrap().waits() && !Pattern::silent("x", 1).waits()
        );
        let error = read(r#"{"paths":["0","0.0"]}"#).unwrap_err().to_string();
        assert!(error.contains("observation.paths: 2 for 1 task;"), "{error}");
    }

    #[test]
    fn inconsistent_pattern_is_refused() {
        let refused = [
            r#""tasks":0,"edges":[]"#,
            r#""tasks":2,"names":["a"],"edges":[]"#,
            r#""tasks":2,"edges":[{"from":0,"to":2,"bytes":1}]"#,
            r#""tasks":2,"edges":[{"from":1,"to":1,"bytes":1}]"#,
            r#""tasks":2,"edges":[{"from":1,"to":0,"bytes":-1}]"#,
            r#""tasks":2,"loads":[1],"edges":[]"#,
            r#""tasks":2,"edges":[{"from":1,"to":0,"bytes":1e-320}]"#,
            r#""tasks":2,"loads":[1,-1],"edges":[]"#,
            r#""tasks":2,"load_ns":-1,"edges":[]"#,
            r#""tasks":1,"cache_bytes":[1152921504606846977],"edges":[]"#,
            r#""tasks":2,"edges":[{"from":1,"to":0,"bytes":1},{"from":1,"to":0,"bytes":1}]"#,
            "\n!",
        ]
        .map(|rest| {
            let text = format!("{{\"format\":\"seatmap-pattern/1\",\"name\":\"x\",{rest}}}");
            Pattern::from_json(&text).unwrap_err().to_string()
        });
        insta::assert_snapshot!(refused.join("\n"), @"
        a pattern has 1 to 1048576 tasks, not 0
        names: 1 for 2 tasks; give all or none
        edges[0]: there is no task 2; the pattern has 2 tasks, counted from 0
        edges[0]: task 1 sends to itself; remove this edge, it costs nothing
        edges[0]: bytes and messages must be between 0 and 1e18, and not too small to be exact
        loads: 1 for 2 tasks; give all or none
        edges[0]: bytes and messages must be between 0 and 1e18, and not too small to be exact
        loads[1]: -1 is not between 0 and 1e18
        load_ns: -1 is not between 0 and 1e18
        cache_bytes[0]: 1152921504606846977 is above 1152921504606846976
        edges[1]: a second edge from task 1 to task 0; add the two up
        line 2, column 1: key must be a string
        ");
        let newer = Pattern::from_json("{\"format\":\"seatmap-pattern/9\"}").unwrap_err();
        assert!(newer.to_string().contains("/9"));
    }
}
