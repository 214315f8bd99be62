//! Performance and efficiency cores, as the kernel distinguishes them.

use super::tree::{CPUS, FileTree};
use seatmap_data::machine::speed::kinds_of;
use seatmap_data::machine::{CoreKind, Pu, Speed};
use seatmap_os::CpuSet;
use std::collections::HashMap;

/// The kernel's lists of the CPUs of one kind on Intel's hybrid processors, for their counters.
const LISTED: [(&str, CoreKind); 3] = [
    ("sys/devices/cpu_core/cpus", CoreKind::Performance),
    ("sys/devices/cpu_atom/cpus", CoreKind::Efficiency),
    ("sys/devices/cpu_lowpower/cpus", CoreKind::LowPower),
];

/// Sets the kind of each PU, and the figures that distinguish kinds. `running` are the machine's
/// PUs, because a kind is relative.
pub fn add(tree: &FileTree, running: &CpuSet, pus: &mut [Pu]) {
    let speeds = speeds(tree, running);
    let kinds = listed(tree, running).unwrap_or_else(|| kinds_of(&speeds));
    let known: HashMap<u32, (Speed, Option<CoreKind>)> =
        running.iter().zip(speeds.into_iter().zip(kinds)).collect();
    for pu in pus {
        let (speed, kind) = known.get(&pu.os).copied().unwrap_or_default();
        pu.kind = kind;
        pu.core_type = speed.core_type;
        pu.capacity = speed.capacity;
        pu.base_khz = speed.base_khz;
        pu.max_khz = speed.max_khz;
    }
}

/// The kinds in Intel's lists; `None` without lists.
fn listed(tree: &FileTree, running: &CpuSet) -> Option<Vec<Option<CoreKind>>> {
    let lists: Vec<(CpuSet, CoreKind)> =
        LISTED.into_iter().filter_map(|(path, kind)| Some((tree.set(path)?, kind))).collect();
    // On an Intel hybrid with one kind switched off, one list is empty.
    if lists.iter().all(|(set, _)| set.is_empty()) {
        return None;
    }
    // The kernel lists the low-power cores of most processors as Atoms, but their island has no
    // level-3 cache (open-mpi/hwloc#758, intel/intel-lpmd#124).
    let with_l3: CpuSet =
        running.iter().filter(|pu| tree.has(&format!("{CPUS}/cpu{pu}/cache/index3"))).collect();
    let kinds = running.iter().map(|pu| {
        let (_, kind) = lists.iter().find(|(set, _)| set.contains(pu))?;
        let is_outside_l3 = !with_l3.is_empty() && !with_l3.contains(pu);
        let is_apart = *kind == CoreKind::Efficiency && is_outside_l3;
        Some(if is_apart { CoreKind::LowPower } else { *kind })
    });
    Some(kinds.collect())
}

fn midr(tree: &FileTree, pu: u32) -> Option<u64> {
    hexadecimal(&tree.of_cpu(pu, "regs/identification/midr_el1")?).map(|midr| midr & 0xff00_fff0)
}

fn hexadecimal(text: &str) -> Option<u64> {
    u64::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

/// The type of each PU's core on Arm, from `MIDR_EL1`: its implementer (bits 24 to 31) and part
/// (bits 4 to 15). 32-bit kernels, and 64-bit ones without the file, have both in `/proc/cpuinfo`.
fn core_types(tree: &FileTree, pus: &CpuSet) -> HashMap<u32, u64> {
    let of_files: HashMap<u32, u64> =
        pus.iter().map_while(|pu| Some((pu, midr(tree, pu)?))).collect();
    if !of_files.is_empty() {
        return of_files;
    }
    let cpuinfo = tree.text("proc/cpuinfo").unwrap_or_default();
    let mut types = HashMap::new();
    let mut pu = None;
    let mut implementer = None;
    for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        match key.trim() {
            "processor" => pu = value.trim().parse().ok(),
            "CPU implementer" => implementer = hexadecimal(value),
            "CPU part" => {
                let parts = pu.zip(implementer).zip(hexadecimal(value));
                types.extend(parts.map(|((pu, maker), part)| (pu, maker << 24 | part << 4)));
            }
            _ => {}
        }
    }
    types
}

