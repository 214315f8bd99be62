//! `seatmap bench`, as typed.

use clap::{Args, Subcommand};
use seatmap_console::outputs::ResultForms;
use seatmap_console::time::time_within;
use seatmap_console::values::own_cpus;
use seatmap_data::document::shell_word;
use seatmap_launch::Executable;
use seatmap_os::CpuList;
use seatmap_trial::tune::{Better, Metric, MetricError};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Blocks are compared by ranks, which need a handful; more than these are nobody's patience.
const BLOCKS: std::ops::RangeInclusive<usize> = 1..=100_000;

#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true, subcommand_negates_reqs = true)]
pub struct Bench {
    /// Run base and head of the benchmarks in this bench.toml, by turns.
    #[arg(long, value_name = "FILE", conflicts_with_all = NOT_WITH_FILE)]
    pub file: Option<PathBuf>,
    /// The older program, which {binary} stands for in COMMAND or in the commands of --file.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["compare", "baseline"])]
    pub base: Option<PathBuf>,
    /// The newer program, which is compared with that of --base.
    #[arg(long, value_name = "PROGRAM", conflicts_with_all = ["compare", "baseline"])]
    pub head: Option<PathBuf>,
    /// Run so many blocks: in each, every command runs once and COMMAND twice.
    ///
    /// By default 15 are run, and more for 3 seconds.
    #[arg(short, long, value_name = "N", value_parser = blocks)]
    pub runs: Option<usize>,
    /// Run as many blocks as fit in this time, warm-ups included, but at least as many as an
    /// interval needs: 30s, 10m; a number alone is seconds.
    #[arg(long, value_name = "TIME", conflicts_with = "runs", value_parser = session)]
    pub seconds: Option<Duration>,
    /// Seats to choose, each on a core of its own while there are cores; all equal and quiet cores
    /// by default.
    #[arg(long, value_name = "N", conflicts_with = "cpus")]
    pub seats: Option<NonZeroUsize>,
    /// Run on these CPUs instead of chosen ones, or instead of those of --baseline.
    #[arg(long, value_name = "LIST", value_parser = own_cpus)]
    pub cpus: Option<CpuList>,
    /// Keep others away from the CPUs of the commands.
    ///
    /// The commands run in a cell where this user may make one. Elsewhere the kernel is asked to
    /// prefer them.
    #[arg(long)]
    pub quiet: bool,
    /// The figure that is compared: time, cpu, regex:PATTERN, command:LINE or perf:EVENT.
    ///
    /// time is that from start to end; cpu is the CPU time, which neighbours disturb less.
    /// regex:PATTERN has a group that is a number which the command prints. command:LINE is a line
    /// for the shell that prints a number afterwards. perf:EVENT is a count of the kernel's or the
    /// processor's, such as perf:instructions.
    #[arg(long, value_name = "METRIC", default_value = "time", value_parser = metric)]
    pub metric: Metric,
    #[command(flatten)]
    pub readings: BetterReadings,
    /// Compare COMMAND with this one: 'old=./server-1.0 --port 7000'.
    ///
    /// It is a line of words and quotes, with a name before it if you like. Give it several times
    /// for several commands.
    #[arg(long, alias = "reference", value_name = "[NAME=]LINE", value_parser = other)]
    pub compare: Vec<Other>,
    /// Compare COMMAND with that of an earlier result, if it is of the same computer and settings.
    #[arg(long, value_name = "FILE")]
    pub baseline: Option<PathBuf>,
    /// End with exit code 1 if COMMAND is shown to be worse by more than this: 3%.
    ///
    /// With --file, and with --base and --head, it is head that is shown to be worse than base.
    /// Where the runs cannot tell, a line says which slowdown they would have shown.
    #[arg(long, value_name = "PERCENT", value_parser = percent)]
    pub fail_above: Option<f64>,
    /// End with exit code 1 also where the runs cannot tell whether a limit is met.
    #[arg(long)]
    pub strict: bool,
    /// Append the medians of head to this file, a line a session, for 'seatmap bench history'.
    #[arg(long, value_name = "FILE")]
    pub history: Option<PathBuf>,
    /// The name of head in the result and the history, such as its commit.
    #[arg(long, value_name = "TEXT")]
    pub label: Option<String>,
    /// The name of COMMAND in the result.
    #[arg(long, alias = "command-name", value_name = "NAME")]
    pub name: Option<String>,
    /// Runs of each command before the first block, which nobody reads.
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
    /// A file is written again and again while commands run that are compared with --compare.
    #[arg(short, long, alias = "export-json", value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Write the result as Markdown, for a job's summary or a comment.
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

/// The readings of a metric that are the better ones.
#[derive(Debug, Args)]
pub struct BetterReadings {
    /// Take smaller readings for the better ones, as with time and events.
    #[arg(long, conflicts_with = "higher_is_better")]
    pub lower_is_better: bool,
    /// Take larger readings for the better ones, as with requests a second.
    #[arg(long)]
    pub higher_is_better: bool,
}

impl BetterReadings {
    /// The better readings, where the user said so.
    pub fn direction(&self) -> Option<Better> {
        match (self.lower_is_better, self.higher_is_better) {
            (_, true) => Some(Better::Higher),
            (true, false) => Some(Better::Lower),
            (false, false) => None,
        }
    }
}

/// The random orders of runs, and the confidence of what follows from them.
#[derive(Debug, Args)]
pub struct RandomOrders {
    /// The confidence of all tests and intervals.
    #[arg(long, value_name = "SHARE", default_value = "0.95", value_parser = confidence)]
    pub confidence: f64,
    /// The start of the random orders.
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub seed: u64,
}

/// Options that a file has in its entries.
const NOT_WITH_FILE: [&str; 7] =
    ["command", "compare", "metric", "baseline", "name", "lower_is_better", "higher_is_better"];

/// A look at the results of many sessions.
#[derive(Debug, Subcommand)]
pub enum BenchOverTime {
    /// Show benchmarks over time, and where they changed.
    History(BenchHistory),
}

/// `seatmap bench history`, as typed.
#[derive(Debug, Args)]
pub struct BenchHistory {
    /// The file that --history wrote.
    #[arg(value_name = "FILE")]
    pub file: PathBuf,
    /// The start of the random orders that tell changes from noise.
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

