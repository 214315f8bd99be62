//! A set of CPUs in the notation of other programs.
//!
//! | format | for | source of its rule |
//! |---|---|---|
//! | `list` | `taskset -c`, `numactl -C`, `cpuset.cpus` | cpuset(7), "List format" |
//! | `wine` | Proton's and Wine's variable | `dlls/ntdll/unix/system.c` of Proton's Wine |
//! | `gamemode` | `gamemode.ini` | `common/common-cpu.c` of gamemode |
//! | `lxc` | a container's configuration | lxc.container.conf(5) |
//! | `proxmox` | a virtual machine's `/etc/pve/qemu-server/ID.conf` | qm.conf(5) |
//! | `lxd`, `incus` | an instance's configuration | `limits.cpu` in "Instance options" |
//! | `systemd-allowed` | a service's drop-in | systemd.resource-control(5) |

use seatmap_data::words::{counted, joined};
use seatmap_os::CpuSet;

/// The most CPUs of Wine's variable: an affinity mask of Windows has 64 bits.
const MOST_OF_WINE: usize = 64;

/// The set does not fit the format.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "WINE_CPU_TOPOLOGY has room for {MOST_OF_WINE} CPUs, and these are {}; narrow them, for \
     example by no-smt or first:{MOST_OF_WINE}", counted(.0, "CPU")
)]
pub struct TooManyCpus(pub usize);

/// Writes a set in one format.
pub type SetWriter = fn(&CpuSet) -> Result<String, TooManyCpus>;

/// The formats, by command-line name, each with its use.
pub const FORMATS: [(&str, &str, SetWriter); 8] = [
    ("list", "taskset -c, numactl -C and cpuset.cpus", |cpus| Ok(format!("{cpus}\n"))),
    ("wine", "Proton's variable WINE_CPU_TOPOLOGY", wine),
    ("gamemode", "gamemode.ini", |cpus| Ok(format!("[cpu]\npin_cores={}\n", ranges(cpus)))),
    ("lxc", "a container of LXC", |cpus| Ok(format!("lxc.cgroup2.cpuset.cpus = {cpus}\n"))),
    ("proxmox", "a virtual machine of Proxmox", |cpus| Ok(format!("affinity: {cpus}\n"))),
    ("lxd", "an instance of LXD", |cpus| Ok(format!("limits.cpu: {}\n", ranges(cpus)))),
    ("incus", "an instance of Incus", |cpus| Ok(format!("limits.cpu: {}\n", ranges(cpus)))),
    ("systemd-allowed", "a drop-in that holds all processes of a service", |cpus| {
        let cpus = cpus.to_string().replace(',', " ");
        Ok(format!("[Service]\nAllowedCPUs=\nAllowedCPUs={cpus}\n"))
    }),
];

/// The writer of a format.
pub fn writer(format: &str) -> Option<SetWriter> {
    FORMATS.iter().find(|(name, _, _)| *name == format).map(|(_, _, write)| *write)
}

/// The number of CPUs, then each CPU.
fn wine(cpus: &CpuSet) -> Result<String, TooManyCpus> {
    if cpus.len() > MOST_OF_WINE {
        return Err(TooManyCpus(cpus.len()));
    }
    Ok(format!("WINE_CPU_TOPOLOGY={}:{}\n", cpus.len(), joined(cpus, ",")))
}

/// The list; a single CPU as a range, because programs take one number for a count or a switch.
fn ranges(cpus: &CpuSet) -> String {
    cpus.only().map_or_else(|| cpus.to_string(), |cpu| format!("{cpu}-{cpu}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// In every format, a line or more each.
    fn written(list: &str) -> String {
        let cpus = CpuSet::of_list(list).unwrap();
        FORMATS.iter().map(|(_, _, write)| write(&cpus).unwrap()).collect()
    }

    #[test]
    fn formats_follow_their_programs() {
        insta::assert_snapshot!(written("2,5-8,63"), @r"
        2,5-8,63
        WINE_CPU_TOPOLOGY=6:2,5,6,7,8,63
        [cpu]
        pin_cores=2,5-8,63
        lxc.cgroup2.cpuset.cpus = 2,5-8,63
        affinity: 2,5-8,63
        limits.cpu: 2,5-8,63
        limits.cpu: 2,5-8,63
        [Service]
        AllowedCPUs=
        AllowedCPUs=2 5-8 63
        ");
        // A single number is a switch for gamemode, and a count for LXD.
        insta::assert_snapshot!(written("1"), @r"
        1
        WINE_CPU_TOPOLOGY=1:1
        [cpu]
        pin_cores=1-1
        lxc.cgroup2.cpuset.cpus = 1
        affinity: 1
        limits.cpu: 1-1
        limits.cpu: 1-1
        [Service]
        AllowedCPUs=
        AllowedCPUs=1
        ");
    }

    #[test]
    fn wine_takes_at_most_64_cpus() {
        let wide = |count: u32| wine(&(0..count).collect());
        assert!(wide(64).is_ok());
        let refusal = wide(65).unwrap_err().to_string();
        assert!(refusal.contains("room for 64 CPUs, and these are 65 CPUs"), "{refusal}");
    }
}
