//! The start of an `srun` command, for programs of several ranks on one node.

use super::joined;
use crate::plan::Plan;

/// `srun --nodes=1 --ntasks=2 --cpu-bind=map_cpu:3,1`, with `--overcommit` if tasks share a PU;
/// `mask_cpu` if seats have several PUs. If the plan gives each task's memory, `--mem-bind`
/// follows.
///
/// Slurm obeys `map_cpu` only if the job has the whole node (srun(1), `--cpu-bind`).
pub fn write(plan: &Plan) -> String {
    let shared = if plan.is_oversubscribed() { " --overcommit" } else { "" };
    let tasks = plan.placement.len();
    // `map_cpu` is easier to read; sets need masks.
    let bind = if plan.seats.is_empty() {
        format!("map_cpu:{}", joined(&plan.placement, ","))
    } else {
        format!("mask_cpu:{}", joined((0..tasks).map(|task| mask(plan.seat(task))), ","))
    };
    format!("srun --nodes=1 --ntasks={tasks}{shared} --cpu-bind={bind}{}\n", memory(plan))
}

/// `map_mem` if each task has one node, else `mask_mem` (srun(1), `--mem-bind`).
fn memory(plan: &Plan) -> String {
    if plan.memory_in_use().is_none() {
        return String::new();
    }
    let one_each: Option<Vec<u32>> = plan
        .memory
        .iter()
        .map(|nodes| nodes.first().copied().filter(|_| nodes.len() == 1))
        .collect();
    match one_each {
        Some(nodes) => format!(" --mem-bind=map_mem:{}", joined(nodes, ",")),
        None => format!(
            " --mem-bind=mask_mem:{}",
            joined(plan.memory.iter().map(|nodes| mask(nodes)), ",")
        ),
    }
}

fn mask(pus: &[u32]) -> String {
    let digits = pus.iter().max().map_or(0, |largest| largest / 4);
    let text: String = (0..=digits)
        .rev()
        .filter_map(|at| {
            let four = pus.iter().filter(|pu| **pu / 4 == at);
            char::from_digit(four.fold(0, |bits, pu| bits | 1 << (pu % 4)), 16)
        })
        .collect();
    format!("0x{text}")
}