/// The speed of each PU. The kernel gives it for all PUs or none, so the first one decides.
fn speeds(tree: &FileTree, pus: &CpuSet) -> Vec<Speed> {
    let capacity = numbers(tree, pus, "cpu_capacity");
    let base = numbers(tree, pus, "cpufreq/base_frequency");
    let max = numbers(tree, pus, "cpufreq/cpuinfo_max_freq");
    let types = core_types(tree, pus);
    let of_pus = pus.iter().enumerate().map(|(at, pu)| Speed {
        core_type: types.get(&pu).copied(),
        capacity: capacity[at],
        base_khz: base[at],
        max_khz: max[at],
    });
    of_pus.collect()
}

fn number(tree: &FileTree, pu: u32, file: &str) -> Option<u64> {
    tree.of_cpu(pu, file)?.parse().ok().filter(|value| *value > 0)
}

fn numbers(tree: &FileTree, pus: &CpuSet, file: &str) -> Vec<Option<u64>> {
    let is_known = pus.first().is_some_and(|first| number(tree, first, file).is_some());
    pus.iter().map(|pu| is_known.then(|| number(tree, pu, file)).flatten()).collect()
}

#[cfg(test)]
mod tests {
    use super::super::trees_for_tests::tree_of;
    use super::*;

    fn letters(files: &[(impl AsRef<str>, &str)]) -> String {
        let mut pus: Vec<Pu> = (0..4).map(|os| Pu { os, ..Pu::default() }).collect();
        add(&tree_of(files), &(0..4).collect(), &mut pus);
        pus.iter().map(|pu| pu.kind.map_or("-", CoreKind::letters)).collect()
    }

    fn each(file: &str, values: [&'static str; 4]) -> Vec<(String, &'static str)> {
        (0..4).map(|pu| format!("{CPUS}/cpu{pu}/{file}")).zip(values).collect()
    }

    #[test]
    fn intel_core_lists_take_precedence() {
        let lists = [
            ("sys/devices/cpu_core/cpus", "0-1\n"),
            ("sys/devices/cpu_atom/cpus", "2\n"),
            ("sys/devices/cpu_lowpower/cpus", "3\n"),
        ];
        assert_eq!(letters(&lists), "PPELP");
    }

    #[test]
    fn capacity_and_frequency_decide_core_kinds() {
        for (file, values, kinds) in [
            ("cpu_capacity", ["446", "446", "1024", "1024"], "EEPP"),
            ("cpu_capacity", ["x", "", "1024", "0"], "----"),
            ("cpufreq/cpuinfo_max_freq", ["5000000", "5000000", "3900000", "3900000"], "PPEE"),
            ("cpufreq/base_frequency", ["2000000"; 4], "----"),
        ] {
            assert_eq!(letters(&each(file, values)), kinds, "{file} {values:?}");
        }
    }

    #[test]
    fn core_type_precedes_clock() {
        let clocks = each("cpufreq/cpuinfo_max_freq", ["2500", "2500", "2000", "1500"]);
        let with = |more: &[(String, &str)]| letters(&[&clocks[..], more].concat());
        assert_eq!(with(&[]), "PPME");
        let midr = |of: [&'static str; 4]| each("regs/identification/midr_el1", of);
        let big = "0x00000000410fd810";
        assert_eq!(with(&midr([big, "0x00000000411fd811", big, "0x410fd800"])), "PPPE");
        assert_eq!(with(&midr([big; 4])), "----", "a later stepping is no other type");
        let block = |pu: u32, part: &str| {
            format!("processor\t: {pu}\nCPU implementer\t: 0x41\nCPU part\t: {part}\n\n")
        };
        let cpuinfo: String = (0..)
            .zip(["0xc0f", "0xc0f", "0xc0f", "0xc07"])
            .map(|(pu, part)| block(pu, part))
            .collect();
        assert_eq!(with(&[("proc/cpuinfo".to_owned(), cpuinfo.as_str())]), "PPPE");
    }
}
