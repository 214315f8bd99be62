//! Interrupts (`/proc/irq`): allowed CPUs, actual CPUs and devices.

use crate::CpuSet;
use crate::root::{FileError, Root};

const FOLDER: &str = "/proc/irq";

/// An interrupt's controller and number there (Documentation/ABI/testing/sysfs-kernel-irq).
#[derive(Debug)]
pub struct InterruptSource {
    /// Driver name of the controller: `GICv3`, `IO-APIC`.
    pub chip: String,
    /// Number at the controller.
    pub hwirq: Option<u64>,
    /// Handlers.
    pub handlers: String,
}

/// Controllers of interrupts that all belong to one CPU (timer, performance counters, calls between
/// CPUs), by prefix of the driver name (`irq_chip.name` in drivers/irqchip and arch/*).
const OF_ONE_CPU: [&str; 10] = [
    "RISC-V INTC",
    "xen-percpu",
    "CPUINTC",
    "XIVE-IPI",
    "GICv5-PPI",
    "bcm2836-timer",
    "bcm2836-pmu",
    "bcm2836-gpu",
    "bcm2836-mbox",
    "RISC-V IMSIC-IPI",
];

/// A GIC's calls between CPUs (0 to 15), private interrupts (16 to 31), and private interrupts
/// added by GICv3.1 (Arm IHI 0069, 2.2.1).
const OF_GIC_CPU: [std::ops::Range<u64>; 2] = [0..32, 1056..1120];

/// The MIPS controller, whose eight interrupts all belong to one CPU.
const MIPS: &str = "MIPS";

impl InterruptSource {
    /// The source of an interrupt; `None` if the kernel does not report it.
    pub fn of(root: &Root, irq: &str) -> Option<Self> {
        Some(InterruptSource {
            chip: attribute(root, irq, "chip_name")?,
            hwirq: root.number(&format!("/sys/kernel/irq/{irq}/hwirq")),
            handlers: attribute(root, irq, "actions").unwrap_or_default(),
        })
    }

    /// Whether each CPU has its own instance of this interrupt, without a device.
    pub fn is_per_cpu(&self) -> bool {
        let is_gic = ["GICv", "GIC-", "GIC"].iter().any(|name| {
            self.chip
                .strip_prefix(name)
                .is_some_and(|rest| rest.bytes().all(|byte| byte.is_ascii_digit()))
        });
        let is_private =
            self.hwirq.is_some_and(|number| OF_GIC_CPU.iter().any(|range| range.contains(&number)));
        // POWER numbers calls between CPUs at the shared controller.
        let is_call = self.handlers == "IPI" || self.handlers.starts_with("IPI-");
        let is_own = OF_ONE_CPU.iter().any(|name| self.chip.starts_with(name)) || self.chip == MIPS;
        is_gic && is_private || is_own || is_call
    }
}

fn attribute(root: &Root, irq: &str, name: &str) -> Option<String> {
    root.read(&format!("/sys/kernel/irq/{irq}/{name}")).ok()
}

/// Whether each CPU has its own instance of this interrupt. Unknown controllers count as a
/// device's, unless the interrupt is immovable and the kernel chose no CPU.
pub fn is_per_cpu(root: &Root, irq: &str) -> bool {
    let is_known = InterruptSource::of(root, irq).is_some_and(|source| source.is_per_cpu());
    let chosen = root.read(&format!("{FOLDER}/{irq}/effective_affinity_list"));
    let is_nowhere = chosen.is_ok_and(|chosen| chosen.is_empty());
    is_known || is_nowhere && is_movable(root, irq) == Some(false)
}

/// Whether an interrupt can move: since 4.20, the kernel write-protects the file of per-CPU
/// interrupts and of those that it manages itself. `None` without such a file.
pub fn is_movable(root: &Root, irq: &str) -> Option<bool> {
    use std::os::unix::fs::PermissionsExt;
    let metadata = std::fs::metadata(root.path(&affinity_file(irq))).ok()?;
    Some(metadata.permissions().mode() & 0o222 != 0)
}

