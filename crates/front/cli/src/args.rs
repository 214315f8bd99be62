//! The arguments as they were typed.

mod advise;
mod bench;
mod cell;
mod check;
mod cluster;
mod compare;
mod cpus;
mod doctor;
mod export;
mod guardian;
mod model;
mod noise;
mod observe;
mod on_cluster;
mod pattern;
mod place;
mod pretend;
mod run;
mod services;
mod top;
mod tune;

pub use advise::*;
pub use bench::*;
pub use cell::*;
pub use check::*;
pub use cluster::*;
pub use compare::*;
pub use cpus::*;
pub use doctor::*;
pub use export::*;
pub use guardian::*;
pub use model::*;
pub use noise::*;
pub use observe::*;
pub use on_cluster::*;
pub use pattern::*;
pub use place::*;
pub use pretend::*;
pub use run::*;
pub use services::*;
pub use top::*;
pub use tune::*;

use crate::guides;
use clap::{Args, CommandFactory, Parser, Subcommand, ValueEnum};
use seatmap_console::guide::with_guides;
use seatmap_console::outputs::ResultForms;
use seatmap_console::shell::{ShellVerb, with_short_help};
use seatmap_console::values::{MachineCpus, machine_cpus};
use seatmap_console::view::ColourChoice;
use seatmap_os::CpuList;
use seatmap_report::GridOrder;
use std::path::PathBuf;

/// The verbs: first the five that most people need, then the others by purpose.
const GROUPS: [(&str, &[&str]); 4] = [
    ("Start here", &["advise", "run", "check", "bench", "show"]),
    ("Measure", &["measure", "compare", "cpus", "noise", "doctor", "cluster"]),
    (
        "Place and run",
        &["place", "tune", "services", "pattern", "export", "top", "observe", "pretend", "cell"],
    ),
    ("Machines and shell", &["machines", "import", "model", "completions", "man"]),
];

/// `-h` omits these options to fit a screen; `--help` has them all.
const RARELY_NEEDED: [(&str, &[&str]); 6] = [
    ("measure", &["passes", "thorough", "parallel", "utilisation", "wakeups", "seed"]),
    (
        "place",
        &[
            "qaplib",
            "rounds",
            "weight",
            "waiting",
            "spinning",
            "use_smt",
            "one_per",
            "widen",
            "sections",
            "kicks",
            "threads",
            "seed",
            "before",
            "fix",
            "svg",
            "load",
            "load_ns",
            "kind",
            "equal_kind",
            "prefer",
        ],
    ),
    (
        "run",
        &[
            "once",
            "skip",
            "start_at",
            "detach",
            "allow_unseated",
            "force",
            "any_machine",
            "html",
            "huge",
            "move_pages",
            "verify_memory",
        ],
    ),
    (
        "bench",
        &[
            "seats",
            "lower_is_better",
            "higher_is_better",
            "name",
            "warmup",
            "confidence",
            "seed",
            "cpus",
            "base",
            "head",
            "strict",
            "history",
            "label",
            "html",
        ],
    ),
    (
        "tune",
        &[
            "lower_is_better",
            "higher_is_better",
            "vary",
            "confidence",
            "seed",
            "cpus",
            "candidates",
            "objective",
        ],
    ),
    ("check", &["any_machine", "children", "slurm_step", "all", "trace", "metrics", "baseline"]),
];

/// The command line, with verbs by group and rarely needed options only in `--help`.
pub fn command() -> clap::Command {
    let command = with_short_help(SeatmapArgs::command(), &RARELY_NEEDED);
    let command = with_guides(in_order(command), guides::ALL);
    // The template has no `{subcommands}`: the verbs stand by group, behind the usage.
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\n{{options}}{{after-help}}",
        verbs_by_group(&command)
    );
    command.help_template(template)
}

/// The command line with its verbs in the order of the groups, which pages and completions follow.
fn in_order(command: clap::Command) -> clap::Command {
    let verbs = GROUPS.iter().flat_map(|(_, verbs)| *verbs);
    verbs.zip(1..).fold(command, |command, (verb, place)| {
        command.mut_subcommand(verb, |verb| verb.display_order(place))
    })
}

