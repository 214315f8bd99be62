//! `seatmap-seating/1`: the threads of running programs and the CPUs they use.
//!
//! Times are in seconds. Shares are percent of one CPU over the time between the first look and the
//! last.

use seatmap_os::{CpuSet, Root, Tid};
use serde::{Deserialize, Serialize};

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// The threads of the chosen programs, their CPUs, and the limits on both, over a watched time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Seating {
    /// The name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: String,
    /// The computer's name.
    pub machine: String,
    /// The time of the last look, in seconds since 1970.
    pub taken_at_s: f64,
    /// The time between the first look and the last, in seconds. All shares of time refer to it.
    pub watched_s: f64,
    /// The number of looks, including the short ones at busy threads.
    pub looks: u32,
    /// The processes of the chosen programs, by ascending number.
    pub processes: Vec<Process>,
    /// The threads of these processes, by process and then by ascending number.
    pub threads: Vec<WatchedThread>,
    /// The CPUs on which these threads may run, by ascending OS index.
    pub cpus: Vec<CpuActivity>,
    /// The quotas of CPU time that control groups at every level set on these threads; missing in
    /// older documents.
    #[serde(default)]
    pub quotas: Vec<WatchedQuota>,
    /// The other settings of control groups, at every level, that hold these threads back; missing
    /// in older documents.
    #[serde(default)]
    pub brakes: Vec<GroupBrake>,
    /// The kernel's scheduler and its settings.
    pub kernel: KernelSettings,
    /// The existing cells, whose CPUs other programs do not use; missing in older documents.
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
    /// The cell's CPUs, as a list.
    pub cpus: String,
}

impl CellCpus {
    pub(crate) fn all(root: &Root) -> Vec<Self> {
        let standing = seatmap_cell::standing(root);
        standing.into_iter().map(|(name, cpus)| CellCpus { name, cpus: cpus.to_string() }).collect()
    }

    /// The cell's CPUs, as a set.
    #[must_use]
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
    /// The thread's name, at most 15 bytes.
    pub name: String,
    /// The state at the last look: `R` running, `S` sleeping, `D` waiting for a device, `T`
    /// stopped.
    pub state: char,
    /// The time since the thread began, in seconds.
    pub age_s: f64,
    /// The CPUs on which the thread may run at the last look, as a list: `0-3,8`. Empty if unknown.
    pub mask: String,
    /// The CPUs at the first look, if they differed; missing in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mask_before: Option<String>,
    /// The scheduling policy: `other`, `batch`, `idle`, `fifo`, `rr`, `deadline`, `ext`.
    pub policy: String,
    /// The nice value, -20 to 19.
    pub nice: i32,
    /// The priority under a real-time policy, 1 to 99; 0 under other policies.
    pub real_time_priority: u32,
    /// The CPU at the last look; null if the kernel did not say.
    pub cpu: Option<u32>,
    /// The CPUs on which the thread ran. If `is_traced`, this lists all of them with their shares
    /// of the time; if not, those seen at looks with their shares of the looks.
    pub ran_on: Vec<RanOn>,
    /// Whether the scheduler's trace counted the time on each CPU; missing in older documents.
    #[serde(default)]
    pub is_traced: bool,
    /// The time on a CPU since the thread began, in seconds.
    pub run_s: f64,
    /// The time since the thread began in which it was ready to run while another thread had the
    /// CPU, in seconds; null if the kernel does not count it.
    pub wait_s: Option<f64>,
    /// The share of the watched time on a CPU.
    pub run_percent: f64,
    /// The share of the watched time spent waiting for a CPU; null if the kernel does not count it.
    pub wait_percent: Option<f64>,
    /// The number of times since its start that the thread gave up the CPU to wait.
    pub voluntary_switches: u64,
    /// The number of times since its start that the kernel took the CPU from the thread.
    pub forced_switches: u64,
    /// The number of changes of CPU since the thread began; null if the kernel does not count them.
    pub migrations: Option<u64>,
    /// The thread's own control group, if it allows other CPUs than the group of the process.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub group: Option<ControlGroup>,
}

