//! `seatmap pretend`, as typed.

use clap::Args;
use seatmap_console::values::{MachineCpus, cpus, machine_cpus};
use seatmap_os::CpuList;
use std::ffi::OsString;
use std::path::PathBuf;

#[derive(Debug, Args)]
pub struct Pretend {
    /// The machine that the program sees: a bundled machine, a profile, hwloc XML, or a computer's
    /// gathered files.
    #[arg(value_name = "MACHINE")]
    pub machine: String,
    /// The CPUs allowed there, as in a container: 0-3,8 or l3:0. Default: all.
    #[arg(long, value_name = "LIST", value_parser = machine_cpus)]
    pub cpus: Option<MachineCpus>,
    /// The offline CPUs there.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub offline: Option<CpuList>,
    /// Check the threads' seats there, and exit with 1 if something is wrong: rules of 'seatmap
    /// check' such as one-per-core,spread=numa, default for its default rules, or a plan for that
    /// machine.
    #[arg(long, value_name = "RULES|PLAN")]
    pub check: Option<String>,
    /// Fail also if a rule could not be judged.
    #[arg(long, requires = "check")]
    pub strict: bool,
    /// Print nothing after the program unless something is wrong.
    #[arg(short, long)]
    pub quiet: bool,
    /// Write the threads with their masks as JSON to a file.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print only the threads with their masks as JSON, on stdout. The program's output goes to
    /// stderr.
    #[arg(long)]
    pub json: bool,
    /// The program and its arguments.
    #[arg(trailing_var_arg = true, required = true, value_name = "COMMAND")]
    pub command: Vec<OsString>,
}
