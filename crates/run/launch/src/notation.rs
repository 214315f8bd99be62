//! A set of CPUs in the notation of other programs.
//!
//! | format | for | source of its rule |
//! |---|---|---|
//! | `list` | `taskset -c`, `numactl -C`, `cpuset.cpus` | cpuset(7), "List format" |
//! | `wine` | Proton's and Wine's variable | `dlls/ntdll/unix/system.c` of Proton's Wine |
//! | `gamemode` | `gamemode.ini` | `common/common-cpu.c` of gamemode |
//! | `lxc` | a container's configuration | lxc.container.conf(5) |
//! | `proxmox` | a virtual machine's `/etc/pve/qemu-server/ID.conf` | qm.conf(5) |
//! | `proxmox-lxc` | a container's `/etc/pve/lxc/ID.conf` | pct.conf(5), "CONFIGURATION" |
//! | `lxd`, `incus` | an instance's configuration | `limits.cpu` in "Instance options" |
//! | `systemd-allowed` | a service's drop-in | systemd.resource-control(5) |
//! | `nri` | a balloon type of Kubernetes' NRI | nri-plugins, "Balloons Policy": words, not CPUs |

use seatmap_data::words::{counted, joined};
use seatmap_os::CpuSet;

/// The most CPUs of Wine's variable: an affinity mask of Windows has 64 bits.
const MOST_OF_WINE: usize = 64;

/// Why a format cannot represent the CPUs.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotationError {
    /// There are too many for Wine.
    #[error(
        "WINE_CPU_TOPOLOGY has room for {MOST_OF_WINE} CPUs, and these are {}; narrow them, for \
         example by no-smt or first:{MOST_OF_WINE}", counted(.0, "CPU")
    )]
    TooMany(usize),
    /// A balloon cannot prefer this.
    #[error(
        "'{0}': a balloon names no CPUs; it prefers kind:performance or kind:efficiency, and may \
         have no-smt"
    )]
    NoPreference(String),
}

/// Writes a set in one format. The words are those that named it.
pub type SetWriter = fn(&CpuSet, &str) -> Result<String, NotationError>;

/// The formats, by command-line name, each with its use.
pub const FORMATS: [(&str, &str, SetWriter); 10] = [
    ("list", "taskset -c, numactl -C and cpuset.cpus", |cpus, _| Ok(format!("{cpus}\n"))),
    ("wine", "Proton's variable WINE_CPU_TOPOLOGY", wine),
    ("gamemode", "gamemode.ini", |cpus, _| Ok(format!("[cpu]\npin_cores={}\n", ranges(cpus)))),
    ("lxc", "a container of LXC", |cpus, _| Ok(format!("lxc.cgroup2.cpuset.cpus = {cpus}\n"))),
    ("proxmox", "a virtual machine of Proxmox", |cpus, _| Ok(format!("affinity: {cpus}\n"))),
    ("proxmox-lxc", "a container of Proxmox", |cpus, _| {
        Ok(format!("lxc.cgroup2.cpuset.cpus: {cpus}\n"))
    }),
    ("lxd", "an instance of LXD", |cpus, _| Ok(format!("limits.cpu: {}\n", ranges(cpus)))),
    ("incus", "an instance of Incus", |cpus, _| Ok(format!("limits.cpu: {}\n", ranges(cpus)))),
    ("systemd-allowed", "a drop-in that holds all processes of a service", |cpus, _| {
        let cpus = cpus.to_string().replace(',', " ");
        Ok(format!("[Service]\nAllowedCPUs=\nAllowedCPUs={cpus}\n"))
    }),
    ("nri", "a balloon type of Kubernetes' NRI resource policy", balloon),
];

/// The writer of a format.
pub fn writer(format: &str) -> Option<SetWriter> {
    FORMATS.iter().find(|(name, _, _)| *name == format).map(|(_, _, write)| *write)
}

/// The number of CPUs, then each CPU.
fn wine(cpus: &CpuSet, _: &str) -> Result<String, NotationError> {
    if cpus.len() > MOST_OF_WINE {
        return Err(NotationError::TooMany(cpus.len()));
    }
    Ok(format!("WINE_CPU_TOPOLOGY={}:{}\n", cpus.len(), joined(cpus, ",")))
}

/// The policy chooses the CPUs of each balloon among those that it prefers.
fn balloon(_: &CpuSet, words: &str) -> Result<String, NotationError> {
    let mut lines = format!("balloonTypes:\n- name: {}\n", words.replace([':', '/'], "-"));
    for word in words.split('/') {
        lines += match word {
            "kind:performance" => "  preferCoreType: performance\n",
            "kind:efficiency" => "  preferCoreType: efficient\n",
            "no-smt" => "  hideHyperthreads: true\n",
            other => return Err(NotationError::NoPreference(other.to_owned())),
        };
    }
    Ok(lines)
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
        let words = "kind:efficiency/no-smt";
        FORMATS.iter().map(|(_, _, write)| write(&cpus, words).unwrap()).collect()
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
        lxc.cgroup2.cpuset.cpus: 2,5-8,63
        limits.cpu: 2,5-8,63
        limits.cpu: 2,5-8,63
        [Service]
        AllowedCPUs=
        AllowedCPUs=2 5-8 63
        balloonTypes:
        - name: kind-efficiency-no-smt
          preferCoreType: efficient
          hideHyperthreads: true
        ");
        // A single number is a switch for gamemode, and a count for LXD.
        insta::assert_snapshot!(written("1"), @r"
        1
        WINE_CPU_TOPOLOGY=1:1
        [cpu]
        pin_cores=1-1
        lxc.cgroup2.cpuset.cpus = 1
        affinity: 1
        lxc.cgroup2.cpuset.cpus: 1
        limits.cpu: 1-1
        limits.cpu: 1-1
        [Service]
        AllowedCPUs=
        AllowedCPUs=1
        balloonTypes:
        - name: kind-efficiency-no-smt
          preferCoreType: efficient
          hideHyperthreads: true
        ");
    }

    #[test]
    fn wine_takes_at_most_64_cpus() {
        let wide = |count: u32| wine(&(0..count).collect(), "all");
        assert!(wide(64).is_ok());
        let refusal = wide(65).unwrap_err().to_string();
        assert!(refusal.contains("room for 64 CPUs, and these are 65 CPUs"), "{refusal}");
    }

    #[test]
    fn balloons_prefer_kinds_only() {
        let refused = |words: &str| balloon(&CpuSet::single(0), words).unwrap_err().to_string();
        assert!(refused("cache:biggest").starts_with("'cache:biggest': a balloon names no CPUs"));
        assert!(refused("kind:performance/first:2").starts_with("'first:2': "));
        assert!(refused("kind:performance+kind:efficiency").contains("no CPUs"));
    }
}
