//! `seatmap-seating/1`: the threads of running programs and the CPUs they use. Times are in
//! seconds. Shares are percent of one CPU over the watched time.

use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::{CpuSet, Root, Tid};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// The threads of the chosen programs, their CPUs, and the limits on both.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seating {
    /// The format's name and version.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The computer's name.
    pub machine: String,
    /// The time of the last look, in seconds since 1970.
    pub taken_at_s: f64,
    /// The time between the first look and the last, in seconds.
    pub watched_s: f64,
    /// The number of looks, including short ones at busy threads.
    pub looks: u32,
    /// The chosen processes, by ascending number.
    pub processes: Vec<Process>,
    /// Their threads, by process and ascending number.
    pub threads: Vec<WatchedThread>,
    /// The CPUs allowed to these threads, by ascending OS index.
    pub cpus: Vec<CpuActivity>,
    /// Quotas of CPU time from control groups at every level; missing in older documents.
    #[serde(default)]
    pub quotas: Vec<WatchedQuota>,
    /// Other limits from control groups at every level; missing in older documents.
    #[serde(default)]
    pub brakes: Vec<GroupBrake>,
    /// The scheduler and its settings.
    pub kernel: KernelSettings,
    /// Existing cells, whose CPUs other programs avoid; missing in older documents.
    #[serde(default)]
    pub cells: Vec<CellCpus>,
    /// Things that this user may not see.
    pub unseen: Vec<Unseen>,
}

/// A cell of the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellCpus {
    /// The cell's name.
    pub name: String,
    /// Its CPUs, as a list.
    pub cpus: String,
}

impl CellCpus {
    pub(crate) fn all(root: &Root) -> Vec<Self> {
        let standing = seatmap_cell::standing(root);
        standing.into_iter().map(|(name, cpus)| CellCpus { name, cpus: cpus.to_string() }).collect()
    }

    /// Its CPUs, as a set.
    pub fn set(&self) -> CpuSet {
        CpuSet::of_list(&self.cpus).unwrap_or_default()
    }
}

/// A thread of a chosen program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedThread {
    /// The number of its process.
    pub pid: Tid,
    /// The thread's number.
    pub tid: Tid,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// The state at the last look: `R` running, `S` sleeping, `D` waiting for a device, `T`
    /// stopped.
    pub state: char,
    /// Its age, in seconds.
    pub age_s: f64,
    /// Its mask at the last look, as a list: `0-3,8`. Empty if unknown.
    pub mask: String,
    /// Its mask at the first look, if that differed; missing in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_before: Option<String>,
    /// The scheduling policy: `other`, `batch`, `idle`, `fifo`, `rr`, `deadline`, `ext`.
    pub policy: String,
    /// The nice value, -20 to 19.
    pub nice: i32,
    /// The real-time priority, 1 to 99; 0 under other policies.
    pub real_time_priority: u32,
    /// The CPU at the last look; null if unknown.
    pub cpu: Option<u32>,
    /// The CPUs on which it ran, with shares of the looks, or, if `is_traced`, of the time.
    pub ran_on: Vec<RanOn>,
    /// Whether the scheduler counted the time on each CPU; missing in older documents.
    #[serde(default)]
    pub is_traced: bool,
    /// Its CPU time, in seconds.
    pub run_s: f64,
    /// Its total time ready to run while another thread had the CPU, in seconds; null if not
    /// counted.
    pub wait_s: Option<f64>,
    /// The share of the watched time on a CPU.
    pub run_percent: f64,
    /// The share of the watched time waiting for a CPU; null if not counted.
    pub wait_percent: Option<f64>,
    /// How often it gave up the CPU to wait, since its start.
    pub voluntary_switches: u64,
    /// How often the kernel took the CPU from it, since its start.
    pub forced_switches: u64,
    /// How often a second it gave up the CPU to wait, in the watched time; null if not counted, and
    /// in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub voluntary_per_s: Option<f64>,
    /// How often a second the kernel took the CPU from it, or it yielded the CPU, in the watched
    /// time; null if not counted, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forced_per_s: Option<f64>,
    /// Its changes of CPU since its start; null if not counted.
    pub migrations: Option<u64>,
    /// Its control group, if that allows other CPUs than its process's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ControlGroup>,
}

/// A thread that wants this share of a CPU may be one too many.
const WANTING_PERCENT: f64 = 30.0;

impl WatchedThread {
    /// The share of one CPU for running and, if counted, waiting.
    pub fn wanted_percent(&self) -> f64 {
        self.run_percent + self.wait_percent.unwrap_or(0.0)
    }

    pub(crate) fn wants_a_cpu(&self) -> bool {
        self.wanted_percent() >= WANTING_PERCENT
    }
}

/// A CPU with its share of a thread's looks or time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RanOn {
    /// The CPU's OS index.
    pub cpu: u32,
    /// The share of the looks, or of the time if traced.
    pub percent: f64,
}

