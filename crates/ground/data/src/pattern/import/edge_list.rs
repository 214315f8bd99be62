//! CSV lists of edges: `from,to,bytes[,messages]`.
//!
//! The first line names the columns, in any order. Tasks are either numbers counted from 0, or
//! names in order of appearance. If fewer than half of many numbers occur, only these are tasks,
//! named by their numbers: crawled graphs number their vertices with gaps. Several rows of one
//! pair, as in a log of messages, are added up.

use super::entries::{ImportedEntries, amount};
use super::error::{FEWER_TASKS, Reading, malformed};
use super::rows::{CsvField, CsvRow, rows};
use super::{Imported, PatternNote};
use crate::document::DocumentError;
use crate::pattern::graph::{MAX_TASKS, tasks_problem};
use crate::pattern::words::quoted;
use crate::pattern::{Edge, Pattern};
use crate::statistics::words::counted;
use std::collections::HashMap;

const COLUMNS: &str =
    "the first line of a list of edges names from, to, bytes and optionally messages, each once";
const ROWS: &str = "each row needs one field for each column of the first line";
const TASKS: &str = "write all tasks as numbers counted from 0, or all as names";
const AMOUNTS: &str = "bytes and messages are plain numbers";

/// The largest number of a task: identifiers of crawled graphs have 32 bits.
const MOST_NUMBER: usize = u32::MAX as usize;

/// Up to this many tasks every number is a task: one that does not occur is a silent rank.
const SPARSE_FROM: usize = 4096;

/// Whether the first row names an edge list's columns. An empty first field makes it a matrix's
/// header.
pub fn is_one(text: &str) -> bool {
    let first = rows(text).next().and_then(Result::ok);
    // The first field of a matrix with names is the corner of its two headers.
    let is_matrix =
        first.as_ref().and_then(|row| row.fields.first()).is_none_or(|field| field.text.is_empty());
    !is_matrix
        && first.iter().flat_map(|row| &row.fields).any(|field| field.is("from"))
        && first.iter().flat_map(|row| &row.fields).any(|field| field.is("to"))
}

struct Columns {
    from: usize,
    to: usize,
    bytes: usize,
    messages: Option<usize>,
    count: usize,
}

enum Tasks {
    /// Before the first row.
    Open,
    /// Numbers from 0 to below `count`; `least` is the smallest that occurs.
    Numbers { count: usize, least: usize },
    /// Names, in order of appearance.
    Names(HashMap<String, usize>),
}

/// Reads the text of such a file.
///
/// # Errors
/// `Malformed` for a file that is not such a list.
pub fn read(text: &str, name: &str) -> Reading<Imported> {
    let mut rows = rows(text);
    let head = rows.next().ok_or_else(DocumentError::empty)??;
    let columns = columns(&head)?;
    let mut entries = ImportedEntries::default();
    let mut tasks = Tasks::Open;
    for row in rows {
        let row = row?;
        let edge = edge(&row, &columns, &mut tasks)?;
        entries.add(row.end, edge)?;
    }
    let (count, names, note) = tasks.finish();
    // A file with only a header may be truncated.
    if count == 0 {
        return malformed(head.end, "the list has no edges", COLUMNS);
    }
    let mut imported = entries.pattern(name, count);
    imported.pattern.names = names;
    let note = compact(&mut imported.pattern).or(note);
    imported.notes.extend(note);
    Ok(imported)
}

fn compact(pattern: &mut Pattern) -> Option<PatternNote> {
    let of = pattern.tasks;
    if of <= SPARSE_FROM || !pattern.names.is_empty() {
        return None;
    }
    let mut used: Vec<usize> = pattern.edges.iter().flat_map(|edge| [edge.from, edge.to]).collect();
    used.sort_unstable();
    used.dedup();
    if used.is_empty() || 2 * used.len() >= of {
        return None;
    }
    for edge in &mut pattern.edges {
        edge.from = used.binary_search(&edge.from).unwrap_or_default();
        edge.to = used.binary_search(&edge.to).unwrap_or_default();
    }
    pattern.tasks = used.len();
    pattern.names = used.iter().map(usize::to_string).collect();
    Some(PatternNote::Sparse { used: used.len(), last: of - 1 })
}

