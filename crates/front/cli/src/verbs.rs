//! The verbs, one file each: its options, and its work.

/// Ends a function with a usage error if this is so.
macro_rules! refuse_if {
    ($is_so:expr, $($said:tt)+) => {
        if $is_so {
            return Err(seatmap_console::error::CliError::input(format!($($said)+)));
        }
    };
}

/// The first of these options that was given, as typed. An option outside the options' own struct,
/// or with a default, has its own condition.
macro_rules! first_given {
    (@ $typed:expr, $option:ident) => {
        $crate::verbs::IsGiven::is_given(&$typed.$option)
    };
    (@ $typed:expr, $option:ident $is_given:expr) => {
        $is_given
    };
    ($typed:expr; $($option:ident $(= $is_given:expr)?),*) => {
        [$((stringify!($option), first_given!(@ $typed, $option $($is_given)?))),*]
            .into_iter()
            .find_map(|(option, is_given)| {
                is_given.then(|| format!("--{}", option.replace('_', "-")))
            })
    };
}

pub mod advise;
pub mod bench;
pub mod cell;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod cpus;
pub mod doctor;
pub mod export;
pub mod gallery;
pub mod guardian;
pub mod import;
pub mod machines;
pub mod measure;
pub mod model;
pub mod noise;
pub mod observe;
pub mod pattern;
pub mod place;
pub mod pretend;
pub mod run;
pub mod services;
pub mod show;
pub mod top;
pub mod tune;

use crate::GUIDES;
use clap::{CommandFactory, Parser, Subcommand};
use seatmap_console::CliResult;
use seatmap_console::guide::with_guides;
use seatmap_console::running::CliProgram;
use seatmap_console::shell::{ShellVerb, with_short_help};
use seatmap_console::view::ColourChoice;

/// The verbs: first the five that most people need, then the others by purpose.
const GROUPS: [(&str, &str); 4] = [
    ("Start here", "advise run check bench show"),
    ("Measure", "measure compare cpus noise doctor cluster"),
    ("Place and run", "place tune services pattern export top observe pretend cell"),
    ("Machines and shell", "machines import model completions man"),
];

/// `-h` omits these options to fit a screen; `--help` has them all.
const RARELY_NEEDED: [(&str, &str); 7] = [
    ("pretend", "strict timeout jobs same_output html junit"),
    ("measure", "passes thorough parallel utilisation wakeups seed"),
    (
        "place",
        "qaplib rounds weight waiting spinning use_smt one_per widen sections kicks threads seed \
         before fix svg load load_ns kind equal_kind prefer",
    ),
    (
        "run",
        "once skip start_at detach allow_unseated force any_machine html huge move_pages \
         verify_memory",
    ),
    (
        "bench",
        "seats lower_is_better higher_is_better name warmup confidence seed cpus base head strict \
         history label html",
    ),
    ("tune", "lower_is_better higher_is_better vary confidence seed cpus candidates objective"),
    ("check", "any_machine no_children slurm_step all trace metrics baseline"),
];

/// The command line, with verbs by group and rarely needed options only in `--help`.
pub fn command() -> clap::Command {
    let command = with_short_help(SeatmapArgs::command(), &RARELY_NEEDED);
    let command = with_guides(in_order(command), GUIDES);
    // The template has no `{subcommands}`: the verbs stand by group, behind the usage.
    let template = format!(
        "{{about}}\n\n{{usage-heading}} {{usage}}\n{}\n{{options}}{{after-help}}",
        verbs_by_group(&command)
    );
    command.help_template(template)
}

/// The command line with its verbs in the order of the groups, which pages and completions follow.
fn in_order(command: clap::Command) -> clap::Command {
    let verbs = GROUPS.iter().flat_map(|(_, verbs)| verbs.split(' '));
    verbs.zip(1..).fold(command, |command, (verb, place)| {
        command.mut_subcommand(verb, |verb| verb.display_order(place))
    })
}

