//! `seatmap-seating/1`: the threads of living programs, and where they sit.
//!
//! Times are in seconds and shares in percent of one CPU over the time between the first look and
//! the last.

use seatmap_os::{CpuSet, Root, Tid};
use serde::{Deserialize, Serialize};

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// A seating.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seating {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The computer's name.
    pub machine: String,
    /// The time of the last look, in seconds since 1970.
    pub taken_at_s: f64,
    /// The time between the first look and the last, in seconds. Shares of time are of this one.
    pub watched_s: f64,
    /// The number of looks, the short ones at busy threads included.
    pub looks: u32,
    /// The processes of the chosen programs, by ascending number.
    pub processes: Vec<Process>,
    /// Their threads, by process, then by ascending number.
    pub threads: Vec<WatchedThread>,
    /// The CPUs where these threads may run, by ascending OS index.
    pub cpus: Vec<CpuActivity>,
    /// The quotas of CPU time that control groups set on these threads, at every level; older
    /// documents do not say.
    #[serde(default)]
    pub quotas: Vec<WatchedQuota>,
    /// The other settings of control groups that hold these threads back, at every level; older
    /// documents do not say.
    #[serde(default)]
    pub brakes: Vec<GroupBrake>,
    /// The scheduler that decides, and its settings.
    pub kernel: KernelSettings,
    /// The cells that stand, whose CPUs other programs leave alone; older documents do not say.
    #[serde(default)]
    pub cells: Vec<CellCpus>,
    /// Things that this user could not see.
    pub unseen: Vec<Unseen>,
}

/// A cell of the computer.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CellCpus {
    /// Its name.
    pub name: String,
    /// Its CPUs, as a list.
    pub cpus: String,
}

impl CellCpus {
    /// The cells that stand on this computer.
    pub(crate) fn all(root: &Root) -> Vec<Self> {
        let standing = seatmap_cell::standing(root);
        standing.into_iter().map(|(name, cpus)| CellCpus { name, cpus: cpus.to_string() }).collect()
    }

    /// Its CPUs.
    #[must_use]
    pub fn set(&self) -> CpuSet {
        CpuSet::of_list(&self.cpus).unwrap_or_default()
    }
}

/// A thread.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedThread {
    /// Its process.
    pub pid: Tid,
    /// Its number.
    pub tid: Tid,
    /// Its name, at most 15 bytes.
    pub name: String,
    /// The letter of its state at the last look: `R` runs, `S` sleeps, `D` waits for a device, `T`
    /// is stopped.
    pub state: char,
    /// How long ago it began, in seconds.
    pub age_s: f64,
    /// The CPUs that it may run on at the last look, as a list: `0-3,8`. Empty where the kernel did
    /// not say.
    pub mask: String,
    /// The CPUs that it could run on at the first look, where these were others. Older documents do
    /// not say.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_before: Option<String>,
    /// The scheduling policy: `other`, `batch`, `idle`, `fifo`, `rr`, `deadline`, `ext`.
    pub policy: String,
    /// The nice value, -20 to 19.
    pub nice: i32,
    /// The priority of a real-time policy, 1 to 99; 0 for other policies.
    pub real_time_priority: u32,
    /// The CPU of the last look; null where the kernel did not say.
    pub cpu: Option<u32>,
    /// The CPUs that it was found running on, or after running, and the share of the looks; where
    /// the scheduler counted, all that it ran on, and the share of the time.
    pub ran_on: Vec<RanOn>,
    /// Whether the scheduler counted; older documents do not say.
    #[serde(default)]
    pub is_traced: bool,
    /// The time on a CPU since it began, in seconds.
    pub run_s: f64,
    /// The time since it began in which it was ready to run and another thread had the CPU, in
    /// seconds; null where the kernel does not count it.
    pub wait_s: Option<f64>,
    /// The share of the watched time on a CPU.
    pub run_percent: f64,
    /// The share of the watched time in which it waited for a CPU; null where the kernel does not
    /// count it.
    pub wait_percent: Option<f64>,
    /// Switches since it began because it waited.
    pub voluntary_switches: u64,
    /// Switches since it began because the CPU was taken from it.
    pub forced_switches: u64,
    /// Changes of CPU since it began; null where the kernel does not say.
    pub migrations: Option<u64>,
    /// Its own control group, where that allows other CPUs than the group of its process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ControlGroup>,
}

