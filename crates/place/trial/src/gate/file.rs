//! `bench.toml`: a program's list of benchmarks.

use crate::gate::adapter::Adapter;
use crate::tune::trial::texts;
use crate::tune::{Better, Length, Metric};
use seatmap_data::document::{Failure, Outline, Position, parser_message};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;
use std::ffi::OsString;
use std::path::PathBuf;
use std::time::Duration;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-benchmarks/1";

/// Stands for the side's program in a command.
pub const BINARY: &str = "{binary}";

/// The most benchmarks of one file.
pub const MOST_BENCHMARKS: usize = 1000;

const MOST_BLOCKS: usize = 100_000;

/// One week, in seconds.
const LONGEST_S: f64 = 604_800.0;

/// The benchmarks of a program in two versions: base and the newer head.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct BenchmarksFile {
    /// Name and version of the format.
    pub format: String,
    /// The base program, for `{binary}`; `--base` overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<PathBuf>,
    /// The head program; `--head` overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<PathBuf>,
    /// The default limit of a slowdown, in percent. `--fail-above` overrides it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above_percent: Option<f64>,
    /// The default number of blocks. A block runs base once and head twice.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// The default time of a benchmark's runs, in seconds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// The benchmarks, in order of the results.
    #[serde(default, rename = "benchmark")]
    pub benchmarks: Vec<Benchmark>,
}

/// A benchmark: the commands of both sides, and the metric.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Benchmark {
    /// Its name. For an adapter it precedes each reported name.
    pub name: String,
    /// The command of both sides, quoted as for a shell, but run without one. `{binary}` stands for
    /// the program of each side.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    /// The command of base, if the two differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub base: Option<String>,
    /// The command of head, if the two differ.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub head: Option<String>,
    /// The metric: `time`, `cpu`, `regex:PATTERN`, `command:LINE`, `perf:EVENT`. Default: `time`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub metric: Option<String>,
    /// Whether lower or higher readings are better. Default for times and events: lower.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub better: Option<Better>,
    /// The benchmark library whose report is read, instead of a metric.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapter: Option<Adapter>,
    /// A shell command that runs once, before the first run of this benchmark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub setup: Option<String>,
    /// Its limit in percent, instead of the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fail_above_percent: Option<f64>,
    /// Its blocks, instead of the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub runs: Option<usize>,
    /// The time of its runs in seconds, instead of the file's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// Warm-up runs of each side. Default: 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub warmup: Option<u16>,
}

/// A version of the program.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum ProgramVersion {
    /// The newer version, which is judged.
    Head,
    /// The older version, for comparison.
    Base,
}

impl ProgramVersion {
    /// Both versions, head first.
    pub const BOTH: [ProgramVersion; 2] = [ProgramVersion::Head, ProgramVersion::Base];

    /// Its word.
    pub fn word(self) -> &'static str {
        match self {
            ProgramVersion::Head => "head",
            ProgramVersion::Base => "base",
        }
    }
}

fn wrong<T>(what: String) -> Result<T, Failure> {
    Err(Failure::input(what))
}

/// A benchmark, ready to run.
#[derive(Clone, Debug)]
pub struct PlannedBenchmark {
    /// Its name.
    pub name: String,
    /// The words of head's command and of base's.
    pub words: [Vec<OsString>; 2],
    /// The metric.
    pub metric: Metric,
    /// The library whose report has the readings, if any.
    pub adapter: Option<Adapter>,
    /// Whether lower or higher readings are better, if known.
    pub better: Option<Better>,
    /// A shell command before the first run.
    pub setup: Option<String>,
    /// The length of its session.
    pub length: Length,
    /// The limit, in percent.
    pub fail_above_percent: Option<f64>,
}

