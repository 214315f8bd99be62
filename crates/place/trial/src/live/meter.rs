//! Measures a program's work in a period: the growth of a count between its ends.
//!
//! | default | if |
//! |---|---|
//! | instructions | the processor counts them, and Seatmap starts the program |
//! | bytes by `read` and `write` | it passes some |
//! | voluntary switches, checked against user time | its threads share memory |
//!
//! For the same work, threads on one CPU may switch more often, and spinning threads use more user
//! time. Neither alone shows progress: `bench/advise/shared` compares them with counters of real
//! work.

use seatmap_data::document::printed_number;
use seatmap_os::Tid;
use seatmap_os::counter::{Counter, CounterEvent};
use seatmap_os::limited;
use seatmap_os::sched::ThreadStatus;
use seatmap_os::task::{self, ThreadIdentity};
use seatmap_os::{boot, waiting};
use std::collections::{BTreeSet, HashMap};
use std::fmt;
use std::process::Command;
use std::time::{Duration, Instant};

/// The metric's own command runs twice in each period, while seats cannot change.
const LIMIT: Duration = Duration::from_secs(10);

/// About 100 lines of a log; fewer say nothing about the work.
pub const LEAST_BYTES_PER_S: f64 = 10_000.0;

/// The count that measures work.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum WorkMetric {
    /// Instructions of the program, if the processor counts them.
    Instructions,
    /// Wakeups between the program's threads.
    Wakeups,
    /// Voluntary context switches: waits of the program's threads.
    Switches,
    /// The same, and user time: of both the one that grew less.
    #[default]
    SwitchesAndUserTime,
    /// Bytes that the program's processes pass by `read` and `write` (`/proc/PID/io`).
    Bytes,
    /// A growing total, printed by a shell command.
    Command(String),
}

impl WorkMetric {
    /// Parses a metric.
    ///
    /// # Errors
    /// A sentence that lists the metrics.
    pub fn parse(text: &str) -> Result<Self, String> {
        match text.split_once(':') {
            None if text == "instructions" => Ok(WorkMetric::Instructions),
            None if text == "wakeups" => Ok(WorkMetric::Wakeups),
            None if text == "switches" => Ok(WorkMetric::Switches),
            None if text == "bytes" => Ok(WorkMetric::Bytes),
            Some(("command", line)) if !line.trim().is_empty() => {
                Ok(WorkMetric::Command(line.to_owned()))
            }
            _ => Err(format!(
                "unknown metric '{text}'; expected instructions, wakeups, switches, \
                 bytes or 'command:SHELL COMMAND'"
            )),
        }
    }

    /// Why a larger figure may not mean more work.
    pub fn caution(&self) -> &'static str {
        match self {
            WorkMetric::Instructions => {
                "a spinning program executes many instructions and does little work"
            }
            WorkMetric::Wakeups | WorkMetric::Switches | WorkMetric::SwitchesAndUserTime => {
                "more waits do not always mean more work; --metric 'command:LINE' reads a total of \
                 the work"
            }
            WorkMetric::Bytes => "bytes by recv and send are not counted",
            WorkMetric::Command(_) => "the total of the command must grow with the work",
        }
    }
}

impl fmt::Display for WorkMetric {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            WorkMetric::Instructions => f.write_str("instructions"),
            WorkMetric::Wakeups => f.write_str("wakeups"),
            WorkMetric::Switches => f.write_str("switches"),
            WorkMetric::SwitchesAndUserTime => f.write_str("switches and user time"),
            WorkMetric::Bytes => f.write_str("bytes"),
            WorkMetric::Command(line) => write!(f, "command:{line}"),
        }
    }
}

/// A growing count of each thread or process.
pub type Counts = HashMap<ThreadIdentity, u64>;

/// Reads a metric.
#[derive(Debug)]
pub struct MetricReader {
    /// The metric.
    pub metric: WorkMetric,
    counter: Option<Counter>,
    is_settled: bool,
    begun_by: Counts,
    begun_ticks: Counts,
    /// The latest period's user time in seconds, by threads that lived at both ends; `None` if not
    /// a part of the metric.
    pub user_s: Option<f64>,
    begun: Option<f64>,
    read_at: Instant,
    /// Between the readings of the latest period.
    between: Duration,
    limit: Duration,
    /// Why the metric's own command last gave no number, if ever.
    pub problem: Option<String>,
}