/// A CPU that a thread was found on.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RanOn {
    /// Its OS index.
    pub cpu: u32,
    /// The share of the looks, or of the time where the trace says.
    pub percent: f64,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Process {
    /// Its number.
    pub pid: Tid,
    /// The process that started it, or adopted it; 0 where that is outside.
    pub parent: Tid,
    /// The name of its first thread.
    pub name: String,
    /// The program's file; null where this user may not see it.
    pub program: Option<String>,
    /// The user that it belongs to.
    pub user: Option<u32>,
    /// How long ago it began, in seconds.
    pub age_s: f64,
    /// The number of its threads.
    pub threads: usize,
    /// Its control group with the limits that hold there; null where none is mounted.
    pub group: Option<ControlGroup>,
    /// The variables of its environment that bind threads or memory.
    pub variables: Vec<Variable>,
    /// Its memory; null where it was not asked for or cannot be seen.
    pub memory: Option<MemoryUsage>,
    /// The accelerators and network cards that it has open.
    pub devices: Vec<OpenDevice>,
}

/// A control group, with what it and the groups above it allow.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlGroup {
    /// Its path below the root of the hierarchy that limits CPUs.
    pub path: String,
    /// The groups from its own up to the root that list CPUs; none where they cannot be written
    /// from here. Older documents do not say.
    #[serde(default)]
    pub cpusets: Vec<CpusetLevel>,
    /// The CPUs that its members may use; null where it does not say.
    pub cpus: Option<String>,
    /// The NUMA nodes that their memory may come from.
    pub nodes: Option<String>,
    /// The CPU time that its members may take, in CPUs: 1.5 are three seconds in two. Null means
    /// without a limit.
    pub quota_cpus: Option<f64>,
    /// The number of periods in which a quota was used up, its own or that of a group above, since
    /// the groups were made; null without a quota.
    pub throttled: Option<u64>,
    /// The number of these periods in the watched time.
    pub throttled_watched: Option<u64>,
}

/// The CPUs that one control group lists.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpusetLevel {
    /// The file that lists them.
    pub file: String,
    /// The CPUs.
    pub cpus: String,
    /// The unit of systemd that sets them.
    pub unit: Option<String>,
}

/// A quota of CPU time that a control group sets on threads of the chosen programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedQuota {
    /// The group's path below the hierarchy that limits CPU time; `/` for the group that is
    /// mounted.
    pub group: String,
    /// The file that holds the quota.
    pub file: String,
    /// The CPU time that the members of the group and of those below it may take together, in CPUs.
    pub cpus: f64,
    /// The length of a period, in microseconds.
    pub period_us: u64,
    /// The number of periods in which it was used up since the group was made; null where the
    /// kernel does not count.
    pub throttled: Option<u64>,
    /// The number of these periods in the watched time.
    pub throttled_watched: Option<u64>,
    /// The number of all periods in the watched time in which a member ran; null if the kernel does
    /// not count, and in older documents.
    #[serde(default)]
    pub periods_watched: Option<u64>,
    /// The time in the watched time for which the kernel stopped members that were ready to run, in
    /// seconds. It counts each CPU that has such members, so that it may be longer than the watched
    /// time (`throttled_time` and `throttled_usec` of `cpu.stat`). Null if the kernel does not
    /// count, and in older documents.
    #[serde(default)]
    pub stopped_watched_s: Option<f64>,
    /// The chosen threads that are in the group or below it, by number.
    pub tids: Vec<Tid>,
    /// Whether others are, too, so far as that was looked for: it is where some quota was used up.
    pub has_others: bool,
    /// The unit of systemd that sets it.
    pub unit: Option<String>,
    /// Whether it cannot be written from here.
    pub is_read_only: bool,
}

/// A setting of a control group, other than a quota, that holds threads of the chosen programs
/// back.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupBrake {
    /// The group's path below its hierarchy; `/` for the group that is mounted.
    pub group: String,
    /// The file that holds the setting: `cpu.idle`, `cpu.uclamp.max`, `memory.high` or
    /// `cpu.rt_runtime_us` of the group, or `sched_rt_runtime_us` of the computer.
    pub file: String,
    /// The setting in words.
    pub words: String,
    /// The share of a CPU that it leaves threads with a real-time policy, in percent, where it
    /// limits these alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_percent: Option<f64>,
    /// The number of times that it stopped a member in the watched time; null where the kernel does
    /// not count.
    pub stops_watched: Option<u64>,
    /// The chosen threads that are in the group or below it, by number.
    pub tids: Vec<Tid>,
    /// The unit of systemd that sets it.
    pub unit: Option<String>,
    /// Whether it cannot be written from here.
    pub is_read_only: bool,
}

