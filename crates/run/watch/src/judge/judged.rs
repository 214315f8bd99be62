//! The result of a check.

use super::facts::{count, cpus};
use super::{Criteria, ThreadSeat, Verdict, judge, missed, named_process, seats};
use crate::baseline::JudgedUnit;
use crate::finding::{Finding, Gravity};
use crate::live::{Rates, SeatingFrame, Wakes};
use crate::seating::{Process, Seating, Unseen, WatchedThread};
use seatmap_data::document::visible;
use seatmap_data::grouped::by_key;
use seatmap_data::machine::Topology;
use seatmap_data::words::{figure, joined, lasting};
use seatmap_os::{CpuSet, Tid};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

const MOST_HEALTHY: usize = 40;

/// A seating with its judgement: `seatmap-seating/1` with three more keys.
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
    /// This look's document.
    pub fn document(&self, topology: &Topology, criteria: &Criteria) -> LookDocument<'_> {
        LookDocument {
            judged: Judged::new(&self.seating, topology, criteria),
            rates: &self.rates,
            wakes: self.wakes.as_deref(),
        }
    }
}

impl<'a> Judged<'a> {
    /// Judges a seating.
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
    pub fn with(self, findings: Vec<Finding>, strict: bool) -> Self {
        let mut findings = [findings, self.findings].concat();
        findings.sort_by_key(|finding| std::cmp::Reverse(finding.gravity));
        let verdict = Verdict::of(self.seating, &findings, &self.missed);
        Judged { findings, verdict, fails: verdict.fails(strict), ..self }
    }

    /// Adds units compared with their good states.
    pub fn beside(self, units: Vec<JudgedUnit>, strict: bool) -> Self {
        let findings = units.iter().filter_map(|one| one.finding.clone()).collect();
        Judged { units, ..self.with(findings, strict) }
    }

    /// The programs, the findings, and the unread things, a line each.
    pub fn text(&self) -> CheckText {
        let mut lines: Vec<FindingLine> = self.findings.iter().flat_map(entry).collect();
        lines.extend(self.missed.iter().map(|unseen| {
            let of = match unseen.pids.len() {
                0 => String::new(),
                1 => format!("of process {}: ", unseen.pids[0]),
                many => format!("of {}: ", count(many, "process")),
            };
            FindingLine::new("UNSEEN", &unseen.what, format!("{of}{}", unseen.why))
        }));
        CheckText { sentences: self.programs(), lines }
    }

    /// Of the healthy ones, only the first get one.
    fn programs(&self) -> Vec<String> {
        let threads = self.seating.threads.iter().map(|thread| (thread.pid, thread));
        let mut of: BTreeMap<Tid, Vec<&WatchedThread>> = by_key(threads);
        let mut lines: Vec<String> = self.family().into_iter().collect();
        let mut healthy = 0;
        for process in &self.seating.processes {
            let threads = of.remove(&process.pid).unwrap_or_default();
            let [wrong, remarks] = self.counts(process, &threads);
            healthy += usize::from(wrong + remarks == 0);
            if wrong + remarks > 0 || healthy <= MOST_HEALTHY {
                let state = self.state(process, &threads, wrong, remarks);
                lines.push(program(process, &threads, &state));
                lines.extend(traced(&threads));
            }
        }
        if healthy > MOST_HEALTHY {
            let more = count(healthy - MOST_HEALTHY, "more program");
            lines.push(format!("... and {more} with nothing wrong"));
        }
        lines
    }

