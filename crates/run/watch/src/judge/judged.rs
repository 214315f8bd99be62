//! The result of a check, as a table for people and as a document for programs.

use super::facts::{count, cpus};
use super::{Criteria, ThreadSeat, Verdict, judge, missed, named_process, seats};
use crate::baseline::JudgedUnit;
use crate::finding::{Finding, Gravity};
use crate::live::{Rates, SeatingFrame, Wakes};
use crate::seating::{Process, Seating, Unseen, WatchedThread};
use seatmap_data::document::visible;
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::{figure, lasting};
use seatmap_os::{CpuSet, Tid};
use serde::Serialize;
use std::collections::{BTreeSet, HashMap};

const MOST_HEALTHY: usize = 40;

/// The width of verdict and rule before a finding.
const MARGIN: usize = 21;

/// A judged seating: `seatmap-seating/1` with three more keys.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Judged<'a> {
    /// The seating.
    #[serde(flatten)]
    pub seating: &'a Seating,
    /// Everything wrong or worth knowing, most serious first.
    pub findings: Vec<Finding>,
    /// The result in one word.
    pub verdict: Verdict,
    /// The threads' seats.
    pub seats: Vec<ThreadSeat>,
    /// Unread things that the rules need.
    #[serde(skip)]
    pub missed: Vec<&'a Unseen>,
    /// The processes with requested seats or rules; `None` means all.
    #[serde(skip)]
    pub asked_of: Option<BTreeSet<Tid>>,
    /// Units compared with their good states.
    #[serde(skip)]
    pub units: Vec<JudgedUnit>,
    /// Whether the check fails.
    #[serde(skip)]
    pub fails: bool,
}

/// A look as a document: a judged seating with rates.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LookDocument<'a> {
    #[serde(flatten)]
    judged: Judged<'a>,
    /// Each thread's events per second, in the order of threads.
    rates: &'a [Rates],
    /// Wakeups between threads, most frequent first; null if not counted.
    wakes: Option<&'a [Wakes]>,
}

impl SeatingFrame {
    /// This look's document, judged by these criteria.
    #[must_use]
    pub fn document(&self, topology: &Topology, criteria: &Criteria) -> LookDocument<'_> {
        LookDocument {
            judged: Judged::new(&self.seating, topology, criteria),
            rates: &self.rates,
            wakes: self.wakes.as_deref(),
        }
    }
}

impl<'a> Judged<'a> {
    /// Judges a seating by these criteria.
    #[must_use]
    pub fn new(seating: &'a Seating, topology: &Topology, criteria: &Criteria) -> Self {
        let findings = judge(seating, topology, criteria);
        let missed = missed(seating, topology, criteria);
        let verdict = Verdict::of(seating, &findings, &missed);
        let seats = seats(seating, topology, criteria);
        let fails = verdict.fails(criteria.strict);
        let asked_of = criteria.concerned();
        Judged { seating, findings, verdict, seats, missed, asked_of, units: Vec::new(), fails }
    }

