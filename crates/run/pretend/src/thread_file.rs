//! The `/proc` files about a thread's CPUs: `status` with the machine's CPUs and nodes, `stat` with
//! one of its CPUs, and its control group and mounts.

use crate::PretendedMachine;
use crate::tree::{mask, ranges};
use seatmap_os::{CpuSet, Tid};

/// The index of a thread's CPU among the fields after its name (proc_pid_stat(5), field 39; the
/// name is field 2).
const PROCESSOR: usize = 39 - 3;

#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ThreadFileKind {
    Status,
    Stat,
    Group,
    Cpuset,
    MountInfo,
    MountTable,
}

pub struct FileOfThread {
    pub tid: Tid,
    pub kind: ThreadFileKind,
}

/// The file at a path from the kernel, in which `/proc/self` is a number.
pub fn at(path: &str) -> Option<FileOfThread> {
    let (folder, file) = path.rsplit_once('/')?;
    let kind = match file {
        "status" => ThreadFileKind::Status,
        "stat" => ThreadFileKind::Stat,
        "cgroup" => ThreadFileKind::Group,
        "cpuset" => ThreadFileKind::Cpuset,
        "mountinfo" => ThreadFileKind::MountInfo,
        "mounts" => ThreadFileKind::MountTable,
        _ => return None,
    };
    let process = folder.strip_prefix("/proc/")?;
    let (process, thread) = process.split_once("/task/").unwrap_or((process, process));
    process.parse::<Tid>().ok()?;
    Some(FileOfThread { tid: thread.parse().ok()?, kind })
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
        let of = |path: &str| at(path).map(|file| (file.tid, file.kind));
        assert_eq!(of("/proc/77/stat"), Some((77, ThreadFileKind::Stat)));
        assert_eq!(of("/proc/77/task/78/status"), Some((78, ThreadFileKind::Status)));
        let others = ["/proc/7/statm", "/proc/x/status", "/proc/stat", "/proc/x/task/7/stat"];
        assert_eq!(others.map(of), [None; 4]);
        assert_eq!(of("/srv/7/status"), None);
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
