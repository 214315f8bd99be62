//! The journal: every change for a cell is written down before it is made.
//!
//! A journal is a file of JSON lines. Each line is flushed before the change that it describes is
//! made. So any program that finds the file can undo everything, backwards, no matter when the
//! writer died. A line that was torn by that death describes a change that was never made, and is
//! skipped.

use crate::change::{SettingChange, SettingKind};
use crate::fault;
use crate::name::Name;
use rustix::fs::FallocateFlags;
use rustix::io::Errno;
use seatmap_data::document::with_causes;
use seatmap_data::invariant;
use seatmap_os::CpuSet;
use seatmap_os::trusted;
use seatmap_os::trusted::Open;
use serde::{Deserialize, Serialize};
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

/// The format's name, in the first line.
pub const FORMAT: &str = "seatmap-cell-journal/1";

/// The cell that a journal belongs to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CellJournalHeader {
    /// [`FORMAT`].
    pub format: String,
    /// The cell.
    pub cell: Name,
    /// The cell's CPUs, as a list.
    pub cpus: String,
    /// Cells count upwards in order of creation.
    pub serial: u64,
    /// When it was begun, in clock ticks after the boot: threads that started earlier were there
    /// before the cell.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub began_ticks: Option<u64>,
}

impl CellJournalHeader {
    /// The cell's CPUs.
    #[must_use]
    pub fn set(&self) -> CpuSet {
        CpuSet::of_list(&self.cpus).unwrap_or_default()
    }
}

/// The stage of a cell's life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CellStage {
    /// The cell is being made.
    Building,
    /// The cell is made.
    Standing,
    /// The cell is being undone.
    Leaving,
}

/// The name of this part in a report of a mistake.
const JOURNAL: &str = "journal";

/// One line of a journal.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "entry", rename_all = "kebab-case")]
pub enum JournalEntry {
    /// The first line.
    Begin(CellJournalHeader),
    /// A change is about to be made.
    Change(SettingChange),
    /// An older cell has gone: the change of this path now stands between these values.
    Rebase {
        /// The path of the changed setting.
        path: String,
        /// The value that undoing will bring back.
        old: String,
        /// The value that stands there meanwhile.
        new: String,
    },
    /// The cell is made.
    Done,
    /// The cell is about to be undone.
    Undo,
}

#[derive(Serialize, Deserialize)]
struct Stamped {
    boot_id: String,
    #[serde(flatten)]
    line: JournalEntry,
}

/// The journal of one cell.
#[derive(Clone, Debug)]
pub struct CellJournal {
    path: PathBuf,
    boot_id: String,
    /// The cell that it belongs to.
    pub header: CellJournalHeader,
    /// The changes, in order.
    pub changes: Vec<SettingChange>,
    /// The stage that the cell is in.
    pub stage: CellStage,
    /// The number of lines that cannot be read, and were not torn by their writer's death either:
    /// the changes that they described are lost.
    pub lost: usize,
}

impl CellJournal {
    /// Begins a journal.
    ///
    /// # Errors
    /// The file cannot be written, or is there.
    pub fn begin(path: &Path, boot_id: &str, header: CellJournalHeader) -> io::Result<Self> {
        trusted::open(path, Open::New)?;
        let path = path.to_owned();
        let boot_id = boot_id.to_owned();
        let begin = JournalEntry::Begin(header.clone());
        let mut journal = CellJournal {
            path,
            boot_id,
            header,
            changes: Vec::new(),
            stage: CellStage::Building,
            lost: 0,
        };
        if let Err(error) = journal.append(&[begin]) {
            // Nothing is changed yet, and a journal without its begin would tell of nothing.
            let _ = std::fs::remove_file(&journal.path);
            return Err(error);
        }
        Ok(journal)
    }

    /// Reads a journal of this boot; `None` where it is of another, or tells of nothing: nothing of
    /// it stands then. One whose first line is damaged, and others are not, is that of the cell
    /// that its file is named after.
    ///
    /// # Errors
    /// The file cannot be read, is a link, or is not this user's alone.
    pub fn read(path: &Path, boot_id: &str) -> io::Result<Option<Self>> {
        let bytes = bytes(path)?;
        let text = String::from_utf8_lossy(&bytes);
        let lines: Vec<serde_json::Result<Stamped>> =
            text.lines().map(serde_json::from_str).collect();
        // A torn line is the begin of one.
        let lost =
            lines.iter().filter(|line| line.as_ref().is_err_and(|error| !error.is_eof())).count();
        let lines: Vec<Stamped> =
            lines.into_iter().flatten().filter(|line| line.boot_id == boot_id).collect();
        let Some(header) = header(path, &lines) else { return Ok(None) };
        let path = path.to_owned();
        let changes = Vec::new();
        let boot_id = boot_id.to_owned();
        let mut journal =
            CellJournal { path, boot_id, header, changes, stage: CellStage::Building, lost };
        lines.into_iter().for_each(|stamped| journal.take(stamped.line));
        Ok(Some(journal))
    }

