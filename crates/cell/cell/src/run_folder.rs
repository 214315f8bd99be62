//! The folder of journals, records and locks, kept until reboot.

use crate::journal::at;
use crate::{CellJournal, CellRecord, Name};
use seatmap_os::Tid;
use seatmap_os::trusted::{Open, TrustedFolder};
use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The environment variable for another folder.
pub const VARIABLE: &str = "SEATMAP_RUN";

/// For a new guardian's lock. Checks hold it for microseconds.
const TRIES: u32 = 20;
const PAUSE: Duration = Duration::from_millis(1);

/// A folder for this user alone, on a file system that a reboot empties.
#[derive(Clone, Debug)]
pub struct RunFolder(Arc<TrustedFolder>);

/// This user has no default folder.
#[derive(Debug, thiserror::Error)]
#[error("no folder for the state of cells and plans: run as root, or set {VARIABLE} to a folder")]
pub struct NoFolder;

/// Lets one process at a time create or undo cells. The kernel releases it when the process ends.
#[derive(Debug)]
pub struct Lock {
    _file: File,
    _still: crate::settings_lock::SettingsLock,
}

fn usual() -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).filter(|path| !path.is_empty()).map(PathBuf::from);
    named.or_else(|| Some(above()?.join("seatmap")))
}

fn above() -> Option<PathBuf> {
    // SAFETY: the call cannot fail and has no effects.
    if unsafe { libc::geteuid() } == 0 {
        return Some(PathBuf::from("/run"));
    }
    std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from).filter(|path| path.is_absolute())
}

impl RunFolder {
    /// Opens the folder in [`VARIABLE`]; by default `/run/seatmap` for root and
    /// `$XDG_RUNTIME_DIR/seatmap` for other users.
    ///
    /// # Errors
    /// It cannot be created, another user could change it, neither variable is set, or the first is
    /// relative, which would fail in guardians.
    pub fn of_user() -> io::Result<Self> {
        let folder = usual().ok_or_else(|| io::Error::other(NoFolder))?;
        if !folder.is_absolute() {
            return Err(io::Error::other(format!(
                "{VARIABLE} is '{}'; write an absolute path",
                folder.display()
            )));
        }
        RunFolder::new(&folder)
    }

    /// The folder of [`RunFolder::of_user`], if it exists and can be trusted.
    pub fn existing() -> Option<Self> {
        let folder = usual()?;
        folder.is_dir().then(|| RunFolder::new(&folder).ok())?
    }

    /// Opens or creates this folder.
    ///
    /// # Errors
    /// It cannot be created, or another user could change it.
    pub fn new(folder: &Path) -> io::Result<Self> {
        Ok(RunFolder(Arc::new(TrustedFolder::create(folder)?)))
    }

    /// Its path.
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// Whether a path leads to this folder, possibly by another name.
    pub fn lies_at(&self, path: &Path) -> bool {
        path == self.path() || number(self.path()).is_some_and(|own| number(path) == Some(own))
    }

    /// The path of another module's file. A cell's file has the cell's name before the last dot.
    pub fn file(&self, name: &str) -> PathBuf {
        self.path().join(name)
    }

    /// Opens a file, without following a link.
    ///
    /// # Errors
    /// The system's error, or other users have access.
    pub fn open(&self, name: &str, how: Open) -> io::Result<File> {
        Ok(self.0.file(name, how)?)
    }