/// `clap` lists verbs in one block only.
fn verbs_by_group(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        text += &format!("\n{title}:\n");
        for verb in verbs {
            text += &format!("  {verb:<12} {}\n", about(command, verb));
        }
    }
    text
}

fn about(command: &clap::Command, verb: &str) -> String {
    let found = command.find_subcommand(verb).and_then(clap::Command::get_about);
    found.map(|about| about.to_string()).unwrap_or_default()
}

/// A seating plan for threads: measures core distances, and pins threads by them.
#[derive(Debug, Parser)]
#[command(
    name = "seatmap",
    version,
    max_term_width = 100,
    arg_required_else_help = true,
    override_usage = "seatmap [OPTIONS] <COMMAND>, for example: seatmap advise -- ./app"
)]
pub struct SeatmapArgs {
    /// Colours: auto, true (24 bits), 256 or never; NO_COLOR also turns them off.
    #[arg(
        long,
        global = true,
        value_name = "WHEN",
        default_value = "auto",
        alias = "color",
        hide_possible_values = true,
        help_heading = "Global options",
        hide_short_help = true,
        display_order = 1000
    )]
    pub colour: ColourChoice,
    /// Do not fit lines and tables to the terminal.
    #[arg(
        long,
        global = true,
        help_heading = "Global options",
        hide_short_help = true,
        display_order = 1001
    )]
    pub wide: bool,
    #[command(subcommand)]
    pub command: SeatmapCommand,
}

#[derive(Debug, Subcommand)]
pub enum SeatmapCommand {
    /// Measure the distances between the cores of a machine.
    Measure(MeasureArgs),
    /// Read other tools' files: core-to-core-latency, MCTOP, hwloc.
    Import(Import),
    /// Write a plan or profile for another tool, or as a picture.
    Export(Export),
    /// Show a machine: heatmap, distance classes, anomalies.
    Show(Show),
    /// Compare the distances and topologies of two machines.
    Compare(CompareArgs),
    /// Print CPUs by what they are, or how many threads fit.
    Cpus(CpusArgs),
    /// Find a placement for a communication pattern, and rate it.
    Place(Box<PlaceArgs>),
    /// Place all services of this computer: record, plan, apply, undo.
    Services(Services),
    /// Show, convert and list communication patterns.
    Pattern(PatternArgs),
    /// Recommend whether and how to pin a program.
    Advise(Advise),
    /// Pin the threads of a program, and verify it.
    Run(RunArgs),
    /// Check the pinning of running programs.
    Check(Check),
    /// Watch the threads of running programs and their CPUs.
    Top(Top),
    /// Record which threads of a program communicate, as a pattern.
    Observe(ObserveArgs),
    /// Benchmark commands; report only proven differences.
    Bench(Bench),
    /// Find the best placement of a program by running it.
    Tune(Tune),
    /// Run a program as if on another machine, to check its pinning.
    Pretend(Pretend),
    /// Fit a simulated machine to measurements.
    Model(Model),
    /// Reserve quiet CPUs, and run programs on them.
    Cell(Box<CellArgs>),
    /// Measure how much time the system takes from programs, CPU by CPU.
    Noise(NoiseArgs),
    /// Find what disturbs programs on this host, with remedies.
    Doctor(Doctor),
    /// Measure the distances in a cluster, and find its faulty nodes.
    Cluster(ClusterArgs),
    /// List the bundled machines.
    Machines(Machines),
    /// Restore what another process changed, if that process dies.
    #[command(hide = true, subcommand)]
    Guardian(GuardianVerb),
    #[command(flatten)]
    Shell(ShellVerb),
}

