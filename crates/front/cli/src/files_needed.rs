//! The kernel's files that a verb needs, so that no verb takes a missing `/proc` for a computer
//! without processes.

use crate::verbs::SeatmapCommand;
use crate::verbs::cluster::{ClusterArgs, ClusterCommand};
use seatmap_console::{CliError, CliResult, output};
use seatmap_os::{Root, proc_mount};

pub fn check(command: &SeatmapCommand) -> CliResult {
    let root = Root::new("/");
    let checked = match command {
        // A recording contains everything.
        SeatmapCommand::Run(run) if run.live.replay.is_some() => Ok(()),
        // The doctor of clusters only reads the file of a measurement.
        SeatmapCommand::Cluster(ClusterArgs { command: ClusterCommand::Doctor(_) }) => Ok(()),
        // These look for threads: only the files of processes matter.
        SeatmapCommand::Advise(_)
        | SeatmapCommand::Run(_)
        | SeatmapCommand::Check(_)
        | SeatmapCommand::Top(_)
        | SeatmapCommand::Observe(_)
        | SeatmapCommand::Bench(_)
        | SeatmapCommand::Tune(_)
        | SeatmapCommand::Pretend(_)
        | SeatmapCommand::Cluster(_) => proc_mount::check(&root),
        // These also need the files about the whole computer, which some sandboxes omit.
        SeatmapCommand::Cell(_) | SeatmapCommand::Doctor(_) | SeatmapCommand::Noise(_) => {
            proc_mount::check_computer(&root)
        }
        // A plan from a record only reads documents.
        SeatmapCommand::Services(services) if services.reads_documents() => Ok(()),
        SeatmapCommand::Services(_) => proc_mount::check_computer(&root),
        // Others pin this process's own threads, or read documents.
        _ => Ok(()),
    };
    checked.map_err(CliError::work)?;
    if uses_topology(command)
        && let Some(remark) = proc_mount::sys_remark(&root)
    {
        output::tell(remark);
    }
    Ok(())
}

/// Whether a command that works without `/sys` reports this computer's cores and caches.
fn uses_topology(command: &SeatmapCommand) -> bool {
    match command {
        SeatmapCommand::Run(run) => run.live.replay.is_none() && !run.quiet,
        SeatmapCommand::Advise(_)
        | SeatmapCommand::Check(_)
        | SeatmapCommand::Top(_)
        | SeatmapCommand::Bench(_)
        | SeatmapCommand::Tune(_)
        | SeatmapCommand::Measure(_) => true,
        _ => false,
    }
}
