//! Performance and efficiency cores, as the kernel distinguishes them.

use super::tree::Tree;
use seatmap_machine::speed::kinds_of;
use seatmap_machine::{CoreKind, Speed};
use seatmap_os::CpuSet;
use std::collections::HashMap;

/// The folders in which the kernel lists the CPUs of one kind on Intel's hybrid processors, for
/// their counters.
const LISTED: [(&str, CoreKind); 3] = [
    ("sys/devices/cpu_core/cpus", CoreKind::Performance),
    ("sys/devices/cpu_atom/cpus", CoreKind::Efficiency),
    ("sys/devices/cpu_lowpower/cpus", CoreKind::Efficiency),
];

/// The kind of each PU; empty if all are of the same kind.
pub(super) fn read(tree: &Tree, pus: &CpuSet) -> HashMap<u32, CoreKind> {
    let listed: Vec<(CpuSet, CoreKind)> = LISTED
        .into_iter()
        .filter_map(|(path, kind)| Some((CpuSet::of_list(&tree.text(path)?)?, kind)))
        .collect();
    // An Intel hybrid with one kind switched off has one list that is empty.
    if listed.iter().any(|(set, _)| !set.is_empty()) {
        return pus
            .iter()
            .filter_map(|pu| {
                listed.iter().find(|(set, _)| set.contains(pu)).map(|(_, kind)| (pu, *kind))
            })
            .collect();
    }
    let kinds = kinds_of(&speeds(tree, pus));
    pus.iter().zip(kinds).filter_map(|(pu, kind)| Some((pu, kind?))).collect()
}

/// The speed of each PU. If the kernel does not give it for the first PU, it gives it for none.
fn speeds(tree: &Tree, pus: &CpuSet) -> Vec<Speed> {
    let capacity = numbers(tree, pus, "cpu_capacity");
    let base = numbers(tree, pus, "cpufreq/base_frequency");
    let max = numbers(tree, pus, "cpufreq/cpuinfo_max_freq");
    capacity
        .into_iter()
        .zip(base)
        .zip(max)
        .map(|((capacity, base_khz), max_khz)| Speed { capacity, base_khz, max_khz })
        .collect()
}

fn number(tree: &Tree, pu: u32, file: &str) -> Option<u64> {
    tree.text(&format!("sys/devices/system/cpu/cpu{pu}/{file}"))?
        .parse()
        .ok()
        .filter(|value| *value > 0)
}

fn numbers(tree: &Tree, pus: &CpuSet, file: &str) -> Vec<Option<u64>> {
    let is_known = pus.first().is_some_and(|first| number(tree, first, file).is_some());
    pus.iter().map(|pu| is_known.then(|| number(tree, pu, file)).flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::testing::tree_of;
    use super::*;

    fn letters(files: &[(&str, &str)]) -> String {
        let kinds = read(&tree_of(files), &(0..4).collect());
        (0..4).map(|pu| kinds.get(&pu).map_or('-', |kind| kind.letter())).collect()
    }

    #[test]
    fn intels_lists_are_believed_first() {
        let lists = [
            ("sys/devices/cpu_core/cpus", "0-1\n"),
            ("sys/devices/cpu_atom/cpus", "2\n"),
            ("sys/devices/cpu_lowpower/cpus", "3\n"),
        ];
        assert_eq!(letters(&lists), "PPEE");
    }

    #[test]
    fn capacity_and_frequency_tell_otherwise() {
        let of = |file: &str, values: [&'static str; 4]| -> Vec<(String, &'static str)> {
            (0..4).map(|pu| format!("sys/devices/system/cpu/cpu{pu}/{file}")).zip(values).collect()
        };
        let told = |files: Vec<(String, &str)>| {
            letters(&files.iter().map(|(path, text)| (path.as_str(), *text)).collect::<Vec<_>>())
        };
        assert_eq!(told(of("cpu_capacity", ["446", "446", "1024", "1024"])), "EEPP");
        assert_eq!(
            told(of("cpufreq/cpuinfo_max_freq", ["5000000", "5000000", "3900000", "3900000"])),
            "PPEE"
        );
        assert_eq!(
            told(of("cpufreq/base_frequency", ["2000000", "2000000", "2000000", "2000000"])),
            "----"
        );
        assert_eq!(told(of("cpu_capacity", ["x", "", "1024", "0"])), "----");
    }
}