fn columns(head: &CsvRow) -> Reading<Columns> {
    let known = ["from", "to", "bytes", "messages"].map(|word| column(head, word));
    let odd = (0..head.fields.len()).find(|at| !known.contains(&Some(*at)));
    if let Some(field) = odd.map(|at| &head.fields[at]) {
        return malformed(
            field.place,
            format!("unexpected column {}", quoted(&field.text)),
            COLUMNS,
        );
    }
    Ok(Columns {
        from: needed_column(head, "from")?,
        to: needed_column(head, "to")?,
        bytes: needed_column(head, "bytes")?,
        messages: column(head, "messages"),
        count: head.fields.len(),
    })
}

fn column(head: &CsvRow, word: &str) -> Option<usize> {
    head.fields.iter().position(|field| field.is(word))
}

fn needed_column(head: &CsvRow, word: &str) -> Reading<usize> {
    match column(head, word) {
        Some(at) => Ok(at),
        None => malformed(head.end, format!("the column '{word}' is missing"), COLUMNS),
    }
}

fn edge(row: &CsvRow, columns: &Columns, tasks: &mut Tasks) -> Reading<Edge> {
    if row.fields.len() != columns.count {
        let place = row.fields.get(columns.count).map_or(row.end, |field| field.place);
        let problem = format!(
            "{} for {}",
            counted(row.fields.len(), "field"),
            counted(columns.count, "column")
        );
        return malformed(place, problem, ROWS);
    }
    Ok(Edge {
        from: tasks.number(&row.fields[columns.from])?,
        to: tasks.number(&row.fields[columns.to])?,
        bytes: figure(row, columns.bytes)?,
        messages: columns.messages.map_or(Ok(1.0), |at| figure(row, at))?,
    })
}

fn figure(row: &CsvRow, at: usize) -> Reading<f64> {
    let field = &row.fields[at];
    amount(&field.text).or_else(|problem| malformed(field.place, problem, AMOUNTS))
}

impl Tasks {
    fn number(&mut self, field: &CsvField) -> Reading<usize> {
        let place = field.place;
        let number = field.text.parse::<usize>();
        if field.text.is_empty() || (number.is_err() && !field.is_word()) {
            return malformed(place, format!("{} is not a task", quoted(&field.text)), TASKS);
        }
        if matches!(number, Ok(number) if number > MOST_NUMBER) {
            return malformed(
                place,
                format!(
                    "task {} is out of range: tasks are numbered 0 to {MOST_NUMBER}",
                    field.text
                ),
                FEWER_TASKS,
            );
        }
        if matches!(self, Tasks::Open) {
            *self = number.as_ref().map_or_else(
                |_| Tasks::Names(HashMap::new()),
                |first| Tasks::Numbers { count: 0, least: *first },
            );
        }
        match (self, number) {
            (Tasks::Numbers { count, least }, Ok(number)) => {
                (*count, *least) = ((*count).max(number + 1), (*least).min(number));
                Ok(number)
            }
            (Tasks::Names(names), Err(_)) => {
                let next = names.len();
                let number = *names.entry(field.text.to_string()).or_insert(next);
                if number < MAX_TASKS {
                    Ok(number)
                } else {
                    malformed(place, tasks_problem("more"), FEWER_TASKS)
                }
            }
            (Tasks::Numbers { .. }, Err(_)) => malformed(
                place,
                format!("{} is a name among task numbers", quoted(&field.text)),
                TASKS,
            ),
            _ => malformed(
                place,
                format!("{} is a number among task names", quoted(&field.text)),
                TASKS,
            ),
        }
    }

    fn finish(self) -> (usize, Vec<String>, Option<PatternNote>) {
        match self {
            Tasks::Open => (0, Vec::new(), None),
            Tasks::Numbers { count, least } => {
                (count, Vec::new(), (least > 0).then_some(PatternNote::FromOne))
            }
            Tasks::Names(names) => {
                // The map has lost the order of the names.
                let mut by_number: Vec<(usize, String)> =
                    names.into_iter().map(|(name, at)| (at, name)).collect();
                by_number.sort_unstable();
                (by_number.len(), by_number.into_iter().map(|(_, name)| name).collect(), None)
            }
        }
    }
}