/// A variable that binds.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Variable {
    /// Its name: `OMP_PLACES`, `GOMP_CPU_AFFINITY`, `SLURM_CPU_BIND`...
    pub name: String,
    /// Its value.
    pub value: String,
    /// The CPUs that it asks for, as a list; null where it names none.
    pub cpus: Option<String>,
    /// The sets of CPUs that it names, each as a list, in the order in which threads or tasks take
    /// them; empty where it names none.
    pub places: Vec<String>,
    /// The number of threads that it asks for.
    pub threads: Option<u32>,
}

/// The memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryUsage {
    /// The bytes on each NUMA node.
    pub nodes: Vec<OnNode>,
    /// The part of them that no file is behind: heap, stacks, anonymous mappings. Pages of files
    /// may be where another process brought them.
    pub own: Vec<OnNode>,
    /// The mappings with most memory, largest first.
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
    /// The bytes there.
    pub bytes: u64,
}

/// A mapping of memory.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryMapping {
    /// Its file, or `heap`, `stack`, `anonymous`.
    pub name: String,
    /// Its first address, in hexadecimal.
    pub address: String,
    /// Its memory policy, as the kernel writes it: `default`, `bind:0`, `interleave:0-1`.
    pub policy: String,
    /// The bytes on each node.
    pub nodes: Vec<OnNode>,
    /// The size of its pages, in bytes.
    pub page_bytes: u64,
}

/// A device that a process has open.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OpenDevice {
    /// Its file: `/dev/nvidia0`, `/dev/infiniband/uverbs0`.
    pub name: String,
    /// The kind of device: `gpu`, `nic`, or `device` where the bus does not say.
    pub kind: String,
    /// Its NUMA node; null where it has none.
    pub node: Option<u32>,
    /// The CPUs next to it, as a list.
    pub cpus: Option<String>,
}

/// A CPU, with all that comes to it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuActivity {
    /// Its OS index.
    pub cpu: u32,
    /// The share of the watched time in which it was not idle; null where the kernel does not say.
    pub busy_percent: Option<f64>,
    /// The share of the watched time in which a hypervisor gave it to others.
    pub steal_percent: Option<f64>,
    /// The interrupts that came to it while it was watched, by source, most frequent first.
    pub interrupts: Vec<InterruptRate>,
    /// The threads of other programs that ran there, busiest first.
    pub strangers: Vec<Stranger>,
}

/// Interrupts of one source on one CPU.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InterruptRate {
    /// Its number, or the kernel's letters for it: `24`, `LOC`, `RES`.
    pub irq: String,
    /// Its device or meaning.
    pub name: String,
    /// How many came in a second.
    pub per_second: f64,
    /// Whether it belongs to the CPU, as its timer does, and to no device; older documents do not
    /// say.
    #[serde(default)]
    pub is_per_cpu: bool,
    /// Whether it may be sent to other CPUs; null where the kernel does not say.
    #[serde(default)]
    pub is_movable: Option<bool>,
}

/// A thread of another program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Stranger {
    /// Its process.
    pub pid: Tid,
    /// Its number.
    pub tid: Tid,
    /// Its name.
    pub name: String,
    /// The share of the watched time that it ran.
    pub run_percent: f64,
    /// The CPUs that it may run on, as a list.
    pub mask: String,
    /// Its real-time policy: `fifo`, `rr`, `deadline`; null for others, and in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_policy: Option<String>,
    /// The priority of that policy, 1 to 99; 0 for others.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub real_time_priority: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(priority: &u32) -> bool {
    *priority == 0
}

/// The scheduler and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSettings {
    /// The kernel's release.
    pub release: String,
    /// The scheduler that a program has loaded (sched_ext); null means the kernel's own.
    pub sched_ext: Option<String>,
    /// Whether the kernel keeps the threads of a process near one cache (SCHED_CACHE); null where
    /// it does not know how.
    pub cache_aware: Option<bool>,
    /// Whether it moves memory to the threads that use it, or them to it; null where it does not
    /// know how.
    pub numa_balancing: Option<bool>,
    /// The CPUs that the kernel leaves out when it divides load, as a list.
    pub isolated: String,
    /// The CPUs without a tick (`nohz_full`), as a list.
    pub no_hz_full: String,
    /// The NUMA nodes that have memory, as a list; null where the kernel does not say, and in older
    /// documents.
    #[serde(default)]
    pub memory_nodes: Option<String>,
}

/// Something that could not be seen.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Unseen {
    /// The thing: `memory`, `environment`, `program`, `devices`, `threads`, `strangers`, `quota`,
    /// `cpu-time`, `interrupts`.
    pub what: String,
    /// The processes for which that holds, by number; empty where it holds for the whole computer.
    pub pids: Vec<Tid>,
    /// The reason.
    pub why: String,
}
