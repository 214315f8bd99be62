//! Which files of the kernel a verb needs. They are checked before it starts, so that no verb takes
//! a missing `/proc` for a computer on which nothing runs.

use crate::args::{ClusterCommand, Command};
use seatmap_console::error::CliError;
use seatmap_console::output;
use seatmap_os::{Root, proc_mount};

/// Checks that the kernel's files that this command reads are there, and show what it takes them
/// for.
pub fn check(command: &Command) -> Result<(), CliError> {
    let root = Root::new("/");
    let checked = match command {
        // A recording holds all that is to be said.
        Command::Run(run) if run.live.replay.is_some() => Ok(()),
        // The doctor of clusters reads the file of a measurement, and nothing of this computer.
        Command::Cluster(cluster) if matches!(cluster.command, ClusterCommand::Doctor(_)) => Ok(()),
        // These look for threads: processes under their own numbers suffice.
        Command::Advise(_)
        | Command::Run(_)
        | Command::Check(_)
        | Command::Top(_)
        | Command::Observe(_)
        | Command::Bench(_)
        | Command::Tune(_)
        | Command::Pretend(_)
        | Command::Cluster(_) => proc_mount::check(&root),
        // These need the files that describe the whole computer as well, which some sandboxes leave
        // out.
        Command::Cell(_) | Command::Doctor(_) | Command::Noise(_) => {
            proc_mount::check_computer(&root)
        }
        // A plan from a record reads documents.
        Command::Services(services) if services.reads_documents() => Ok(()),
        Command::Services(_) => proc_mount::check_computer(&root),
        // They seat this process's own threads, or read documents.
        Command::Measure(_)
        | Command::Import(_)
        | Command::Export(_)
        | Command::Show(_)
        | Command::Compare(_)
        | Command::Place(_)
        | Command::Pattern(_)
        | Command::Model(_)
        | Command::Machines(_)
        | Command::Shell(_) => Ok(()),
    };
    checked.map_err(CliError::work)?;
    if uses_topology(command)
        && let Some(remark) = proc_mount::sys_remark(&root)
    {
        output::tell(remark);
    }
    Ok(())
}

/// Whether a command that does without `/sys` speaks of this computer's cores and caches.
fn uses_topology(command: &Command) -> bool {
    match command {
        Command::Run(run) => run.live.replay.is_none() && !run.quiet,
        Command::Advise(_)
        | Command::Check(_)
        | Command::Top(_)
        | Command::Bench(_)
        | Command::Tune(_)
        | Command::Measure(_) => true,
        _ => false,
    }
}
