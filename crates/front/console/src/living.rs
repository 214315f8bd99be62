//! The existing programs, units and control groups, for completions and commands. Unreadable ones
//! are omitted, because a completion cannot report errors.

use crate::program::is_after_dashes;
use crate::running::KnownValue;
use seatmap_data::statistics::words::counted;
use seatmap_launch::sets::{ComputerCpus, words};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::{Root, devices, task};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

/// Units with processes.
const UNITS: [&str; 3] = [".service", ".scope", ".slice"];

/// Docker, Podman, CRI-O, containerd, LXC.
const CONTAINERS: [&str; 5] = ["docker-", "libpod-", "crio-", "cri-containerd-", "lxc"];

/// Words for CPUs; a number follows a colon at the end.
const CPU_WORDS: [&str; 15] = [
    "all",
    "no-smt",
    "kind:performance",
    "kind:middle",
    "kind:efficiency",
    "kind:low-power",
    "cache:biggest",
    "fast:",
    "first:",
    "not:",
    "cpus:",
    "core:",
    "l3:",
    "numa:",
    "package:",
];

/// The running processes by number, with their names; without kernel threads.
pub fn processes() -> Vec<KnownValue> {
    let root = Root::new("/");
    let pids = task::processes(&root).into_iter().flatten();
    let programs = pids.filter(|pid| !task::is_of_kernel(*pid));
    programs
        .filter_map(|pid| Some(KnownValue::told(pid.to_string(), task::name(&root, pid)?)))
        .collect()
}

/// The names of running programs, each once.
pub fn program_names() -> Vec<KnownValue> {
    let names = BTreeSet::from_iter(processes().into_iter().filter_map(|process| process.about));
    names.into_iter().map(KnownValue::from).collect()
}

/// Words for CPUs, with those of this computer.
pub fn cpu_words() -> Vec<KnownValue> {
    let known =
        ComputerCpus::read().map(|computer| words::of_machine(&computer)).unwrap_or_default();
    let devices = devices::names(&Root::new("/"));
    CPU_WORDS
        .iter()
        .map(|word| (*word).to_owned())
        .chain(devices.iter().map(|name| format!("near:{name}")))
        .map(|word| match known.iter().find(|known| known.word == word) {
            Some(known) => KnownValue::told(word, &known.cpus),
            None => KnownValue::from(word),
        })
        .collect()
}

/// Rejects a command that probably names a running program instead of starting one: a single bare
/// name without an argument, a path or a preceding `--`.
///
/// # Errors
/// [`RunsAlready`], with the program's processes.
pub fn check_not_running(command: &[OsString], how: &'static str) -> Result<(), RunsAlready> {
    let [name] = command else { return Ok(()) };
    let name = name.to_string_lossy().into_owned();
    if name.contains('/') || is_after_dashes(command) {
        return Ok(());
    }
    let own = std::process::id().to_string();
    // The kernel stores only the first 15 bytes of a name.
    let kept = &name[..name.floor_char_boundary(15)];
    let pids = Vec::from_iter(
        processes()
            .into_iter()
            .filter(|process| process.about.as_deref() == Some(kept) && process.value != own)
            .map(|process| process.value),
    );
    if pids.is_empty() { Ok(()) } else { Err(RunsAlready { name, pids, how }) }
}

/// The error for a command that names a running program.
#[derive(Debug, thiserror::Error)]
#[error(
    "{name} is already running as {}; '{}' examines it, and '-- {name}' starts another one",
    shown(.pids),
    .how.replace("NAME", .name).replace("PID", &.pids[0])
)]
pub struct RunsAlready {
    name: String,
    pids: Vec<String>,
    /// Command to suggest instead, with the placeholders NAME or PID.
    how: &'static str,
}

fn shown(pids: &[String]) -> String {
    match pids {
        [one] => format!("process {one}"),
        several => {
            format!("{} (first: {})", counted(several.len(), "process"), several[0])
        }
    }
}

/// The systemd units with a control group.
pub fn units() -> Vec<KnownValue> {
    let names = groups().into_iter().filter_map(|group| {
        let name = last_part(&group.value).to_owned();
        UNITS.iter().any(|ending| name.ends_with(ending)).then_some(name)
    });
    names.collect::<BTreeSet<String>>().into_iter().map(KnownValue::from).collect()
}

/// The paths of control groups; containers are marked.
pub fn groups() -> Vec<KnownValue> {
    let root = Root::new("/");
    let folders = Hierarchies::read(&root).all(&root).unwrap_or_default();
    let paths = folders.into_iter().filter_map(|folder| folder.into_os_string().into_string().ok());
    paths
        .map(|path| {
            let name = last_part(&path);
            let is_container = CONTAINERS.iter().any(|begin| name.starts_with(begin));
            let about = is_container.then(|| "container".to_owned());
            KnownValue { value: path, about }
        })
        .collect()
}

/// The programs in PATH.
pub fn programs() -> Vec<KnownValue> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut names = BTreeSet::new();
    for folder in std::env::split_paths(&path) {
        let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
        let programs = entries.filter(|entry| is_program(&entry.path()));
        names.extend(programs.filter_map(|entry| entry.file_name().into_string().ok()));
    }
    names.into_iter().map(KnownValue::from).collect()
}

fn is_program(path: &Path) -> bool {
    // Follows links.
    let found = std::fs::metadata(path);
    found.is_ok_and(|found| found.is_file() && found.permissions().mode() & 0o111 != 0)
}

pub(crate) fn last_part(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or_default()
}
