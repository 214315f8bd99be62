//! Linux for Seatmap. No other crate makes these system calls or parses these files.
//!
//! | module | contents |
//! |---|---|
//! | [`cpu_list`], [`cpu_set`] | CPUs as typed by the user; sets of CPUs |
//! | [`affinity`], [`forgotten`] | verified pinning; masks with and without offline CPUs |
//! | [`owed`], [`kept_masks`] | restores masks, and again when an offline CPU returns |
//! | [`heirs`] | threads that inherited a temporary seat |
//! | [`guardian`] | a process that restores what its creator changed, if the creator dies |
//! | [`partners`] | threads that wait for each other; ends waits for a lost one |
//! | [`pool`] | threads for divisible work |
//! | [`cpus`], [`holder`] | present, online and allowed CPUs; owners of others |
//! | [`task`], [`usage`] | threads and processes; their resource usage |
//! | [`waiting`] | reasons for a thread's wait in the kernel |
//! | [`proc_mount`] | whether `/proc` is this PID namespace's |
//! | [`proc_folder`] | `/proc` held open, to read thousands of threads |
//! | [`sched`], [`numa_maps`] | a thread's scheduling; a process's memory by node |
//! | [`priority`] | a thread's share of a contested CPU |
//! | [`interpreter`], [`elf`] | files needed to start a program; ELF files |
//! | [`traced`] | facts about a thread for its tracer |
//! | [`listener`] | system calls answered by another process |
//! | [`located_file`] | a file as another thread names it |
//! | [`layout`], [`group`] | mounted control groups; their members |
//! | [`hierarchy`] | limits of control groups |
//! | [`quota`], [`brake`] | limits on CPU time; other settings that slow processes |
//! | [`irq`], [`interrupts`] | CPUs of interrupts; counts |
//! | [`cpu_time`], [`kernel`] | each CPU's time by use; scheduler settings |
//! | [`isolated`], [`idle`] | CPUs without load balancing; how idle CPUs wait |
//! | [`busy`] | busy time of CPUs |
//! | [`switches`] | scheduler settings, changed temporarily |
//! | [`counter`] | kernel and hardware counters |
//! | [`bpf`] | BPF programs at tracepoints and in other programs |
//! | `perf_event` | perf_event_open(2) |
//! | [`tracefs`], [`records`] | the kernel's tracepoints; records of one |
//! | [`devices`] | accelerators and network cards with NUMA nodes |
//! | [`mounts`], [`visibility`] | mounts; processes visible to this user |
//! | [`private_files`] | one process's own view of files |
//! | [`rights`] | limits on root's rights |
//! | [`attribute`], [`memory`] | extended attributes; free memory |
//! | [`mempolicy`], [`pages`] | NUMA policies of threads; nodes of pages |
//! | [`root`] | files of `/proc` and `/sys`, replaceable in tests |
//! | `control_file` | writable kernel files |
//! | [`rps`] | CPUs that process received packets |
//! | [`net`] | this computer's addresses |
//! | [`tcp`] | facts about a TCP connection |
//! | [`small`] | small kernel files |
//! | [`ready`], [`terminal`] | waits for descriptors and for typed input |
//! | [`trusted`], [`whole_file`] | files safe from other users; atomic replacement |
//! | [`named_file`] | files named by the user, read up to a bound |
//! | [`shell`], [`visible`] | shell quoting; hidden characters made visible |
//! | [`ending`] | how a process ended, and how to end alike |
//! | [`limited`] | helper commands with a time limit |
//! | [`scratch`] | temporary files, removed even after a kill |
//! | [`orphans`] | processes left behind by their parents |
//! | [`connections`] | processes connected by pipes and sockets |
//! | [`starved`] | runnable threads that never get a CPU |
//! | [`published`] | text that a process shows to others |
//! | [`host_names`] | short and long host names |
//! | [`state`] | the folder for state between runs |
//! | [`boot`], [`steal`] | this boot; stolen CPU time |
//! | [`claim`] | a lock for one measurement at a time |
//! | [`lease`] | CPUs used by runs, visible to all runs |
//!
//! The crate depends on no other Seatmap crate, so libraries can use it just to pin a thread.
#![deny(missing_docs)]

pub mod affinity;
pub mod attribute;
pub mod boot;
pub mod bpf;
pub mod brake;
pub mod busy;
mod bytes;
pub mod claim;
pub mod connections;
mod control_file;
pub mod counter;
pub mod cpu_list;
pub mod cpu_set;
pub mod cpu_time;
pub mod cpus;
pub mod devices;
pub mod elf;
pub mod ending;
pub mod forgotten;
pub mod group;
mod group_quota;
pub mod guardian;
pub mod heirs;
pub mod hierarchy;
pub mod holder;
pub mod host_names;
pub mod idle;
pub mod interpreter;
pub mod interrupts;
pub mod irq;
pub mod isolated;
pub mod kept_masks;
pub mod kernel;
pub mod layout;
pub mod lease;
pub mod limited;
pub mod listener;
pub mod located_file;
pub mod memory;
pub mod mempolicy;
pub mod mounts;
pub mod named_file;
pub mod net;
pub mod numa_maps;
pub mod orphans;
pub mod owed;
pub mod pages;
pub mod partners;
mod perf_event;
pub mod pool;
pub mod priority;
pub mod private_files;
pub mod proc_folder;
pub mod proc_mount;
pub mod published;
pub mod quota;
pub mod ready;
pub mod records;
pub mod rights;
mod ring;
pub mod root;
pub mod rps;
pub mod sched;
pub mod scratch;
pub mod shell;
pub mod small;
pub mod starved;
pub mod state;
pub mod steal;
pub mod switches;
pub mod task;
pub mod tcp;
pub mod terminal;
pub mod traced;
pub mod tracefs;
pub mod trusted;
pub mod usage;
pub mod visibility;
pub mod visible;
pub mod waiting;
pub mod whole_file;

pub use bytes::{i32_at, u16_at, u32_at, u64_at};
pub use cpu_list::{CpuList, CpuListError};
pub use cpu_set::CpuSet;
pub use cpus::CpuError;
pub use ending::Ending;
pub use root::{FileError, Root};

/// A thread's or process's number.
pub type Tid = libc::pid_t;

/// Whether to stop early, asked again and again.
pub type StopCheck<'a> = &'a dyn Fn() -> bool;

/// The answer of a system call, or its error if negative.
///
/// # Errors
/// The kernel's.
pub fn checked(answer: impl Into<i64>) -> std::io::Result<u64> {
    u64::try_from(answer.into()).map_err(|_| std::io::Error::last_os_error())
}