impl BenchmarksFile {
    /// A file with only this command and metric. The default name is the command.
    pub fn of_command(
        name: Option<&str>,
        words: &[OsString],
        metric: &Metric,
        better: Option<Better>,
        warmup: u16,
    ) -> Self {
        let texts = texts(words);
        // No command line has a NUL byte, which cannot be quoted.
        let line = shlex::try_join(texts.iter().map(String::as_str)).unwrap_or_default();
        let benchmark = Benchmark {
            name: name.map_or_else(|| texts.join(" "), str::to_owned),
            command: Some(line),
            metric: Some(metric.to_string()),
            better,
            warmup: Some(warmup),
            ..Benchmark::default()
        };
        let format = FORMAT.to_owned();
        BenchmarksFile { format, benchmarks: vec![benchmark], ..BenchmarksFile::default() }
    }

    /// Reads and checks the file.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn from_toml(text: &str) -> Result<Self, Failure> {
        let read = toml::from_str(text).and_then(|_: Outline| toml::from_str(text));
        let file: BenchmarksFile = read.or_else(|error| {
            let start = error.span().map_or(0, |span| span.start);
            let position = Position::of(text.as_bytes(), start);
            wrong(format!("{position}: {}", parser_message(error.message())))
        })?;
        file.check()?;
        Ok(file)
    }

    fn check(&self) -> Result<(), Failure> {
        if self.format != FORMAT {
            return wrong(format!("the format is '{}'; write format = \"{FORMAT}\"", self.format));
        }
        let count = self.benchmarks.len();
        if count == 0 {
            let what = "the file lists no benchmark; write [[benchmark]] with a name and a command";
            return wrong(what.to_owned());
        }
        if count > MOST_BENCHMARKS {
            return wrong(format!(
                "the file lists {count} benchmarks; at most {MOST_BENCHMARKS} run in one job"
            ));
        }
        check_length(self.fail_above_percent, self.runs, self.seconds)?;
        let mut names = BTreeSet::new();
        for benchmark in &self.benchmarks {
            let name = &benchmark.name;
            if name.trim().is_empty() || name.chars().count() > 100 {
                return wrong(format!("the name '{name}' is empty or longer than 100 letters"));
            }
            check_length(benchmark.fail_above_percent, benchmark.runs, benchmark.seconds)?;
            if benchmark.metric.is_some() && benchmark.adapter.is_some() {
                return wrong(format!(
                    "benchmark '{name}' has both a metric and an adapter; give one of the two"
                ));
            }
            if !names.insert(name) {
                return wrong(format!(
                    "two benchmarks are named '{name}'; give each a unique name"
                ));
            }
        }
        Ok(())
    }

    /// The benchmarks, ready to run, with this confidence of all claims together. The settings of
    /// `overrides`, without benchmarks, come first.
    ///
    /// # Errors
    /// [`Failure`]: a command is incomplete, or a limit cannot be judged.
    pub fn planned(
        &self,
        overrides: &BenchmarksFile,
        confidence: f64,
    ) -> Result<Vec<PlannedBenchmark>, Failure> {
        let benchmarks = self.benchmarks.iter();
        benchmarks.map(|benchmark| self.plan(benchmark, overrides, confidence)).collect()
    }

    fn plan(
        &self,
        benchmark: &Benchmark,
        overrides: &BenchmarksFile,
        confidence: f64,
    ) -> Result<PlannedBenchmark, Failure> {
        let name = benchmark.name.clone();
        let metric = Metric::parse(benchmark.metric.as_deref().unwrap_or("time"))
            .map_err(Failure::input_at(format!("benchmark '{name}'")))?;
        let adapter = benchmark.adapter;
        let of_adapter = adapter.map(|_| Better::Lower);
        let better = of_adapter.or_else(|| metric.better(benchmark.better));
        let own_limit = benchmark.fail_above_percent.or(self.fail_above_percent);
        let fail_above_percent = overrides.fail_above_percent.or(own_limit);
        if fail_above_percent.is_some() && better.is_none() {
            return wrong(format!(
                "benchmark '{name}' has a limit, but no direction; write better = \"lower\" or \
                 better = \"higher\""
            ));
        }
        let [head, base] = ProgramVersion::BOTH.map(|side| {
            let [binary, own] = match side {
                ProgramVersion::Head => [&overrides.head, &self.head],
                ProgramVersion::Base => [&overrides.base, &self.base],
            };
            benchmark.words(side, binary.as_ref().or(own.as_ref()))
        });
        let words = [head?, base?];
        if words[0] == words[1] {
            return wrong(format!(
                "benchmark '{name}': base and head are the same command; write {BINARY} for the \
                 program, or give 'base' and 'head'"
            ));
        }
        Ok(PlannedBenchmark {
            name,
            words,
            metric,
            adapter,
            better,
            setup: benchmark.setup.clone(),
            length: self.length(benchmark, overrides, confidence),
            fail_above_percent,
        })
    }

    fn length(&self, benchmark: &Benchmark, typed: &BenchmarksFile, confidence: f64) -> Length {
        let choices = [
            (typed.runs, typed.seconds),
            (benchmark.runs, benchmark.seconds),
            (self.runs, self.seconds),
        ];
        let said = choices.into_iter().find(|(runs, seconds)| runs.is_some() || seconds.is_some());
        let (runs, seconds) = said.unwrap_or_default();
        let warm_ups = benchmark.warmup.unwrap_or(1).into();
        Length::new(warm_ups, runs, seconds.map(Duration::from_secs_f64), confidence)
    }
}