#[derive(Debug, Args)]
pub struct MeasureArgs {
    /// The machine: host, a bundled machine, or a file; anything but the host is replayed from its
    /// figures.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs to measure, such as 0-3,8. Default: all allowed ones.
    #[arg(long, value_name = "LIST", value_parser = machine_cpus)]
    pub cpus: Option<MachineCpus>,
    /// Visits to each pair; by default at least 3. On this host more while a quarter of a second
    /// lasts, and 20 more, spread over a second, to pairs whose visits disagree.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub passes: Option<u32>,
    /// 33 batches per pair: the median, and little else.
    #[arg(long, conflicts_with = "thorough")]
    pub quick: bool,
    /// At least 576 batches per pair, in nine passes or more.
    #[arg(long)]
    pub thorough: bool,
    /// Measure pairs in different cache groups at once, after checking that this changes nothing.
    #[arg(long)]
    pub parallel: bool,
    /// Group N cache lines by their home, and fit what each home adds to a distance.
    #[arg(
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u32).range(1..=65_536)
    )]
    pub homes: u32,
    /// On a model, PERCENT of its PUs communicate in random pairs while lines are grouped by home.
    #[arg(
        long,
        value_name = "PERCENT",
        requires = "homes",
        value_parser = clap::value_parser!(u8).range(1..=100)
    )]
    pub utilisation: Option<u8>,
    /// Also measure 1, 2, ... N/2 pairs at once, as a curve.
    #[arg(long)]
    pub loaded: bool,
    /// Also measure the speed of each CPU: a fixed piece of work, alone and all together.
    #[arg(long)]
    pub speed: bool,
    /// Pairs per distance whose threads sleep and wake each other, to measure wakeups; 0 skips this
    /// [default: 2].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=4096))]
    pub wakeups: Option<u32>,
    /// Continue an interrupted run of the same command.
    #[arg(long)]
    pub resume: bool,
    /// The seed of random orders.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the profile to a file; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Also write a profile for publishing: nothing in it names a person or a host; a line says
    /// what was omitted.
    #[arg(long, value_name = "FILE")]
    pub share: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