    /// Adds findings from other facts, most serious first.
    #[must_use]
    pub fn with(self, findings: Vec<Finding>, strict: bool) -> Self {
        let mut findings = [findings, self.findings].concat();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.gravity));
        let verdict = Verdict::of(self.seating, &findings, &self.missed);
        Judged { findings, verdict, fails: verdict.fails(strict), ..self }
    }

    /// Adds units compared with their good states.
    #[must_use]
    pub fn beside(self, units: Vec<JudgedUnit>, strict: bool) -> Self {
        let findings = units.iter().filter_map(|one| one.finding.clone()).collect();
        Judged { units, ..self.with(findings, strict) }
    }

    /// The programs, the findings, and the unread things, a line each.
    #[must_use]
    pub fn table(&self, coloured: bool) -> String {
        let mut text = self.programs();
        self.findings.iter().for_each(|finding| text.push_str(&entry(finding, coloured)));
        text.push_str(&self.unseen(coloured));
        text
    }

    fn unseen(&self, coloured: bool) -> String {
        let mut text = String::new();
        for unseen in &self.missed {
            let of = match unseen.pids.len() {
                0 => String::new(),
                1 => format!("of process {}: ", unseen.pids[0]),
                many => format!("of {}: ", count(many, "process")),
            };
            let word = painted("UNSEEN", "36", coloured);
            text.push_str(&format!("{word}  {:<12} {of}{}\n", unseen.what, visible(&unseen.why)));
        }
        text
    }

    /// A line for each program, without healthy ones beyond the limit.
    fn programs(&self) -> String {
        let mut of: HashMap<Tid, Vec<&WatchedThread>> = HashMap::new();
        self.seating
            .threads
            .iter()
            .for_each(|thread| of.entry(thread.pid).or_default().push(thread));
        let mut text = String::new();
        let mut healthy = 0;
        for process in &self.seating.processes {
            let threads = of.remove(&process.pid).unwrap_or_default();
            let [wrong, remarks] = self.counts(process, &threads);
            healthy += usize::from(wrong + remarks == 0);
            if wrong + remarks > 0 || healthy <= MOST_HEALTHY {
                text.push_str(&program(
                    process,
                    &threads,
                    &self.state(process, &threads, wrong, remarks),
                ));
                text.push_str(&traced(&threads));
            }
        }
        if healthy > MOST_HEALTHY {
            text.push_str(&format!(
                "... and {}, with nothing wrong\n",
                count(healthy - MOST_HEALTHY, "more program")
            ));
        }
        text
    }

    fn counts(&self, process: &Process, threads: &[&WatchedThread]) -> [usize; 2] {
        let own: Vec<&Finding> = self
            .findings
            .iter()
            .filter(|finding| match finding.pid {
                Some(pid) => pid == process.pid,
                None => threads.iter().any(|thread| finding.tids.contains(&thread.tid)),
            })
            .collect();
        [Gravity::Wrong, Gravity::Remark]
            .map(|gravity| own.iter().filter(|finding| finding.gravity == gravity).count())
    }

    fn state(
        &self,
        process: &Process,
        threads: &[&WatchedThread],
        wrong: usize,
        remarks: usize,
    ) -> String {
        let is_hidden = self
            .missed
            .iter()
            .any(|unseen| unseen.pids.is_empty() || unseen.pids.contains(&process.pid))
            || self.findings.iter().any(|finding| {
                let concerns = finding.pid.is_none_or(|pid| pid == process.pid);
                finding.gravity == Gravity::Unseen && concerns
            });
        // A fault of its CPUs is listed below; the program did not cause it.
        let is_beset =
            self.findings.iter().any(|finding| finding.pid.is_none() && finding.is_wrong());
        let is_asked = self.asked_of.as_ref().is_none_or(|pids| pids.contains(&process.pid));
        let well = match (is_asked, is_beset) {
            (true, false) => "as asked",
            (true, true) => "its own seats as asked",
            (false, false) => "nothing is wrong",
            (false, true) => "nothing is wrong with its own seats",
        };
        match (wrong, remarks) {
            // A program with unread parts must not count as healthy.
            (0, 0) if is_hidden || threads.iter().any(|thread| thread.mask.is_empty()) => {
                format!("{well}, as far as could be seen")
            }
            (0, 0) if is_asked && !is_beset => "all as asked".to_owned(),
            (0, 0) => well.to_owned(),
            (0, remarks) if is_hidden => {
                format!("{well}, as far as could be seen, {}", count(remarks, "remark"))
            }
            (0, remarks) => format!("{well}, {}", count(remarks, "remark")),
            (wrong, 0) => format!("{wrong} wrong"),
            (wrong, remarks) => format!("{wrong} wrong, {}", count(remarks, "remark")),
        }
    }
}

fn program(process: &Process, threads: &[&WatchedThread], state: &str) -> String {
    let masks = threads.iter().filter_map(|thread| CpuSet::of_list(&thread.mask));
    let mask = masks.fold(CpuSet::default(), |all, mask| all.with(&mask));
    let on = if mask.is_empty() { "unknown CPUs".to_owned() } else { cpus(&mask) };
    format!(
        "{}: {} on {on}: {state}\n",
        visible(&named_process(process)),
        count(threads.len(), "thread")
    )
}

