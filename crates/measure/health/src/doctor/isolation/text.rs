//! Helpers for small files and for lists and masks of CPUs.

use seatmap_os::CpuList;
use seatmap_os::{CpuSet, Root};

pub fn read(root: &Root, path: &str) -> Option<String> {
    root.read(path).ok()
}

/// Empty if the text is not a list.
pub fn list(text: &str) -> Vec<u32> {
    text.trim().parse::<CpuList>().map(|list| list.0).unwrap_or_default()
}

pub fn mask(text: &str) -> Option<Vec<u32>> {
    CpuSet::of_mask(text).map(|set| set.list().0)
}

pub fn as_mask(cpus: &[u32]) -> String {
    cpus.iter().copied().collect::<CpuSet>().to_mask()
}

/// `CPU 3`, `CPUs 0-2`.
pub fn named(cpus: &[u32]) -> String {
    CpuList(cpus.to_vec()).named()
}

pub fn shown(cpus: &[u32]) -> String {
    CpuList(cpus.to_vec()).to_string()
}
