//! `seatmap doctor`, as typed.

use clap::Args;
use seatmap_console::outputs::ResultForms;
use seatmap_console::values::own_cpus;
use seatmap_os::CpuList;

#[derive(Debug, Args)]
pub struct Doctor {
    /// The CPUs that should become quiet, such as 2-7; all but those of the first core by default.
    #[arg(long, value_name = "LIST", value_parser = own_cpus)]
    pub cpus: Option<CpuList>,
    /// Also try what reading cannot tell: take a CPU for a moment, write masks over themselves, and
    /// put everything back.
    #[arg(long = "try")]
    pub may_try: bool,
    #[command(flatten)]
    pub forms: ResultForms,
}
