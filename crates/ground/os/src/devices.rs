//! A program's accelerators and fast network cards, with their NUMA nodes.

use crate::CpuSet;
use crate::bytes::unsigned;
use crate::root::Root;

/// A device of a program.
#[derive(Debug, PartialEq)]
pub struct Device {
    /// Its file: `/dev/nvidia0`.
    pub name: String,
    /// `gpu`, `nic`, or `device` if the bus does not specify it.
    pub kind: &'static str,
    /// Its NUMA node; `None` if the firmware gives none.
    pub node: Option<u32>,
    /// CPUs near it, as a list.
    pub cpus: Option<String>,
}

/// Whether this computer may have such devices, so searching for open ones is useful.
pub fn is_any(root: &Root) -> bool {
    let folders = ["dri", "infiniband", "vfio", "accel"].map(|name| format!("/dev/{name}"));
    folders.iter().any(|folder| root.names(folder).map_or(true, |names| !names.is_empty()))
        || root.names("/dev").map_or(true, |names| {
            names.iter().any(|name| name == "kfd" || numbered(name, "nvidia").is_some())
        })
}

/// The device behind an open file.
pub fn of(root: &Root, file: &str) -> Option<Device> {
    let (kind, folder) = sysfs(root, file.strip_prefix("/dev/")?)?;
    let kind =
        kind.unwrap_or_else(|| match attribute(root, folder.as_deref(), "class").as_deref() {
            // PCI base classes: 02 network controllers, 03 displays, 12 accelerators.
            Some(class) if class.starts_with("0x02") => "nic",
            Some(class) if class.starts_with("0x03") || class.starts_with("0x12") => "gpu",
            _ => "device",
        });
    // -1 means no node.
    let node = attribute(root, folder.as_deref(), "numa_node").and_then(|node| node.parse().ok());
    Some(Device {
        name: file.to_owned(),
        kind,
        node,
        cpus: attribute(root, folder.as_deref(), "local_cpulist").filter(|list| !list.is_empty()),
    })
}

/// The devices called by a user's word: a name of [`named`], `gpu` for all accelerators, or `gpu1`
/// for the second in order of PCI addresses.
pub fn called(root: &Root, word: &str) -> Vec<Device> {
    if word == "gpu" {
        return accelerators(root).iter().filter_map(|address| named(root, address)).collect();
    }
    let address = numbered(word, "gpu")
        .and_then(|number| accelerators(root).into_iter().nth(number.parse().ok()?));
    named(root, address.as_deref().unwrap_or(word)).into_iter().collect()
}

/// The names that [`called`] takes here, besides PCI addresses: network cards and disks with their
/// own device, InfiniBand cards and accelerators.
pub fn names(root: &Root) -> Vec<String> {
    let mut found = Vec::new();
    for class in ["net", "block", "infiniband"] {
        let all = root.names(&format!("/sys/class/{class}")).unwrap_or_default();
        let is_real = |name: &String| root.has(&format!("/sys/class/{class}/{name}/device"));
        found.extend(all.into_iter().filter(is_real));
    }
    found.extend((0..accelerators(root).len()).map(|number| format!("gpu{number}")));
    found
}

/// The PCI addresses of accelerators and displays (base classes 12 and 03), without the displays of
/// management controllers (vendors ASPEED, Matrox and HiSilicon) and Intel's processors for neural
/// networks.
fn accelerators(root: &Root) -> Vec<String> {
    let folder = "/sys/bus/pci/devices";
    let mut all: Vec<String> = root.names(folder).unwrap_or_default();
    all.retain(|address| {
        let device = Some(format!("{folder}/{address}"));
        let class = attribute(root, device.as_deref(), "class").unwrap_or_default();
        let vendor = attribute(root, device.as_deref(), "vendor").unwrap_or_default();
        (class.starts_with("0x03") && !["0x1a03", "0x102b", "0x19e5"].contains(&vendor.as_str()))
            || (class.starts_with("0x12") && vendor != "0x8086")
    });
    all
}