/// The share of one CPU in a thread's looks or time.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RanOn {
    /// The CPU's OS index.
    pub cpu: u32,
    /// The share of the looks, or of the time if the thread was traced.
    pub percent: f64,
}

/// A process of a chosen program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Process {
    /// The number of the process.
    pub pid: Tid,
    /// The process that started or adopted this one; 0 for a process outside the PID namespace.
    pub parent: Tid,
    /// The name of its first thread.
    pub name: String,
    /// The program's file; null if this user may not see it.
    pub program: Option<String>,
    /// The user who owns the process.
    pub user: Option<u32>,
    /// The time since the process began, in seconds.
    pub age_s: f64,
    /// The number of its threads.
    pub threads: usize,
    /// Its control group with the limits in force; null if no hierarchy is mounted.
    pub group: Option<ControlGroup>,
    /// Environment variables that bind threads or memory.
    pub variables: Vec<Variable>,
    /// Its memory; null if it was not requested or cannot be read.
    pub memory: Option<MemoryUsage>,
    /// Accelerators and network cards that the process has open.
    pub devices: Vec<OpenDevice>,
}

/// A control group, with the limits set by it and by the groups above it.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ControlGroup {
    /// The path below the root of the hierarchy that limits CPUs.
    pub path: String,
    /// The groups that list CPUs, from this one up to the root. Empty if they cannot be written
    /// from here; missing in older documents.
    #[serde(default)]
    pub cpusets: Vec<CpusetLevel>,
    /// The CPUs that members may use; null if the group does not say.
    pub cpus: Option<String>,
    /// The NUMA nodes from which members may take memory.
    pub nodes: Option<String>,
    /// The CPU time that members may take, in CPUs: 1.5 is three seconds in two. Null means no
    /// limit.
    pub quota_cpus: Option<f64>,
    /// The number of periods since the groups were made in which the quota of this group or of one
    /// above it was used up; null without a quota.
    pub throttled: Option<u64>,
    /// The number of these periods in the watched time.
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

/// A quota of CPU time that a control group sets on threads of the chosen programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct WatchedQuota {
    /// The group's path below the hierarchy that limits CPU time; `/` for the mounted group.
    pub group: String,
    /// The file of the quota.
    pub file: String,
    /// The CPU time that the members of this group and of the groups below it share, in CPUs.
    pub cpus: f64,
    /// The length of a period, in microseconds.
    pub period_us: u64,
    /// The number of periods since the group was made in which the quota was used up; null if the
    /// kernel does not count them.
    pub throttled: Option<u64>,
    /// The number of these periods in the watched time.
    pub throttled_watched: Option<u64>,
    /// The number of all periods in the watched time in which a member ran; null if the kernel does
    /// not count them, and in older documents.
    #[serde(default)]
    pub periods_watched: Option<u64>,
    /// The time for which the kernel stopped members that were ready to run, within the watched
    /// time, in seconds. The kernel counts each CPU separately, so this may exceed the watched time
    /// (`throttled_time` and `throttled_usec` of `cpu.stat`). Null if the kernel does not count it,
    /// and in older documents.
    #[serde(default)]
    pub stopped_watched_s: Option<f64>,
    /// The chosen threads in this group or below it, by number.
    pub tids: Vec<Tid>,
    /// Whether the group also contains threads of other programs. Seatmap looks for them only if
    /// some quota was used up.
    pub has_others: bool,
    /// The systemd unit that sets the quota.
    pub unit: Option<String>,
    /// Whether the file cannot be written from here.
    pub is_read_only: bool,
}