/// `clap` lists verbs in one block only.
fn verbs_by_group(command: &clap::Command) -> String {
    let mut text = String::new();
    for (title, verbs) in GROUPS {
        text += &format!("\n{title}:\n");
        for verb in verbs.split(' ') {
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
#[derive(Parser)]
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

/// The verbs with their options, and the modules that do their work.
macro_rules! verbs {
    ($($(#[$about:meta])* $verb:ident($options:ty) $module:ident,)*) => {
        #[derive(Subcommand)]
        pub enum SeatmapCommand {
            $($(#[$about])* $verb($options),)*
            #[command(flatten)]
            Shell(ShellVerb),
        }

        impl SeatmapCommand {
            /// Does the work of a verb.
            pub fn run(self, program: &CliProgram) -> CliResult {
                match self {
                    $(Self::$verb(typed) => $module::run(&typed),)*
                    Self::Shell(verb) => verb.run(program),
                }
            }
        }
    };
}

verbs! {
    /// Measure the distances between the cores of a machine.
    Measure(measure::MeasureArgs) measure,
    /// Read other tools' files: core-to-core-latency, MCTOP, hwloc.
    Import(import::Import) import,
    /// Write a plan or profile for another tool, or as a picture.
    Export(export::Export) export,
    /// Show a machine: heatmap, distance classes, anomalies.
    Show(show::Show) show,
    /// Compare the distances and topologies of two machines.
    Compare(compare::CompareArgs) compare,
    /// Print CPUs by what they are, or how many threads fit.
    Cpus(cpus::CpusArgs) cpus,
    /// Find a placement for a communication pattern, and rate it.
    Place(Box<place::PlaceArgs>) place,
    /// Place all services of this computer: record, plan, apply, undo.
    Services(services::Services) services,
    /// Show, convert and list communication patterns.
    Pattern(pattern::PatternArgs) pattern,
    /// Recommend whether and how to pin a program.
    Advise(advise::Advise) advise,
    /// Pin the threads of a program, and verify it.
    Run(run::RunArgs) run,
    /// Check the pinning of running programs.
    Check(check::Check) check,
    /// Watch the threads of running programs and their CPUs.
    Top(top::Top) top,
    /// Record which threads of a program communicate, as a pattern.
    Observe(observe::ObserveArgs) observe,
    /// Benchmark commands; report only proven differences.
    Bench(bench::Bench) bench,
    /// Find the best placement of a program by running it.
    Tune(tune::Tune) tune,
    /// Run a program as if on another machine, to check its pinning.
    Pretend(pretend::Pretend) pretend,
    /// Fit a simulated machine to measurements.
    Model(model::Model) model,
    /// Reserve quiet CPUs, and run programs on them.
    Cell(Box<cell::CellArgs>) cell,
    /// Measure how much time the system takes from programs, CPU by CPU.
    Noise(noise::NoiseArgs) noise,
    /// Find what disturbs programs on this host, with remedies.
    Doctor(doctor::Doctor) doctor,
    /// Measure the distances in a cluster, and find its faulty nodes.
    Cluster(cluster::ClusterArgs) cluster,
    /// List the bundled machines.
    Machines(machines::Machines) machines,
    /// Restore what another process changed, if that process dies.
    #[command(hide = true, subcommand)]
    Guardian(guardian::GuardianVerb) guardian,
}

/// An option's value that shows whether it was given.
pub trait IsGiven {
    /// Whether the option was given.
    fn is_given(&self) -> bool;
}

impl IsGiven for bool {
    fn is_given(&self) -> bool {
        *self
    }
}

impl<T> IsGiven for Option<T> {
    fn is_given(&self) -> bool {
        self.is_some()
    }
}

impl<T> IsGiven for Vec<T> {
    fn is_given(&self) -> bool {
        !self.is_empty()
    }
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
        let grouped: Vec<&str> = GROUPS.iter().flat_map(|(_, verbs)| verbs.split(' ')).collect();
        assert!(
            verbs.iter().all(|verb| grouped.iter().filter(|other| *other == verb).count() == 1),
            "{verbs:?}"
        );
        assert_eq!(grouped.len(), verbs.len());
    }
}