impl MetricReader {
    /// For the next command or a running program. By default it counts instructions if possible,
    /// else voluntary switches and user time; counting wakeups slows them.
    ///
    /// # Errors
    /// The metric is unavailable: a sentence.
    pub fn new(wish: Option<WorkMetric>, is_command: bool) -> Result<Self, String> {
        let counter = match wish {
            None | Some(WorkMetric::Instructions) if is_command => instructions(),
            _ => Err(
                "instructions can only be counted from a program's start; give the command, not \
                 its PID"
                    .to_owned(),
            ),
        };
        let metric = match (wish, &counter) {
            (Some(WorkMetric::Instructions), Err(why)) => return Err(why.clone()),
            (Some(metric), _) => metric,
            (None, Ok(_)) => WorkMetric::Instructions,
            // Most virtual machines count no instructions.
            (None, Err(_)) => WorkMetric::SwitchesAndUserTime,
        };
        let counter = counter.ok().filter(|_| metric == WorkMetric::Instructions);
        Ok(MetricReader {
            metric,
            counter,
            is_settled: false,
            begun_by: HashMap::new(),
            begun_ticks: HashMap::new(),
            user_s: None,
            begun: None,
            read_at: Instant::now(),
            between: Duration::ZERO,
            limit: LIMIT,
            problem: None,
        })
    }

    /// Replaces the default of switches and user time by bytes, if the program passes so many. Only
    /// the first call counts, so that a session has one unit.
    pub fn settle(&mut self, bytes_per_s: f64) {
        if std::mem::replace(&mut self.is_settled, true) {
            return;
        }
        if self.metric == WorkMetric::SwitchesAndUserTime && bytes_per_s >= LEAST_BYTES_PER_S {
            self.metric = WorkMetric::Bytes;
        }
    }

    /// Whether the wakeups must be observed in each period.
    pub fn counts_wakeups(&self) -> bool {
        self.metric == WorkMetric::Wakeups
    }

    /// Starts a period, given the number of wakeups and the living threads. `stop` ends the
    /// metric's own command.
    pub fn begin(&mut self, wakeups: f64, threads: &[(Tid, Tid)], stop: &mut dyn FnMut() -> bool) {
        self.begun_by = self.counts(threads);
        self.begun_ticks = self.user_ticks(threads);
        self.begun = self.total(wakeups, stop);
        self.read_at = Instant::now();
    }

    /// The count since the start of the period; `None` if unreadable or stopped.
    pub fn end(
        &mut self,
        wakeups: f64,
        threads: &[(Tid, Tid)],
        stop: &mut dyn FnMut() -> bool,
    ) -> Option<f64> {
        let begun = self.begun.take()?;
        let now = self.total(wakeups, stop)?;
        let grown = growth(&self.counts(threads), &self.begun_by);
        self.between = self.read_at.elapsed();
        let ticks = growth(&self.user_ticks(threads), &self.begun_ticks);
        self.user_s = (self.metric == WorkMetric::SwitchesAndUserTime)
            .then(|| ticks / boot::ticks_per_s() as f64);
        // The command may print a counter that was reset.
        Some(now - begun + grown).filter(|count| *count >= 0.0)
    }

    /// The time of the latest count, in seconds.
    pub fn seconds(&self) -> f64 {
        // A coarse clock may show no time.
        self.between.as_secs_f64().max(1e-9)
    }

    fn counts(&self, threads: &[(Tid, Tid)]) -> Counts {
        match self.metric {
            WorkMetric::Switches | WorkMetric::SwitchesAndUserTime => switches(threads),
            WorkMetric::Bytes => passed_bytes(threads),
            _ => HashMap::new(),
        }
    }

    /// Empty if not a part of the metric.
    fn user_ticks(&self, threads: &[(Tid, Tid)]) -> Counts {
        if self.metric != WorkMetric::SwitchesAndUserTime {
            return HashMap::new();
        }
        task::by_identity(threads.iter().map(|(_, tid)| *tid), task::user_ticks)
    }

