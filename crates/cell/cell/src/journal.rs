//! A cell's journal: every change is recorded before it is made.
//!
//! It has JSON lines, each flushed before its change, so any program can undo a dead writer's
//! changes in reverse order. A truncated line's change was not made.

use crate::{Name, SettingChange, SettingKind, fault};
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use seatmap_data::document::with_causes;
use seatmap_data::invariant;
use seatmap_os::trusted::Open;
use seatmap_os::{CpuSet, trusted};
use serde::{Deserialize, Serialize};
use std::io::{Read, Write};
use std::path::{Path, PathBuf};
use std::{fs, io};

/// The format's name in the first line.
pub const FORMAT: &str = "seatmap-cell-journal/1";

/// The cell of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellJournalHeader {
    /// [`FORMAT`].
    pub format: String,
    /// The cell.
    pub cell: Name,
    /// The cell's CPUs, as a list.
    pub cpus: String,
    /// Increases with each new cell.
    pub serial: u64,
    /// Start of creation in clock ticks after the boot; earlier threads are older than the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ticks: Option<u64>,
}

impl CellJournalHeader {
    /// The first line of a cell's journal.
    pub fn new(cell: &Name, cpus: impl ToString, serial: u64, began_ticks: Option<u64>) -> Self {
        let [format, cpus] = [FORMAT.to_owned(), cpus.to_string()];
        CellJournalHeader { format, cell: cell.clone(), cpus, serial, began_ticks }
    }

    /// The cell's CPUs.
    pub fn set(&self) -> CpuSet {
        CpuSet::of_list(&self.cpus).unwrap_or_default()
    }
}

/// Stage of a cell's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStage {
    /// Being created.
    Building,
    /// Created.
    Standing,
    /// Being undone.
    Leaving,
}

const JOURNAL: &str = "journal";

/// A line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum JournalEntry {
    /// The first line.
    Begin(CellJournalHeader),
    /// A change that follows.
    Change(SettingChange),
    /// An older cell has ended: this path's change now has these values.
    Rebase {
        /// The setting's path.
        path: String,
        /// The value to restore.
        old: String,
        /// The value until then.
        new: String,
    },
    /// The cell is complete.
    Done,
    /// Undoing follows.
    Undo,
}

#[derive(Serialize, Deserialize)]
struct Stamped {
    boot_id: String,
    #[serde(flatten)]
    line: JournalEntry,
}

/// A cell's journal.
#[derive(Clone, Debug)]
pub struct CellJournal {
    /// Its path.
    pub path: PathBuf,
    boot_id: String,
    /// Its cell.
    pub header: CellJournalHeader,
    /// Changes, in order.
    pub changes: Vec<SettingChange>,
    /// Its stage.
    pub stage: CellStage,
    /// Damaged lines, whose changes are lost.
    pub lost: usize,
}

impl CellJournal {
    /// Creates a journal.
    ///
    /// # Errors
    /// The file cannot be written, or exists.
    pub fn begin(path: &Path, boot_id: &str, header: CellJournalHeader) -> io::Result<Self> {
        trusted::open(path, Open::New)?;
        let begin = JournalEntry::Begin(header.clone());
        let mut journal = CellJournal::empty(path, boot_id, header);
        if let Err(error) = journal.append(&[begin]) {
            // Without its first line, a journal is useless.
            let _ = std::fs::remove_file(&journal.path);
            return Err(error);
        }
        Ok(journal)
    }

    fn empty(path: &Path, boot_id: &str, header: CellJournalHeader) -> Self {
        CellJournal {
            path: path.to_owned(),
            boot_id: boot_id.to_owned(),
            header,
            changes: Vec::new(),
            stage: CellStage::Building,
            lost: 0,
        }
    }

    /// Reads a journal of this boot; `None` if it has no changes in effect. If its first line is
    /// damaged, the file names its cell.
    ///
    /// # Errors
    /// The file cannot be read, is a link, or is accessible to other users.
    pub fn read(path: &Path, boot_id: &str) -> io::Result<Option<Self>> {
        let bytes = bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<serde_json::Result<Stamped>> =
            text.lines().map(serde_json::from_str).collect();
        // A truncated line is the start of one.
        let lost =
            lines.iter().filter(|line| line.as_ref().is_err_and(|error| !error.is_eof())).count();
        let lines: Vec<Stamped> =
            lines.into_iter().flatten().filter(|line| line.boot_id == boot_id).collect();
        let Some(header) = header(path, &lines) else { return Ok(None) };
        let mut journal = CellJournal { lost, ..CellJournal::empty(path, boot_id, header) };
        lines.into_iter().for_each(|stamped| journal.take(stamped.line));
        Ok(Some(journal))
    }

