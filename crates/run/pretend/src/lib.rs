//! Runs a program that sees another machine, and records where its threads would sit there.
//!
//! The program is an ordinary process of this computer, without a virtual machine and without
//! root. It finds other files below `/sys` and `/proc`, and other answers to the calls by which
//! threads are seated. This computer's own masks stay as they are.
//!
//! | module | does |
//! |---|---|
//! | [`machine`] | the machine that is shown: its CPUs, those that run, those that may be used |
//! | [`tree`], [`cpuinfo`] | its files, as a value |
//! | `cpu_times` | `/proc/stat`, whose times go on |
//! | `stage` | puts them in place, for one process and all that it starts |
//! | [`answers`], [`policy`], `thread_file` | answers calls as a kernel of the machine would |
//! | [`record`] | the threads, and where each of them would have been put |
//! | [`run`](mod@run) | starts the program, and serves it until it ends |
//! | [`report`] | the record as a document, a table, and a seating that `check` judges |
//! | [`error`] | why no machine can be shown |
#![deny(missing_docs)]

pub mod answers;
mod cpu_times;
pub mod cpuinfo;
pub mod error;
pub mod machine;
pub mod policy;
pub mod record;
pub mod report;
pub mod run;
mod stage;
mod thread_file;
pub mod tree;

pub use cpuinfo::HostFacts;
pub use error::PretendError;
pub use machine::PretendedMachine;
pub use report::PretendReport;
pub use run::{PretendRequest, PretendedRun};
pub use tree::MachineTree;
