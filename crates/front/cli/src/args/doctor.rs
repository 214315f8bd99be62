//! `seatmap doctor`, as typed.

use clap::Args;
use seatmap_console::outputs::ResultForms;
use seatmap_console::values::own_cpus;
use seatmap_os::CpuList;

#[derive(Debug, Args)]
pub struct Doctor {
    /// The CPUs that should be quiet, such as 2-7 or near:eth0. Default: all but those of the first
    /// core.
    #[arg(long, value_name = "LIST", value_parser = own_cpus)]
    pub cpus: Option<CpuList>,
    /// Also run active tests: take a CPU for a moment, rewrite masks unchanged, and restore
    /// everything.
    #[arg(long = "try")]
    pub may_try: bool,
    #[command(flatten)]
    pub forms: ResultForms,
}