/// A device named by the user: a network card (`eth0`), a disk (`nvme0n1`), an InfiniBand card
/// (`mlx5_0`) or a PCI address (`0000:17:00.0`). `None` if missing.
pub fn named(root: &Root, name: &str) -> Option<Device> {
    let is_plain = !name.is_empty() && !name.starts_with('.') && !name.contains('/');
    let places = [
        ("nic", format!("/sys/class/net/{name}"), "/device"),
        ("disk", format!("/sys/class/block/{name}"), "/device"),
        ("nic", format!("/sys/class/infiniband/{name}"), "/device"),
        ("device", format!("/sys/bus/pci/devices/{name}"), ""),
    ];
    let (kind, folder, below) =
        places.into_iter().find(|(_, folder, _)| is_plain && root.has(folder))?;
    // A partition is below its disk, an NVMe disk below its controller, and a SCSI disk several
    // folders below it; the PCI device has the node.
    let below = format!("{folder}{below}");
    let nested = ["", "/device", "/device/device"].map(|more| format!("{below}{more}"));
    // With several paths to an NVMe disk, it is below its subsystem, with links to controllers.
    let siblings = root.names(&format!("{folder}/..")).unwrap_or_default().into_iter();
    let controllers = siblings
        .filter(|sibling| kind == "disk" && numbered(sibling, "nvme").is_some())
        .map(|sibling| format!("{folder}/../{sibling}/device"));
    let parents = [&below, &folder]
        .into_iter()
        .flat_map(|from| (1..=8).map(move |levels| format!("{from}{}", "/..".repeat(levels))));
    let above: Vec<String> = nested.into_iter().chain(controllers).chain(parents).collect();
    let node = first_attribute(root, &above, "numa_node");
    // Without a node, the kernel's list has all CPUs.
    let is_nowhere = node.as_deref() == Some("-1");
    let node = node.and_then(|node| node.parse().ok());
    let cpus = (!is_nowhere).then(|| near_cpus(root, &above, node)).flatten();
    Some(Device { name: name.to_owned(), kind, node, cpus })
}

/// Gathered folders may lack one of the files.
fn near_cpus(root: &Root, folders: &[String], node: Option<u32>) -> Option<String> {
    let list = first_attribute(root, folders, "local_cpulist");
    let mask = first_attribute(root, folders, "local_cpus");
    let of_node = node.and_then(|node| {
        attribute(root, Some(&format!("/sys/devices/system/node/node{node}")), "cpulist")
    });
    let sets = [
        list.and_then(|list| CpuSet::of_list(&list)),
        mask.and_then(|mask| CpuSet::of_mask(&mask)),
        of_node.and_then(|list| CpuSet::of_list(&list)),
    ];
    Some(sets.into_iter().flatten().find(|cpus| !cpus.is_empty())?.to_string())
}

fn first_attribute(root: &Root, folders: &[String], name: &str) -> Option<String> {
    let mut inside = folders.iter().filter(|folder| is_inside(root, folder));
    inside.find_map(|folder| attribute(root, Some(folder), name))
}

/// Whether a folder's links stay among these files: another computer's must not show this one's.
fn is_inside(root: &Root, folder: &str) -> bool {
    let real = |path: &str| std::fs::canonicalize(root.path(path)).ok();
    real(folder).zip(real("/")).is_some_and(|(folder, root)| folder.starts_with(root))
}

fn attribute(root: &Root, folder: Option<&str>, name: &str) -> Option<String> {
    root.read(&format!("{}/{name}", folder?)).ok()
}

/// The kind, if a file's name in `/dev` determines it, and the device folder.
fn sysfs(root: &Root, name: &str) -> Option<(Option<&'static str>, Option<String>)> {
    if let Some(minor) = numbered(name, "nvidia") {
        return Some((Some("gpu"), nvidia(root, minor)));
    }
    // One file for all AMD accelerators.
    if name == "kfd" {
        return Some((Some("gpu"), None));
    }
    let (folder, file) = name.rsplit_once('/')?;
    match folder {
        "dri" if numbered(file, "renderD").or_else(|| numbered(file, "card")).is_some() => {
            Some((Some("gpu"), class_folder(file, "drm")))
        }
        "accel" if numbered(file, "accel").is_some() => {
            Some((Some("gpu"), class_folder(file, "accel")))
        }
        "infiniband" if numbered(file, "uverbs").is_some() => {
            Some((Some("nic"), class_folder(file, "infiniband_verbs")))
        }
        "vfio/devices" if numbered(file, "vfio").is_some() => {
            Some((None, class_folder(file, "vfio-dev")))
        }
        "vfio" if numbered(file, "").is_some() => {
            let devices = format!("/sys/kernel/iommu_groups/{file}/devices");
            Some((
                None,
                root.names(&devices).ok()?.first().map(|first| format!("{devices}/{first}")),
            ))
        }
        _ => None,
    }
}

