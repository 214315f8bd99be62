//! The pretended `/proc/cpuinfo`.

use crate::PretendedMachine;
use crate::arm::ArmCore;
use crate::tree::core_ranks;
use seatmap_os::visible::visible;
use seatmap_os::{Root, small};
use std::collections::{BTreeMap, BTreeSet};

/// Facts of this computer for the pretended files.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HostFacts {
    /// `/proc/cpuinfo`: the flags must be those of the real processor.
    pub cpuinfo: String,
    /// `/proc/stat`, for the time of the boot.
    pub stat: String,
    /// The memory, in KiB.
    pub memory_kib: u64,
    /// The free memory, in KiB.
    pub free_kib: u64,
}

impl HostFacts {
    /// Reads this computer.
    pub fn read(root: &Root) -> Self {
        let [cpuinfo, stat, memory] = ["cpuinfo", "stat", "meminfo"]
            .map(|name| root.read(&format!("/proc/{name}")).unwrap_or_default());
        let [memory_kib, free_kib] = ["MemTotal", "MemFree"].map(|key| {
            let value = small::value_of(&memory, key).unwrap_or_default();
            value.trim_end_matches(" kB").trim().parse().unwrap_or_default()
        });
        HostFacts { memory_kib, free_kib, cpuinfo, stat }
    }
}

/// A block for each online CPU, with the flags of this computer's first block.
pub fn cpuinfo(machine: &PretendedMachine, host: &str) -> String {
    let block = host.split("\n\n").next().unwrap_or_default();
    let block = if block.contains("processor") { block } else { "processor\t: 0" };
    if machine.running().any(|pu| pu.core_type.is_some()) {
        return of_arm(machine, block);
    }
    let ranks = core_ranks(machine);
    let running = machine.running();
    let mut packages: BTreeMap<u32, (usize, BTreeSet<Option<u32>>)> = BTreeMap::new();
    for pu in running.clone() {
        let (siblings, cores) = packages.entry(pu.package.unwrap_or(0)).or_default();
        *siblings += 1;
        cores.insert(pu.core);
    }
    let mut text = String::new();
    for pu in running {
        let package = pu.package.unwrap_or(0);
        let (siblings, cores) = &packages[&package];
        for line in block.lines() {
            let tabs = line.split(':').next().unwrap_or_default();
            let value = match tabs.trim() {
                "processor" | "apicid" | "initial apicid" => pu.os.to_string(),
                "model name" => visible(&machine.name),
                "physical id" => package.to_string(),
                "siblings" => siblings.to_string(),
                "core id" => ranks[&pu.os].to_string(),
                "cpu cores" => cores.len().to_string(),
                "cache size" => match pu.l3_bytes.or(pu.l2_bytes) {
                    Some(bytes) => format!("{} KB", bytes >> 10),
                    None => continue,
                },
                _ => {
                    text.push_str(&format!("{line}\n"));
                    continue;
                }
            };
            text.push_str(&format!("{tabs}: {value}\n"));
        }
        text.push('\n');
    }
    text
}

/// The blocks of Arm's kernels (`c_show` in arch/arm64/kernel/cpuinfo.c and
/// arch/arm/kernel/setup.c).
fn of_arm(machine: &PretendedMachine, host: &str) -> String {
    let bogomips = small::value_of(host, "bogomips").or(small::value_of(host, "BogoMIPS"));
    let bogomips = bogomips.as_deref().unwrap_or("0.00");
    let features_here = small::value_of(host, "Features");
    let mut text = String::new();
    for pu in machine.running() {
        let core = ArmCore::of(pu.core_type.unwrap_or_default());
        text += &format!("processor\t: {}\n", pu.os);
        if !core.has_64_bits() {
            text += "model name\t: ARMv7 Processor rev 0 (v7l)\n";
        }
        let features = features_here.as_deref().unwrap_or(core.least_features());
        text += &format!(
            "BogoMIPS\t: {bogomips}\nFeatures\t: {features}\n\
             CPU implementer\t: {:#04x}\nCPU architecture: {}\nCPU variant\t: 0x0\n\
             CPU part\t: {:#05x}\nCPU revision\t: 0\n\n",
            core.implementer,
            core.architecture(),
            core.part
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::small;

    #[test]
    fn cpuinfo_has_one_block_per_cpu() {
        let host = "processor\t: 0\nmodel name\t: this\nphysical id\t: 0\nsiblings\t: 2\n\
                    core id\t\t: 0\ncpu cores\t: 1\nflags\t\t: fpu avx2\n\nprocessor\t: 1\n";
        let text = cpuinfo(&small(), host);
        let blocks: Vec<&str> = text.split("\n\n").filter(|block| !block.is_empty()).collect();
        assert_eq!(blocks.len(), 8);
        assert_eq!(
            blocks[7],
            "processor\t: 7\nmodel name\t: small\nphysical id\t: 1\nsiblings\t: 4\n\
             core id\t\t: 1\ncpu cores\t: 2\nflags\t\t: fpu avx2"
        );
    }
    #[test]
    fn arm_cores_have_the_form_of_their_kernels() {
        let mut machine = small();
        // Cortex-A76 and, with 32 bits, Cortex-A7.
        for pu in &mut machine.topology.pus {
            pu.core_type = Some(if pu.os == 7 { 0x4100_c070 } else { 0x4100_d0b0 });
        }
        let text = cpuinfo(&machine, "processor\t: 0\nflags\t: avx2\nbogomips\t: 48.00\n\n");
        let blocks: Vec<&str> = text.split_terminator("\n\n").collect();
        assert_eq!(blocks.len(), 8);
        assert_eq!(
            blocks[6],
            "processor\t: 6\nBogoMIPS\t: 48.00\nFeatures\t: fp asimd\nCPU implementer\t: 0x41\n\
             CPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd0b\nCPU revision\t: 0"
        );
        assert!(blocks[7].contains("(v7l)") && blocks[7].contains("CPU architecture: 7"), "{text}");
        let text = cpuinfo(&machine, "processor\t: 0\nFeatures\t: fp asimd sve\n\n");
        assert_eq!(text.matches("Features\t: fp asimd sve\n").count(), 8, "{text}");
    }
}
