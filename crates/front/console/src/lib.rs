//! Behaviour shared by all of Seatmap's commands: how they parse and reject a command line, write
//! results, report errors and show progress.
//!
//! Two programs use it, the product's command and the papers' command, so that users of one know
//! the other. Code needed by verbs of both programs belongs here.
//!
//! | module | holds |
//! |---|---|
//! | [`running`], [`program`] | the program that runs: its name and command line; its `main` |
//! | [`error`] | a failure, whose it is, and the exit code |
//! | [`output`], [`outputs`] | results on stdout, or in files that are whole or do not exist |
//! | [`printable`], [`stdio`] | text without terminal commands; streams closed at the start |
//! | [`input`], [`pattern_input`], [`plan_input`] | a machine, pattern or plan by name or file |
//! | [`baseline_input`] | good states of units from files and folders |
//! | [`values`], [`time`] | values as they are typed: CPUs, sizes, times |
//! | [`new_cell`] | the wishes for a new cell |
//! | [`misread`] | a mistake in a command line, in one sentence |
//! | [`living`] | the programs, units and groups that are there now, for completions |
//! | [`shell`], [`completion`] | the verbs for shells; completions |
//! | [`manual`] | manual pages, and a short `-h` |
//! | [`guide`] | examples, exit codes, files and variables of each verb, for help and the manual |
//! | [`bar`], [`waiting`], [`interrupt`] | progress, and Ctrl-C |
//! | [`view`] | the colours and columns of the terminal |
//! | [`meet`], [`over_ranks`] | the ranks of a parallel start |
//! | [`here`] | this computer's name and profile, and today |
#![deny(missing_docs)]

pub mod bar;
pub mod baseline_input;
pub mod completion;
pub mod error;
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