    /// Counts the processes of a server with workers.
    fn family(&self) -> Option<String> {
        let processes = &self.seating.processes;
        let pids: BTreeSet<Tid> = processes.iter().map(|process| process.pid).collect();
        let mut first = processes.iter().filter(|process| !pids.contains(&process.parent));
        let only = first.next().filter(|_| first.next().is_none() && processes.len() > 1)?;
        let children = count(processes.len() - 1, "child process");
        let all = count(processes.len(), "process");
        Some(format!("{all}: {} and {children}", named_process(only)))
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
        // It did not cause a fault of its CPUs.
        let is_beset =
            self.findings.iter().any(|finding| finding.pid.is_none() && finding.is_wrong());
        let is_asked = self.asked_of.as_ref().is_none_or(|pids| pids.contains(&process.pid));
        let well = match (is_asked, is_beset) {
            (true, false) => "as asked",
            (true, true) => "its seats as asked",
            (false, false) => "nothing is wrong",
            (false, true) => "nothing is wrong with its seats",
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
    format!("{}: {} on {on}: {state}", named_process(process), count(threads.len(), "thread"))
}

/// Of many, the busiest get one.
fn traced(threads: &[&WatchedThread]) -> Vec<String> {
    let mut ran: Vec<&&WatchedThread> =
        threads.iter().filter(|thread| thread.is_traced && !thread.ran_on.is_empty()).collect();
    // Ties go by number, so that two checks print alike.
    ran.sort_by(|a, b| b.run_percent.total_cmp(&a.run_percent).then(a.tid.cmp(&b.tid)));
    let mut lines: Vec<String> =
        ran.iter().take(MOST_HEALTHY).map(|thread| traced_line(thread)).collect();
    if ran.len() > MOST_HEALTHY {
        let more = count(ran.len() - MOST_HEALTHY, "thread");
        lines.push(format!("  ... and {more} that ran less"));
    }
    lines
}

fn traced_line(thread: &WatchedThread) -> String {
    let on = thread.ran_on.iter().map(|on| format!("CPU {} {}", on.cpu, share(on.percent)));
    let name = visible(&thread.name);
    format!("  {:>7} {name:<15} {:>7}  {}", thread.tid, share(thread.run_percent), joined(on, ", "))
}

/// A very small share is not printed as 0.
fn share(percent: f64) -> String {
    if percent > 0.0 && percent < 0.1 { "<0.1 %".to_owned() } else { format!("{percent:.1} %") }
}

/// A check in words.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct CheckText {
    /// The programs and other facts, a line each.
    pub sentences: Vec<String>,
    /// The findings, each in a line or more.
    pub lines: Vec<FindingLine>,
}

/// A line about a finding.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct FindingLine {
    /// Its gravity in one word; empty in further lines.
    pub word: &'static str,
    /// The rule; empty in further lines.
    pub rule: String,
    /// The text.
    pub text: String,
    /// Whether that is the command that mends it.
    pub is_command: bool,
}

impl FindingLine {
    fn new(word: &'static str, rule: &str, text: String) -> Self {
        FindingLine { word, rule: rule.to_owned(), text, is_command: false }
    }
}

/// A finding in a line or more.
fn entry(finding: &Finding) -> impl Iterator<Item = FindingLine> {
    let word = match finding.gravity {
        Gravity::Wrong => "WRONG",
        Gravity::Unseen => "UNSEEN",
        Gravity::Remark => "NOTE",
    };
    let measured = finding
        .measure
        .as_ref()
        .map(|measure| format!("{} {}", figure(measure.value, 0), measure.unit));
    let since = finding.since_s.map(|seconds| format!("for {}", lasting(seconds)));
    let at_most = finding.at_most_s.map(|seconds| format!("for {} at most", lasting(seconds)));
    let figures = joined(measured.into_iter().chain(since).chain(at_most), ", ");
    let figures = Some(figures).filter(|figures| !figures.is_empty());
    let more = figures.into_iter().chain(finding.advice.clone());
    let more = more.map(|text| FindingLine { text, ..FindingLine::default() });
    let remedy = finding.remedy.as_ref().map(|remedy| {
        let text = format!("-> {remedy}");
        FindingLine { text, is_command: true, ..FindingLine::default() }
    });
    let first = FindingLine::new(word, &finding.rule, finding.what.clone());
    std::iter::once(first).chain(more).chain(remedy)
}

