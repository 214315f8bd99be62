//! The `/proc` files about a thread's CPUs: `status` with the machine's CPUs and nodes, and `stat`
//! with one of its CPUs.

use crate::PretendedMachine;
use crate::tree::{mask, ranges};
use seatmap_os::{CpuSet, Tid};

/// The index of a thread's CPU among the fields after its name (proc_pid_stat(5), field 39; the
/// name is field 2).
const PROCESSOR: usize = 39 - 3;

pub fn can_be(path: &str) -> bool {
    path.ends_with("/status") || path.ends_with("/stat")
}

#[derive(Debug, PartialEq, Eq)]
pub struct FileOfThread {
    pub tid: Tid,
    /// That of one thread, if it is about one: the `stat` of a process has the times of all.
    pub path: String,
    pub is_status: bool,
}

pub fn named(path: &str, caller: Tid) -> Option<FileOfThread> {
    let (folder, file) = path.strip_prefix("/proc/")?.rsplit_once('/')?;
    let (process, thread) = folder.split_once("/task/").unwrap_or((folder, ""));
    let (tid, is_of_thread) = match (process, thread) {
        ("thread-self", "") => (caller, true),
        ("self", "") => (seatmap_os::task::Family::of(caller)?.pid, false),
        (process, "") => (process.parse().ok()?, false),
        (_, thread) => (thread.parse().ok()?, true),
    };
    let folder = if is_of_thread { format!("{tid}/task/{tid}") } else { tid.to_string() };
    let path = format!("/proc/{folder}/{file}");
    let is_ours = tid > 0 && ["status", "stat"].contains(&file);
    is_ours.then_some(FileOfThread { tid, path, is_status: file == "status" })
}

pub fn stat_on(stat: &str, cpu: u32) -> String {
    let (name, fields) = stat.rsplit_once(") ").unwrap_or((stat, ""));
    let fields: Vec<String> = (0..)
        .zip(fields.split_ascii_whitespace())
        .map(|(at, field)| if at == PROCESSOR { cpu.to_string() } else { field.to_owned() })
        .collect();
    format!("{name}) {}\n", fields.join(" "))
}

pub fn status_on(status: &str, machine: &PretendedMachine, cpus: &CpuSet) -> String {
    let nodes = machine.memory_nodes();
    let shown = [
        ("Cpus_allowed", mask(cpus, machine.cpu_bits())),
        ("Cpus_allowed_list", ranges(cpus)),
        ("Mems_allowed", mask(&nodes, machine.node_bits())),
        ("Mems_allowed_list", ranges(&nodes)),
    ];
    let lines = status.lines().map(|line| {
        let key = line.split(':').next().unwrap_or_default();
        match shown.iter().find(|(known, _)| *known == key) {
            Some((key, value)) => format!("{key}:\t{value}\n"),
            None => format!("{line}\n"),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::machine::made::{set, small};

    #[test]
    fn paths_name_their_thread() {
        let own = std::process::id() as Tid;
        let of = |path: &str| named(path, own).map(|file| file.path);
        assert_eq!(of("/proc/self/status"), Some(format!("/proc/{own}/status")));
        let of_thread = Some(format!("/proc/{own}/task/{own}/status"));
        assert_eq!(of("/proc/thread-self/status"), of_thread);
        assert_eq!(of("/proc/77/stat").as_deref(), Some("/proc/77/stat"));
        assert_eq!(of("/proc/self/task/78/stat").as_deref(), Some("/proc/78/task/78/stat"));
        let others = ["/proc/self/statm", "/proc/x/status", "/proc/status", "/proc/stat", "status"];
        assert_eq!(others.map(of), [const { None }; 5]);
        assert_eq!(of("/proc/0/status"), None);
    }

    #[test]
    fn stat_shows_pretended_cpu() {
        let fields: Vec<String> = (3..=52).map(|number| number.to_string()).collect();
        let stat = format!("7 (a (b) c) {}", fields.join(" "));
        let found = stat_on(&stat, 191);
        assert_eq!(found, format!("{}\n", stat.replace(" 39 ", " 191 ")));
        assert_eq!(stat_on("7 (x) R 1", 191), "7 (x) R 1\n", "a field that is not there");
    }

    #[test]
    fn status_shows_pretended_masks() {
        let status = "Name:\tx\nCpus_allowed:\t3\nCpus_allowed_list:\t0-1\nMems_allowed:\t1\n\
                      Mems_allowed_list:\t0\nThreads:\t1\n";
        assert_eq!(
            status_on(status, &small(), &set("4-6")),
            "Name:\tx\nCpus_allowed:\t70\nCpus_allowed_list:\t4-6\nMems_allowed:\t3\n\
             Mems_allowed_list:\t0-1\nThreads:\t1\n"
        );
    }
}
