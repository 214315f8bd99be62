//! `/proc/PID/status` of a thread, with the CPUs and nodes of the machine.

use crate::machine::PretendedMachine;
use crate::tree::{mask, ranges};
use seatmap_os::{CpuSet, Tid};

/// The thread of whose status this is the path, opened by a caller; `None` for other paths.
pub(crate) fn subject(path: &str, caller: Tid) -> Option<Tid> {
    let inside = path.strip_prefix("/proc/")?.strip_suffix("/status")?;
    let (process, thread) = inside.split_once("/task/").unwrap_or((inside, ""));
    let number = match (process, thread) {
        ("thread-self", "") => return Some(caller),
        ("self", "") => return seatmap_os::task::Family::of(caller).map(|family| family.pid),
        (process, "") => process,
        (_, thread) => thread,
    };
    number.parse().ok().filter(|tid| *tid > 0)
}

/// A status with the masks of the machine.
pub(crate) fn of_machine(status: &str, machine: &PretendedMachine, cpus: &CpuSet) -> String {
    let nodes = machine.memory_nodes();
    let mut text = String::with_capacity(status.len());
    for line in status.lines() {
        match line.split(':').next() {
            Some("Cpus_allowed") => {
                text.push_str(&format!("Cpus_allowed:\t{}", mask(cpus, machine.cpu_bits())));
            }
            Some("Cpus_allowed_list") => {
                text.push_str(&format!("Cpus_allowed_list:\t{}", ranges(cpus)));
            }
            Some("Mems_allowed") => {
                text.push_str(&format!("Mems_allowed:\t{}", mask(&nodes, machine.node_bits())));
            }
            Some("Mems_allowed_list") => {
                text.push_str(&format!("Mems_allowed_list:\t{}", ranges(&nodes)));
            }
            _ => text.push_str(line),
        }
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::small;

    #[test]
    fn paths_name_their_thread() {
        let own = std::process::id() as Tid;
        let of = |path: &str| subject(path, own);
        assert_eq!([of("/proc/self/status"), of("/proc/thread-self/status")], [Some(own); 2]);
        assert_eq!([of("/proc/77/status"), of("/proc/self/task/78/status")], [Some(77), Some(78)]);
        let others =
            ["/proc/self/stat", "/proc/x/status", "/proc/status", "status", "/proc/0/status"];
        assert_eq!(others.map(of), [None; 5]);
    }

    #[test]
    fn masks_are_those_of_the_machine() {
        let status = "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n\
                      Mems_allowed_list:\t0\nThreads:\t1\n";
        let cpus = CpuSet::of_list("4-6").unwrap();
        assert_eq!(
            of_machine(status, &small(), &cpus),
            "Name:\tx\nCpus_allowed:\t70\nCpus_allowed_list:\t4-6\nMems_allowed:\t3\n\
             Mems_allowed_list:\t0-1\nThreads:\t1\n"
        );
    }
}
