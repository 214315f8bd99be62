//! A static program that opens each pretended file by every call and spelling of its path.

use super::{MACHINE, pretend, text};
use crate::common::Place;
use crate::run::programs;

const MASK: &str = "\nCpus_allowed_list:\t2-5\n";
const GROUP: &str = "0::/\n";
const MOUNT: &str = " /sys/fs/cgroup cgroup2 ";

/// The files, each with a text of the pretended machine.
const FILES: [(&str, &str); 22] = [
    ("/proc/self/status", MASK),
    ("/proc/thread-self/status", MASK),
    ("/proc/PID/status", MASK),
    ("/proc/PID/task/TID/status", MASK),
    ("/proc/self/task/TID/status", MASK),
    ("/proc/CHILD/status", MASK),
    ("/proc/CHILD/task/CHILD/status", MASK),
    // The signal for its parent, and the first CPU of the mask.
    ("/proc/self/stat", " 17 2 0 0 "),
    ("/proc/PID/task/TID/stat", " -1 3 0 0 "),
    ("/proc/self/cgroup", GROUP),
    ("/proc/CHILD/cgroup", GROUP),
    ("/proc/self/cpuset", "/\n"),
    (
        "/proc/self/mountinfo",
        " /sys/fs/cgroup ro,nosuid,nodev,noexec,relatime - cgroup2 cgroup rw\n",
    ),
    ("/proc/self/mounts", MOUNT),
    ("/proc/mounts", MOUNT),
    ("/proc/cgroups", "cpuset\t0\t"),
    ("/proc/cpuinfo", "processor\t: 127\n"),
    ("/proc/stat", "\ncpu127 "),
    ("/sys/devices/system/cpu/online", "0-127\n"),
    ("/sys/devices/system/node/node1/cpulist", "32-63,96-127\n"),
    ("/sys/bus/cpu/devices/cpu127/topology/thread_siblings_list", "63,127\n"),
    ("/sys/fs/cgroup/cpu.max", "150000 100000\n"),
];

#[test]
fn no_spelling_shows_a_file_of_this_computer() {
    let place = Place::new();
    let Some(program) = programs::spellings() else { return };
    let links = place.path("links");
    std::fs::create_dir(&links).unwrap();
    let links = links.to_str().unwrap();
    let options = [MACHINE, "--cpus", "2-5", "--quota", "1.5", "-q", "--", program, links];
    let files: Vec<&str> = FILES.iter().flat_map(|(file, text)| [*file, *text]).collect();
    let Some(output) = pretend(&place, (options, files)) else { return };
    let said = text(&output.stdout);
    assert!(output.status.success(), "{said}{}", text(&output.stderr));
    assert!(said.ends_with(" tries, 0 wrong\n"), "{said}");
}