/// Device interrupts by number: those of [`all`] that are not per CPU.
///
/// # Errors
/// As [`all`].
pub fn of_devices(root: &Root) -> Result<Vec<String>, FileError> {
    Ok(all(root)?.into_iter().filter(|irq| !is_per_cpu(root, irq)).collect())
}

/// All interrupts, by number; empty if the kernel does not list them.
///
/// # Errors
/// [`FileError`]: the list exists but cannot be read.
pub fn all(root: &Root) -> Result<Vec<String>, FileError> {
    Ok(root
        .folders(FOLDER)?
        .into_iter()
        .filter(|name| name.bytes().all(|byte| byte.is_ascii_digit()))
        .collect())
}

/// The file with an interrupt's allowed CPUs.
pub fn affinity_file(irq: &str) -> String {
    format!("{FOLDER}/{irq}/smp_affinity_list")
}

/// The CPUs that receive an interrupt: those chosen by the kernel, or else all allowed ones.
///
/// A choice outside the mask is ignored: the kernel applies a changed mask only at the next
/// interrupt.
pub fn goes_to(root: &Root, irq: &str) -> CpuSet {
    let chosen = root
        .cpus(&format!("{FOLDER}/{irq}/effective_affinity_list"))
        .filter(|chosen| !chosen.is_empty());
    match (root.cpus(&affinity_file(irq)), chosen) {
        (Some(allowed), Some(chosen)) if !chosen.is_subset(&allowed) => allowed,
        (allowed, chosen) => chosen.or(allowed).unwrap_or_default(),
    }
}

/// Writes an interrupt's allowed CPUs unchanged, which the kernel refuses for interrupts that it
/// manages itself.
///
/// # Errors
/// The kernel's: `EACCES` or `EROFS` if this process may not move any interrupt.
pub fn try_to_move(root: &Root, irq: &str) -> std::io::Result<()> {
    let path = affinity_file(irq);
    root.read(&path).and_then(|text| root.write(&path, &text)).map_err(|error| error.source)
}