    /// Reads a file.
    ///
    /// # Errors
    /// As [`RunFolder::open`].
    pub fn read(&self, name: &str) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        self.open(name, Open::Read)?.read_to_end(&mut bytes).map_err(at(&self.file(name)))?;
        Ok(bytes)
    }

    /// Writes a file atomically.
    ///
    /// # Errors
    /// The system's.
    pub fn replace(&self, name: &str, bytes: &[u8]) -> io::Result<()> {
        Ok(self.0.replace(name, bytes)?)
    }

    /// Waits until no other process creates or undoes a cell or tries settings.
    ///
    /// # Errors
    /// The lock file cannot be opened.
    pub fn lock(&self) -> io::Result<Lock> {
        let file = self.open("lock", Open::Keep)?;
        file.lock()?;
        Ok(Lock { _file: file, _still: crate::settings_lock::take()? })
    }

    /// Like [`RunFolder::lock`], without a time limit: for background processes, which cannot be
    /// retried.
    ///
    /// # Errors
    /// As [`RunFolder::lock`].
    pub fn lock_at_last(&self) -> io::Result<Lock> {
        at_last(|| self.lock())
    }

    /// The path of a cell's journal.
    pub fn journal(&self, name: &Name) -> PathBuf {
        self.file(&format!("{name}.journal"))
    }

    /// Journals of this boot, oldest first. Without the lock, new or ending ones may be missing.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn journals(&self, boot_id: &str) -> io::Result<Vec<CellJournal>> {
        let mut found = Vec::new();
        for name in self.names(".journal")? {
            found.extend(self.journal_of(&name, boot_id)?);
        }
        found.sort_by_key(|journal| journal.header.serial);
        Ok(found)
    }

    /// Removes journals of other boots, empty ones, and files of killed guardians without a
    /// journal. Needs the lock, because new journals are empty too.
    ///
    /// # Errors
    /// A file cannot be read or removed.
    pub fn clear(&self, boot_id: &str) -> io::Result<()> {
        for name in self.names(".journal")? {
            if self.journal_of(&name, boot_id)?.is_none() {
                // Without a journal, the record would look like an existing cell.
                self.forget(&name)?;
                self.0.remove(format!("{name}.journal"))?;
            }
        }
        for name in self.names(".guardian")? {
            if !self.journal(&name).exists() && self.number_of_guardian(&name).is_none() {
                self.forget_guardian(&name)?;
            }
        }
        Ok(())
    }

    fn journal_of(&self, name: &Name, boot_id: &str) -> io::Result<Option<CellJournal>> {
        match CellJournal::read(&self.journal(name), boot_id) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            read => Ok(read?.filter(|journal| journal.header.cell == *name)),
        }
    }

    /// Saves a cell's record atomically.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn remember(&self, record: &CellRecord) -> io::Result<()> {
        self.replace(&record_file(&record.name), &serde_json::to_vec(record)?)
    }

    /// Reads a cell's record.
    pub fn record(&self, name: &Name) -> Option<CellRecord> {
        serde_json::from_slice(&self.read(&record_file(name)).ok()?).ok()
    }

    /// Removes a cell's record, but not its guardian's open file.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget(&self, name: &Name) -> io::Result<()> {
        Ok(self.0.remove(record_file(name))?)
    }

    /// Removes a guardian's file.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn forget_guardian(&self, name: &Name) -> io::Result<()> {
        Ok(self.0.remove(guardian_file(name))?)
    }

    /// Makes this process a cell's guardian while the file is open; `None` if there is one.
    ///
    /// # Errors
    /// The file cannot be written.
    pub fn guard(&self, name: &Name) -> io::Result<Option<File>> {
        let mut file = self.open(&guardian_file(name), Open::Keep)?;
        // Checks for a guardian briefly take this lock.
        if !is_done_soon(|| file.try_lock().is_ok()) {
            return Ok(None);
        }
        // An earlier guardian's number may have more digits.
        file.set_len(0)?;
        file.rewind()?;
        file.write_all(std::process::id().to_string().as_bytes())?;
        Ok(Some(file))
    }

    /// A cell's living guardian. It holds the lock, so the number is its own.
    pub fn guardian(&self, name: &Name) -> Option<Tid> {
        let mut guardian = None;
        // A new guardian locks the file before it replaces an earlier number. Programs that signal
        // guardians hold the folder's lock, which excludes new ones.
        is_done_soon(|| match self.number_of_guardian(name) {
            None => true,
            Some(text) => {
                guardian = text.trim().parse().ok();
                guardian.is_some()
            }
        });
        guardian
    }

    fn number_of_guardian(&self, name: &Name) -> Option<String> {
        let mut file = self.open(&guardian_file(name), Open::Read).ok()?;
        // Unlike a number, a lock is not reused. It is shared, because an exclusive one would look
        // like a guardian.
        if !matches!(file.try_lock_shared(), Err(TryLockError::WouldBlock)) {
            return None;
        }
        let mut text = String::new();
        file.read_to_string(&mut text).ok()?;
        Some(text)
    }

    fn names(&self, ending: &str) -> io::Result<Vec<Name>> {
        Ok(self
            .0
            .names()?
            .into_iter()
            .filter_map(|name| name.to_str()?.strip_suffix(ending)?.parse::<Name>().ok())
            .collect())
    }
}

