//! The environment of a measurement: processor, kernel, hypervisor and settings of this computer.

use crate::host::arm;
use seatmap_data::machine::Environment;
use seatmap_os::CpuList;
use seatmap_os::Root;
use seatmap_os::cpus::Cpus;
use seatmap_os::layout;
use seatmap_os::quota::Quotas;
use seatmap_os::small;
use std::collections::{BTreeMap, BTreeSet};

/// Reads the environment from `/proc` and `/sys`, except for `steal_percent`, which is only known
/// after measuring.
pub fn read() -> Environment {
    let cpuinfo = small::read("/proc/cpuinfo").unwrap_or_default();
    let root = Root::new("/");
    let cpus = Cpus::read().ok();
    let offline = cpus.as_ref().map(Cpus::offline).filter(|offline| !offline.is_empty());
    Environment {
        hypervisor: hypervisor(),
        steal_percent: None,
        kernel: small::read("/proc/sys/kernel/osrelease"),
        cpu_model: model_in(&cpuinfo),
        microcode: small::value_of(&cpuinfo, "microcode"),
        governor: governor(&root),
        turbo: turbo(&root),
        smt: small::read("/sys/devices/system/cpu/smt/control"),
        thp: small::read("/sys/kernel/mm/transparent_hugepage/enabled")
            .and_then(|text| chosen(&text)),
        bios: bios(),
        load_average: load_average(),
        mitigations: mitigations(),
        cpuset: cpus.map(|cpus| CpuList(cpus.allowed).to_string()),
        offline: offline.map(|offline| CpuList(offline).to_string()),
        quota: Some(Quotas::of_self(&root).words()),
    }
}

/// The processor's model; `None` if the kernel does not say.
pub fn cpu_model() -> Option<String> {
    model_in(&small::read("/proc/cpuinfo")?)
}

/// The kernel's random id of this boot (random(4)).
pub fn boot_id() -> Option<String> {
    small::read("/proc/sys/kernel/random/boot_id")
}

pub(crate) fn model_in(cpuinfo: &str) -> Option<String> {
    small::value_of(cpuinfo, "model name").or_else(|| arm::model(cpuinfo))
}

fn hypervisor() -> Option<String> {
    small::read("/sys/hypervisor/type")
        .or_else(processors_word)
        .or_else(firmwares_word)
        .or_else(|| device_trees_word(&Root::new("/")))
}

fn known(table: &[(&str, &str)], is_it: impl Fn(&str) -> bool) -> Option<String> {
    table.iter().find(|(word, _)| is_it(word)).map(|(_, known)| (*known).to_owned())
}

#[cfg(target_arch = "x86_64")]
const HYPERVISORS: [(&str, &str); 7] = [
    ("KVMKVMKVM", "KVM"),
    ("TCGTCGTCGTCG", "QEMU without acceleration"),
    ("Microsoft Hv", "Hyper-V"),
    ("VMwareVMware", "VMware"),
    ("XenVMMXenVMM", "Xen"),
    ("bhyve bhyve ", "bhyve"),
    ("ACRNACRNACRN", "ACRN"),
];

/// Hypervisors set bit 31 of ECX of CPUID leaf 1; leaf 4000_0000h has their name (AMD64 manual,
/// volume 3).
#[cfg(target_arch = "x86_64")]
fn processors_word() -> Option<String> {
    use crate::host::cpuid;
    if cpuid::leaf(1).ecx >> 31 == 0 {
        return Some("none".to_owned());
    }
    let leaf = cpuid::leaf(0x4000_0000);
    let bytes: Vec<u8> =
        [leaf.ebx, leaf.ecx, leaf.edx].iter().flat_map(|word| word.to_le_bytes()).collect();
    let name: String = bytes
        .iter()
        .map(|byte| *byte as char)
        .filter(|c| c.is_ascii_graphic() || *c == ' ')
        .collect();
    let unknown = if name.trim().is_empty() { "unknown" } else { name.trim() };
    known(&HYPERVISORS, |signature| signature == name).or_else(|| Some(unknown.to_owned()))
}

#[cfg(not(target_arch = "x86_64"))]
fn processors_word() -> Option<String> {
    None
}

/// The vendors in the firmware tables of virtual computers, as in systemd-detect-virt(1).
const VENDORS: [(&str, &str); 6] = [
    ("QEMU", "QEMU"),
    ("KVM", "KVM"),
    ("Amazon EC2", "Amazon EC2"),
    ("VMware, Inc.", "VMware"),
    ("Xen", "Xen"),
    ("Google", "Google Compute Engine"),
];

/// Other processors have no such bit, so an unknown hypervisor is possible: never `none`.
fn firmwares_word() -> Option<String> {
    let vendor = small::read("/sys/class/dmi/id/sys_vendor")?;
    known(&VENDORS, |name| name == vendor)
}