fn class_folder(file: &str, class: &str) -> Option<String> {
    Some(format!("/sys/class/{class}/{file}/device"))
}

fn numbered<'a>(name: &'a str, beginning: &str) -> Option<&'a str> {
    let number = name.strip_prefix(beginning)?;
    unsigned(number.as_bytes()).map(|_| number)
}

/// The PCI folder of the NVIDIA device with this minor number, from its driver's `/proc` files.
fn nvidia(root: &Root, minor: &str) -> Option<String> {
    let folder = "/proc/driver/nvidia/gpus";
    root.folders(folder)
        .ok()?
        .into_iter()
        .find(|address| {
            let text = root.read(&format!("{folder}/{address}/information")).unwrap_or_default();
            crate::small::value_of(&text, "Device Minor").as_deref() == Some(minor)
        })
        .map(|address| format!("/sys/bus/pci/devices/{address}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::root::tests::with_files;
    use proptest::prelude::*;

    fn computer() -> (tempfile::TempDir, Root) {
        with_files(&[
            ("/proc/driver/nvidia/gpus/0000:3b:00.0/information", "Model: x\nDevice Minor: \t 1\n"),
            ("/sys/bus/pci/devices/0000:3b:00.0/numa_node", "1\n"),
            ("/sys/bus/pci/devices/0000:3b:00.0/local_cpulist", "8-15\n"),
            ("/sys/class/infiniband_verbs/uverbs0/device/numa_node", "-1\n"),
            ("/sys/class/drm/renderD128/device/numa_node", "0\n"),
            ("/sys/kernel/iommu_groups/7/devices/0000:00:01.0/class", "0x020000\n"),
        ])
    }

    #[test]
    fn devices_have_kind_node_and_cpus() {
        let (_folder, root) = computer();
        let told =
            |file: &str| of(&root, file).map(|device| (device.kind, device.node, device.cpus));
        assert_eq!(told("/dev/nvidia1"), Some(("gpu", Some(1), Some("8-15".to_owned()))));
        assert_eq!(told("/dev/nvidia0"), Some(("gpu", None, None)), "its driver does not say");
        assert_eq!(told("/dev/infiniband/uverbs0"), Some(("nic", None, None)));
        assert_eq!(told("/dev/dri/renderD128"), Some(("gpu", Some(0), None)));
        assert_eq!(told("/dev/vfio/7"), Some(("nic", None, None)));
        assert_eq!(told("/dev/vfio/8"), Some(("device", None, None)));
        assert_eq!(told("/dev/kfd"), Some(("gpu", None, None)));
        for file in [
            "/dev/null",
            "/dev/nvidiactl",
            "/dev/nvidia-uvm",
            "/dev/vfio/vfio",
            "/dev/dri/by-path",
            "socket:[1]",
        ] {
            assert_eq!(told(file), None, "{file}");
        }
    }

    #[test]
    fn cpus_are_found_through_partitions_subsystems_masks_and_nodes() {
        let device = "/sys/devices/pci0000:40/0000:41:00.0";
        let (_folder, root) = with_files(&[
            (&format!("{device}/local_cpulist"), "8-15\n"),
            (&format!("{device}/nvme/nvme0/nvme0n1/nvme0n1p1/partition"), "1\n"),
            ("/sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1n1/size", "1\n"),
            ("/sys/class/net/masked/device/local_cpus", "00000f0f\n"),
            ("/sys/class/net/noded/device/numa_node", "1\n"),
            ("/sys/class/net/noded/device/local_cpulist", "\n"),
            ("/sys/devices/system/node/node1/cpulist", "4-7\n"),
            ("/sys/class/net/nowhere/device/numa_node", "-1\n"),
            ("/sys/class/net/nowhere/device/local_cpulist", "0-7\n"),
        ]);
        std::fs::create_dir_all(root.path("/sys/class/block")).unwrap();
        for (link, target) in [
            ("/sys/class/block/nvme0n1p1", "pci0000:40/0000:41:00.0/nvme/nvme0/nvme0n1/nvme0n1p1"),
            ("/sys/class/block/nvme1n1", "virtual/nvme-subsystem/nvme-subsys1/nvme1n1"),
        ] {
            std::os::unix::fs::symlink(format!("../../devices/{target}"), root.path(link)).unwrap();
        }
        let subsystem = root.path("/sys/devices/virtual/nvme-subsystem/nvme-subsys1/nvme1");
        std::fs::create_dir(&subsystem).unwrap();
        let controller = subsystem.join("device");
        std::os::unix::fs::symlink("../../../../pci0000:40/0000:41:00.0", controller).unwrap();
        for (name, cpus) in [
            ("nvme0n1p1", Some("8-15")),
            ("nvme1n1", Some("8-15")),
            ("masked", Some("0-3,8-11")),
            ("noded", Some("4-7")),
            ("nowhere", None),
        ] {
            assert_eq!(named(&root, name).unwrap().cpus.as_deref(), cpus, "{name}");
        }
    }

    #[test]
    fn computer_without_accelerators_has_no_devices() {
        let (_folder, root) = computer();
        assert!(!is_any(&root));
        std::fs::create_dir_all(root.path("/dev/dri/renderD128")).unwrap();
        assert!(is_any(&root));
    }

    #[test]
    fn words_find_cards_disks_and_accelerators() {
        let (_folder, root) = with_files(&[
            ("/sys/class/net/eth0/device/local_cpulist", "0-3\n"),
            ("/sys/class/net/eth0/device/numa_node", "0\n"),
            ("/sys/class/net/lo/mtu", "65536\n"),
            ("/sys/class/block/nvme0n1/device/device/local_cpulist", "4-7\n"),
            ("/sys/class/infiniband/mlx5_0/device/local_cpulist", "4-7\n"),
            ("/sys/bus/pci/devices/0000:02:00.0/class", "0x030000\n"),
            ("/sys/bus/pci/devices/0000:02:00.0/vendor", "0x1a03\n"),
            ("/sys/bus/pci/devices/0000:41:00.0/class", "0x030200\n"),
            ("/sys/bus/pci/devices/0000:41:00.0/local_cpulist", "0-3\n"),
            ("/sys/bus/pci/devices/0000:81:00.0/class", "0x120000\n"),
            ("/sys/bus/pci/devices/0000:81:00.0/local_cpulist", "4-7\n"),
        ]);
        assert_eq!(names(&root), ["eth0", "nvme0n1", "mlx5_0", "gpu0", "gpu1"]);
        let near = |word: &str| -> Vec<Option<String>> {
            called(&root, word).into_iter().map(|device| device.cpus).collect()
        };
        let [first, second] = ["0-3", "4-7"].map(|list| Some(list.to_owned()));
        assert_eq!(near("gpu"), [first.clone(), second.clone()], "without the management card");
        assert_eq!(near("gpu1"), std::slice::from_ref(&second));
        assert_eq!(near("gpu2"), []);
        assert_eq!((near("eth0"), near("nvme0n1")), (vec![first], vec![second.clone()]));
        std::os::unix::fs::symlink("/sys", root.path("/sys/class/net/eth1")).unwrap();
        assert_eq!(near("eth1"), [None], "a link out of the files shows nothing");
        assert_eq!((near("mlx5_0"), near("0000:81:00.0")), (vec![second.clone()], vec![second]));
    }

    proptest! {
        #[test]
        fn lookup_survives_any_device_name(name: String) {
            let (_folder, root) = computer();
            let _ = of(&root, &format!("/dev/{name}"));
        }
    }
}