    fn take(&mut self, line: JournalEntry) {
        match line {
            JournalEntry::Begin(_) => {}
            JournalEntry::Change(change) => self.changes.push(change),
            JournalEntry::Rebase { path, old, new } => {
                for change in self.changes.iter_mut().filter(|change| change.path == path) {
                    (change.old, change.new) = (old.clone(), new.clone());
                }
            }
            JournalEntry::Done => self.stage = CellStage::Standing,
            JournalEntry::Undo => self.stage = CellStage::Leaving,
        }
    }

    /// Checks own entries; journals that are only read may be damaged or planted.
    fn check(&self, line: &JournalEntry) {
        let cell = &self.header.cell;
        match line {
            JournalEntry::Begin(_) => invariant!(
                self.changes.is_empty() && self.stage == CellStage::Building,
                JOURNAL,
                "cell {cell} begins again with {} changes, {:?}",
                self.changes.len(),
                self.stage
            ),
            JournalEntry::Change(change) => invariant!(
                !change.path.is_empty(),
                JOURNAL,
                "cell {cell} records a change without a path: {change:?}"
            ),
            JournalEntry::Rebase { path, .. } => invariant!(
                self.of_path(path).is_some(),
                JOURNAL,
                "cell {cell} has recorded no change of {path} before its rebase"
            ),
            JournalEntry::Done => invariant!(
                self.stage == CellStage::Building,
                JOURNAL,
                "cell {cell} is made, and was {:?}",
                self.stage
            ),
            // Left by an undoing process that died.
            JournalEntry::Undo => {}
        }
    }

    /// Appends lines with one write, and returns when they are on disk.
    ///
    /// # Errors
    /// The file cannot be written. The changes must not be made.
    pub fn append(&mut self, lines: &[JournalEntry]) -> io::Result<()> {
        lines.iter().for_each(|line| self.check(line));
        let mut text = String::new();
        if bytes(&self.path)?.last().is_some_and(|last| *last != b'\n') {
            // A dead writer's truncated line would spoil it.
            text.push('\n');
        }
        for line in lines {
            let stamped = Stamped { boot_id: self.boot_id.clone(), line: line.clone() };
            text += &(serde_json::to_string(&stamped)? + "\n");
        }
        let mut file = trusted::open(&self.path, Open::Append)?;
        let written = file.write_all(text.as_bytes()).and_then(|()| file.sync_data());
        written.map_err(at(&self.path))?;
        fault::point();
        lines.iter().cloned().for_each(|line| self.take(line));
        Ok(())
    }

    /// Records changes, which may then be made.
    ///
    /// # Errors
    /// As [`CellJournal::append`].
    pub fn note(&mut self, changes: &[SettingChange]) -> io::Result<()> {
        if changes.is_empty() {
            return Ok(());
        }
        let lines: Vec<JournalEntry> = changes.iter().cloned().map(JournalEntry::Change).collect();
        self.append(&lines)
    }

    /// Appends lines, and applies them even on a full disk: undoing must not need space.
    pub fn append_or_take(&mut self, lines: Vec<JournalEntry>) {
        if self.append(&lines).is_err() {
            lines.into_iter().for_each(|line| self.take(line));
        }
    }

    /// Reserves disk space for the lines that older cells add when they end, even on a full disk.
    ///
    /// # Errors
    /// The disk is full.
    pub fn reserve(&self, older_cells: usize) -> io::Result<()> {
        let file = trusted::open(&self.path, Open::Append)?;
        let length = file.metadata()?.len();
        // One line per change, less than twice as long.
        let room = 2 * length * older_cells as u64;
        if room == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, length, room) {
            Err(Errno::NOSPC) => Err(at(&self.path)(Errno::NOSPC.into())),
            // Some file systems cannot reserve space.
            _ => Ok(()),
        }
    }

    /// The last change of a path.
    pub fn of_path(&self, path: &str) -> Option<&SettingChange> {
        self.changes.iter().rev().find(|change| change.path == path)
    }

    /// Whether its cell has, or may have, a control group.
    pub fn has_group(&self) -> bool {
        self.changes.iter().any(|change| change.what == SettingKind::Folder)
    }

    /// Removes the journal of a completely undone cell.
    ///
    /// # Errors
    /// The file cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        fs::remove_file(&self.path)
    }
}

fn bytes(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    trusted::open(path, Open::Read)?.read_to_end(&mut bytes).map_err(at(path))?;
    Ok(bytes)
}

fn header(path: &Path, lines: &[Stamped]) -> Option<CellJournalHeader> {
    if let JournalEntry::Begin(header) = &lines.first()?.line {
        return Some(header.clone()).filter(|header| header.format == FORMAT);
    }
    let cell: Name = path.file_stem()?.to_str()?.parse().ok()?;
    Some(CellJournalHeader::new(&cell, "", 0, None))
}

pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| {
        io::Error::new(error.kind(), format!("{}: {}", path.display(), with_causes(&error)))
    }
}

#[cfg(test)]
mod tests;
