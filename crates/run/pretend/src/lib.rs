//! Runs a program on a pretended machine, and records the CPUs to which it would bind its threads.
//!
//! The program is an ordinary process of this computer. It sees other files below `/sys` and
//! `/proc`, and gets other results from the system calls about CPUs and memory. The masks on this
//! computer do not change.
//!
//! | module | does |
//! |---|---|
//! | `machine` | the pretended machine: its CPUs, online and allowed |
//! | `tree`, `cpuinfo`, `groups` | its files |
//! | `arm` | types of Arm's cores |
//! | `cpu_times` | `/proc/stat` with advancing times |
//! | `written` | the files in a folder |
//! | `stage` | the steps that show the files |
//! | `answers`, `policy`, `thread_file` | answers calls |
//! | `record` | the threads and their CPUs |
//! | [`run`](mod@run) | runs the program |
//! | [`report`] | the record as a document |
//! | [`zoo`] | one command on many machines |
//! | `error` | why no machine can be shown |
#![deny(missing_docs)]

mod answers;
mod arm;
mod cpu_times;
mod cpuinfo;
mod error;
mod groups;
mod machine;
mod policy;
mod record;
pub mod report;
pub mod run;
mod stage;
mod thread_file;
mod tree;
mod written;
pub mod zoo;

pub use cpuinfo::HostFacts;
pub use error::PretendError;
pub use groups::{ContainerGroup, GroupVersion};
pub use machine::PretendedMachine;
pub use report::PretendReport;
pub use run::{PretendRequest, PretendedRun};
pub use tree::MachineTree;
