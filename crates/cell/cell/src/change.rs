//! One change to the host, as recorded in a journal.

use crate::{settings, thread_mask};
use seatmap_os::{CpuSet, FileError, Root, Tid, affinity};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// How to compare a setting's values and undo its change.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SettingKind {
    /// A file with one value.
    Value,
    /// A file with a CPU list.
    Cpus,
    /// A file with a CPU mask.
    CpuMask,
    /// A file with a number increased by the cell, and perhaps by others.
    Count,
    /// A control group's controllers for its children, to which the cell added one.
    Controller,
    /// A new control group.
    Folder,
    /// A thread's affinity; the path is its folder in `/proc`.
    Affinity,
}

impl SettingKind {
    /// The CPUs of a value; `None` for other settings.
    pub(crate) fn set(self, text: &str) -> Option<CpuSet> {
        match self {
            SettingKind::Cpus | SettingKind::Affinity => CpuSet::of_list(text),
            SettingKind::CpuMask => CpuSet::of_mask(text),
            _ => None,
        }
    }

    /// A value without a cell's CPUs; `rest` are those outside all cells.
    pub(crate) fn narrowed(self, value: &str, cell: &CpuSet, rest: &CpuSet) -> Option<String> {
        let left = self.set(value)?.outside(cell, rest);
        Some(if self == SettingKind::CpuMask { left.to_mask() } else { left.to_string() })
    }
}

/// A change, recorded before it is made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SettingChange {
    /// Its kind.
    pub what: SettingKind,
    /// The file, folder or thread.
    pub path: String,
    /// Value before.
    pub old: String,
    /// Value after.
    pub new: String,
    /// The thread's start in clock ticks after the boot, because its number may be reused, though
    /// not within a tick: the kernel first assigns all others. Thread lines without this are
    /// ignored.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub started_ticks: Option<u64>,
}

impl SettingChange {
    /// A change of a setting between two values.
    pub fn new(
        what: SettingKind,
        path: impl Into<String>,
        old: impl ToString,
        new: impl ToString,
    ) -> Self {
        let [old, new] = [old.to_string(), new.to_string()];
        SettingChange { what, path: path.into(), old, new, started_ticks: None }
    }

    /// A change of a thread's mask.
    pub fn of_mask(tid: Tid, started_ticks: u64, old: impl ToString, new: impl ToString) -> Self {
        let change = SettingChange::new(SettingKind::Affinity, format!("/proc/{tid}"), old, new);
        SettingChange { started_ticks: Some(started_ticks), ..change }
    }

    /// A change of a file from its present content.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn of_file(
        root: &Root,
        what: SettingKind,
        path: &str,
        new: &str,
    ) -> Result<Self, FileError> {
        Ok(SettingChange::new(what, path, settings::value(root, path)?, new))
    }

    /// The creation of a control group.
    pub fn folder(path: &str) -> Self {
        SettingChange::new(SettingKind::Folder, path, "", "made")
    }

    /// Whether the thread had this mask and keeps it.
    pub fn is_kept(&self) -> bool {
        self.what == SettingKind::Affinity && self.same(&self.old, &self.new)
    }

    /// Whether the thread got another mask.
    pub(crate) fn is_new_mask(&self) -> bool {
        self.what == SettingKind::Affinity && !self.is_kept()
    }

    /// Makes the change.
    ///
    /// # Errors
    /// The kernel's.
    pub fn make(&self, root: &Root) -> Result<(), FileError> {
        match self.what {
            SettingKind::Folder => root.make_folder(&self.path),
            SettingKind::Controller => root.write(&self.path, "+cpuset"),
            SettingKind::Affinity => thread_mask::set_affinity(&self.path, &self.new),
            _ if self.same(&self.old, &self.new) => Ok(()),
            _ => root.write(&self.path, &self.new),
        }
    }

    /// The present value.
    ///
    /// # Errors
    /// It cannot be read.
    pub fn current(&self, root: &Root) -> Result<String, FileError> {
        match self.what {
            SettingKind::Folder if root.has(&self.path) => Ok(self.new.clone()),
            SettingKind::Folder => Ok(self.old.clone()),
            SettingKind::Affinity => thread_mask::mask(root, &self.path, self.started_ticks),
            _ => settings::value(root, &self.path),
        }
    }

    /// Whether a mask or cpuset is the given one except for offline CPUs, which the kernel removes
    /// from masks and version 1 cpusets.
    pub fn is_given(&self, current: &str) -> bool {
        let sets = CpuSet::of_list(&self.new).zip(CpuSet::of_list(current));
        matches!(self.what, SettingKind::Affinity | SettingKind::Cpus)
            && sets.is_some_and(|(given, found)| affinity::is_as_given(&given, &found))
    }

    /// Whether two values are equal; the kernel may write one in another form.
    pub fn same(&self, a: &str, b: &str) -> bool {
        match self.what {
            SettingKind::Cpus | SettingKind::Affinity | SettingKind::CpuMask => {
                self.what.set(a) == self.what.set(b)
            }
            SettingKind::Controller => {
                let words = |text| BTreeSet::from_iter(str::split_whitespace(text));
                words(a) == words(b)
            }
            SettingKind::Value | SettingKind::Count | SettingKind::Folder => a == b,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An isolated partition exists, and the kernel hides CPU 3 from the mask meanwhile.
    #[test]
    fn workqueue_mask_includes_cpus_hidden_by_a_partition() {
        let folder = seatmap_needs::tree(&[(settings::WORKQUEUES, "7\n")]);
        let root = Root::new(folder.path());
        let old = |root: &Root| {
            SettingChange::of_file(root, SettingKind::CpuMask, settings::WORKQUEUES, "3")
                .unwrap()
                .old
        };
        assert_eq!(old(&root), "7");
        std::fs::write(root.path("/sys/devices/virtual/workqueue/cpumask_requested"), "f\n")
            .unwrap();
        assert_eq!(old(&root), "f");
    }

    fn same(what: SettingKind, a: &str, b: &str) -> bool {
        SettingChange { what, ..SettingChange::folder("/x") }.same(a, b)
    }

    #[test]
    fn values_compare_by_meaning() {
        assert!(same(SettingKind::Cpus, "0,1,2", "0-2") && !same(SettingKind::Cpus, "0", "0-1"));
        assert!(
            same(SettingKind::CpuMask, "00000003", "3")
                && same(SettingKind::Controller, "cpu cpuset", "cpuset cpu")
        );
        assert!(!same(SettingKind::Value, "1", "01"));
    }
}
