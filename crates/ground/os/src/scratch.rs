//! Temporary folders and files that are removed even if their process is killed.
//!
//! Each process locks its folder (flock(2)). The next new folder in the same place removes the
//! user's unlocked ones of its kind; so does the next Seatmap command ([`sweep_all`]).

use std::fs::{DirEntry, File};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::Path;
use tempfile::TempDir;

const KINDS: [&str; 6] = ["bench", "mpi", "observe", "preload", "programs", "tune"];

/// Another process may remove a new folder that is not yet locked.
const ATTEMPTS: usize = 16;

/// A temporary folder, removed when dropped or, after a kill, by the next process.
#[derive(Debug)]
pub struct Scratch {
    folder: TempDir,
    /// `None` if the file system has no locks.
    _lock: Option<File>,
}

impl Scratch {
    /// Creates a folder of this kind (`tune`, `observe`) in the system's temporary folder.
    ///
    /// # Errors
    /// A sentence: the place is not writable, and `TMPDIR` chooses another.
    pub fn new(kind: &str) -> io::Result<Self> {
        debug_assert!(KINDS.contains(&kind), "{kind} is not swept");
        let place = std::env::temp_dir();
        let folder = Scratch::within(&place, &prefix(kind));
        folder.map_err(|error| explained(&place, &error))
    }

    /// Creates a folder in this place, with this prefix.
    ///
    /// # Errors
    /// The kernel's: the place is not writable.
    pub fn within(place: &Path, prefix: &str) -> io::Result<Self> {
        sweep(place, prefix);
        for _ in 0..ATTEMPTS {
            let folder = tempfile::Builder::new().prefix(prefix).tempdir_in(place)?;
            match locked(folder.path()) {
                Lock::Held(lock) if is_same(&lock, folder.path()) => {
                    return Ok(Scratch { folder, _lock: Some(lock) });
                }
                Lock::Unknown => return Ok(Scratch { folder, _lock: None }),
                Lock::Held(_) | Lock::Taken => {}
            }
        }
        Err(io::Error::other("another process removes new folders at once"))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.folder.path()
    }
}

fn prefix(kind: &str) -> String {
    format!("seatmap-{kind}-")
}

/// Removes the temporary folders of all killed Seatmap processes.
pub fn sweep_all() {
    sweep_kinds(&std::env::temp_dir());
}

fn sweep_kinds(place: &Path) {
    sweep_if(place, |name, entry| {
        // A user's own folder of such a name is usually readable by others.
        KINDS.iter().any(|kind| name.starts_with(&prefix(kind)))
            && entry.metadata().is_ok_and(|it| it.permissions().mode() & 0o77 == 0)
    });
}

/// Creates an unnamed temporary file, which disappears with its last descriptor.
///
/// # Errors
/// As for [`Scratch::new`].
pub fn file() -> io::Result<File> {
    let place = std::env::temp_dir();
    tempfile::tempfile_in(&place).map_err(|error| explained(&place, &error))
}

fn explained(place: &Path, error: &io::Error) -> io::Error {
    let named = std::env::var_os("TMPDIR").map_or("", |_| "TMPDIR ");
    let words = if place.is_dir() {
        // The library may wrap the kernel's error with a path; only its kind is left then.
        let kernel = error.raw_os_error().map(io::Error::from_raw_os_error);
        let why = kernel.map_or_else(|| error.kind().to_string(), |kernel| kernel.to_string());
        format!(
            "cannot create a temporary file in {named}'{}' ({why}): set TMPDIR to another folder",
            place.display()
        )
    } else {
        format!(
            "{named}'{}' is not a folder: set TMPDIR to a folder for temporary files",
            place.display()
        )
    };
    io::Error::new(error.kind(), words)
}

enum Lock {
    Held(File),
    /// Another process locked or removed the folder.
    Taken,
    /// No locks, or no permission to open the folder.
    Unknown,
}

fn locked(folder: &Path) -> Lock {
    let file = match File::open(folder) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Lock::Taken,
        Err(_) => return Lock::Unknown,
    };
    match file.try_lock() {
        Ok(()) => Lock::Held(file),
        Err(std::fs::TryLockError::WouldBlock) => Lock::Taken,
        Err(std::fs::TryLockError::Error(_)) => Lock::Unknown,
    }
}

