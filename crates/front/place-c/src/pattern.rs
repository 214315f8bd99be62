//! Patterns: generated ones, files, and plain edges.

use crate::argument::{array, at_most, bytes, text};
use crate::failure::PlaceCallFailure;
use crate::file::CallerFile;
use crate::status::PlaceStatus;
use seatmap_c_abi::{Boundary, take_back};
use seatmap_data::pattern::graph::MAX_TASKS;
use seatmap_data::pattern::{generate, import};
use std::ffi::c_char;

/// A pattern: the traffic from each task to the others. It never changes, so threads may share it.
pub struct PatternHandle(pub(crate) seatmap_data::pattern::Pattern);

/// The traffic from one task to another.
#[repr(C)]
#[derive(Clone, Copy, Debug)]
pub struct TrafficEdge {
    /// The sender, counted from 0.
    pub from: u32,
    /// The receiver, another task.
    pub to: u32,
    /// Bytes, or anything in proportion to them; 0 or more.
    pub bytes: f64,
}

/// Makes the pattern that a text such as "stencil2d:8x8" describes; `seatmap pattern list` lists
/// them.
///
/// Free *pattern with seatmap_pattern_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if the text describes none; the message gives the syntax.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_pattern_generate(
    text: *const c_char,
    pattern: *mut *mut PatternHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(pattern, "pattern", || {
            Ok(PatternHandle(generate(self::text(text, "text")?)?))
        })
    }
}

/// Reads a pattern from a file of any format of `seatmap pattern show` (seatmap-pattern/1, CSV
/// matrices and lists of edges, MatrixMarket, QAPLIB). That command also warns of oddities; this
/// call does not.
///
/// Free *pattern with seatmap_pattern_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_FILE if the file cannot be read or understood.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_pattern_read(
    path: *const c_char,
    pattern: *mut *mut PatternHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(pattern, "pattern", || {
            Ok(PatternHandle(read(&CallerFile::new(bytes(path, "path")?))?))
        })
    }
}

/// Makes a pattern with this many tasks and these edges, at most one for each sender and receiver.
/// The edges are copied; NULL is fine if count is 0.
///
/// Free *pattern with seatmap_pattern_free; on failure it is NULL.
///
/// Fails with SEATMAP_STATUS_BAD_ARGUMENT if tasks and edges do not fit together; the message names
/// the edge.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_pattern_from_edges(
    tasks: usize,
    edges: *const TrafficEdge,
    count: usize,
    pattern: *mut *mut PatternHandle,
) -> PlaceStatus {
    // SAFETY: the caller keeps the rules of the header.
    unsafe {
        PlaceCallFailure::give(pattern, "pattern", || {
            let tasks = at_most(tasks, MAX_TASKS, "tasks")?;
            Ok(PatternHandle(of_edges(tasks, array(edges, count, "edges")?)?))
        })
    }
}

/// The number of a pattern's tasks; 0 for NULL.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_pattern_tasks(pattern: *const PatternHandle) -> usize {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { PlaceCallFailure::known(pattern, "pattern") }.map_or(0, |pattern| pattern.0.tasks)
}

/// Frees a pattern; NULL is fine. Its answers remain valid.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn seatmap_pattern_free(pattern: *mut PatternHandle) {
    // SAFETY: the caller keeps the rules of the header.
    unsafe { take_back(pattern) }
}

fn read(file: &CallerFile) -> Result<seatmap_data::pattern::Pattern, PlaceCallFailure> {
    let imported = import::read(&file.bytes()?, &file.stem(), None);
    imported.map(|imported| imported.pattern).map_err(|error| file.refused(error))
}

/// Edges are not added up, so that error messages count them as the caller does.
fn of_edges(
    tasks: usize,
    edges: &[TrafficEdge],
) -> Result<seatmap_data::pattern::Pattern, PlaceCallFailure> {
    let pattern = seatmap_data::pattern::Pattern {
        edges: edges
            .iter()
            .map(|edge| seatmap_data::pattern::Edge {
                from: edge.from as usize,
                to: edge.to as usize,
                bytes: edge.bytes,
                messages: 1.0,
            })
            .collect(),
        ..seatmap_data::pattern::Pattern::silent("edges", tasks)
    };
    pattern.check()?;
    Ok(pattern)
}
