//! Small files, and the lists and masks in them.

use seatmap_os::CpuList;
use seatmap_os::{CpuSet, Root};

/// The text of a file of a computer; `None` where it cannot be read.
pub(super) fn read(root: &Root, path: &str) -> Option<String> {
    root.read(path).ok()
}

/// A list of CPUs; empty where the text is empty or not a list.
pub(super) fn list(text: &str) -> Vec<u32> {
    text.trim().parse::<CpuList>().map(|list| list.0).unwrap_or_default()
}

/// The members of a mask; `None` where the text is not a mask.
pub(super) fn mask(text: &str) -> Option<Vec<u32>> {
    CpuSet::of_mask(text).map(|set| set.list().0)
}

/// A mask of these CPUs, as it is written.
pub(super) fn as_mask(cpus: &[u32]) -> String {
    cpus.iter().copied().collect::<CpuSet>().to_mask()
}

/// A list of CPUs in a sentence: `CPU 3`, `CPUs 0-2`.
pub(super) fn named(cpus: &[u32]) -> String {
    CpuList(cpus.to_vec()).named()
}

/// A list of CPUs as text for a report.
pub(super) fn shown(cpus: &[u32]) -> String {
    CpuList(cpus.to_vec()).to_string()
}