/// A process of a chosen program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Process {
    /// The number of the process.
    pub pid: Tid,
    /// The process that started or adopted it; 0 if outside the PID namespace.
    pub parent: Tid,
    /// The name of its first thread.
    pub name: String,
    /// The program's file; null if not readable.
    pub program: Option<String>,
    /// The user who owns it.
    pub user: Option<u32>,
    /// Its age, in seconds.
    pub age_s: f64,
    /// The number of its threads.
    pub threads: usize,
    /// Its control group; null if none is mounted.
    pub group: Option<ControlGroup>,
    /// Environment variables that bind threads or memory.
    pub variables: Vec<Variable>,
    /// Its memory; null if not requested or not readable.
    pub memory: Option<MemoryUsage>,
    /// Its open accelerators and network cards.
    pub devices: Vec<OpenDevice>,
    /// Its runtimes that start a thread for each CPU: `libgomp`, `libjvm`, `go`. Read only if
    /// several of its threads want a CPU; missing in older documents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub runtimes: Vec<String>,
}

/// A control group, with its own and inherited limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlGroup {
    /// Its path below the root of the hierarchy that limits CPUs.
    pub path: String,
    /// This and the parent groups that list CPUs. Empty if read-only here; missing in older
    /// documents.
    #[serde(default)]
    pub cpusets: Vec<CpusetLevel>,
    /// The CPUs that members may use; null if unlimited.
    pub cpus: Option<String>,
    /// The NUMA nodes for members' memory.
    pub nodes: Option<String>,
    /// The members' limit of CPU time, in CPUs: 1.5 is three seconds in two. Null means no limit.
    pub quota_cpus: Option<f64>,
    /// How many periods used up the quota of this group or of a parent, since they were made; null
    /// without a quota.
    pub throttled: Option<u64>,
    /// How many of these were in the watched time.
    pub throttled_watched: Option<u64>,
}

/// The CPUs listed by one control group.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpusetLevel {
    /// The file with the list.
    pub file: String,
    /// The CPUs.
    pub cpus: String,
    /// The systemd unit that sets them.
    pub unit: Option<String>,
}

/// A quota of CPU time on threads of the chosen programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedQuota {
    /// The group's path below its hierarchy; `/` for the mounted group.
    pub group: String,
    /// The file of the quota.
    pub file: String,
    /// The CPU time shared by the members of this group and of its children, in CPUs.
    pub cpus: f64,
    /// A period's length, in microseconds.
    pub period_us: u64,
    /// How many periods used up the quota, since the group was made; null if not counted.
    pub throttled: Option<u64>,
    /// How many of these were in the watched time.
    pub throttled_watched: Option<u64>,
    /// How many periods of the watched time had a running member; null if not counted, and in older
    /// documents.
    #[serde(default)]
    pub periods_watched: Option<u64>,
    /// For how long the kernel stopped ready members in the watched time, in seconds, summed over
    /// CPUs, so possibly longer than the watched time (`throttled_time` and `throttled_usec` of
    /// `cpu.stat`). Null if not counted, and in older documents.
    #[serde(default)]
    pub stopped_watched_s: Option<f64>,
    /// The chosen threads in it or below, by number.
    pub tids: Vec<Tid>,
    /// Whether other programs' threads are in it. Checked only if some quota was used up.
    pub has_others: bool,
    /// The systemd unit that sets it.
    pub unit: Option<String>,
    /// Whether the file is read-only here.
    pub is_read_only: bool,
}

/// Another setting of a control group that holds back threads of the chosen programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupBrake {
    /// The group's path below its hierarchy; `/` for the mounted group.
    pub group: String,
    /// The setting's file: `cpu.idle`, `cpu.uclamp.max`, `memory.high` or `cpu.rt_runtime_us` of
    /// the group, or the computer's `sched_rt_runtime_us`.
    pub file: String,
    /// The setting in words.
    pub words: String,
    /// The percentage of a CPU for real-time threads, if it limits only these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_percent: Option<f64>,
    /// How often it stopped a member in the watched time; null if not counted.
    pub stops_watched: Option<u64>,
    /// The chosen threads in it or below, by number.
    pub tids: Vec<Tid>,
    /// The systemd unit that sets it.
    pub unit: Option<String>,
    /// Whether the file is read-only here.
    pub is_read_only: bool,
}

/// An environment variable that binds threads or memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variable {
    /// The name: `OMP_PLACES`, `GOMP_CPU_AFFINITY`, `SLURM_CPU_BIND`...
    pub name: String,
    /// The value.
    pub value: String,
    /// The named CPUs, as a list; null if none.
    pub cpus: Option<String>,
    /// The named sets of CPUs, each as a list, in the order of threads or tasks; empty if none.
    pub places: Vec<String>,
    /// The requested number of threads.
    pub threads: Option<u32>,
}

