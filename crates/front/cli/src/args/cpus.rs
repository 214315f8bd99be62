//! `seatmap cpus`, as typed.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use seatmap_launch::notation::FORMATS;

#[derive(Debug, Args)]
pub struct CpusArgs {
    /// Words for the CPUs, such as kind:performance/no-smt, cache:biggest, near:eth0 or l3:0.
    /// Default: all CPUs that this process may use, without isolated ones.
    #[arg(value_name = "WORDS")]
    pub words: Option<String>,
    /// The machine: host, a bundled machine, or a file or folder.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// If a word distinguishes no CPUs of the machine, take all of them, and say so.
    #[arg(long, requires = "words")]
    pub or_all: bool,
    /// Print the CPUs in the notation of another program.
    #[arg(long = "as", value_name = "FORMAT", conflicts_with_all = ["count", "why", "json"],
          value_parser = PossibleValuesParser::new(FORMATS.map(|(name, about, _)| {
              PossibleValue::new(name).help(about)
          })))]
    pub notation: Option<String>,
    /// Print how many threads fit: the number of these CPUs, or fewer under a CPU quota.
    #[arg(long, conflicts_with = "why")]
    pub count: bool,
    /// Also print what limits the threads, what other programs count, and the words of this
    /// machine.
    #[arg(long)]
    pub why: bool,
    /// Print the result as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}
