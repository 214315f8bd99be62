//! Small files, and the lists and masks in them.

use seatmap_machine::CpuList;
use std::path::Path;

/// The trimmed text of a small file; `None` where it cannot be read.
pub(super) fn read(path: impl AsRef<Path>) -> Option<String> {
    std::fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

/// A list of CPUs; none where the text is empty or no list.
pub(super) fn list(text: &str) -> Vec<u32> {
    text.trim().parse::<CpuList>().map(|list| list.0).unwrap_or_default()
}

/// Members of a mask as the kernel prints it: hexadecimal words of 32 bits, the highest first (`ff,00000003`).
pub(super) fn mask(text: &str) -> Vec<u32> {
    let words = text.trim().rsplit(',').map(|word| u32::from_str_radix(word, 16).unwrap_or(0));
    let members = words
        .zip(0u32..)
        .flat_map(|(word, at)| (0..32).filter(move |bit| word >> bit & 1 == 1).map(move |bit| at * 32 + bit));
    members.collect()
}

/// The same mask of these CPUs, as it is written.
pub(super) fn as_mask(cpus: &[u32]) -> String {
    let words = cpus.iter().max().map_or(1, |last| last / 32 + 1);
    let word = |at: u32| cpus.iter().filter(|cpu| **cpu / 32 == at).fold(0u32, |word, cpu| word | 1 << (cpu % 32));
    (0..words).rev().map(|at| format!("{:08x}", word(at))).collect::<Vec<_>>().join(",")
}

/// How a list is shown.
pub(super) fn shown(cpus: &[u32]) -> String {
    CpuList(cpus.to_vec()).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn masks_are_words_with_the_highest_first() {
        assert_eq!(mask("3\n"), [0, 1]);
        assert_eq!(mask("1,00000002"), [1, 32]);
        assert_eq!(as_mask(&[1, 32]), "00000001,00000002");
        assert_eq!(mask("nonsense"), [] as [u32; 0]);
    }

    proptest! {
        #[test]
        fn masks_come_back(cpus in proptest::collection::btree_set(0u32..300, 0..20)) {
            let cpus: Vec<u32> = cpus.into_iter().collect();
            prop_assert_eq!(mask(&as_mask(&cpus)), cpus);
        }
    }
}
