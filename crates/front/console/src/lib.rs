//! Behaviour shared by all of Seatmap's commands: how they parse and reject a command line, write
//! results, report errors and show progress.
//!
//! The product's and the papers' command use it, so users of one know the other. Code needed by
//! verbs of both programs belongs here.
//!
//! | module | holds |
//! |---|---|
//! | [`running`], [`program`] | the running program: name, command line and `main` |
//! | [`error`] | failures and their exit codes |
//! | [`output`], [`outputs`] | results on stdout, or in files, which are complete or absent |
//! | [`printable`], [`stdio`] | text without terminal commands; streams closed at the start |
//! | [`input`], [`pattern_input`], [`plan_input`] | a machine, pattern or plan by name or file |
//! | [`baseline_input`] | good states of units from files and folders |
//! | [`values`], [`time`] | values of options: lists, sizes, times |
//! | [`cpus`] | CPUs of a machine, by number or words |
//! | [`new_cell`] | the options for a new cell |
//! | [`misread`] | a mistake in a command line, in one sentence |
//! | [`living`] | the existing programs, units and groups, for completions |
//! | [`shell`], [`completion`] | the verbs for shells and a short `-h`; completions |
//! | [`manual`] | manual pages |
//! | [`guide`] | examples, exit codes, files and variables of each verb, for help and the manual |
//! | [`for_tests`] | for tests: faults in help and manual pages |
//! | [`bar`], [`waiting`], [`interrupt`] | progress, and Ctrl-C |
//! | [`view`] | the colours and columns of the terminal |
//! | [`meet`], [`over_ranks`] | the ranks of a job |
//! | [`here`] | this computer's name and profile, and the date |
#![deny(missing_docs)]

pub mod bar;
pub mod baseline_input;
pub mod completion;
pub mod cpus;
pub mod error;
pub mod for_tests;
pub mod guide;
pub mod here;
pub mod input;
pub mod interrupt;
pub mod living;
pub mod manual;
pub mod meet;
pub mod misread;
pub mod new_cell;
pub mod output;
pub mod outputs;
pub mod over_ranks;
pub mod pattern_input;
pub mod plan_input;
pub mod printable;
pub mod program;
pub mod running;
pub mod shell;
pub mod stdio;
pub mod time;
pub mod values;
pub mod view;
pub mod waiting;

pub use bar::{Bar, Bars};
pub use error::{AtPath, CliError, CliResult};
pub use interrupt::StopFlag;
pub use output::Destination;
pub use outputs::{Outputs, ResultForms};
pub use time::{time_in, time_within};
