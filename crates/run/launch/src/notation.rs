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

use seatmap_data::statistics::words::counted;
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

/// Writes a set of CPUs in one format.
pub type SetWriter = fn(&CpuSet) -> Result<String, TooManyCpus>;

/// The formats, by their names on the command line, each with its use.
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
    let each: Vec<String> = cpus.iter().map(|cpu| cpu.to_string()).collect();
    Ok(format!("WINE_CPU_TOPOLOGY={}:{}\n", cpus.len(), each.join(",")))
}

/// The list; a single CPU as a range, because programs take one number for a count or a switch.
fn ranges(cpus: &CpuSet) -> String {
    cpus.only().map_or_else(|| cpus.to_string(), |cpu| format!("{cpu}-{cpu}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    const LISTS: [&str; 6] = ["0", "1", "3", "0,1", "0-7,16-23", "2,5-8,63"];

    fn written(format: &str, list: &str) -> String {
        writer(format).unwrap()(&CpuSet::of_list(list).unwrap()).unwrap()
    }

    fn after<'a>(text: &'a str, key: &str) -> &'a str {
        text.lines().filter_map(|line| line.strip_prefix(key)).next_back().unwrap()
    }

    /// `strtol`, then `-` and another number, until a comma: `parse_cpulist` of gamemode, and the
    /// kernel's `bitmap_parselist`.
    fn parselist(text: &str) -> BTreeSet<u32> {
        let number = |text: &str| text.parse::<u32>().unwrap();
        let part = |part: &str| match part.split_once('-') {
            Some((first, last)) => (number(first)..=number(last)).collect::<Vec<_>>(),
            None => vec![number(part)],
        };
        text.split(',').flat_map(part).collect()
    }

    #[test]
    fn every_program_reads_back_the_same_cpus() {
        for list in LISTS {
            let cpus = parselist(list);
            let list_of = |format: &str, key: &str| {
                let text = written(format, list);
                parselist(after(&text, key))
            };
            assert_eq!(list_of("list", ""), cpus);
            assert_eq!(list_of("lxc", "lxc.cgroup2.cpuset.cpus = "), cpus);
            assert_eq!(list_of("proxmox", "affinity: "), cpus);
            // gamemode: `yes`, `true` and `1` are switches, and so are `no`, `false` and `0`.
            let text = written("gamemode", list);
            let value = after(&text, "pin_cores=");
            assert!(text.starts_with("[cpu]\n") && !["0", "1"].contains(&value), "{text}");
            assert_eq!(parselist(value), cpus);
            // LXD: a value that is a number is a count of CPUs.
            for format in ["lxd", "incus"] {
                let text = written(format, list);
                let value = after(&text, "limits.cpu: ");
                assert!(value.parse::<u32>().is_err(), "{text}");
                assert_eq!(parselist(value), cpus);
            }
            // systemd: separated by blanks or commas; an empty value clears the list before it.
            let text = written("systemd-allowed", list);
            let value = after(&text, "AllowedCPUs=");
            assert!(text.starts_with("[Service]\nAllowedCPUs=\n"), "{text}");
            assert_eq!(value.split(' ').flat_map(parselist).collect::<BTreeSet<_>>(), cpus);
            // Wine: the count, a colon, and as many CPUs, without ranges.
            let text = written("wine", list);
            let (count, each) = after(&text, "WINE_CPU_TOPOLOGY=").split_once(':').unwrap();
            let each: Vec<u32> = each.split(',').map(|cpu| cpu.parse().unwrap()).collect();
            assert_eq!((count.parse(), each), (Ok(cpus.len()), cpus.into_iter().collect()));
        }
    }

    #[test]
    fn wine_takes_at_most_64_cpus() {
        let wide = |count: u32| wine(&(0..count).collect());
        assert!(wide(64).is_ok());
        let refusal = wide(65).unwrap_err().to_string();
        assert!(refusal.contains("room for 64 CPUs, and these are 65 CPUs"), "{refusal}");
    }
}
