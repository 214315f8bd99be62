//! `seatmap observe --method mpi` that a launcher starts once for each rank: each runs its rank's
//! program, and rank 0 puts the traces together. Launchers agree on no way to hand variables on to
//! other computers; so each rank sets its own.

use super::{end_of, ending_of, observed, tell};
use crate::args::{Observe, ObserveChoice};
use crate::verbs::observe::Files;
use seatmap_cluster::Rank;
use seatmap_console::error::CliError;
use seatmap_console::interrupt::Interrupt;
use seatmap_launch::Ending;
use seatmap_os::trusted;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// How long rank 0 waits for the traces of others after its own: a network file system shows new
/// files of other computers after up to a minute (`acdirmax`, nfs(5)).
const PATIENCE: Duration = Duration::from_secs(70);

/// How often it looks.
const PAUSE: Duration = Duration::from_millis(20);

/// The last line of a trace.
const END: &[u8] = b"{\"end\":true}\n";

/// The rank that this process is, where it is one of several.
pub fn own_rank(method: ObserveChoice) -> Option<Rank> {
    let rank = Rank::find(|name| std::env::var(name).ok()).ok()?;
    (method == ObserveChoice::Mpi && rank.size > 1).then_some(rank)
}

/// Runs the command of this rank. Rank 0 then reads what all ranks wrote down.
pub fn run(
    typed: &Observe,
    files: &Files,
    rank: &Rank,
    interrupt: &Interrupt,
) -> Result<(), CliError> {
    let folder = folder(typed, rank)?;
    // Its name can be known before: it is not taken where somebody else has made it.
    trusted::private_folder(&folder).map_err(CliError::input)?;
    // An earlier job may have had the same name and a rank of this number.
    traces_of(&folder, rank.rank)
        .iter()
        .try_for_each(std::fs::remove_file)
        .map_err(CliError::work)?;
    let ending = ending_of(end_of(typed, &folder, interrupt)?);
    if rank.rank > 0 {
        return if ending == Ending::Exited(0) { Ok(()) } else { ending.leave_alike() };
    }
    // The ranks of a program that is none of MPI's leave nothing, and neither do those of one that
    // failed.
    if ending == Ending::Exited(0) && !traces_of(&folder, 0).is_empty() {
        wait_for_all(&folder, rank.size, interrupt);
    }
    let told = observed(typed.method, &folder)
        .and_then(|(observation, _)| tell(typed, files, &observation, true));
    // The result is written; a rank that is late may still put a file there.
    let _ = std::fs::remove_dir_all(&folder);
    if ending == Ending::Exited(0) { told } else { ending.leave_alike() }
}

/// The folder for the traces of this start, beside the pattern.
fn folder(typed: &Observe, rank: &Rank) -> Result<PathBuf, CliError> {
    let named = typed.output.as_deref().filter(|path| *path != Path::new("-"));
    let output = named.ok_or_else(|| {
        CliError::input(format!(
            "this is rank {} of {} of a job: name a file with -o in a folder that all nodes share, in which the ranks \
             leave their traces",
            rank.rank, rank.size
        ))
    })?;
    let job: String =
        rank.job.iter().flat_map(|job| job.chars()).filter(char::is_ascii_alphanumeric).collect();
    let mut name = output.as_os_str().to_owned();
    name.push(format!(".traces-{job}"));
    std::path::absolute(PathBuf::from(name)).map_err(CliError::work)
}

/// The files of a rank; more than one where it executed another program.
fn traces_of(folder: &Path, rank: usize) -> Vec<PathBuf> {
    let beginning = format!("rank-{rank}-");
    let entries =
        std::fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let is_own = |path: &PathBuf| {
        path.file_name().is_some_and(|name| name.to_string_lossy().starts_with(&beginning))
    };
    entries.filter(is_own).collect()
}

/// Waits until each rank has a whole trace, as long as patience and user allow. Those that are
/// missing are told of where the pattern is.
fn wait_for_all(folder: &Path, ranks: usize, interrupt: &Interrupt) {
    let began = Instant::now();
    let is_whole = |path: &PathBuf| std::fs::read(path).is_ok_and(|bytes| bytes.ends_with(END));
    for rank in 0..ranks {
        while !traces_of(folder, rank).iter().any(is_whole) {
            if began.elapsed() > PATIENCE || interrupt.asked() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}