impl Benchmark {
    fn words(
        &self,
        side: ProgramVersion,
        binary: Option<&PathBuf>,
    ) -> Result<Vec<OsString>, Failure> {
        let name = &self.name;
        let own = match side {
            ProgramVersion::Head => &self.head,
            ProgramVersion::Base => &self.base,
        };
        let line = match (&self.command, own) {
            (Some(line), None) if self.base.is_none() && self.head.is_none() => line,
            (None, Some(line)) => line,
            _ => {
                return wrong(format!(
                    "benchmark '{name}': give either 'command', or both 'base' and 'head'"
                ));
            }
        };
        let Some(words) = shlex::split(line).filter(|words| !words.is_empty()) else {
            return wrong(format!(
                "benchmark '{name}': the command '{line}' is empty or ends within quotes"
            ));
        };
        let binary = binary.map(|binary| binary.to_string_lossy());
        if binary.is_none() && words.iter().any(|word| word.contains(BINARY)) {
            let side = side.word();
            return wrong(format!(
                "benchmark '{name}': the program for {BINARY} in {side} is missing; write {side} = \
                 \"PROGRAM\" before the first [[benchmark]], or add --{side} PROGRAM"
            ));
        }
        // Without a program, no word stands for it.
        let binary = binary.unwrap_or_default();
        Ok(words.into_iter().map(|word| word.replace(BINARY, &binary).into()).collect())
    }
}

