//! The files that distinguish kinds of cores: each only if the machine's file has its figure.

use super::{CPUS, MachineTree, ranges};
use crate::PretendedMachine;
use crate::arm::ArmCore;
use seatmap_data::grouped::by_key;
use seatmap_data::machine::speed::kinds_of;
use seatmap_data::machine::{CoreKind, Pu, Speed};
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// The folders of the kernel's lists on Intel's hybrid processors, one for each kind.
pub const KIND_LISTS: [&str; 3] =
    ["sys/devices/cpu_core", "sys/devices/cpu_atom", "sys/devices/cpu_lowpower"];

impl MachineTree {
    pub(crate) fn kinds(&mut self, machine: &PretendedMachine) {
        for pu in machine.running() {
            let midr = pu.core_type.and_then(|core_type| ArmCore::of(core_type).midr());
            let figures = [
                ("cpu_capacity", pu.capacity),
                ("acpi_cppc/highest_perf", pu.priority.map(u64::from)),
                ("cpufreq/base_frequency", pu.base_khz),
                ("cpufreq/cpuinfo_max_freq", pu.max_khz),
            ];
            for (file, value) in figures {
                if let Some(value) = value {
                    self.line(format!("{CPUS}/cpu{}/{file}", pu.os), value);
                }
            }
            if let Some(midr) = midr {
                let path = format!("{CPUS}/cpu{}/regs/identification/midr_el1", pu.os);
                self.line(path, format_args!("{midr:#018x}"));
            }
        }
        if has_lists(machine) {
            self.lists_of_kinds(machine);
        }
    }

    /// The kernel lists the low-power cores of most processors as Atoms; these have no L3
    /// (open-mpi/hwloc#758).
    fn lists_of_kinds(&mut self, machine: &PretendedMachine) {
        let [core, atom, low_power] = KIND_LISTS;
        let lists: BTreeMap<&str, CpuSet> = by_key(machine.running().map(|pu| {
            let list = match pu.kind {
                Some(CoreKind::Performance) => core,
                Some(CoreKind::LowPower) if pu.l3.is_some() => low_power,
                _ => atom,
            };
            (list, pu.os)
        }));
        for (folder, cpus) in lists {
            self.line(format!("{folder}/cpus"), ranges(&cpus));
        }
    }
}

/// Whether the kernel lists the kinds: on Intel's hybrid processors, whose small cores share an L2,
/// if no figures tell them.
fn has_lists(machine: &PretendedMachine) -> bool {
    let pus = &machine.topology.pus;
    let kinds: Vec<Option<CoreKind>> = pus.iter().map(|pu| pu.kind).collect();
    let is_arm = pus.iter().any(|pu| pu.core_type.is_some() || pu.capacity.is_some());
    if is_arm || kinds.iter().all(Option::is_none) {
        return false;
    }
    let speeds: Vec<Speed> = pus.iter().map(speed).collect();
    let slow = pus.iter().filter(|pu| pu.kind.is_some_and(CoreKind::is_slower));
    let mut cores: BTreeMap<u32, Option<u32>> = BTreeMap::new();
    let shares_l2 = slow
        .filter_map(|pu| Some((pu.l2?, pu.core)))
        .any(|(l2, core)| cores.insert(l2, core).is_some_and(|before| before != core));
    shares_l2 || kinds_of(&speeds) != kinds
}

fn speed(pu: &Pu) -> Speed {
    Speed {
        core_type: pu.core_type,
        capacity: pu.capacity,
        base_khz: pu.base_khz,
        max_khz: pu.max_khz,
    }
}