    fn total(&mut self, wakeups: f64, stop: &mut dyn FnMut() -> bool) -> Option<f64> {
        match &self.metric {
            WorkMetric::Instructions => {
                self.counter.as_mut()?.read().ok().map(|count| count as f64)
            }
            WorkMetric::Wakeups => Some(wakeups),
            // Counted for each thread or process.
            WorkMetric::Switches | WorkMetric::SwitchesAndUserTime | WorkMetric::Bytes => Some(0.0),
            WorkMetric::Command(line) => {
                let printed = printed(line, self.limit, stop);
                printed.unwrap_or_else(|problem| {
                    self.problem = Some(problem);
                    None
                })
            }
        }
    }
}

fn instructions() -> Result<Counter, String> {
    let event = CounterEvent::named("instructions").ok_or("the kernel has no such event")?;
    Counter::of_children(&event)
        .map_err(|error| format!("instructions cannot be counted here ({error})"))
}

fn switches(threads: &[(Tid, Tid)]) -> Counts {
    task::by_identity(threads.iter().map(|(_, tid)| *tid), |tid| {
        let status = std::fs::read(format!("/proc/{tid}/task/{tid}/status")).ok()?;
        Some(ThreadStatus::parse(&status).voluntary_switches)
    })
}

/// The bytes that each process passed so far.
pub fn passed_bytes(threads: &[(Tid, Tid)]) -> Counts {
    of_processes(threads, waiting::passed_bytes)
}

/// A count of each thread's process.
pub(crate) fn of_processes(threads: &[(Tid, Tid)], count: impl Fn(Tid) -> Option<u64>) -> Counts {
    let pids: BTreeSet<Tid> = threads.iter().map(|(pid, _)| *pid).collect();
    task::by_identity(pids, count)
}

/// The growth of threads or processes of both ends.
pub fn growth(now: &Counts, begun: &Counts) -> f64 {
    let grown = now.iter().filter_map(|(one, now)| Some(now.saturating_sub(*begun.get(one)?)));
    grown.sum::<u64>() as f64
}

/// The growth of those of the later end; new ones began with 0.
pub fn growth_with_new(now: &Counts, begun: &Counts) -> u64 {
    now.iter().map(|(one, now)| now.saturating_sub(*begun.get(one).unwrap_or(&0))).sum()
}

/// The number that a shell line prints; `None` if stopped.
fn printed(
    line: &str,
    limit: Duration,
    stop: &mut dyn FnMut() -> bool,
) -> Result<Option<f64>, String> {
    let name = format!("command:{line}");
    let mut shell = Command::new("sh");
    let output = limited::output_unless(&name, shell.args(["-c", line]), limit, stop);
    let Some(output) = output.map_err(|error| error.to_string())? else { return Ok(None) };
    // A number printed by a failed command means nothing.
    let read = last_number(&String::from_utf8_lossy(&output.stdout));
    let read = read.filter(|_| output.status.success());
    read.map(Some).ok_or_else(|| "failed, or printed no number".to_owned())
}

/// An ambiguous last word ("1.234,5") is not replaced by an earlier one.
fn last_number(text: &str) -> Option<f64> {
    let mut words = text.split(|character: char| !is_of_number(character));
    let last = words.rfind(|word| word.contains(|character: char| character.is_ascii_digit()))?;
    printed_number(last.trim_end_matches(['.', ',']))
}

