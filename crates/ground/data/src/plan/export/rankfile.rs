//! A rankfile of Open MPI 4: `mpirun --rankfile`.
//!
//! The meaning of `slot=N` depends on options. By default N is a *core* in hwloc's order, and a
//! rank gets all of its PUs. With `--use-hwthread-cpus` it is a PU, and with
//! `rmaps_rank_file_physical` the index is the OS's. A plan needs both, so the file begins with a
//! note about them. Open MPI 5 only has hwloc's order (PRRTE dropped physical indices); for it, use
//! [`super::taskset`].

use super::comment;
use crate::plan::Plan;
use seatmap_os::CpuList;

/// The rankfile. Ranks are on the host of `mpirun`.
pub fn write(plan: &Plan) -> String {
    let mut text = comment::header(plan);
    text += "# mpirun --use-hwthread-cpus --mca rmaps_rank_file_physical 1 --rankfile FILE \
             COMMAND...\n";
    text += "# Without these two options, and in Open MPI 5, slots are not OS indices.\n";
    for task in 0..plan.placement.len() {
        let seat = CpuList(plan.seat(task).to_vec());
        text += &format!("rank {task}=localhost slot={seat}{}\n", comment::name(plan, task));
    }
    text
}
