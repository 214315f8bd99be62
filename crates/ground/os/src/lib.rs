//! Linux, as Seatmap uses it. No other crate makes these system calls or parses these files.
//!
//! | module | gives |
//! |---|---|
//! | [`cpu_list`], [`cpu_set`] | CPUs as a person types them, in order; a set of CPUs, any length |
//! | [`affinity`], [`forgotten`] | pinning, verified; masks with offline CPUs, or without |
//! | [`owed`], [`kept_masks`] | masks that are given once more when CPUs come that they lack |
//! | [`heirs`] | who inherited a seat that was given for a time |
//! | [`guardian`] | a process that restores what its creator changed, if the creator dies |
//! | [`partners`] | threads that wait for each other, and the end of their waits when one is gone |
//! | [`pool`] | threads for work that can be divided, as many as the system grants |
//! | [`cpus`], [`holder`] | which CPUs are present, online and allowed; who has the others |
//! | [`task`], [`usage`] | threads and processes as `/proc` shows them; what a thread has used |
//! | [`waiting`] | what a thread waits for in the kernel |
//! | [`proc_mount`] | whether `/proc` is there, and of this PID namespace |
//! | [`proc_folder`] | `/proc` held open, for looks at thousands of threads |
//! | [`sched`], [`numa_maps`] | how a thread is scheduled; where the memory of a process is |
//! | [`priority`] | how much of a contested CPU a thread gets, and what decides between two |
//! | [`interpreter`], [`elf`] | the file that a program needs to start; the parts of its own |
//! | [`traced`] | facts about a thread that a tracer asks for |
//! | [`listener`] | system calls of a program that another process answers |
//! | [`layout`], [`group`] | where control groups are mounted, and their members |
//! | [`hierarchy`] | the limits that control groups set for a process |
//! | [`quota`], [`brake`] | limits on its CPU time; other settings that hold it back |
//! | [`irq`], [`interrupts`] | interrupts: where they may go, where they go, and how many came |
//! | [`cpu_time`], [`kernel`] | what each CPU did; the scheduler and its settings |
//! | [`isolated`] | the CPUs among which the scheduler does not divide load |
//! | [`busy`] | for how long CPUs were busy between two moments |
//! | [`switches`] | switches of the scheduler, turned for a while |
//! | [`counter`] | counts of the kernel and the processor over a program |
//! | [`bpf`] | small programs that the kernel runs at its tracepoints and in other programs |
//! | `perf_event` | the call by which counts, records, watches and probes begin |
//! | [`tracefs`], [`records`] | the kernel's tracepoints; records of one |
//! | [`devices`] | accelerators and network cards, and the NUMA node of each |
//! | [`mounts`], [`visibility`] | what is mounted; which processes the kernel shows to this user |
//! | [`rights`] | what root may not do |
//! | [`attribute`], [`memory`] | notes on files that the kernel keeps; how much memory is free |
//! | [`mempolicy`], [`pages`] | NUMA policies of threads; the nodes of a process's pages |
//! | [`root`] | the files of `/proc` and `/sys` below a root that tests can set |
//! | `control_file` | the kernel's own files, opened to be written |
//! | [`rps`] | the CPUs to which network cards hand received packets on |
//! | [`net`] | the addresses of this computer; a wait for connections |
//! | [`tcp`] | what the kernel knows about one TCP connection |
//! | [`small`] | small files of the kernel, and the numbers in them |
//! | [`ready`], [`terminal`] | waits for open files; whether the terminal is still there |
//! | [`trusted`], [`whole_file`] | files that no other user can change; files replaced whole |
//! | [`named_file`] | files that a user names, read up to a bound |
//! | [`shell`], [`visible`] | words of printed commands, quoted; hidden characters made visible |
//! | [`ending`] | how a process ended, in words, and how to end alike |
//! | [`limited`] | helper commands with a limit on their time |
//! | [`scratch`] | folders and files that no run leaves behind, killed or not |
//! | [`connections`] | processes that are connected by pipes and sockets |
//! | [`starved`] | threads that are ready and never get a CPU |
//! | [`published`] | text that a living process shows to others |
//! | [`host_names`] | the short and the long name of a computer |
//! | [`state`] | the folder where Seatmap remembers things between runs |
//! | [`boot`], [`steal`] | this boot; stolen CPU time |
//! | [`claim`] | one measurement of this computer at a time |
//! | [`lease`] | CPUs on which runs have seated threads, known to all runs |
//!
//! It is small and pure Rust, so that libraries which only pin a thread can afford it, and stands
//! on no other crate of Seatmap.
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

/// A thread or process, by the number that the kernel gave it.
pub type Tid = libc::pid_t;