    /// The way to compare commands that were typed as hyperfine takes them: each word is a program
    /// or a line in quotation marks, and options may follow.
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
            "commands are compared by --compare: seatmap bench{in_front}{others} -- {first} \
             (behind -- all words are one command: seatmap bench --{all})"
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

/// How many of these words, from the first, can each be a command by itself. Bare names can only
/// if all words are such: `nice`, `env` and the like stand in front of a command. A name in front
/// of a path is an interpreter with its script.
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

pub(super) fn metric(text: &str) -> Result<Metric, MetricError> {
    Metric::parse(text)
}

fn blocks(text: &str) -> Result<usize, String> {
    let number = text.parse().ok().filter(|number| BLOCKS.contains(number));
    number.ok_or_else(|| {
        format!("'{text}' is not a number of blocks from {} to {}", BLOCKS.start(), BLOCKS.end())
    })
}

pub(super) fn session(text: &str) -> Result<Duration, String> {
    time_within(text, Duration::from_millis(50)..=Duration::from_secs(7 * 86_400), "50ms to 7d")
}

/// A name ends at a `=` before the first blank, slash or quote.
fn other(text: &str) -> Result<Other, String> {
    let (name, line) = match text.split_once('=') {
        // `./a --port=7`, `'A=1' cmd` and `env A=1 cmd` are commands, and no names.
        Some((name, line)) if !name.is_empty() && !name.contains([' ', '/', '\'', '"']) => {
            (Some(name), line)
        }
        _ => (None, text),
    };
    // Words and quotes as in a shell, but no shell: nothing in them is expanded.
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

pub(super) fn confidence(text: &str) -> Result<f64, String> {
    let number: Option<f64> = match text.strip_suffix('%') {
        // People write both `95%` and `0.95`.
        Some(percent) => percent.trim().parse().ok().map(|percent: f64| percent / 100.0),
        None => text.parse().ok(),
    };
    // Below a half an interval misses more often than it holds; beyond 0.999 it needs more blocks
    // than anybody waits for.
    let share = number.filter(|share| (0.5..=0.999).contains(share));
    share.ok_or_else(|| format!("'{text}' is not a confidence from 0.5 to 0.999; 0.95 is usual"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::args::{SeatmapArgs, SeatmapCommand};
    use clap::Parser;

    #[test]
    fn commands_side_by_side_are_told_how_they_are_compared() {
        let way = |words: &[&str]| {
            let words = [&["seatmap", "bench"], words].concat();
            let typed = SeatmapArgs::try_parse_from(words).unwrap();
            let SeatmapCommand::Bench(bench) = typed.command else { panic!("another verb") };
            bench.typed_side_by_side()
        };
        let expected = "commands are compared by --compare: seatmap bench --compare 'sleep 0.2' \
                        -- sleep 0.1 (behind -- all words are one command: seatmap bench -- \
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
    fn other_commands_may_have_names() {
        let read = |text: &str| other(text).map(|other| (other.name, other.command.len()));
        assert_eq!(read("old=./a -x 'two words'"), Ok((Some("old".to_owned()), 3)));
        assert_eq!(read("./a --size=3"), Ok((None, 2)));
        assert_eq!(read("a --size=3"), Ok((None, 2)));
        assert!(read("a 'b").unwrap_err().contains("within quotes"));
        assert!(read("old=").is_err() && read("").is_err());
    }

    #[test]
    fn shares_and_percentages_have_bounds() {
        assert_eq!((percent("3%"), percent("0.5"), percent("2 %")), (Ok(3.0), Ok(0.5), Ok(2.0)));
        assert_eq!((confidence("95%"), confidence("0.99")), (Ok(0.95), Ok(0.99)));
        for bad in ["", "%", "-1", "nan", "1e9", "x"] {
            assert!(percent(bad).is_err() && confidence(bad).is_err(), "{bad}");
        }
        assert!(confidence("1").is_err() && blocks("0").is_err() && session("0").is_err());
    }
}