/// An interrupt's number and, in parentheses, its handlers.
pub fn name(root: &Root, irq: &str) -> String {
    let handlers = root.folders(&format!("{FOLDER}/{irq}")).unwrap_or_default();
    if handlers.is_empty() { irq.to_owned() } else { format!("{irq} ({})", handlers.join(", ")) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::{with_files, write};
    use proptest::prelude::*;

    fn computer(allowed: &str, chosen: Option<&str>) -> (tempfile::TempDir, Root) {
        let (folder, root) = with_files(&[(&affinity_file("7"), allowed)]);
        root.make_folder("/proc/irq/7/ttyS0").unwrap();
        if let Some(text) = chosen {
            write(&root, "/proc/irq/7/effective_affinity_list", text);
        }
        (folder, root)
    }

    fn goes(allowed: &str, chosen: Option<&str>) -> String {
        let (_folder, root) = computer(allowed, chosen);
        goes_to(&root, "7").list().to_string()
    }

    #[test]
    fn effective_affinity_wins_if_valid() {
        assert_eq!(goes("0-3", Some("2\n")), "2");
        assert_eq!(goes("0-3", Some("\n")), "0-3", "a kernel that has not chosen yet");
        assert_eq!(goes("0-3", None), "0-3", "a kernel that does not say");
        assert_eq!(goes("0,1", Some("3")), "0,1", "a change that the kernel has not followed yet");
    }

    #[test]
    fn per_cpu_interrupts_are_recognised_on_every_architecture() {
        let is_own = |chip: &str, hwirq: u64, handlers: &str| {
            InterruptSource {
                chip: chip.to_owned(),
                hwirq: Some(hwirq),
                handlers: handlers.to_owned(),
            }
            .is_per_cpu()
        };
        let own = [
            ("GICv3", 27, "arch_timer"),
            ("GICv3", 1056, "arm-pmu"),
            ("GICv2", 30, "arch_timer"),
            ("GIC-0", 29, "twd"),
            ("GIC", 26, "arch_timer"),
            ("RISC-V INTC", 5, "riscv-timer"),
            ("XICS", 2, "IPI"),
            ("XIVE-IPI", 0, "IPI-0"),
            ("xen-percpu", 3, "timer0"),
            ("CPUINTC", 11, "Timer"),
            ("MIPS", 7, "timer"),
        ];
        for (chip, hwirq, handlers) in own {
            assert!(is_own(chip, hwirq, handlers), "{chip} {hwirq}");
        }
        let devices = [
            ("GICv3", 33, "uart-pl011"),
            ("GICv2m", 1, "nvme0q1"),
            ("GICv3-ITS", 8, "eth0"),
            ("IO-APIC", 2, "timer"),
            ("PCI-MSIX-0000:00:01.0", 0, "virtio0"),
            ("SiFive PLIC", 10, "ttyS0"),
            ("XIVE-IRQ", 16, "eth0"),
            ("XICS", 16, "hvc_console"),
            ("PCI-MSI", 17, "mlx5"),
        ];
        for (chip, hwirq, handlers) in devices {
            assert!(!is_own(chip, hwirq, handlers), "{chip} {hwirq}");
        }
    }

    #[test]
    fn unknown_controller_is_fixed_if_affinity_is_read_only() {
        use std::os::unix::fs::PermissionsExt;
        let fixed = |chosen: Option<&str>| {
            let (folder, root) = computer("0-3", chosen);
            std::fs::set_permissions(
                root.path(&affinity_file("7")),
                PermissionsExt::from_mode(0o444),
            )
            .unwrap();
            (folder, root)
        };
        let (_folder, own) = fixed(Some("\n"));
        assert!(
            is_per_cpu(&own, "7")
                && is_movable(&own, "7") == Some(false)
                && of_devices(&own).unwrap().is_empty()
        );
        let (_folder, managed) = fixed(Some("3\n"));
        assert!(
            !is_per_cpu(&managed, "7") && of_devices(&managed).unwrap() == ["7"],
            "a queue of a disk"
        );
        let (_folder, free) = computer("0-3", Some("\n"));
        assert!(!is_per_cpu(&free, "7") && is_movable(&free, "7") == Some(true));
        for (name, text) in
            [("chip_name", "GICv3\n"), ("hwirq", "27\n"), ("actions", "arch_timer\n")]
        {
            write(&free, &format!("/sys/kernel/irq/7/{name}"), text);
        }
        assert!(is_per_cpu(&free, "7"));
        assert_eq!(is_movable(&free, "8"), None);
    }

    #[test]
    fn interrupt_names_include_the_device() {
        let (_folder, root) = computer("0", None);
        std::fs::create_dir(root.path("/proc/irq/other")).unwrap();
        assert_eq!(
            (all(&root).unwrap(), name(&root, "7")),
            (vec!["7".to_owned()], "7 (ttyS0)".to_owned())
        );
        assert_eq!(goes_to(&root, "8"), CpuSet::default());
        assert!(try_to_move(&root, "7").is_ok() && try_to_move(&root, "8").is_err());
    }

    proptest! {
        #[test]
        fn effective_cpus_are_within_the_allowed_ones(
            allowed in prop::collection::btree_set(0u32..8, 1..8),
            chosen in prop::collection::btree_set(0u32..8, 0..8),
        ) {
            let spelled = |cpus: std::collections::BTreeSet<u32>| cpus.into_iter().collect::<CpuSet>();
            let allowed = spelled(allowed);
            let chosen = spelled(chosen);
            let (_folder, root) = computer(&allowed.to_string(), Some(&chosen.to_string()));
            let goes = goes_to(&root, "7");
            prop_assert!(goes.is_subset(&allowed) && !goes.is_empty());
        }
    }
}