fn is_of_number(character: char) -> bool {
    character.is_ascii_digit() || ".,eE+-".contains(character)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn meter(metric: WorkMetric) -> MetricReader {
        MetricReader::new(Some(metric), false).unwrap()
    }

    fn begin(meter: &mut MetricReader) {
        meter.begin(0.0, &[], &mut || false);
    }

    fn end(meter: &mut MetricReader) -> Option<f64> {
        meter.end(0.0, &[], &mut || false)
    }

    #[test]
    fn last_number_rejects_ambiguous_separators() {
        assert_eq!(last_number("work: 10\nwork: 1,234.5 items.\n"), Some(1234.5));
        assert_eq!(last_number("42, done\n"), Some(42.0));
        for text in ["10\n1.234,5\n", "7 1,5", "none", "1e999"] {
            assert_eq!(last_number(text), None, "{text}");
        }
    }

    #[test]
    fn work_metric_round_trips_through_text() {
        for text in ["instructions", "wakeups", "switches", "command:cat total"] {
            assert_eq!(WorkMetric::parse(text).unwrap().to_string(), text);
        }
        for text in ["speed", "command:", "command: ", "perf:cycles"] {
            assert!(WorkMetric::parse(text).unwrap_err().contains("wakeups"), "{text}");
        }
    }

    #[test]
    fn command_metric_counts_growth_between_readings() {
        let folder = std::env::temp_dir().join(format!("seatmap-meter-{}", std::process::id()));
        std::fs::write(&folder, "total: 1,000 commands\n").unwrap();
        let line = WorkMetric::Command(format!("cat {}", folder.display()));
        let mut meter = meter(line);
        begin(&mut meter);
        std::fs::write(&folder, "total: 1,250 commands\n").unwrap();
        assert_eq!(end(&mut meter), Some(250.0));
        begin(&mut meter);
        std::fs::write(&folder, "nothing\n").unwrap();
        assert_eq!(end(&mut meter), None);
        std::fs::remove_file(&folder).unwrap();
    }

    #[test]
    fn metric_time_includes_only_second_reading() {
        let line = WorkMetric::Command("sleep 0.1; echo 7".to_owned());
        let mut meter = meter(line);
        let begun = Instant::now();
        begin(&mut meter);
        assert_eq!(end(&mut meter), Some(0.0));
        // The time includes the second command, but not the first.
        let all_s = begun.elapsed().as_secs_f64();
        assert!((0.1..=all_s - 0.1).contains(&meter.seconds()), "{} of {all_s}", meter.seconds());
    }

    #[test]
    fn endless_metric_command_is_stopped_and_reported() {
        let mut meter = meter(WorkMetric::Command("sleep 1000".to_owned()));
        meter.limit = Duration::from_millis(300);
        begin(&mut meter);
        assert_eq!(end(&mut meter), None);
        assert_eq!(
            meter.problem.as_deref(),
            Some("'command:sleep 1000' was still running after 0.3 s and was stopped")
        );
    }

    #[test]
    fn switch_metric_counts_waits_of_threads() {
        let own = std::process::id() as Tid;
        let mut meter = meter(WorkMetric::Switches);
        let (said, thread) = std::sync::mpsc::channel();
        let sleeper = std::thread::spawn(move || {
            said.send(seatmap_os::task::own_tid()).unwrap();
            std::thread::park();
            (0..5).for_each(|_| std::thread::sleep(std::time::Duration::from_millis(1)));
            said.send(0).unwrap();
            std::thread::park();
        });
        let threads = [(own, thread.recv().unwrap())];
        meter.begin(0.0, &threads, &mut || false);
        sleeper.thread().unpark();
        thread.recv().unwrap();
        assert!(meter.end(0.0, &threads, &mut || false).is_some_and(|count| count >= 5.0));
        sleeper.thread().unpark();
        sleeper.join().unwrap();
    }

    #[test]
    fn reused_number_has_its_own_count() {
        let own = ThreadIdentity::of(task::own_tid()).unwrap();
        let ended = ThreadIdentity { started_ticks: own.started_ticks - 1, ..own };
        let other = ThreadIdentity { tid: 1, started_ticks: 1 };
        let [begun, now] = [[(ended, 10), (other, 5)], [(own, 90), (other, 7)]].map(Counts::from);
        assert_eq!((growth(&now, &begun), growth_with_new(&now, &begun)), (2.0, 92));
        let threads = [(std::process::id() as Tid, own.tid)];
        let mut meter = meter(WorkMetric::Switches);
        meter.begin(0.0, &threads, &mut || false);
        meter.begun_by = Counts::from([(ended, 0)]);
        assert_eq!(meter.end(0.0, &threads, &mut || false), Some(0.0), "of an ended thread");
    }

    #[test]
    fn running_program_rejects_instruction_metric() {
        assert!(
            MetricReader::new(Some(WorkMetric::Instructions), false).unwrap_err().contains("PID")
        );
        assert_eq!(MetricReader::new(None, false).unwrap().metric, WorkMetric::default());
        let mut default = MetricReader::new(None, false).unwrap();
        default.settle(0.0);
        default.settle(1e6);
        assert_eq!(default.metric, WorkMetric::default(), "one unit for a session");
        let mut passing = MetricReader::new(None, false).unwrap();
        passing.settle(1e6);
        assert_eq!(passing.metric, WorkMetric::Bytes);
        let mut wakeups = meter(WorkMetric::Wakeups);
        wakeups.begin(10.0, &[], &mut || false);
        assert_eq!(wakeups.end(35.0, &[], &mut || false), Some(25.0));
    }
}
