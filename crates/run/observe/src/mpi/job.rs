//! The method `mpi` in a job: each process runs its rank's program, and rank 0 combines the traces.
//! Launchers have no common way to pass variables to other computers, so each rank sets its own.

use crate::report::JobRank;
use crate::trace::MAX_BYTES;
use crate::{ObservationOutcome, ObserveError, ReportRequest};
use seatmap_launch::Ending;
use seatmap_os::{StopCheck, named_file, trusted};
use std::io;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// A network file system shows new files of other computers after up to a minute (`acdirmax`,
/// nfs(5)).
const PATIENCE: Duration = Duration::from_secs(70);

const PAUSE: Duration = Duration::from_millis(20);

const END: &[u8] = b"{\"end\":true}\n";

/// Rank 0 also reads all traces.
pub fn run(
    request: &ReportRequest,
    rank: &JobRank,
    stop: StopCheck,
) -> Result<ObservationOutcome, ObserveError> {
    let folder = rank.folder().map_err(ObserveError::System)?;
    // The folder's name can be guessed.
    trusted::private_folder(&folder)?;
    // An earlier job may have left a rank of this number.
    for trace in traces_of(&folder, rank.rank).map_err(ObserveError::System)? {
        std::fs::remove_file(trace).map_err(ObserveError::System)?;
    }
    let ending = request.end_of(&folder, stop)?;
    if rank.rank > 0 {
        return Ok(ObservationOutcome::elsewhere(ending));
    }
    // Ranks of a failed program, or of one without MPI, leave no traces.
    if ending == Ending::Exited(0)
        && !traces_of(&folder, 0).map_err(ObserveError::System)?.is_empty()
    {
        wait_for_all(&folder, rank.size, stop);
    }
    let sighting = request.read(&folder);
    // Everything is read; a late rank may still put a file there.
    let _ = std::fs::remove_dir_all(&folder);
    Ok(ObservationOutcome::of_ended(ending, sighting))
}

impl JobRank {
    fn folder(&self) -> io::Result<PathBuf> {
        let job = self.job.as_deref().unwrap_or_default();
        // A job's name may contain any character, but a folder's name may not.
        let job: String = job.chars().filter(char::is_ascii_alphanumeric).collect();
        let mut name = self.pattern.as_os_str().to_owned();
        name.push(format!(".traces-{job}"));
        // The program may change its folder before it writes.
        std::path::absolute(PathBuf::from(name))
    }
}

/// A rank's files; several if it executed another program.
fn traces_of(folder: &Path, rank: usize) -> io::Result<Vec<PathBuf>> {
    let beginning = format!("rank-{rank}-");
    let mut traces = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        let entry = entry?;
        if entry.file_name().to_string_lossy().starts_with(&beginning) {
            traces.push(entry.path());
        }
    }
    Ok(traces)
}

/// The pattern lists missing traces.
fn wait_for_all(folder: &Path, ranks: usize, stop: StopCheck) {
    let began = Instant::now();
    for rank in 0..ranks {
        while !has_whole_trace(folder, rank) {
            if began.elapsed() > PATIENCE || stop() {
                return;
            }
            std::thread::sleep(PAUSE);
        }
    }
}

/// Whether a rank's trace is complete. A failed look is repeated, because network file systems may
/// be slow; the later reading reports the cause.
fn has_whole_trace(folder: &Path, rank: usize) -> bool {
    let traces = traces_of(folder, rank).unwrap_or_default();
    let mut texts = traces.iter().filter_map(|path| named_file::read(path, MAX_BYTES).ok());
    texts.any(|text| text.ends_with(END))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rank(folder: &Path) -> JobRank {
        let pattern = folder.join("p.json");
        JobRank { rank: 0, size: 2, job: Some("12.a/b".to_owned()), pattern }
    }

    #[test]
    fn trace_folder_is_next_to_pattern_file() {
        let folder = rank(Path::new("/shared")).folder().unwrap();
        assert_eq!(folder, Path::new("/shared/p.json.traces-12ab"));
    }

    #[test]
    fn trace_is_complete_with_last_line() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("rank-1-77.jsonl");
        std::fs::write(&trace, "{}\n").unwrap();
        std::fs::write(folder.path().join("rank-12-78.jsonl"), END).unwrap();
        assert_eq!(traces_of(folder.path(), 1).unwrap(), std::slice::from_ref(&trace));
        assert!(!has_whole_trace(folder.path(), 1));
        std::fs::write(trace, [b"{}\n", END].concat()).unwrap();
        assert!(has_whole_trace(folder.path(), 1));
        wait_for_all(folder.path(), 1, &|| true);
        assert!(traces_of(&folder.path().join("none"), 1).is_err());
    }
}
