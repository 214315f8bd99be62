//! A process.

use crate::choice::program_file;
use crate::files::SystemFiles;
use crate::limiting::Limiting;
use crate::seating::{MemoryMapping, MemoryUsage, OnNode, OpenDevice, Process, WatchedThread};
use crate::thread::{Leader, seconds};
use crate::variables;
use seatmap_launch::runtime::{counts, is_of_go};
use seatmap_os::numa_maps::{OnNodes, Resident};
use seatmap_os::proc_folder::has_gone;
use seatmap_os::{Tid, devices, numa_maps};

const MOST_MAPPINGS: usize = 16;

/// Without memory.
pub fn process(
    files: &mut SystemFiles,
    limiting: &mut Limiting,
    pid: Tid,
    leader: &Leader,
    threads: &[&WatchedThread],
    now_ns: u64,
) -> Process {
    let tids: Vec<Tid> = threads.iter().map(|thread| thread.tid).collect();
    Process {
        pid,
        parent: leader.parent,
        name: leader.name.clone(),
        program: program(files, pid),
        user: leader.user,
        age_s: seconds(now_ns.saturating_sub(files.nanoseconds(leader.started_ticks))),
        group: limiting.process(files, pid, &tids),
        variables: variables(files, pid),
        devices: if files.has_devices { open_devices(files, pid) } else { Vec::new() },
        runtimes: runtimes(files, pid, threads),
        ..Process::default()
    }
}

fn program(files: &mut SystemFiles, pid: Tid) -> Option<String> {
    let file = program_file(files, pid);
    if file.is_none()
        && let Err(error) = files.proc.link(format_args!("{pid}/exe"))
    {
        files.note_refusal("program", pid, &error);
    }
    file
}

fn variables(files: &mut SystemFiles, pid: Tid) -> Vec<crate::seating::Variable> {
    match files.proc.read(format_args!("{pid}/environ")) {
        Ok(environment) => variables::binding(environment),
        Err(error) => {
            files.note_refusal("environment", pid, &error);
            Vec::new()
        }
    }
}

/// The runtimes that size a process by the CPUs. A process has thousands of mappings, so they are
/// read only if several threads want a CPU.
fn runtimes(files: &mut SystemFiles, pid: Tid, threads: &[&WatchedThread]) -> Vec<String> {
    if threads.iter().filter(|thread| thread.wants_a_cpu()).count() < 2 {
        return Vec::new();
    }
    let maps = files.proc.read(format_args!("{pid}/maps")).unwrap_or_default();
    let mut names: Vec<String> =
        counts::in_maps(maps).iter().map(|runtime| runtime.name.to_owned()).collect();
    if is_of_go(&files.root.path(&format!("/proc/{pid}/exe"))) {
        names.push(counts::GO.to_owned());
    }
    names
}

fn open_devices(files: &mut SystemFiles, pid: Tid) -> Vec<OpenDevice> {
    let open = match files.proc.numbers(format_args!("{pid}/fd")) {
        Ok(open) => open,
        Err(error) => {
            files.note_refusal("devices", pid, &error);
            return Vec::new();
        }
    };
    let mut names: Vec<String> = open
        .into_iter()
        .filter_map(|file| files.proc.link(format_args!("{pid}/fd/{file}")).ok())
        // Links of sockets and pipes have no file; devices are below this folder.
        .filter(|name| name.starts_with("/dev/"))
        .collect();
    names.sort_unstable();
    names.dedup();
    names
        .iter()
        .filter_map(|name| devices::of(&files.root, name))
        .map(|device| {
            let name = device.name;
            let kind = device.kind.to_owned();
            OpenDevice { name, kind, node: device.node, cpus: device.cpus }
        })
        .collect()
}

pub fn memory(files: &mut SystemFiles, pid: Tid) -> Option<MemoryUsage> {
    let maps = files.proc.read(format_args!("{pid}/numa_maps")).map(numa_maps::parse);
    let resident =
        files.proc.read(format_args!("{pid}/smaps_rollup")).ok().and_then(Resident::parse);
    match maps {
        Ok(mappings) => Some(by_node(mappings, resident)),
        // A kernel without CONFIG_NUMA lacks this file.
        Err(error) if has_gone(&error) => {
            let resident = resident.or_else(|| {
                let statm = files.proc.read(format_args!("{pid}/statm")).ok()?;
                Resident::of_statm(statm, numa_maps::page_bytes())
            })?;
            files.note(
                "memory",
                Some(pid),
                "this kernel does not report NUMA nodes; all memory counts as node 0's",
            );
            let nodes = vec![OnNode { node: 0, bytes: resident.bytes }];
            Some(MemoryUsage { nodes, huge_bytes: resident.huge_bytes, ..MemoryUsage::default() })
        }
        Err(error) => {
            files.note_refusal("memory", pid, &error);
            None
        }
    }
}

fn by_node(mut mappings: Vec<numa_maps::NumaMapping>, resident: Option<Resident>) -> MemoryUsage {
    let nodes = sums(mappings.iter());
    // Page-cache files are where another program first read them, which is not this one's fault.
    let own = sums(mappings.iter().filter(|mapping| !mapping.is_shared));
    let pool = mappings.iter().filter(|mapping| mapping.is_huge).map(numa_maps::NumaMapping::bytes);
    let pool = pool.fold(0, u64::saturating_add);
    // The largest show where the memory is; a JVM has thousands of small ones.
    mappings.sort_by_key(|mapping| std::cmp::Reverse(mapping.bytes()));
    mappings.truncate(MOST_MAPPINGS);
    MemoryUsage {
        nodes,
        own,
        mappings: mappings
            .into_iter()
            .map(|mapping| MemoryMapping {
                name: mapping.name,
                address: mapping.address,
                policy: mapping.policy,
                nodes: on_nodes(mapping.nodes),
                page_bytes: mapping.page_bytes,
            })
            .collect(),
        huge_bytes: resident.map_or(pool, |resident| resident.huge_bytes),
    }
}

fn sums<'m>(mappings: impl Iterator<Item = &'m numa_maps::NumaMapping>) -> Vec<OnNode> {
    let mut nodes = OnNodes::new();
    for (node, bytes) in mappings.flat_map(|mapping| &mapping.nodes) {
        let sum = nodes.entry(*node).or_default();
        *sum = sum.saturating_add(*bytes);
    }
    on_nodes(nodes)
}

fn on_nodes(nodes: OnNodes) -> Vec<OnNode> {
    nodes.into_iter().map(|(node, bytes)| OnNode { node, bytes }).collect()
}
