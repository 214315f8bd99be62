//! A setting or mask that was not restored, and why.

use seatmap_os::FileError;
use seatmap_os::forgotten::ForgottenCpus;
use seatmap_os::owed::ThreadMask;
use std::fmt;

/// An unrestored setting or mask.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Left {
    /// The setting or thread.
    pub path: String,
    /// The reason.
    pub why: String,
    forgotten: Option<ForgottenCpus>,
}

impl Left {
    /// A setting or thread, with the reason.
    pub fn new(path: impl Into<String>, why: impl Into<String>) -> Self {
        Left { path: path.into(), why: why.into(), forgotten: None }
    }

    /// Masks that lack offline CPUs.
    pub fn masks(cpus: ForgottenCpus) -> Self {
        Left { path: cpus.subject(), why: cpus.reason(), forgotten: Some(cpus) }
    }

    /// An unreadable folder, perhaps with settings to restore.
    pub(crate) fn unlisted(error: &FileError) -> Self {
        Left::new(&error.path, format!("it cannot be read and may list more: {}", error.source))
    }

    /// Threads whose masks lack CPUs until they are online.
    pub fn owed(left: &[Left]) -> impl Iterator<Item = ThreadMask> {
        left.iter().filter_map(|one| one.forgotten.as_ref()).flat_map(ForgottenCpus::owed)
    }

    /// Adds the process that waits for these CPUs.
    pub(crate) fn waited_for(self, waiter: seatmap_os::Tid) -> Self {
        match self.forgotten {
            Some(cpus) => Left::masks(ForgottenCpus { waiter: Some(waiter), ..cpus }),
            None => self,
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.forgotten {
            Some(cpus) => write!(out, "{cpus}"),
            None => write!(out, "{} is not restored: {}", self.path, self.why),
        }
    }
}
