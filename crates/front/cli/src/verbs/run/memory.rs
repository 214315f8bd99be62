//! The memory of `seatmap run`: where it is to come from, and pages that move.

use super::failed;
use crate::args::Run;
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_launch::{MemoryWish, ProgramMemory, pages};
use seatmap_os::mempolicy::{MemoryNodes, PolicyError};
use seatmap_os::{CpuSet, Root, layout};
use seatmap_plan::Plan;

/// The memory that the user asked for, with threads on these CPUs, if this host has it. A kernel
/// without NUMA has one place for all memory: nothing is set there, and a line says so.
pub fn asked(
    typed: &Run,
    cpus: &CpuSet,
    plan: Option<&Plan>,
) -> Result<Option<ProgramMemory>, CliError> {
    let Some(wish) = typed.memory.as_ref().filter(|_| typed.pid.is_empty()) else {
        return Ok(None);
    };
    let root = Root::new("/");
    let near = layout::memory_nodes(&root, cpus).map_err(CliError::work)?;
    let memory = wish.memory(&MemoryNodes::read(&root), &near, plan).map_err(CliError::input)?;
    match memory.policies().into_iter().try_for_each(|policy| policy.check()) {
        Ok(()) => Ok(Some(memory)),
        Err(error @ PolicyError::NoNuma) => {
            output::tell(&format!("--memory {wish} changes nothing: {error}"));
            Ok(None)
        }
        Err(error @ PolicyError::TooOld(_)) => Err(CliError::input(error)),
        Err(error) => Err(CliError::work(error)),
    }
}

/// The nodes that the pages of a running program are to move to; `None` where they stay.
pub fn destination(typed: &Run) -> Result<Option<Option<CpuSet>>, CliError> {
    match (&typed.memory, typed.move_pages) {
        (None, false) => Ok(None),
        (None, true) => Ok(Some(None)),
        (Some(MemoryWish::Nodes(nodes)), true) => {
            MemoryNodes::read(&Root::new("/")).check(nodes).map_err(CliError::input)?;
            Ok(Some(Some(nodes.clone())))
        }
        (Some(wish), true) => Err(CliError::input(format!(
            "pages move to nodes, and '{wish}' names none; give --memory node:LIST, or leave --memory out to move them to \
             where the threads sit"
        ))),
        (Some(_), false) => Err(CliError::input(
            "a running program's threads choose their memory policy themselves; add --move-pages to move the pages that \
             it has",
        )),
    }
}

/// Moves the pages of these processes to these nodes, or to those where their threads sit, and says
/// how many moved.
pub fn move_pages(typed: &Run, nodes: Option<&CpuSet>) -> Result<(), CliError> {
    for pid in &typed.pid {
        let nodes = match nodes {
            Some(nodes) => nodes.clone(),
            None => pages::nodes_of_threads(*pid).map_err(failed)?,
        };
        let moved = pages::move_to(*pid, &nodes).map_err(failed)?;
        if !typed.quiet || !moved.is_complete() {
            output::tell(&moved.told(&nodes));
        }
    }
    Ok(())
}
