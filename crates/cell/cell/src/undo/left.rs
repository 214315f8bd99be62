//! A setting or mask that was not restored, and why.

use seatmap_os::forgotten::ForgottenCpus;
use seatmap_os::owed::ThreadMask;
use seatmap_os::{CpuSet, FileError, Tid};
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

    /// Threads that lack CPUs of their masks.
    pub fn of_lacking(threads: impl IntoIterator<Item = (ThreadMask, CpuSet)>) -> Vec<Self> {
        ForgottenCpus::gather(threads).into_iter().map(Left::masks).collect()
    }

    /// Masks that lack offline CPUs.
    pub fn masks(cpus: ForgottenCpus) -> Self {
        Left { path: cpus.subject(), why: cpus.reason(), forgotten: Some(cpus) }
    }

    /// An unreadable folder, perhaps with settings to restore.
    pub fn unlisted(error: &FileError) -> Self {
        Left::new(&error.path, format!("it cannot be read and may list more: {}", error.source))
    }

    /// Threads whose masks lack CPUs until they are online.
    pub fn owed(left: &[Left]) -> impl Iterator<Item = ThreadMask> {
        left.iter().filter_map(|one| one.forgotten.as_ref()).flat_map(ForgottenCpus::owed)
    }

    /// Adds the process that waits for these CPUs.
    pub fn waited_for(self, waiter: Tid) -> Self {
        match self.forgotten {
            Some(cpus) => Left::masks(ForgottenCpus { waiter: Some(waiter), ..cpus }),
            None => self,
        }
    }
}

impl fmt::Display for Left {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        match &self.forgotten {
            Some(cpus) => write!(out, "{cpus}"),
            None => write!(out, "{} is not restored: {}", self.path, self.why),
        }
    }
}