fn check_length(
    limit: Option<f64>,
    runs: Option<usize>,
    seconds: Option<f64>,
) -> Result<(), Failure> {
    if let Some(limit) = limit.filter(|limit| !(0.0..=1e4).contains(limit)) {
        return wrong(format!("fail_above_percent is {limit}; write a number from 0 to 10000"));
    }
    if let Some(runs) = runs.filter(|runs| !(1..=MOST_BLOCKS).contains(runs)) {
        return wrong(format!("runs is {runs}; write a number from 1 to {MOST_BLOCKS}"));
    }
    if let Some(seconds) = seconds.filter(|seconds| !(0.05..=LONGEST_S).contains(seconds)) {
        return wrong(format!("seconds is {seconds}; write a number from 0.05 to {LONGEST_S}"));
    }
    if runs.is_some() && seconds.is_some() {
        let what = "'runs' and 'seconds' exclude each other; give one of the two";
        return wrong(what.to_owned());
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEAD: &str = "format = \"seatmap-benchmarks/1\"\n";

    fn file(keys: &str) -> String {
        format!("{HEAD}[[benchmark]]\nname = \"a\"\n{keys}\n")
    }

    fn refused(text: &str) -> String {
        let planned = BenchmarksFile::from_toml(text)
            .and_then(|file| file.planned(&BenchmarksFile::default(), 0.95));
        planned.unwrap_err().to_string()
    }

    fn planned(text: &str, overrides: &BenchmarksFile) -> Vec<PlannedBenchmark> {
        BenchmarksFile::from_toml(text).unwrap().planned(overrides, 0.95).unwrap()
    }

    #[test]
    fn benchmarks_file_sets_commands_for_both_sides() {
        let text = format!(
            "{HEAD}base = \"old/app\"\nhead = \"new/app\"\nfail_above_percent = 3\nruns = 20\n\
             [[benchmark]]\nname = \"parse\"\ncommand = \"{{binary}} parse 'two words'\"\n\
             [[benchmark]]\nname = \"other\"\nbase = \"a\"\nhead = \"b\"\nseconds = 2.5\n\
             fail_above_percent = 5\nmetric = \"regex:(1)\"\nbetter = \"higher\"\n"
        );
        let two = planned(&text, &BenchmarksFile::default());
        assert_eq!(two[0].words[0], ["new/app", "parse", "two words"]);
        assert_eq!(two[0].words[1][0], "old/app");
        assert_eq!((two[0].fail_above_percent, two[1].fail_above_percent), (Some(3.0), Some(5.0)));
        assert_eq!((two[0].length.most_blocks, two[1].length.least_blocks), (20, 6));
        assert_eq!((two[0].better, two[1].better), (Some(Better::Lower), Some(Better::Higher)));
        let typed = BenchmarksFile {
            base: Some("x".into()),
            fail_above_percent: Some(1.0),
            runs: Some(7),
            ..BenchmarksFile::default()
        };
        let two = planned(&text, &typed);
        assert_eq!((&two[0].words[1][0], &two[0].words[0][0]), (&"x".into(), &"new/app".into()));
        assert_eq!((two[1].fail_above_percent, two[1].length.most_blocks), (Some(1.0), 7));
    }

    #[test]
    fn command_line_alone_defines_benchmark() {
        let words = ["{binary}", "two words"].map(Into::into);
        let file = BenchmarksFile::of_command(None, &words, &Metric::Time, None, 0);
        let none = file.planned(&BenchmarksFile::default(), 0.95).unwrap_err().to_string();
        assert!(none.contains("--head PROGRAM"), "{none}");
        let [base, head] = ["a b", "h"].map(|path| Some(path.into()));
        let typed = BenchmarksFile { base, head, ..BenchmarksFile::default() };
        let planned = &file.planned(&typed, 0.95).unwrap()[0];
        assert_eq!(planned.words, [["h", "two words"], ["a b", "two words"]]);
        assert_eq!((planned.name.as_str(), planned.length.warm_ups), ("{binary} two words", 0));
    }

    #[test]
    fn benchmarks_file_errors_are_named() {
        for (text, said) in [
            (file("command = 3"), "line 4, column 11"),
            (file("colour = 1"), "colour"),
            (HEAD.to_owned(), "lists no benchmark"),
            (file(""), "'command', or both"),
            (file("command = \"a\"\nhead = \"b\""), "'command', or both"),
            (file("head = \"b\""), "'command', or both"),
            (file("command = \"{binary} x\""), "--head PROGRAM"),
            (file("command = \"true\""), "same command"),
            (file("command = \"'\""), "within quotes"),
            (file("base = \"a\"\nhead = \"b\"\nmetric = \"speed\""), "benchmark 'a'"),
            (file("base = \"a\"\nhead = \"b\"\nmetric = \"time\"\nadapter = \"go\""), "one of"),
            (file("base = \"a\"\nhead = \"b\"\nadapter = \"mine\""), "mine"),
            (
                file("base = \"a\"\nhead = \"b\"\nmetric = \"regex:(1)\"\nfail_above_percent = 3"),
                "has a limit, but no direction",
            ),
            (file("fail_above_percent = -1"), "from 0 to 10000"),
            (file("runs = 0"), "from 1 to"),
            (file("seconds = 0"), "from 0.05"),
            (file("runs = 6\nseconds = 1"), "one of the two"),
            (format!("{}{}", file(""), &file("")[HEAD.len()..]), "each a unique name"),
            (HEAD.replace("/1", "/9"), "seatmap-benchmarks/9"),
        ] {
            let refusal = refused(&text);
            assert!(refusal.contains(said), "{text}\n{refusal}");
        }
    }
}
