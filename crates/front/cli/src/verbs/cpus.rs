//! `seatmap cpus`.

use clap::Args;
use clap::builder::{PossibleValue, PossibleValuesParser};
use seatmap_console::cpus::OrAll;
use seatmap_console::{CliError, CliResult, Outputs, input, output};
use seatmap_launch::count::CpuCount;
use seatmap_launch::named::NamedCpus;
use seatmap_launch::notation::{self, FORMATS};
use seatmap_report::cpus;

#[derive(Args)]
pub struct CpusArgs {
    /// Words for the CPUs, such as kind:performance/no-smt, cache:biggest, near:eth0 or l3:0.
    /// Default: all CPUs that this process may use, without isolated ones.
    #[arg(value_name = "WORDS")]
    words: Option<String>,
    /// The machine: host, a bundled machine, or a file or folder.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    on: String,
    /// If a word distinguishes no CPUs of the machine, take all of them, and say so.
    #[arg(long, requires = "words")]
    or_all: bool,
    /// Print the CPUs in the notation of another program.
    #[arg(long = "as", value_name = "FORMAT", conflicts_with_all = ["count", "why", "json"],
          value_parser = PossibleValuesParser::new(FORMATS.map(|(name, about, _)| {
              PossibleValue::new(name).help(about)
          })))]
    notation: Option<String>,
    /// Print how many threads fit: the number of these CPUs, or fewer under a CPU quota.
    #[arg(long, conflicts_with = "why")]
    count: bool,
    /// Also print what limits the threads, what other programs count, and the words of this
    /// machine.
    #[arg(long)]
    why: bool,
    /// Print the result as JSON on stdout, and nothing else.
    #[arg(long)]
    json: bool,
}

pub fn run(typed: &CpusArgs) -> CliResult {
    let outputs = Outputs::new(typed.json, None, None)?;
    let machine = input::machine(&typed.on)?;
    let computer = input::cpus_of(&machine)?;
    let or_all = OrAll { is_given: typed.or_all };
    let words = typed.words.as_deref().map(|words| or_all.words(words, &computer)).transpose()?;
    let limits = machine.is_host().then(CpuCount::of_self).transpose()?;
    let named = NamedCpus::of(&machine.name, words.as_deref(), &computer, limits)
        .map_err(CliError::input)?;
    if let Some(write) = typed.notation.as_deref().and_then(notation::writer) {
        let words = named.words.as_deref().unwrap_or("all");
        return output::print_exact(&write(&named.set(), words).map_err(CliError::input)?);
    }
    let page = match typed {
        CpusArgs { count: true, .. } => cpus::count(&named),
        CpusArgs { why: true, .. } => cpus::why(&named),
        _ => cpus::list(&named),
    };
    outputs.show(&named, &page)
}
