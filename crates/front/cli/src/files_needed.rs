//! The kernel's files that a verb needs, so that no verb takes a missing `/proc` for a computer
//! without processes.

use crate::verbs::SeatmapCommand;
use crate::verbs::cluster::{ClusterArgs, ClusterCommand};
use seatmap_console::{CliError, CliResult, output};
use seatmap_os::{Root, proc_mount};

pub fn check(command: &SeatmapCommand) -> CliResult {
    use SeatmapCommand::*;
    let root = Root::new("/");
    let checked = match command {
        // A recording contains everything.
        Run(run) if run.live.replay.is_some() => Ok(()),
        // The doctor of clusters only reads the file of a measurement.
        Cluster(ClusterArgs { command: ClusterCommand::Doctor(_) }) => Ok(()),
        // These look for threads: only the files of processes matter.
        Advise(_) | Run(_) | Check(_) | Top(_) | Observe(_) | Bench(_) | Tune(_) | Pretend(_)
        | Cluster(_) => proc_mount::check(&root),
        // These also need the files about the whole computer, which some sandboxes omit.
        Cell(_) | Doctor(_) | Noise(_) => proc_mount::check_computer(&root),
        // A plan from a record only reads documents.
        Services(services) if services.reads_documents() => Ok(()),
        Services(_) => proc_mount::check_computer(&root),
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
    use SeatmapCommand::*;
    match command {
        Run(run) => run.live.replay.is_none() && !run.quiet,
        Advise(_) | Check(_) | Top(_) | Bench(_) | Tune(_) | Measure(_) => true,
        _ => false,
    }
}
