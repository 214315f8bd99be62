//! What was typed.

mod cell;
mod cell_control;
mod channels;
mod doctor;
mod export;
mod model;
mod noise;
mod pattern;
mod place;
mod rank;
mod run;
mod stats;
mod study;
mod time;
mod workers;

pub use cell::*;
pub use cell_control::*;
pub use channels::*;
pub use doctor::*;
pub use export::*;
pub use model::*;
pub use noise::*;
pub use pattern::*;
pub use place::*;
pub use rank::*;
pub use run::*;
pub use stats::*;
pub use study::*;
pub use workers::*;

use clap::{Args, Parser, Subcommand, ValueEnum};
use seatmap_os::{CpuList, CpuListError};
use std::path::PathBuf;

/// A seating plan for threads: measures how far apart a machine's cores really are, and shows it.
#[derive(Debug, Parser)]
#[command(name = "seatmap", version, max_term_width = 100, arg_required_else_help = true)]
pub struct Typed {
    /// When and how to colour; NO_COLOR turns it off as well.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto", alias = "color")]
    pub colour: ColourChoice,
    #[command(subcommand)]
    pub command: Command,
}

#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure how far apart the cores of this machine are.
    Measure(Measure),
    /// Read other tools' files: core-to-core-latency CSV, MCTOP, hwloc XML.
    Import(Import),
    /// Write a profile or a plan as another tool's file, or as a picture.
    Export(Export),
    /// Show a machine: heatmap, distance classes, neighbours, and what is odd about it.
    Show(Show),
    /// Say where the tasks of a pattern should sit on a machine, and how good that is.
    Place(Box<Place>),
    /// Show, convert and list communication patterns.
    Pattern(Pattern),
    /// Run a program and seat its threads, or seat those of a program that runs.
    Run(Run),
    /// Fit machines that the simulator runs.
    Model(Model),
    /// Run every mapping of a ring's tasks to workers, and rank them, as Keller & Varbanescu did.
    Rank(Box<Rank>),
    /// Measure what threads, messages, transfers and atomics cost, as CellStats does.
    Stats(Box<Stats>),
    /// Measure what work costs that is done by pinned workers, and by threads made for it.
    Workers(Workers),
    /// Run programs of channels on default seats and near their lines' homes, as Liu et al. did.
    Channels(Box<Channels>),
    /// Run a published experiment on the models, and set its figures beside ours.
    Study(Study),
    /// Make a quiet room of some CPUs, and run programs in it.
    Cell(Box<Cell>),
    /// Measure what the system takes from a program on each CPU, and where it comes from.
    Noise(Noise),
    /// Tell what on this host will disturb a measurement or a quiet program, and how to mend it.
    Doctor(Doctor),
    /// List the machines that come with Seatmap.
    Machines(Machines),
    /// Print completions for a shell.
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Write the manual pages.
    Man {
        /// The folder; without it the main page goes to stdout.
        #[arg(value_name = "FOLDER")]
        folder: Option<PathBuf>,
    },
}

/// When and how to colour.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ColourChoice {
    /// On a terminal, as many colours as it says it has.
    Auto,
    /// 24-bit colours.
    True,
    /// The 256 fixed colours.
    #[value(name = "256")]
    Ansi256,
    /// None.
    #[value(alias = "none")]
    Never,
}

#[derive(Debug, Args)]
pub struct Measure {
    /// The machine: host, the name of a bundled one, or a file; anything but the host is replayed from its figures.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs to measure, such as 0-3,8; all that this process may use by default.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    /// Visits to each pair; by default at least 3. On this host more while a quarter of a second lasts, and 20 more, spread
    /// over a second, to pairs whose visits disagree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub passes: Option<u32>,
    /// 33 batches a pair: the median, and little else.
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// At least 576 batches a pair, in nine passes or more.
    #[arg(long)]
    pub thorough: bool,
    /// Measure pairs in different cache groups at once, after checking that this changes nothing.
    #[arg(long)]
    pub parallel: bool,
    /// Sort so many candidate cache lines by home, and fit what the home adds to each distance.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub homes: u32,
    /// On a model, so many percent of its PUs talk in random pairs while lines are sorted by home.
    #[arg(long, value_name = "PERCENT", requires = "homes", value_parser = clap::value_parser!(u8).range(1..=100))]
    pub utilisation: Option<u8>,
    /// Also measure 1, 2, ... N/2 pairs at once, as a curve.
    #[arg(long)]
    pub loaded: bool,
    /// Go on where an interrupted run of the same command ended.
    #[arg(long)]
    pub resume: bool,
    /// Where random orders start.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the profile to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write one self-contained, interactive page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the profile as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Import {
    /// The files, of any kind: they are recognised by what stands in them.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Take the topology from this file (hwloc XML, as lstopo writes it).
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// The nominal frequency in Hz, for files that count cycles: 2.8g.
    #[arg(long, value_name = "HZ", value_parser = frequency)]
    pub frequency: Option<f64>,
    /// What to call the machine.
    #[arg(long)]
    pub name: Option<String>,
    /// The profile's file, or a folder, where each file keeps its name; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print the profile as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The machine: host, the name of a bundled one, or a file.
    #[arg(value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// Write one self-contained, interactive page.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// The order of rows and columns.
    #[arg(long, default_value = "group")]
    pub order: OrderChoice,
    /// List the nearest neighbours of this CPU.
    #[arg(long, value_name = "CPU")]
    pub near: Option<u32>,
    /// Draw the distances that the model predicts for lines of this home.
    #[arg(long, value_name = "N")]
    pub home: Option<usize>,
    /// Columns to draw in; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// Print classes, groups and findings as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// The order of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderChoice {
    /// Group by group, SMT siblings side by side.
    Group,
    /// As the operating system numbers them.
    Os,
}

#[derive(Debug, Args)]
pub struct Machines {
    /// Print the list as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

fn cpus(text: &str) -> Result<CpuList, CpuListError> {
    text.parse::<CpuList>()?.distinct()
}

/// A positive number with a multiplier of 1000: `2.8g`.
fn frequency(text: &str) -> Result<f64, String> {
    let (number, factor) = match text.trim().to_ascii_lowercase() {
        text if text.ends_with('k') => (text[..text.len() - 1].to_owned(), 1e3),
        text if text.ends_with('m') => (text[..text.len() - 1].to_owned(), 1e6),
        text if text.ends_with('g') => (text[..text.len() - 1].to_owned(), 1e9),
        text => (text, 1.0),
    };
    let hz = number.parse::<f64>().map(|number| number * factor);
    hz.ok().filter(|hz| (1e6..1e11).contains(hz)).ok_or_else(|| "write a frequency in Hz, such as 2.8g".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_fits_together() {
        Typed::command().debug_assert();
    }

    #[test]
    fn frequencies_take_multipliers() {
        assert_eq!(frequency("2.8g"), Ok(2.8e9));
        assert_eq!(frequency("2800M"), Ok(2.8e9));
        for bad in ["", "g", "-1g", "nan", "2.8", "1e99"] {
            assert!(frequency(bad).is_err(), "{bad}");
        }
    }
}
