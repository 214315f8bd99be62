//! The options of `seatmap bench`.

use clap::{Args, Subcommand};
use seatmap_console::cpus::{OrAll, RequestedCpus, requested_cpus};
use seatmap_console::{ResultForms, time_in};
use seatmap_data::document::{shell_word, whole_number};
use seatmap_launch::Executable;
use seatmap_trial::tune::{Better, Metric};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// The time of a session.
pub const SESSION: &str = "50ms to 7d";

/// The most blocks; more would take too long.
const BLOCKS: std::ops::RangeInclusive<usize> = 1..=100_000;

#[derive(Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Bench {
    /// Run the benchmarks in this bench.toml, base and head in turns.
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_WITH_FILE)]
    pub file: Option<PathBuf>,
    /// The older program: replaces {binary} in COMMAND or in the commands of --file.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["compare", "baseline"])]
    pub base: Option<PathBuf>,
    /// The newer program, compared with that of --base.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["compare", "baseline"])]
    pub head: Option<PathBuf>,
    /// Run N blocks: in each, every command runs once and COMMAND twice.
    ///
    /// Default: 15, and more while 3 seconds last.
    #[arg(short, long, value_name = "N", value_parser = blocks)]
    pub runs: Option<usize>,
    /// Run as many blocks as fit in this time, warm-ups included, but at least enough for an
    /// interval: 30s, 10m; a plain number is seconds.
    #[arg(long, value_name = "TIME", conflicts_with = "runs", value_parser = time_in(SESSION))]
    pub seconds: Option<Duration>,
    /// Number of seats to choose, one per core while there are cores. Default: all equal and quiet
    /// cores.
    #[arg(long, value_name = "N", conflicts_with = "cpus")]
    pub seats: Option<NonZeroUsize>,
    /// Run on these CPUs instead of chosen ones, or instead of those of --baseline.
    #[arg(long, value_name = "LIST", value_parser = requested_cpus)]
    pub cpus: Option<RequestedCpus>,
    #[command(flatten)]
    pub or_all: OrAll,
    /// Keep other programs off the commands' CPUs.
    ///
    /// The commands run in a cell if this user may create one. Otherwise the kernel is asked to
    /// prefer them.
    #[arg(long)]
    pub quiet: bool,
    /// The metric to compare: time, cpu, regex:PATTERN, command:LINE or perf:EVENT.
    ///
    /// time is elapsed time; cpu is CPU time, which neighbours disturb less. regex:PATTERN captures
    /// a number from the command's output. command:LINE is a shell line that prints a number after
    /// each run. perf:EVENT counts an event of the kernel or processor, such as perf:instructions.
    #[arg(long, value_name = "METRIC", default_value = "time", value_parser = Metric::parse)]
    pub metric: Metric,
    #[command(flatten)]
    pub readings: BetterReadings,
    /// Compare COMMAND with this command: 'old=./server-1.0 --port 7000'.
    ///
    /// A command line in one word, optionally with a name before it. May be given several times.
    #[arg(long, alias = "reference", value_name = "[NAME=]LINE", value_parser = other)]
    pub compare: Vec<Other>,
    /// Compare COMMAND with an earlier result of the same computer and settings.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// Exit with 1 if COMMAND is proven to be worse by more than this: 3%.
    ///
    /// With --file, and with --base and --head, head is compared with base. If the runs are too
    /// noisy, a line says which slowdown would have been detected.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// Exit with 1 also if the runs cannot decide whether a limit is met.
    #[arg(long)]
    pub strict: bool,
    /// Append the medians of head to this file, one line per session, for 'seatmap bench history'.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// The name of head in the result and the history, such as a commit.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// The name of COMMAND in the result.
    #[arg(long, alias = "command-name", value_name = "NAME")]
    pub name: Option<String>,
    /// Unmeasured runs of each command before the first block.
    #[arg(
        short,
        long,
        value_name = "N",
        default_value_t = 1,
        value_parser = clap::value_parser!(u16).range(0..=1000)
    )]
    pub warmup: u16,
    #[command(flatten)]
    pub randomness: RandomOrders,
    /// Write the result as JSON to a file; - is stdout.
    ///
    /// With --compare, the file is updated while the commands run.
    #[arg(short, long, alias = "export-json", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result as Markdown, for a CI job's summary or a comment.
    #[arg(long, alias = "export-markdown", value_name = "FILE")]
    pub markdown: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
    /// The program and its arguments.
    #[arg(value_name = "COMMAND", trailing_var_arg = true, required_unless_present = "file")]
    pub command: Vec<OsString>,
    #[command(subcommand)]
    pub over_time: Option<BenchOverTime>,
}

