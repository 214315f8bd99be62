//! Linux for Seatmap. No other crate makes these system calls or parses these files.
//!
//! | module | contents |
//! |---|---|
//! | [`cpu_list`], [`cpu_set`] | CPUs in the order typed by the user; sets of CPUs |
//! | [`affinity`], [`forgotten`] | verified pinning; masks with and without offline CPUs |
//! | [`owed`], [`kept_masks`] | restores masks, and again when an offline CPU returns |
//! | [`heirs`] | threads that inherited a temporary seat |
//! | [`partners`] | threads that wait for each other; ends the wait if one is lost |
//! | [`pool`] | threads for divisible work |
//! | [`cpus`], [`holder`] | present, online and allowed CPUs; the owner of the others |
//! | [`task`], [`usage`] | threads and processes in `/proc`; resources used by a thread |
//! | [`waiting`] | the reason for a thread's wait in the kernel |
//! | [`proc_mount`] | whether `/proc` is mounted for this PID namespace |
//! | [`proc_folder`] | `/proc` held open, to read thousands of threads |
//! | [`sched`], [`numa_maps`] | a thread's scheduling; a process's memory by node |
//! | [`priority`] | a thread's share of a contested CPU |
//! | [`interpreter`], [`elf`] | the files that a program needs to start; parts of ELF files |
//! | [`traced`] | facts about a thread for its tracer |
//! | [`listener`] | system calls that another process answers |
//! | [`layout`], [`group`] | mounted control groups; their members |
//! | [`hierarchy`] | limits of control groups on a process |
//! | [`quota`], [`brake`] | limits on CPU time; other settings that slow a process |
//! | [`irq`], [`interrupts`] | allowed and actual CPUs of interrupts; their counts |
//! | [`cpu_time`], [`kernel`] | time of each CPU by kind; the scheduler and its settings |
//! | [`isolated`] | CPUs without load balancing |
//! | [`busy`] | busy time of CPUs over an interval |
//! | [`switches`] | scheduler settings, changed temporarily |
//! | [`counter`] | kernel and hardware counters over a program |
//! | [`bpf`] | BPF programs at tracepoints and in other programs |
//! | `perf_event` | the system call behind counters, records and probes |
//! | [`tracefs`], [`records`] | tracepoints of the kernel; records of one |
//! | [`devices`] | accelerators and network cards, with their NUMA nodes |
//! | [`mounts`], [`visibility`] | mounts; processes visible to this user |
//! | [`rights`] | limits on root's rights |
//! | [`attribute`], [`memory`] | extended attributes of files; free memory |
//! | [`mempolicy`], [`pages`] | NUMA policies of threads; nodes of a process's pages |
//! | [`root`] | files of `/proc` and `/sys`, below a root that tests can set |
//! | `control_file` | writable files of the kernel |
//! | [`rps`] | CPUs that process packets received by network cards |
//! | [`net`] | this computer's addresses; waits for connections |
//! | [`tcp`] | the kernel's facts about a TCP connection |
//! | [`small`] | small files of the kernel, and the numbers in them |
//! | [`ready`], [`terminal`] | waits for descriptors; whether the terminal still exists |
//! | [`trusted`], [`whole_file`] | files that no other user can change; atomic replacement |
//! | [`named_file`] | files named by the user, read up to a bound |
//! | [`shell`], [`visible`] | quoting for the shell; hidden characters made visible |
//! | [`ending`] | how a process ended, in words, and how to end alike |
//! | [`limited`] | helper commands with a time limit |
//! | [`scratch`] | temporary folders and files, removed even after a kill |
//! | [`connections`] | processes connected by pipes and sockets |
//! | [`starved`] | runnable threads that never get a CPU |
//! | [`published`] | text that a running process shows to others |
//! | [`host_names`] | short and long host names |
//! | [`state`] | the folder for state between runs |
//! | [`boot`], [`steal`] | this boot; stolen CPU time |
//! | [`claim`] | a lock for one measurement of this computer at a time |
//! | [`lease`] | CPUs with threads seated by runs, visible to all runs |
//!
//! The crate is small, pure Rust and independent of Seatmap's other crates, so that libraries can
//! use it just to pin a thread.
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
pub mod heirs;
pub mod hierarchy;
pub mod holder;
pub mod host_names;
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
pub mod memory;
pub mod mempolicy;
pub mod mounts;
pub mod named_file;
pub mod net;
pub mod numa_maps;
pub mod owed;
pub mod pages;
pub mod partners;
mod perf_event;
pub mod pool;
pub mod priority;
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

pub use cpu_list::{CpuList, CpuListError};
pub use cpu_set::CpuSet;
pub use cpus::CpuError;
pub use ending::Ending;
pub use root::Root;

/// Number of a thread or process.
pub type Tid = libc::pid_t;