/// A setting of a control group, other than a quota, that holds back threads of the chosen
/// programs.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct GroupBrake {
    /// The group's path below its hierarchy; `/` for the mounted group.
    pub group: String,
    /// The file of the setting: `cpu.idle`, `cpu.uclamp.max`, `memory.high` or `cpu.rt_runtime_us`
    /// of the group, or `sched_rt_runtime_us` of the computer.
    pub file: String,
    /// The setting in words.
    pub words: String,
    /// The share of a CPU left to threads with a real-time policy, in percent, if the setting
    /// limits only these.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_percent: Option<f64>,
    /// The number of times in the watched time that the setting stopped a member; null if the
    /// kernel does not count them.
    pub stops_watched: Option<u64>,
    /// The chosen threads in this group or below it, by number.
    pub tids: Vec<Tid>,
    /// The systemd unit that sets it.
    pub unit: Option<String>,
    /// Whether the file cannot be written from here.
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
    /// The CPUs named by the value, as a list; null if it names none.
    pub cpus: Option<String>,
    /// The sets of CPUs named by the value, each as a list, in the order in which threads or tasks
    /// take them; empty if it names none.
    pub places: Vec<String>,
    /// The number of threads requested by the value.
    pub threads: Option<u32>,
}

/// The memory of a process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryUsage {
    /// The bytes on each NUMA node.
    pub nodes: Vec<OnNode>,
    /// The bytes on each NUMA node without a file behind them: heap, stacks, anonymous mappings.
    /// Another process may have placed the pages of a file.
    pub own: Vec<OnNode>,
    /// The mappings with the most memory, largest first.
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
    /// The kind of device: `gpu`, `nic`, or `device` if the bus does not say.
    pub kind: String,
    /// The device's NUMA node; null if it has none.
    pub node: Option<u32>,
    /// The CPUs near the device, as a list.
    pub cpus: Option<String>,
}

/// A CPU with its interrupts and the other threads that run there.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuActivity {
    /// The CPU's OS index.
    pub cpu: u32,
    /// The share of the watched time in which the CPU was not idle; null if the kernel does not
    /// say.
    pub busy_percent: Option<f64>,
    /// The share of the watched time in which a hypervisor ran other guests on the CPU.
    pub steal_percent: Option<f64>,
    /// The interrupts that the CPU handled in the watched time, by source, most frequent first.
    pub interrupts: Vec<InterruptRate>,
    /// The threads of other programs that ran on the CPU, busiest first.
    pub strangers: Vec<Stranger>,
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
    /// Whether the interrupt belongs to the CPU, like its timer, and not to a device; missing in
    /// older documents.
    #[serde(default)]
    pub is_per_cpu: bool,
    /// Whether the interrupt may be sent to other CPUs; null if the kernel does not say.
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
    /// The share of the watched time in which it ran.
    pub run_percent: f64,
    /// The CPUs on which it may run, as a list.
    pub mask: String,
    /// The real-time policy: `fifo`, `rr`, `deadline`; null for other policies, and in older
    /// documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub real_time_policy: Option<String>,
    /// The priority under that policy, 1 to 99; 0 for other policies.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub real_time_priority: u32,
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_zero(priority: &u32) -> bool {
    *priority == 0
}

/// The kernel's scheduler and its settings.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelSettings {
    /// The kernel release.
    pub release: String,
    /// The scheduler loaded by a program (sched_ext); null if the kernel's own is in use.
    pub sched_ext: Option<String>,
    /// Whether the kernel keeps the threads of a process near one cache (SCHED_CACHE); null if the
    /// kernel lacks this feature.
    pub cache_aware: Option<bool>,
    /// Whether the kernel moves memory to the threads that use it, or threads to their memory; null
    /// if the kernel lacks this feature.
    pub numa_balancing: Option<bool>,
    /// The isolated CPUs, among which the kernel does not balance load, as a list.
    pub isolated: String,
    /// The CPUs without a tick (`nohz_full`), as a list.
    pub no_hz_full: String,
    /// The NUMA nodes with memory, as a list; null if the kernel does not say, and in older
    /// documents.
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
    /// The numbers of the processes concerned; empty if it concerns the whole computer.
    pub pids: Vec<Tid>,
    /// The reason.
    pub why: String,
}