fn traced(threads: &[&WatchedThread]) -> String {
    let mut ran: Vec<&&WatchedThread> =
        threads.iter().filter(|thread| thread.is_traced && !thread.ran_on.is_empty()).collect();
    // Ties go by number, so that two checks print alike.
    ran.sort_by(|a, b| b.run_percent.total_cmp(&a.run_percent).then(a.tid.cmp(&b.tid)));
    let mut text: String =
        ran.iter().take(MOST_HEALTHY).map(|thread| traced_line(thread)).collect();
    if ran.len() > MOST_HEALTHY {
        text.push_str(&format!(
            "  ... and {} that ran less\n",
            count(ran.len() - MOST_HEALTHY, "thread")
        ));
    }
    text
}

fn traced_line(thread: &WatchedThread) -> String {
    let on: Vec<String> =
        thread.ran_on.iter().map(|on| format!("CPU {} {}", on.cpu, share(on.percent))).collect();
    let name = visible(&thread.name);
    format!("  {:>7} {name:<15} {:>7}  {}\n", thread.tid, share(thread.run_percent), on.join(", "))
}

/// A share in percent; a very small one is not printed as 0.
fn share(percent: f64) -> String {
    if percent > 0.0 && percent < 0.1 { "<0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// A finding in two or more lines: the fault, its measure, advice, and a command.
#[must_use]
pub fn entry(finding: &Finding, coloured: bool) -> String {
    let word = match finding.gravity {
        // Red, cyan and yellow; the words are enough without colours.
        Gravity::Wrong => painted("WRONG ", "31", coloured),
        Gravity::Unseen => painted("UNSEEN", "36", coloured),
        Gravity::Remark => painted("NOTE  ", "33", coloured),
    };
    let measured = finding
        .measure
        .as_ref()
        .map(|measure| format!("{} {}", figure(measure.value, 0), measure.unit));
    let since = finding.since_s.map(|seconds| format!("for {}", lasting(seconds)));
    let at_most = finding.at_most_s.map(|seconds| format!("for {} at most", lasting(seconds)));
    let figures: Vec<String> = measured.into_iter().chain(since).chain(at_most).collect();
    let mut text = format!("{word}  {:<12} {}\n", finding.rule, visible(&finding.what));
    if !figures.is_empty() {
        text.push_str(&format!("{:MARGIN$}{}\n", "", figures.join(", ")));
    }
    // A sentence next to a command describes the step before it.
    if let Some(advice) = &finding.advice {
        text.push_str(&format!("{:MARGIN$}{}\n", "", visible(advice)));
    }
    if let Some(remedy) = &finding.remedy {
        text.push_str(&format!("{:MARGIN$}-> {}\n", "", visible(remedy)));
    }
    text
}

fn painted(word: &str, sgr: &str, coloured: bool) -> String {
    if coloured { format!("\x1b[{sgr}m{word}\x1b[0m") } else { word.to_owned() }
}

/// The new and ended findings between two checks of the same programs.
#[must_use]
pub fn changes(before: &[Finding], now: &[Finding], coloured: bool) -> String {
    let new = now
        .iter()
        .filter(|finding| !is_in(finding, before))
        .map(|finding| entry(finding, coloured));
    let gone = before.iter().filter(|finding| !is_in(finding, now));
    let gone = gone.map(|finding| {
        format!(
            "{}  {:<12} {}\n",
            painted("ENDED ", "32", coloured),
            finding.rule,
            visible(&finding.what)
        )
    });
    new.chain(gone).collect()
}

fn is_in(finding: &Finding, others: &[Finding]) -> bool {
    others.iter().any(|other| other.is_same(finding))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    fn judged(made: &Made) -> Judged<'_> {
        Judged::new(&made.seating, &made.topology, &Criteria::default())
    }

    #[test]
    fn each_program_has_a_line_and_each_finding_its_remedy() {
        let made = Made::new(4)
            .busy(7, 7, "1", 50.0, 50.0)
            .busy(7, 8, "1", 50.0, 50.0)
            .thread(9, 9, "2-3");
        let text = judged(&made).table(false);
        let expected = "\
program (7): 2 threads on CPU 1: 1 wrong
program (9): 1 thread on CPUs 2,3: nothing is wrong
WRONG   shared-cpu   thread 7 'main' and thread 8 'worker' are confined to CPU 1 and want 2.0 CPUs, while CPUs 0,2,3 \
had little to do
                     200 percent of one CPU wanted, for 60 s at most
                     -> taskset -cp 0 8
";
        assert_eq!(text, expected);
        assert!(judged(&made).table(true).contains("\x1b[31mWRONG \x1b[0m"));
    }

    #[test]
    fn threads_that_the_scheduler_counted_have_a_line() {
        let mut made = Made::new(4)
            .busy(7, 7, "0-1", 50.0, 0.0)
            .busy(7, 8, "0-1", 12.5, 0.0)
            .thread(7, 9, "0-1");
        let on = |cpu, percent| crate::seating::RanOn { cpu, percent };
        let shares = [vec![on(1, 99.96), on(0, 0.04)], vec![on(0, 100.0)], vec![]];
        for (thread, ran_on) in made.seating.threads.iter_mut().zip(shares) {
            (thread.is_traced, thread.ran_on) = (true, ran_on);
        }
        let text = judged(&made).table(false);
        let expected = "        7 main             50.0 %  CPU 1 100.0 %, CPU 0 <0.1 %
        8 worker           12.5 %  CPU 0 100.0 %
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn a_program_is_as_asked_where_something_was_asked() {
        let made = Made::new(4).thread(9, 9, "2");
        let criteria =
            Criteria { rules: vec!["one-per-cpu".parse().unwrap()], ..Criteria::default() };
        let text = Judged::new(&made.seating, &made.topology, &criteria).table(false);
        assert_eq!(text, "program (9): 1 thread on CPU 2: all as asked\n");
    }

    #[test]
    fn things_that_could_not_be_seen_are_told() {
        let mut made = Made::new(2).thread(7, 7, "0-1");
        let unseen = Unseen {
            what: "environment".to_owned(),
            pids: vec![7, 9],
            why: "permission denied".to_owned(),
        };
        made.seating.unseen.push(unseen);
        let text = judged(&made).table(false);
        let expected = "program (7): 1 thread on CPUs 0,1: nothing is wrong, as far as could be seen\nUNSEEN  environment  of \
                        2 processes: permission denied\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn hidden_characters_of_names_are_shown() {
        let mut made = Made::new(2).thread(7, 7, "0-1");
        made.seating.processes[0].name = "a\u{1b}[31m".to_owned();
        assert!(!judged(&made).table(false).contains('\u{1b}'));
    }

    #[test]
    fn a_crowd_of_healthy_programs_is_cut() {
        let made = (100..200).fold(Made::new(2), |made, pid| made.thread(pid, pid, "0-1"));
        let text = judged(&made).table(false);
        assert_eq!(text.lines().count(), MOST_HEALTHY + 1);
        assert!(text.ends_with("... and 60 more programs, with nothing wrong\n"), "{text}");
    }

    #[test]
    fn a_document_is_a_seating_with_a_judgement() {
        let made = Made::new(4).busy(7, 7, "1", 50.0, 50.0).busy(7, 8, "1", 50.0, 50.0);
        let document = serde_json::to_value(judged(&made)).unwrap();
        assert_eq!(
            (&document["format"], &document["verdict"]),
            (&"seatmap-seating/1".into(), &"wrong".into())
        );
        assert_eq!(document["findings"][0]["rule"], "shared-cpu");
    }

    #[test]
    fn changes_are_those_of_the_findings_and_not_of_their_figures() {
        let crowded =
            |percent| Made::new(4).busy(7, 7, "1", percent, 50.0).busy(7, 8, "1", percent, 50.0);
        let [first, second] = [50.0, 45.0].map(|percent| judged(&crowded(percent)).findings);
        assert_eq!(changes(&first, &second, false), "");
        assert!(changes(&[], &first, false).starts_with("WRONG   shared-cpu "));
        assert!(changes(&first, &[], false).starts_with("ENDED   shared-cpu "));
    }
}