/// The new and ended findings between two checks of the same programs.
pub fn changes(before: &[Finding], now: &[Finding]) -> Vec<FindingLine> {
    let new = now.iter().filter(|finding| !is_in(finding, before)).flat_map(entry);
    let gone = before.iter().filter(|finding| !is_in(finding, now));
    let gone = gone.map(|finding| FindingLine::new("ENDED", &finding.rule, finding.what.clone()));
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

    fn text(judged: &Judged) -> String {
        let CheckText { sentences, lines } = judged.text();
        let lines = lines.iter().map(|line| format!("{}  {}  {}", line.word, line.rule, line.text));
        sentences.into_iter().chain(lines).map(|line| line + "\n").collect()
    }

    #[test]
    fn report_lists_programs_and_findings_with_remedies() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50; 9/9 on 2-3");
        let text = text(&judged(&made));
        let expected = "\
program (7): 2 threads on CPU 1: 1 wrong
program (9): 1 thread on CPUs 2,3: nothing is wrong
WRONG  shared-cpu  thread 7 'main' and thread 8 'worker' are confined to CPU 1 and need 2.0 CPUs, while CPUs 0,2,3 \
had little to do
    200 percent of one CPU wanted, for 60 s at most
    -> taskset -cp 0 8
";
        assert_eq!(text, expected);
    }

    #[test]
    fn server_with_workers_begins_with_their_number() {
        let made = Made::new(2).process(7, 1).process(8, 7).process(9, 8);
        let first = |made: &Made| text(&judged(made)).lines().next().unwrap().to_owned();
        assert_eq!(first(&made), "3 processes: program (7) and 2 child processes");
        assert!(!first(&made.process(10, 1)).contains("processes"), "two programs");
        assert!(first(&Made::new(2).process(7, 1)).starts_with("program (7): "));
    }

    #[test]
    fn traced_threads_are_listed_with_cpu_shares() {
        let mut made = Made::new(4).with("7/7 on 0-1: 50+0; 7/8 on 0-1: 12.5+0; 7/9 on 0-1");
        let on = |cpu, percent| crate::seating::RanOn { cpu, percent };
        let shares = [vec![on(1, 99.96), on(0, 0.04)], vec![on(0, 100.0)], vec![]];
        for (thread, ran_on) in made.seating.threads.iter_mut().zip(shares) {
            (thread.is_traced, thread.ran_on) = (true, ran_on);
        }
        let text = text(&judged(&made));
        let expected = "        7 main             50.0 %  CPU 1 100.0 %, CPU 0 <0.1 %
        8 worker           12.5 %  CPU 0 100.0 %
";
        assert!(text.ends_with(expected), "{text}");
    }

    #[test]
    fn program_obeying_named_rule_passes() {
        let made = Made::new(4).with("9/9 on 2");
        let criteria =
            Criteria { rules: vec!["one-per-cpu".parse().unwrap()], ..Criteria::default() };
        let text = text(&Judged::new(&made.seating, &made.topology, &criteria));
        assert_eq!(text, "program (9): 1 thread on CPU 2: all as asked\n");
    }

    #[test]
    fn unseen_facts_are_listed() {
        let mut made = Made::new(2).with("7/7 on 0-1");
        let unseen = Unseen {
            what: "environment".to_owned(),
            pids: vec![7, 9],
            why: "permission denied".to_owned(),
        };
        made.seating.unseen.push(unseen);
        let text = text(&judged(&made));
        let expected = "program (7): 1 thread on CPUs 0,1: nothing is wrong, as far as could be seen\nUNSEEN  environment  of \
                        2 processes: permission denied\n";
        assert_eq!(text, expected);
    }

    #[test]
    fn long_list_of_healthy_programs_is_cut() {
        let made = (100..200).fold(Made::new(2), |made, pid| made.thread(pid, pid, "0-1"));
        let text = text(&judged(&made));
        assert_eq!(text.lines().count(), MOST_HEALTHY + 1);
        assert!(text.ends_with("... and 60 more programs with nothing wrong\n"), "{text}");
    }

    #[test]
    fn document_contains_seating_and_verdict() {
        let made = Made::new(4).with("7/7 on 1: 50+50; 7/8 on 1: 50+50");
        let document = serde_json::to_value(judged(&made)).unwrap();
        assert_eq!(
            (&document["format"], &document["verdict"]),
            (&"seatmap-seating/1".into(), &"wrong".into())
        );
        assert_eq!(document["findings"][0]["rule"], "shared-cpu");
    }

    #[test]
    fn changes_ignore_changed_figures() {
        let crowded =
            |percent| Made::new(4).busy(7, 7, "1", percent, 50.0).busy(7, 8, "1", percent, 50.0);
        let [first, second] = [50.0, 45.0].map(|percent| judged(&crowded(percent)).findings);
        assert_eq!(changes(&first, &second), []);
        assert_eq!(changes(&[], &first)[0].word, "WRONG");
        assert_eq!(changes(&first, &[])[0].word, "ENDED");
    }
}