/// Which readings of a metric are better.
#[derive(Args)]
pub struct BetterReadings {
    /// Lower readings are better, as with time and events.
    #[arg(long, conflicts_with = "higher_is_better")]
    pub lower_is_better: bool,
    /// Higher readings are better, as with requests per second.
    #[arg(long)]
    pub higher_is_better: bool,
}

impl BetterReadings {
    /// The better readings, if the user said which.
    pub fn direction(&self) -> Option<Better> {
        match (self.lower_is_better, self.higher_is_better) {
            (_, true) => Some(Better::Higher),
            (true, false) => Some(Better::Lower),
            (false, false) => None,
        }
    }
}

/// The random orders of runs, and the confidence of the conclusions.
#[derive(Args)]
pub struct RandomOrders {
    /// The confidence of all tests and intervals.
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = confidence)]
    pub confidence: f64,
    /// The seed of the random orders.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

const NOT_WITH_FILE: [&str; 7] =
    ["command", "compare", "metric", "baseline", "name", "lower_is_better", "higher_is_better"];

/// A look at the results of many sessions.
#[derive(Subcommand)]
pub enum BenchOverTime {
    /// Show benchmarks over time, and when they changed.
    History(BenchHistory),
}

/// `seatmap bench history`, as typed.
#[derive(Args)]
pub struct BenchHistory {
    /// The file that --history wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The seed of the random orders that separate changes from noise.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
    /// Write the result as JSON; - is stdout.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    #[command(flatten)]
    pub forms: ResultForms,
}

impl Bench {
    /// Whether two versions of a program are compared: base and head.
    pub fn is_of_versions(&self) -> bool {
        self.file.is_some() || self.base.is_some() || self.head.is_some()
    }

    /// The equivalent command for commands typed as hyperfine takes them: each word is a program or
    /// a quoted line, and options may follow.
    pub fn typed_side_by_side(&self) -> Option<String> {
        let words: Vec<&str> = self.command.iter().filter_map(|word| word.to_str()).collect();
        let is_whole = words.len() == self.command.len();
        let count = commands_in(&words);
        let (lines, options) = words.split_at(count);
        let (first, others) = lines.split_first().filter(|(_, others)| !others.is_empty())?;
        if !is_whole || options.first().is_some_and(|word| !word.starts_with('-')) {
            return None;
        }
        let in_front: String =
            options.iter().map(|word| format!(" {}", shell_word(word))).collect();
        let others = others.iter().map(|line| format!(" --compare {}", shell_word(line)));
        let others: String = others.collect();
        let all: String = words.iter().map(|word| format!(" {}", shell_word(word))).collect();
        // A line is words for a shell already.
        let first = if is_line(first) { (*first).to_owned() } else { shell_word(first) };
        Some(format!(
            "give further commands with --compare: seatmap bench{in_front}{others} -- {first} \
             (after -- all words are one command: seatmap bench --{all})"
        ))
    }
}

/// A program with its arguments in one word.
fn is_line(word: &str) -> bool {
    word.trim().contains(' ') && !Path::new(word).exists()
}

/// Whether a word is a program, or a line that begins with one.
fn can_run(word: &str) -> bool {
    let program = if is_line(word) { word.split(' ').next() } else { Some(word) };
    program.is_some_and(|program| Executable::find(&[program.into()]).is_ok())
}

/// How many of the first words can each be a command alone. Bare names can only if all words can,
/// because `nice`, `env` and the like precede a command. A name before a path is an interpreter
/// with its script.
fn commands_in(words: &[&str]) -> usize {
    if words.iter().all(|word| is_line(word)) {
        return words.len();
    }
    let lines = words.iter().take_while(|word| can_run(word)).count();
    let has_lines = words[..lines].iter().any(|word| is_line(word));
    let has_paths = words[..lines].iter().all(|word| word.contains('/'));
    let are_names = lines == words.len() && !words.iter().any(|word| word.contains('/'));
    if has_lines || has_paths || are_names { lines } else { 0 }
}

/// Another command.
#[derive(Clone, Debug, PartialEq)]
pub struct Other {
    /// Its name, where one was typed.
    pub name: Option<String>,
    /// The program and its arguments.
    pub command: Vec<OsString>,
}