fn at_last<T>(mut attempt: impl FnMut() -> io::Result<T>) -> io::Result<T> {
    loop {
        // Each attempt waits seconds for the lock.
        match attempt() {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            other => return other,
        }
    }
}

fn is_done_soon(mut attempt: impl FnMut() -> bool) -> bool {
    for _ in 0..TRIES {
        if attempt() {
            return true;
        }
        std::thread::sleep(PAUSE);
    }
    false
}

fn number(path: &Path) -> Option<(u64, u64)> {
    use std::os::unix::fs::MetadataExt;
    let found = std::fs::metadata(path).ok()?;
    Some((found.dev(), found.ino()))
}

fn record_file(name: &Name) -> String {
    format!("{name}.json")
}

fn guardian_file(name: &Name) -> String {
    format!("{name}.guardian")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::CellJournalHeader;

    #[test]
    fn journals_sort_by_age_and_other_boots_are_removed() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::new(&folder.path().join("run")).unwrap();
        for (cell, boot, serial) in [("a", "now", 2), ("b", "now", 1), ("c", "then", 0)] {
            let header = CellJournalHeader::new(&cell.parse().unwrap(), "1", serial, None);
            CellJournal::begin(&run.journal(&header.cell), boot, header).unwrap();
        }
        let old = run.journal(&"c".parse().unwrap());
        std::fs::write(run.file("d.guardian"), "7").unwrap();
        let held = run.guard(&"e".parse().unwrap()).unwrap();
        std::fs::write(run.file("a.guardian"), "7").unwrap();
        let serials =
            || run.journals("now").unwrap().iter().map(|it| it.header.serial).collect::<Vec<_>>();
        assert_eq!((serials(), old.exists()), (vec![1, 2], true), "who only looks removes nothing");
        run.clear("now").unwrap();
        assert_eq!((serials(), old.exists()), (vec![1, 2], false));
        let guardians = ["a", "d", "e"].map(|name| run.file(&format!("{name}.guardian")).exists());
        assert_eq!((guardians, held.is_some()), ([true, false, true], true));
    }

    #[test]
    fn folder_may_have_several_names() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::new(&folder.path().join("run")).unwrap();
        std::os::unix::fs::symlink(folder.path(), folder.path().join("link")).unwrap();
        assert!(run.lies_at(&folder.path().join("link/run")) && run.lies_at(run.path()));
        assert!(!run.lies_at(folder.path()) && !run.lies_at(Path::new("/nowhere")));
    }

    #[test]
    fn busy_lock_is_obtained_eventually() {
        let mut attempts = 0;
        let had = at_last(|| {
            attempts += 1;
            if attempts < 4 { Err(io::ErrorKind::WouldBlock.into()) } else { Ok(attempts) }
        });
        assert_eq!(had.unwrap(), 4);
        let refused = at_last(|| Err::<(), _>(io::ErrorKind::PermissionDenied.into()));
        assert_eq!(refused.unwrap_err().kind(), io::ErrorKind::PermissionDenied);
        let mut looks = 0;
        assert!(is_done_soon(|| {
            looks += 1;
            looks == 3
        }));
        assert!(!is_done_soon(|| false));
    }

    #[test]
    fn guardian_is_known_while_it_lives() {
        let folder = tempfile::tempdir().unwrap();
        let run = RunFolder::new(folder.path()).unwrap();
        let name: Name = "a".parse().unwrap();
        assert_eq!(run.guardian(&name), None);
        let held = run.guard(&name).unwrap().unwrap();
        assert_eq!(run.guardian(&name), Some(std::process::id() as Tid));
        assert!(run.guard(&name).unwrap().is_none(), "one is enough");
        // Before it has written its number.
        held.set_len(0).unwrap();
        std::thread::scope(|scope| {
            let soon = scope.spawn(|| run.guardian(&name));
            std::fs::write(run.file("a.guardian"), "7").unwrap();
            assert_eq!(soon.join().unwrap(), Some(7));
        });
        // Another test's new child may have a copy.
        held.unlock().unwrap();
        assert_eq!(run.guardian(&name), None);
        let look = run.open("a.guardian", Open::Read).unwrap();
        look.lock_shared().unwrap();
        assert_eq!(run.guardian(&name), None, "process 7 does not guard it");
    }
}
