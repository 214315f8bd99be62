//! Imports other tools' files into a [`Pattern`].
//!
//! A file is recognised by its content, so it may have any name:
//!
//! | kind | begins with | a row, or the first number, is | its figures are |
//! |---|---|---|---|
//! | Seatmap's patterns, JSON | `{` | | as they are |
//! | MatrixMarket | `%%MatrixMarket` | the sender, counted from 1 | bytes |
//! | METIS graph | comments `%`, or 2 to 4 numbers | a vertex, counted from 1 | bytes each way |
//! | QAPLIB `.dat` | a number alone on its line | the sender | bytes, one of two matrices |
//! | CSV edge list | `from`, `to` and `bytes` | the sender, from 0 or by name | as columns say |
//! | CSV matrix | anything else | the sender | bytes |
//!
//! The first number of a METIS graph is the number of lines below it.
//!
//! Other formats are recognised and refused with the command that converts them (`foreign`). CSV
//! fields may be separated by commas, semicolons, tabs or blanks.
//!
//! Files are not trusted. Sizes are bounded before memory is allocated, and every problem or
//! ambiguity is a [`PatternImportError`] with its position. Oddities become a [`PatternNote`] with
//! the pattern.

mod edge_list;
mod entries;
mod error;
mod foreign;
mod market;
mod matrix;
mod metis;
mod note;
mod rows;

#[cfg(test)]
mod tests;

pub use error::PatternImportError;
pub use note::PatternNote;

use crate::document::{inconsistent, plain_text};
use crate::pattern::Pattern;
use crate::pattern::qaplib::{Instance, Which};

/// The largest file: room for [`MAX_EDGES`](crate::pattern::graph::MAX_EDGES) edges in JSON.
pub const MAX_FILE_BYTES: usize = 512 << 20;

/// An imported file.
#[derive(Debug, PartialEq)]
pub struct Imported {
    /// Pattern that the file holds.
    pub pattern: Pattern,
    /// Oddities of the file.
    pub notes: Vec<PatternNote>,
}

/// Reads a pattern of any known kind.
///
/// `name` becomes the pattern's name if the file has none. `which` chooses between the two matrices
/// of a QAPLIB file; the default is the first, with a note.
///
/// ```
/// use seatmap_data::pattern::import;
/// let imported = import::read(b"from,to,bytes\nproducer,consumer,4096\n", "pair", None)?;
/// assert_eq!(imported.pattern.names, ["producer", "consumer"]);
/// # Ok::<(), seatmap_data::pattern::import::PatternImportError>(())
/// ```
///
/// # Errors
/// [`PatternImportError`] with the problem, its position and the remedy.
pub fn read(
    bytes: &[u8],
    name: &str,
    which: Option<Which>,
) -> Result<Imported, PatternImportError> {
    if let Some(foreign) = foreign::recognised(bytes) {
        return Err(foreign);
    }
    if bytes.len() > MAX_FILE_BYTES {
        inconsistent(format!(
            "the file is above the limit of {MAX_FILE_BYTES} bytes; leave out edges with few bytes"
        ))?;
    }
    let text = plain_text(bytes)?;
    let start = text.trim_start();
    if is_qaplib(start) {
        let instance = Instance::read(text)?;
        let pattern = instance.pattern(which.unwrap_or(Which::First), name)?;
        let notes = which.is_none().then_some(PatternNote::FirstOfTwo).into_iter().collect();
        return Ok(Imported { pattern, notes });
    }
    if which.is_some() {
        return Err(PatternImportError::OneMatrix);
    }
    let imported = match start.chars().next() {
        Some('{') => Imported { pattern: Pattern::from_json(text)?, notes: Vec::new() },
        _ if metis::is_one(text) => metis::read(text, name)?,
        Some('%') => market::read(text, name)?,
        Some('<' | '[') => return Err(PatternImportError::Unknown),
        _ if edge_list::is_one(text) => edge_list::read(text, name)?,
        _ => matrix::read(text, name)?,
    };
    imported.pattern.check()?;
    Ok(imported)
}

fn is_qaplib(start: &str) -> bool {
    let (first, rest) = start.split_once('\n').unwrap_or((start, ""));
    first.trim().parse::<usize>().is_ok() && !rest.trim().is_empty()
}