    /// The path of the journal.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
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

    /// Checks that an entry may follow in the life of a cell that this process makes or undoes.
    /// Journals that are only read may hold anything: they may be damaged or planted.
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
                "cell {cell} notes a change of no place: {change:?}"
            ),
            JournalEntry::Rebase { path, .. } => invariant!(
                self.of_path(path).is_some(),
                JOURNAL,
                "cell {cell} has noted no change of {path} before its rebase"
            ),
            JournalEntry::Done => invariant!(
                self.stage == CellStage::Building,
                JOURNAL,
                "cell {cell} is made, and was {:?}",
                self.stage
            ),
            // A process that died while it undid a cell has left this line, and the next one says
            // it again.
            JournalEntry::Undo => {}
        }
    }

    /// Adds lines in one piece, and returns when they are safe.
    ///
    /// # Errors
    /// The file cannot be written: what they describe must not be done then.
    pub fn append(&mut self, lines: &[JournalEntry]) -> io::Result<()> {
        lines.iter().for_each(|line| self.check(line));
        let mut text = String::new();
        if !self.ends_whole()? {
            // A writer that died has left a torn line. Joined to it, this one would be lost as
            // well.
            text.push('\n');
        }
        for line in lines {
            let stamped = Stamped { boot_id: self.boot_id.clone(), line: line.clone() };
            text += &(serde_json::to_string(&stamped)? + "\n");
        }
        self.write(text.as_bytes())?;
        fault::point();
        lines.iter().cloned().for_each(|line| self.take(line));
        Ok(())
    }

    /// Adds lines, and believes them where they cannot be written: undoing must not hang on room
    /// that is left.
    pub fn append_or_take(&mut self, lines: Vec<JournalEntry>) {
        if self.append(&lines).is_err() {
            lines.into_iter().for_each(|line| self.take(line));
        }
    }

    fn write(&self, bytes: &[u8]) -> io::Result<()> {
        let mut file = trusted::open(&self.path, Open::Append)?;
        file.write_all(bytes).and_then(|()| file.sync_data()).map_err(at(&self.path))
    }

    /// Keeps room on the disk for what this many older cells will note here when they go. A full
    /// disk would stand in their way otherwise: they cannot go before it is noted which value this
    /// one has to bring back.
    ///
    /// # Errors
    /// There is not so much room.
    pub(crate) fn reserve(&self, older_cells: usize) -> io::Result<()> {
        let file = trusted::open(&self.path, Open::Append)?;
        let length = file.metadata()?.len();
        // Each may note a line for each change. Its path is that of the change, and its two lists
        // of CPUs may be longer, but not twice as long as the whole line of the change.
        let room = 2 * length * older_cells as u64;
        if room == 0 {
            return Ok(());
        }
        match rustix::fs::fallocate(&file, FallocateFlags::KEEP_SIZE, length, room) {
            Err(Errno::NOSPC) => Err(at(&self.path)(Errno::NOSPC.into())),
            // Not every file system can keep room. Going may have to wait for some there.
            _ => Ok(()),
        }
    }

    /// Whether the last line is whole: another one must not be joined to a torn one.
    fn ends_whole(&self) -> io::Result<bool> {
        let bytes = bytes(&self.path)?;
        Ok(bytes.last().is_none_or(|last| *last == b'\n'))
    }

    /// The last change of a path, if there is one.
    #[must_use]
    pub fn of_path(&self, path: &str) -> Option<&SettingChange> {
        self.changes.iter().rev().find(|change| change.path == path)
    }

    /// Whether its cell has a control group, or may have got one.
    #[must_use]
    pub fn has_group(&self) -> bool {
        self.changes.iter().any(|change| change.what == SettingKind::Folder)
    }

    /// Ends the journal: nothing of it stands any more.
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

/// The header in the first line, or the one that it must have held.
fn header(path: &Path, lines: &[Stamped]) -> Option<CellJournalHeader> {
    match &lines.first()?.line {
        JournalEntry::Begin(header) => {
            Some(header.clone()).filter(|header| header.format == FORMAT)
        }
        _ => {
            let cell = path.file_stem()?.to_str()?.parse().ok()?;
            Some(CellJournalHeader {
                format: FORMAT.to_owned(),
                cell,
                cpus: String::new(),
                serial: 0,
                began_ticks: None,
            })
        }
    }
}

/// An error with the file that it is about: its reader may not know of this folder.
pub(crate) fn at(path: &Path) -> impl FnOnce(io::Error) -> io::Error {
    move |error| {
        io::Error::new(error.kind(), format!("{}: {}", path.display(), with_causes(&error)))
    }
}

#[cfg(test)]
mod tests;