#[derive(Debug, Args)]
pub struct Import {
    /// The files, recognised by their content. Also models, and the output of
    /// hwloc-gather-topology: a folder or a .tar.bz2.
    #[arg(required = true, value_name = "FILE")]
    pub files: Vec<PathBuf>,
    /// Take the topology from this file (hwloc XML, as lstopo writes it).
    #[arg(long, value_name = "FILE")]
    pub topology: Option<PathBuf>,
    /// The CPUs of the rows of a core-to-core matrix, in order: 1-7,9-15. Such files do not name
    /// them; by default row k is CPU k.
    #[arg(long, value_name = "LIST")]
    pub cpus: Option<CpuList>,
    /// The nominal frequency in Hz, for files that count cycles: 2.8g.
    #[arg(long, value_name = "HZ", value_parser = frequency)]
    pub frequency: Option<f64>,
    /// The machine's name.
    #[arg(long)]
    pub name: Option<String>,
    /// The profile's file, or a folder, in which each file keeps its name; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print only the profile as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

#[derive(Debug, Args)]
pub struct Show {
    /// The machine: host, a bundled machine, or a file. Also a recording of 'seatmap top', a plan
    /// of 'seatmap place', or a cluster.
    #[arg(value_name = "MACHINE", default_value = "host")]
    pub machine: String,
    /// The order of rows and columns.
    #[arg(long, default_value = "group")]
    pub order: OrderChoice,
    /// List the nearest neighbours of this CPU.
    #[arg(long, value_name = "CPU")]
    pub near: Option<u32>,
    /// Draw the model's distances for lines of this home.
    #[arg(long, value_name = "N")]
    pub home: Option<usize>,
    /// The width in columns; the terminal's by default.
    #[arg(long, value_name = "COLUMNS", value_parser = clap::value_parser!(u16).range(20..))]
    pub width: Option<u16>,
    /// Draw a machine's distances, or a plan's tasks on its machine, as a picture; - is stdout.
    #[arg(long, value_name = "FILE")]
    pub svg: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

/// The order of rows and columns.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum OrderChoice {
    /// Group by group, SMT siblings side by side.
    Group,
    /// OS order: CPU 0, 1, 2 ...
    Os,
}

impl From<OrderChoice> for GridOrder {
    fn from(choice: OrderChoice) -> Self {
        match choice {
            OrderChoice::Group => GridOrder::Group,
            OrderChoice::Os => GridOrder::Os,
        }
    }
}

#[derive(Debug, Args)]
pub struct Machines {
    /// Add these to the site: host, files, or folders of files from 'seatmap measure --share'.
    #[arg(value_name = "PROFILE")]
    pub profiles: Vec<String>,
    /// Write the gallery into a folder: pages of all machines, and of those with the same
    /// processor side by side. A browser reads them without a server.
    #[arg(long, value_name = "FOLDER", conflicts_with = "json")]
    pub site: Option<PathBuf>,
    /// Print only the list as JSON, on stdout.
    #[arg(long)]
    pub json: bool,
}

/// The first of these options that was given.
fn first_given<const N: usize>(options: [(&'static str, bool); N]) -> Option<&'static str> {
    options.into_iter().find_map(|(option, is_given)| is_given.then_some(option))
}

/// A positive number with a multiplier of 1000: `2.8g`.
fn frequency(text: &str) -> Result<f64, String> {
    // Frequencies use multiples of 1000, not of 1024.
    let (number, factor) = match text.trim().to_ascii_lowercase() {
        text if text.ends_with('k') => (text[..text.len() - 1].to_owned(), 1e3),
        text if text.ends_with('m') => (text[..text.len() - 1].to_owned(), 1e6),
        text if text.ends_with('g') => (text[..text.len() - 1].to_owned(), 1e9),
        text => (text, 1.0),
    };
    let hz = number.parse::<f64>().map(|number| number * factor);
    hz.ok()
        // 1 MHz to 100 GHz. A number outside lacks its unit, such as `2.8` for 2.8g.
        .filter(|hz| (1e6..1e11).contains(hz))
        .ok_or_else(|| format!("'{text}' is not a frequency in Hz, such as 2.8g"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn command_definition_is_consistent() {
        command().debug_assert();
    }

    #[test]
    fn short_help_fits_a_screen() {
        let mut command = command().term_width(80);
        command.build();
        let mut wrong = too_tall_or_wide(&mut command, "seatmap");
        for verb in command.get_subcommands_mut() {
            let name = format!("seatmap {}", verb.get_name());
            wrong.extend(too_tall_or_wide(verb, &name));
            for inner in verb.get_subcommands_mut() {
                let name = format!("{name} {}", inner.get_name());
                wrong.extend(too_tall_or_wide(inner, &name));
            }
        }
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    /// Whether a command's help exceeds a screen of 40 lines and 80 columns.
    fn too_tall_or_wide(command: &mut clap::Command, name: &str) -> Vec<String> {
        let help = command.render_help().to_string();
        let lines = help.lines().count();
        let tall = (lines > 40).then(|| format!("{name} -h has {lines} lines"));
        let long = command.render_long_help().to_string();
        let all = help.lines().chain(long.lines());
        let wide = all.filter(|line| line.chars().count() > 80);
        tall.into_iter().chain(wide.map(|line| format!("{name}: {line}"))).collect()
    }

    #[test]
    fn every_verb_is_in_one_group() {
        let command = SeatmapArgs::command();
        let verbs: Vec<&str> = command
            .get_subcommands()
            .filter(|verb| !verb.is_hide_set())
            .map(clap::Command::get_name)
            .filter(|verb| *verb != "help")
            .collect();
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| *verbs).copied().collect();
        assert!(
            verbs.iter().all(|verb| grouped.iter().filter(|other| *other == verb).count() == 1),
            "{verbs:?}"
        );
        assert_eq!(grouped.len(), verbs.len());
    }

    #[test]
    fn frequencies_accept_multipliers() {
        assert_eq!(frequency("2.8g"), Ok(2.8e9));
        assert_eq!(frequency("2800M"), Ok(2.8e9));
        for bad in ["", "g", "-1g", "nan", "2.8", "1e99"] {
            assert!(frequency(bad).is_err(), "{bad}");
        }
    }
}