/// The memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryUsage {
    /// The bytes on each NUMA node.
    pub nodes: Vec<OnNode>,
    /// The bytes on each NUMA node without those of files, which another process may have placed.
    pub own: Vec<OnNode>,
    /// The largest mappings, largest first.
    pub mappings: Vec<MemoryMapping>,
    /// The bytes in huge pages.
    pub huge_bytes: u64,
}

/// Memory on one NUMA node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OnNode {
    /// The node.
    pub node: u32,
    /// The bytes on this node.
    pub bytes: u64,
}

/// A memory mapping.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryMapping {
    /// The mapped file, or `heap`, `stack`, `anonymous`.
    pub name: String,
    /// The first address, in hexadecimal.
    pub address: String,
    /// The memory policy, as the kernel writes it: `default`, `bind:0`, `interleave:0-1`.
    pub policy: String,
    /// The bytes on each node.
    pub nodes: Vec<OnNode>,
    /// The page size, in bytes.
    pub page_bytes: u64,
}

/// A device that a process has open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenDevice {
    /// The device file: `/dev/nvidia0`, `/dev/infiniband/uverbs0`.
    pub name: String,
    /// The kind: `gpu`, `nic`, or `device` if unknown.
    pub kind: String,
    /// Its NUMA node; null if none.
    pub node: Option<u32>,
    /// The CPUs near it, as a list.
    pub cpus: Option<String>,
}

/// A CPU with its interrupts and strangers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuActivity {
    /// The CPU's OS index.
    pub cpu: u32,
    /// The busy share of the watched time; null if unknown.
    pub busy_percent: Option<f64>,
    /// The share of the watched time in which a hypervisor ran other guests.
    pub steal_percent: Option<f64>,
    /// Its interrupts in the watched time, by source, most frequent first.
    pub interrupts: Vec<InterruptRate>,
    /// Threads of other programs that ran there, busiest first.
    pub strangers: Vec<Stranger>,
}

impl CpuActivity {
    /// A CPU with its shares between two counts, and its strangers.
    pub(crate) fn of(
        cpu: u32,
        now: &CpuTimes,
        before: &CpuTimes,
        strangers: &mut BTreeMap<u32, Vec<Stranger>>,
    ) -> Self {
        let shares = now.since(before, cpu);
        CpuActivity {
            cpu,
            busy_percent: shares.map(|shares| shares.busy_percent),
            steal_percent: shares.map(|shares| shares.steal_percent),
            strangers: strangers.remove(&cpu).unwrap_or_default(),
            ..CpuActivity::default()
        }
    }
}

/// The interrupts from one source on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptRate {
    /// The number, or the kernel's letters: `24`, `LOC`, `RES`.
    pub irq: String,
    /// The device or the meaning.
    pub name: String,
    /// Interrupts per second.
    pub per_second: f64,
    /// Whether it belongs to the CPU, like its timer, instead of a device; missing in older
    /// documents.
    #[serde(default)]
    pub is_per_cpu: bool,
    /// Whether it may move to other CPUs; null if unknown.
    #[serde(default)]
    pub is_movable: Option<bool>,
}

/// A thread of another program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stranger {
    /// The number of its process.
    pub pid: Tid,
    /// The thread's number.
    pub tid: Tid,
    /// The thread's name.
    pub name: String,
    /// The share of the watched time it ran.
    pub run_percent: f64,
    /// Its mask, as a list.
    pub mask: String,
    /// Its real-time policy: `fifo`, `rr`, `deadline`; null for others, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_policy: Option<String>,
    /// Its real-time priority, 1 to 99; 0 for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub real_time_priority: u32,
}

fn is_zero(priority: &u32) -> bool {
    *priority == 0
}

/// The scheduler and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSettings {
    /// The kernel release.
    pub release: String,
    /// The loaded scheduler (sched_ext); null for the kernel's own.
    pub sched_ext: Option<String>,
    /// Whether the kernel keeps a process's threads near one cache (SCHED_CACHE); null without this
    /// feature.
    pub cache_aware: Option<bool>,
    /// Whether the kernel moves memory to its threads, or threads to their memory; null without
    /// this feature.
    pub numa_balancing: Option<bool>,
    /// The isolated CPUs, excluded from load balancing, as a list.
    pub isolated: String,
    /// The CPUs without a tick (`nohz_full`), as a list.
    pub no_hz_full: String,
    /// The NUMA nodes with memory, as a list; null if unknown, and in older documents.
    #[serde(default)]
    pub memory_nodes: Option<String>,
}

/// Something that could not be read.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unseen {
    /// The thing: `memory`, `environment`, `program`, `devices`, `threads`, `strangers`, `quota`,
    /// `cpu-time`, `interrupts`.
    pub what: String,
    /// The processes concerned; empty for the whole computer.
    pub pids: Vec<Tid>,
    /// The reason.
    pub why: String,
}

#[cfg(test)]
mod tests;