fn blocks(text: &str) -> Result<usize, String> {
    let number = whole_number(text).filter(|number| BLOCKS.contains(number));
    number.ok_or_else(|| {
        format!("'{text}' is not a number of blocks from {} to {}", BLOCKS.start(), BLOCKS.end())
    })
}

/// A name ends at a `=` before the first blank, slash or quote.
fn other(text: &str) -> Result<Other, String> {
    let (name, line) = match text.split_once('=') {
        // `./a --port=7`, `'A=1' cmd` and `env A=1 cmd` are commands without names.
        Some((name, line)) if !name.is_empty() && !name.contains([' ', '/', '\'', '"']) => {
            (Some(name), line)
        }
        _ => (None, text),
    };
    // Splits words as a shell does, but expands nothing.
    let words = shlex::split(line).ok_or_else(|| format!("'{line}' ends within quotes"))?;
    if words.is_empty() {
        Err("there is no command; write 'NAME=program and its arguments'".to_owned())
    } else {
        Ok(Other {
            name: name.map(str::to_owned),
            command: words.into_iter().map(Into::into).collect(),
        })
    }
}

fn percent(text: &str) -> Result<f64, String> {
    let number =
        text.trim_end_matches('%').trim().parse().ok().filter(|number| (0.0..1e4).contains(number));
    number.ok_or_else(|| format!("'{text}' is not a percentage such as 3%"))
}

pub fn confidence(text: &str) -> Result<f64, String> {
    let number: Option<f64> = match text.strip_suffix('%') {
        // People write both `95%` and `0.95`.
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    };
    // Below 0.5 an interval misses more often than it holds; above 0.999 it needs too many blocks.
    let share = number.filter(|share| (0.5..=0.999).contains(share));
    share.ok_or_else(|| format!("'{text}' is not a confidence from 0.5 to 0.999; 0.95 is usual"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::verbs::{SeatmapArgs, SeatmapCommand};
    use clap::Parser;

    #[test]
    fn several_bench_commands_get_compare_hint() {
        let way = |words: &[&str]| {
            let words = [&["seatmap", "bench"], words].concat();
            let typed = SeatmapArgs::try_parse_from(words).unwrap();
            let SeatmapCommand::Bench(bench) = typed.command else { panic!("another verb") };
            bench.typed_side_by_side()
        };
        let expected = "give further commands with --compare: seatmap bench --compare 'sleep 0.2' \
                        -- sleep 0.1 (after -- all words are one command: seatmap bench -- \
                        'sleep 0.1' 'sleep 0.2')";
        assert_eq!(way(&["sleep 0.1", "sleep 0.2"]).unwrap(), expected);
        for other in [
            &["/bin/sh", "/bin/true"][..],
            &["true", "false"],
            &["true", "false", "true"],
            &["sleep 0.1", "true"],
            &["/bin/sh", "/bin/true", "-w", "3"],
        ] {
            assert!(way(other).unwrap().contains(" --compare "), "{other:?}");
        }
        for well in [
            &["sleep", "0.1"][..],
            &["sleep 0.1"],
            &["true"],
            &["sh", "-c", "sleep 1"],
            &["sh", "/bin/true"],
            &["nice", "sleep", "0.1"],
            &["/bin/sh", "/bin/true", "file"],
            &["/bin/true", "/no/such/file"],
        ] {
            assert_eq!(way(well), None, "{well:?}");
        }
    }

    #[test]
    fn other_commands_may_be_named() {
        let read = |text: &str| other(text).map(|other| (other.name, other.command.len()));
        assert_eq!(read("old=./a -x 'two words'"), Ok((Some("old".to_owned()), 3)));
        assert_eq!(read("./a --size=3"), Ok((None, 2)));
        assert_eq!(read("a --size=3"), Ok((None, 2)));
        assert!(read("a 'b").unwrap_err().contains("within quotes"));
        assert!(read("old=").is_err() && read("").is_err());
    }

    #[test]
    fn percentages_and_confidences_are_bounded() {
        assert_eq!((percent("3%"), percent("0.5"), percent("2 %")), (Ok(3.0), Ok(0.5), Ok(2.0)));
        assert_eq!((confidence("95%"), confidence("0.99")), (Ok(0.95), Ok(0.99)));
        for bad in ["", "%", "-1", "nan", "1e9", "x"] {
            assert!(percent(bad).is_err() && confidence(bad).is_err(), "{bad}");
        }
        assert!(confidence("1").is_err() && blocks("0").is_err() && time_in(SESSION)("0").is_err());
    }
}