/// The description of computers without firmware tables, as most Arm computers are.
const DEVICE_TREE: &str = "/proc/device-tree";

/// The words of hypervisors there (Documentation/devicetree/bindings of Linux).
const COMPATIBLE: [(&str, &str); 3] = [("linux,kvm", "KVM"), ("xen,", "Xen"), ("vmware", "VMware")];

/// The machine of QEMU, kvmtool, Firecracker and Cloud Hypervisor for Arm.
const VIRTUAL_MACHINE: &str = "linux,dummy-virt";

/// The tree of a real board does not exclude a hypervisor, so the result is never `none`.
fn device_trees_word(root: &Root) -> Option<String> {
    let compatible = root.read(&format!("{DEVICE_TREE}/hypervisor/compatible")).unwrap_or_default();
    let known = known(&COMPATIBLE, |word| compatible.contains(word));
    if known.is_some() {
        return known;
    }
    let parts = root.names(DEVICE_TREE).unwrap_or_default();
    if parts.iter().any(|name| name.starts_with("fw-cfg@")) {
        return Some("QEMU".to_owned());
    }
    let machine = root.read(&format!("{DEVICE_TREE}/compatible")).unwrap_or_default();
    machine.contains(VIRTUAL_MACHINE).then(|| "unknown".to_owned())
}

/// The governor of all CPUs; `mixed` if they differ; `None` if we cannot set the frequency.
pub fn governor(root: &Root) -> Option<String> {
    let online = layout::online(root).ok()?;
    let found: BTreeSet<String> = online
        .iter()
        .filter_map(|cpu| {
            root.read(&format!("/sys/devices/system/cpu/cpu{cpu}/cpufreq/scaling_governor")).ok()
        })
        .collect();
    match found.len() {
        0 => None,
        1 => found.into_iter().next(),
        _ => Some("mixed".to_owned()),
    }
}

/// Whether the processor may run faster while few cores are busy; `None` if unknown.
pub fn turbo(root: &Root) -> Option<bool> {
    let intel =
        root.read("/sys/devices/system/cpu/intel_pstate/no_turbo").ok().map(|text| text == "0");
    intel
        .or_else(|| root.read("/sys/devices/system/cpu/cpufreq/boost").ok().map(|text| text == "1"))
}

/// The word in brackets: `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    Some(rest.split_once(']')?.0.to_owned())
}

fn bios() -> Option<String> {
    let fields: Vec<String> = ["vendor", "version", "date"]
        .into_iter()
        .filter_map(|name| small::read(format!("/sys/class/dmi/id/bios_{name}")))
        .collect();
    (!fields.is_empty()).then(|| fields.join(" "))
}

fn load_average() -> Option<f64> {
    small::read("/proc/loadavg")?.split_whitespace().next()?.parse().ok()
}

fn mitigations() -> BTreeMap<String, String> {
    let Ok(entries) = std::fs::read_dir("/sys/devices/system/cpu/vulnerabilities") else {
        return BTreeMap::new();
    };
    entries
        .filter_map(|entry| {
            let entry = entry.ok()?;
            Some((entry.file_name().to_string_lossy().into_owned(), small::read(entry.path())?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chosen_word_is_in_brackets() {
        assert_eq!(chosen("always [madvise] never").as_deref(), Some("madvise"));
        assert_eq!(chosen("none"), None);
    }

    #[test]
    fn device_tree_names_the_hypervisor() {
        let words = |files: &[(&str, &str)]| {
            let folder = tempfile::tempdir().unwrap();
            let root = Root::new(folder.path());
            for (path, text) in files {
                let path = root.path(path);
                std::fs::create_dir_all(path.parent().unwrap()).unwrap();
                std::fs::write(path, text).unwrap();
            }
            device_trees_word(&root)
        };
        let machine = ("/proc/device-tree/compatible", "linux,dummy-virt\0");
        let by_qemu = ("/proc/device-tree/fw-cfg@9020000/compatible", "qemu,fw-cfg-mmio\0");
        let by_xen = ("/proc/device-tree/hypervisor/compatible", "xen,xen-4.17\0xen,xen\0");
        assert_eq!(words(&[machine, by_qemu]).as_deref(), Some("QEMU"));
        assert_eq!(words(&[machine, by_xen]).as_deref(), Some("Xen"));
        assert_eq!(words(&[machine]).as_deref(), Some("unknown"));
        let board = ("/proc/device-tree/compatible", "raspberrypi,5-model-b\0brcm,bcm2712\0");
        assert_eq!(words(&[board]), None, "a board says nothing of what runs below");
        assert_eq!(words(&[]), None);
    }

    #[test]
    fn this_computer_has_kernel_cpuset_and_hypervisor_facts() {
        let environment = read();
        assert!(
            environment.kernel.is_some()
                && environment.cpuset.is_some()
                && environment.hypervisor.is_some()
        );
    }
}