/// Whether the path still leads to the opened folder.
fn is_same(file: &File, path: &Path) -> bool {
    let there = std::fs::symlink_metadata(path).map(|there| (there.dev(), there.ino()));
    let here = file.metadata().map(|here| (here.dev(), here.ino()));
    matches!((here, there), (Ok(here), Ok(there)) if here == there)
}

fn sweep(place: &Path, prefix: &str) {
    sweep_if(place, |name, _| name.starts_with(prefix));
}

fn sweep_if(place: &Path, is_of_kind: impl Fn(&str, &DirEntry) -> bool) {
    let Ok(entries) = std::fs::read_dir(place) else { return };
    let own = rustix::process::geteuid().as_raw();
    for entry in entries.flatten() {
        let is_ours = is_of_kind(&entry.file_name().to_string_lossy(), &entry)
            && entry.metadata().is_ok_and(|found| found.is_dir() && found.uid() == own);
        if !is_ours {
            continue;
        }
        if let Lock::Held(lock) = locked(&entry.path())
            && is_same(&lock, &entry.path())
        {
            // If this fails, the next run tries again.
            let _ = std::fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(place: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(place)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn folder_is_removed_by_owner_or_successor() {
        let place = tempfile::tempdir().unwrap();
        // A killed process leaves an unlocked folder.
        std::fs::create_dir_all(place.path().join("seatmap-x-old/inner")).unwrap();
        std::fs::write(place.path().join("seatmap-x-old/inner/plan.json"), "1").unwrap();
        std::fs::create_dir(place.path().join("seatmap-other-1")).unwrap();
        std::fs::write(place.path().join("seatmap-x-file"), "2").unwrap();
        std::os::unix::fs::symlink("/tmp", place.path().join("seatmap-x-link")).unwrap();
        let first = Scratch::within(place.path(), "seatmap-x-").unwrap();
        let second = Scratch::within(place.path(), "seatmap-x-").unwrap();
        assert!(first.path().is_dir() && second.path().is_dir(), "a living maker's folder stays");
        assert_eq!(names(place.path()).len(), 5);
        drop((first, second));
        assert_eq!(names(place.path()), ["seatmap-other-1", "seatmap-x-file", "seatmap-x-link"]);
    }

    #[test]
    fn any_command_removes_stale_folders_but_not_user_folders() {
        let place = tempfile::tempdir().unwrap();
        for (name, mode) in [
            ("seatmap-tune-a", 0o700),
            ("seatmap-observe-b", 0o700),
            ("seatmap-tune-notes", 0o755),
            ("seatmap-other-c", 0o700),
        ] {
            let path = place.path().join(name);
            std::fs::create_dir(&path).unwrap();
            std::fs::set_permissions(&path, std::fs::Permissions::from_mode(mode)).unwrap();
        }
        let living = Scratch::within(place.path(), &prefix("bench")).unwrap();
        sweep_kinds(place.path());
        assert!(living.path().is_dir());
        drop(living);
        assert_eq!(names(place.path()), ["seatmap-other-c", "seatmap-tune-notes"]);
    }

    #[test]
    fn unwritable_location_is_an_error() {
        assert!(Scratch::within(Path::new("/proc/self"), "seatmap-x-").is_err());
    }

    #[test]
    fn error_names_the_location_and_tmpdir() {
        let error = |place: &str| {
            let error = Scratch::within(Path::new(place), "seatmap-x-").unwrap_err();
            explained(Path::new(place), &error).to_string()
        };
        let absent = error("/no/such");
        let folder = "'/no/such' is not a folder: set TMPDIR to a folder for temporary files";
        assert!(absent.ends_with(folder), "{absent}");
        let refused = error("/proc/self");
        assert!(refused.starts_with("cannot create a temporary file in "), "{refused}");
        assert!(refused.contains("'/proc/self' ("), "{refused}");
    }

    #[test]
    fn concurrent_folders_do_not_remove_each_other() {
        let place = tempfile::tempdir().unwrap();
        let make = || {
            for _ in 0..200 {
                let scratch = Scratch::within(place.path(), "seatmap-test-").unwrap();
                std::fs::write(scratch.path().join("file"), "").unwrap();
            }
        };
        std::thread::scope(|scope| {
            let makers: Vec<_> = (0..4).map(|_| scope.spawn(make)).collect();
            makers.into_iter().for_each(|maker| maker.join().unwrap());
        });
    }
}
