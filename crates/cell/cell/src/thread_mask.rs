//! Affinity masks of threads, which a journal identifies by their folder in `/proc`.

use seatmap_os::{CpuSet, FileError, Root, Tid, affinity, task};
use std::io;

/// The whole mask of this folder's thread, if it is still the one that started then.
pub fn mask(root: &Root, folder: &str, started_ticks: Option<u64>) -> Result<String, FileError> {
    let tid = tid_of(folder)?;
    let task = task::in_folder(root, folder, tid)?;
    if task.is_none_or(|task| started_ticks.is_some_and(|ticks| ticks != task.started_ticks)) {
        return Err(gone(folder));
    }
    let mask = affinity::whole(tid).map_err(at(folder))?;
    Ok(mask.to_string())
}

pub fn set_affinity(folder: &str, cpus: &str) -> Result<(), FileError> {
    let set = CpuSet::of_list(cpus).ok_or_else(|| at(folder)(io::ErrorKind::InvalidData.into()))?;
    set.give(tid_of(folder)?).map_err(at(folder))
}

pub fn tid_of(folder: &str) -> Result<Tid, FileError> {
    folder.strip_prefix("/proc/").and_then(|tid| tid.parse().ok()).ok_or_else(|| gone(folder))
}

fn gone(folder: &str) -> FileError {
    at(folder)(io::Error::from_raw_os_error(libc::ESRCH))
}

fn at(folder: &str) -> impl FnOnce(io::Error) -> FileError {
    move |source| FileError { path: folder.to_owned(), source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reused_thread_number_is_noticed() {
        let own = std::process::id() as Tid;
        let task = task::ThreadStat::of(own).unwrap();
        let folder = task.folder();
        assert!(mask(&Root::new("/"), &folder, Some(task.started_ticks)).is_ok());
        assert!(mask(&Root::new("/"), &folder, Some(1)).unwrap_err().is_absent());
    }

    #[test]
    fn command_restores_the_mask_of_each_thread() {
        let whole: CpuSet = affinity::current().unwrap().into_iter().collect();
        let narrow: CpuSet = whole.iter().take(1).collect();
        let mut sleepers: Vec<_> = (0..2)
            .map(|_| std::process::Command::new("sleep").arg("60").spawn().unwrap())
            .collect();
        let tids: Vec<Tid> = sleepers.iter().map(|child| child.id() as Tid).collect();
        tids.iter().for_each(|tid| narrow.give(*tid).unwrap());
        let output = std::process::Command::new("sh")
            .args(["-c", &affinity::commands(&whole, &tids)])
            .output()
            .unwrap();
        let masks: Vec<CpuSet> = tids.iter().map(|tid| affinity::whole(*tid).unwrap()).collect();
        sleepers.iter_mut().for_each(|child| {
            child.kill().unwrap();
            child.wait().unwrap();
        });
        assert!(output.status.success(), "{output:?}");
        assert!(masks.iter().all(|mask| *mask == whole), "{masks:?}");
    }
}
