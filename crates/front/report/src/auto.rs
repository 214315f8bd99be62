//! Tried seats of a running program, in words.

use crate::page::{Page, Table, cells, section};
use crate::words::{agreeing, counted, lasting, or_dash, signed, three_digits, visible};
use seatmap_data::statistics::median;
use seatmap_launch::halted::HaltedProcess;
use seatmap_observe::ObservationEnd;
use seatmap_os::CpuSet;
use seatmap_trial::live::conductor::Attempt;
use seatmap_trial::live::event::{CandidateVerdict, RateGain};
use seatmap_trial::live::masks::{SeatStatus, Sweep};
use seatmap_trial::live::running::others_processes;
use seatmap_trial::live::{AutoRemark, LiveOutcome, NoSeats, SeatCandidate, WorkMetric};
use seatmap_trial::tune::verdict::percent;

/// The tried seats and their results.
pub fn page(outcome: &LiveOutcome) -> Page {
    let section = section("Seats", table(&outcome.attempts, &outcome.metric));
    Page::of(section.with(sentences(outcome)))
}

/// A limit of the seats, as a line while the program runs.
pub fn remark(remark: &AutoRemark) -> String {
    match remark {
        AutoRemark::OtherUser(pids) => {
            format!("{} another user's and left out", others_processes(pids))
        }
        AutoRemark::Bound { bound, threads } => format!(
            "{bound} of {}: bound to fewer CPUs than the program, and left alone",
            counted(*threads, "thread"),
        ),
        AutoRemark::NoSeats(reason) => {
            let hint = match reason {
                // One thread may still talk with clients, which only `advise` seats too.
                NoSeats::OneThread | NoSeats::Silent => {
                    "; 'seatmap advise' also tries seats for a program together with its clients"
                }
                _ => "",
            };
            format!("no seats can be tried now: {}{hint}", reason_in_words(*reason))
        }
        AutoRemark::Halted(process) => halted(process),
    }
}

/// The sentences that even `--quiet` prints: worse seats, and threads that could not be seated.
pub fn losses(outcome: &LiveOutcome) -> Vec<String> {
    let worse = outcome
        .attempts
        .iter()
        .filter(|attempt| {
            matches!(attempt.verdict, CandidateVerdict::Worse | CandidateVerdict::LeftEarly)
        })
        .map(|attempt| {
            format!("The seats '{}' were worse, and were removed.", attempt.candidate.name)
        });
    worse.chain(unseated(outcome)).collect()
}

/// Threads that could not be seated, or did not stay on their seats.
fn unseated(outcome: &LiveOutcome) -> impl Iterator<Item = String> {
    refused(&outcome.sweeps)
        .into_iter()
        .chain(left_alone(outcome.own))
        .chain(left_changed(outcome))
        .chain(moved(&outcome.held))
        .chain(starved(&outcome.held))
}

fn refused(sweeps: &[Sweep]) -> Option<String> {
    // Each sweep tries the same threads, so a sum would count them twice.
    let most = sweeps.iter().map(|sweep| sweep.refused).max().filter(|refused| *refused > 0)?;
    Some(format!("The kernel refused the seats of {}.", counted(most, "thread")))
}

fn left_changed(outcome: &LiveOutcome) -> impl Iterator<Item = String> {
    outcome.left_changed.sentences().map(|mask| format!("Left changed: {}.", visible(&mask)))
}

fn left_alone(threads: usize) -> Option<String> {
    let own = agreeing(threads, "its own CPUs and was", "their own CPUs and were");
    (threads > 0).then(|| format!("{} set {own} left alone.", counted(threads, "thread")))
}

fn on_seats(kept: &SeatCandidate, outcome: &LiveOutcome) -> String {
    let is_over = outcome.end == Some(ObservationEnd::Program);
    let on_seats = outcome.held.on_seats;
    let [has, have] =
        if is_over { ["had a seat", "had seats"] } else { ["has a seat", "have seats"] };
    let has = agreeing(on_seats, has, have);
    let threads = match kept.seated() {
        // All of them: 'N of N' would be confusing.
        all if all == on_seats => counted(all, "thread"),
        all => format!("{on_seats} of {}", counted(all, "thread")),
    };
    let kept = if is_over {
        format!("'{}' was kept to the end", kept.name)
    } else {
        format!("'{}' is kept", kept.name)
    };
    format!("{kept}: {threads} {has} at the last check.")
}

fn moved(held: &SeatStatus) -> Option<String> {
    let threads = counted(held.moved, "thread");
    let were = agreeing(held.moved, "was", "were");
    (held.moved > 0).then(|| {
        format!("{threads} {were} off the seats: the program or another one changed the masks.")
    })
}

fn starved(held: &SeatStatus) -> Option<String> {
    let first = held.starved.first()?;
    let count = held.starved.len();
    let threads = counted(count, "thread");
    let was = agreeing(count, "was", "were");
    let its = agreeing(count, "its seat", "their seats");
    let name = visible(&first.name);
    let cpus = CpuSet::of_list(&first.cpus).unwrap_or_default().named();
    Some(format!(
        "{threads} {was} runnable, but got no CPU time on {its} (thread {} '{name}' on {cpus}): \
         other tasks ran there.",
        first.tid
    ))
}

fn table(attempts: &[Attempt], metric: &WorkMetric) -> Table {
    let unit = match metric {
        WorkMetric::Command(_) => "total".to_owned(),
        WorkMetric::SwitchesAndUserTime => WorkMetric::Switches.to_string(),
        metric => metric.to_string(),
    };
    let columns = format!("at:>7 | seats:8 | threads:> | {unit}/s free:> | seated:>9 | difference");
    Table::new(&columns).rows(attempts.iter().map(|attempt| {
        let rate =
            |of: fn(&RateGain) -> f64| or_dash(attempt.gain.map(|gain| three_digits(of(&gain))));
        cells![
            format!("{:.0} s", attempt.at_s),
            &attempt.candidate.name,
            attempt.candidate.seated(),
            rate(|gain| gain.free),
            rate(|gain| gain.seated),
            judged(attempt, metric)
        ]
    }))
}

fn judged(attempt: &Attempt, metric: &WorkMetric) -> String {
    let word = match attempt.verdict {
        CandidateVerdict::Better => "better",
        CandidateVerdict::NotShown => "no gain shown",
        CandidateVerdict::Worse => "worse",
        CandidateVerdict::LeftEarly => "dropped early: far below in its first periods",
        CandidateVerdict::Unread if matches!(metric, WorkMetric::Command(_)) => {
            "not judged: the --metric command printed no growing number"
        }
        CandidateVerdict::Unread => "not judged: the figure did not grow, as with spinning threads",
    };
    attempt.gain.map_or(word.to_owned(), |gain| {
        let [centre, low, high] =
            [gain.ratio, gain.low, gain.high].map(|ratio| signed(percent(ratio), 1));
        format!("{centre} % [{low} to {high} %], {word}")
    })
}

fn sentences(outcome: &LiveOutcome) -> Vec<String> {
    let kept = match &outcome.kept {
        Some(kept) => on_seats(kept, outcome),
        None if outcome.attempts.is_empty() => nothing_judged(outcome),
        None if is_undone(outcome) && left_changed(outcome).next().is_some() => {
            "All masks are restored, except those named below.".to_owned()
        }
        None if is_undone(outcome) => "All masks are restored.".to_owned(),
        None if outcome.end == Some(ObservationEnd::Program) => {
            "No seats were shown to be better than the kernel's placement.".to_owned()
        }
        None => "No seats are shown to be better; the kernel keeps placing the threads.".to_owned(),
    };
    let halted = outcome.halted.iter().map(|process| halted(process) + ".");
    // A caution about the metric is useful only with a figure.
    let metric = &outcome.metric;
    let has_figures = outcome.attempts.iter().any(|attempt| attempt.gain.is_some());
    let judged =
        has_figures.then(|| format!("Judged by {}: {}.", metric_word(metric), metric.caution()));
    let problem = outcome.metric_problem.as_ref();
    let problem = problem.map(|problem| format!("The metric {}.", visible(problem)));
    let others = "other programs used more CPU time than in periods with the same seats";
    std::iter::once(kept)
        .chain(halted)
        .chain(judged)
        .chain(problem)
        .chain(discarded(outcome.disturbed, others))
        .chain(discarded(outcome.torn, "CPUs were removed or added"))
        .chain(repeated(outcome))
        .chain(swept(&outcome.sweeps))
        .chain(unseated(outcome))
        .collect()
}

fn halted(HaltedProcess { pid, name, reason }: &HaltedProcess) -> String {
    format!("{name} ({pid}) does not run: {reason}")
}

fn discarded(periods: usize, why: &str) -> Option<String> {
    let were = agreeing(periods, "was", "were");
    (periods > 0).then(|| format!("{} {were} discarded: {why}.", counted(periods, "period")))
}

fn repeated(outcome: &LiveOutcome) -> Option<String> {
    let void = outcome.disturbed + outcome.torn;
    let left_out = void.saturating_sub(outcome.repeated);
    match (void, outcome.repeated, left_out) {
        (0, ..) => None,
        (_, 0, _) => Some("No discarded period was repeated.".to_owned()),
        (1, ..) => Some("It was repeated.".to_owned()),
        (_, _, 0) => Some("Each was repeated.".to_owned()),
        (_, repeated, left_out) => Some(format!(
            "{} {} repeated; {left_out} {} left out.",
            counted(repeated, "discarded period"),
            agreeing(repeated, "was", "were"),
            agreeing(left_out, "was", "were"),
        )),
    }
}

fn nothing_judged(outcome: &LiveOutcome) -> String {
    let ended = ended(outcome);
    match (outcome.messages_per_s, outcome.no_seats) {
        (None, _) => {
            let it =
                if outcome.end == Some(ObservationEnd::Program) { "it" } else { "the program" };
            format!("{ended}, before {it} was fully observed; nothing was changed.")
        }
        (Some(_), Some(reason)) => {
            format!("No seats were tried: {}. {ended}.", reason_in_words(reason))
        }
        // Seats were set, but not long enough for a comparison.
        (Some(_), None) if !outcome.sweeps.is_empty() => {
            format!("{ended}, before the first seats were judged; nothing was kept.")
        }
        (Some(_), None) => {
            format!("{ended}, before the first seats were tried; nothing was changed.")
        }
    }
}

fn ended(outcome: &LiveOutcome) -> String {
    let after = lasting(outcome.seconds);
    match outcome.end {
        Some(ObservationEnd::Program) => format!("The program ended after {after}"),
        Some(ObservationEnd::Time) => format!("The time ran out after {after}"),
        Some(ObservationEnd::Stopped) => format!("It was stopped after {after}"),
        None => format!("It failed after {after}"),
    }
}

fn reason_in_words(reason: NoSeats) -> &'static str {
    match reason {
        NoSeats::OneCpu => "the program may use only one CPU",
        NoSeats::OneThread => "fewer than two threads of the program were seen",
        NoSeats::Silent => "no messages between its threads were seen",
        NoSeats::Spread => "many threads communicate a little, and none stands out",
        NoSeats::AllCpus => {
            "--soft seats each thread by cache, and all CPUs of the program share one"
        }
    }
}

/// Better seats were removed, because the program ended or the user stopped it.
fn is_undone(outcome: &LiveOutcome) -> bool {
    outcome.attempts.iter().any(|attempt| attempt.verdict == CandidateVerdict::Better)
}

fn metric_word(metric: &WorkMetric) -> &'static str {
    match metric {
        WorkMetric::Instructions => "instructions a second",
        WorkMetric::Wakeups => "wakeups a second",
        WorkMetric::Switches => "waits a second",
        WorkMetric::SwitchesAndUserTime => "waits a second, or user time if that grew less",
        WorkMetric::Bytes => "bytes a second by read and write",
        WorkMetric::Command(_) => "the total of --metric",
    }
}

fn swept(sweeps: &[Sweep]) -> Option<String> {
    let micros = Vec::from_iter(sweeps.iter().map(|sweep| sweep.took.as_secs_f64() * 1e6));
    let most = sweeps.iter().map(|sweep| sweep.threads).max()?;
    let longest = micros.iter().copied().fold(0.0, f64::max);
    Some(format!(
        "Seats were changed {}, for up to {}: {:.0} us each time (median), {longest:.0} us at \
         most.",
        if sweeps.len() == 1 { "once".to_owned() } else { format!("{} times", sweeps.len()) },
        counted(most, "thread"),
        median(&micros)?
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use insta::assert_snapshot;
    use seatmap_trial::live::masks::{LeftChanged, Starved};
    use std::time::Duration;

    fn attempt(name: &str, verdict: CandidateVerdict, ratio: Option<f64>) -> Attempt {
        let gain = ratio.map(|ratio| RateGain {
            ratio,
            low: ratio - 0.05,
            high: ratio + 0.05,
            free: 98_200.0,
            seated: 98_200.0 * ratio,
            pairs: 10,
        });
        let candidate = SeatCandidate {
            name: name.to_owned(),
            seats: vec![None, Some("0".to_owned()), Some("1".to_owned())],
        };
        Attempt { at_s: 12.3, candidate, verdict, gain }
    }

    #[test]
    fn attempts_are_shown_with_intervals() {
        let attempts = vec![
            attempt("nearest", CandidateVerdict::NotShown, Some(1.01)),
            attempt("together", CandidateVerdict::Better, Some(1.334)),
            attempt("together", CandidateVerdict::LeftEarly, None),
        ];
        let kept = Some(attempts[1].candidate.clone());
        let sweep = |micros| Sweep { threads: 2, refused: 0, took: Duration::from_micros(micros) };
        let held = SeatStatus { on_seats: 2, ..SeatStatus::default() };
        let sweeps = vec![sweep(12), sweep(30), sweep(14)];
        let outcome = LiveOutcome {
            attempts,
            kept,
            sweeps,
            metric: WorkMetric::Wakeups,
            messages_per_s: Some(1e5),
            no_seats: None,
            seconds: 20.0,
            halted: Vec::new(),
            disturbed: 0,
            torn: 0,
            repeated: 0,
            own: 1,
            metric_problem: None,
            end: None,
            held,
            left_changed: LeftChanged::default(),
        };
        assert_snapshot!(page(&outcome).text(None));
    }

    fn starved() -> Starved {
        Starved { tid: 71, name: "a\u{1b}[2J".to_owned(), cpus: "1".to_owned() }
    }

    #[test]
    fn kept_seats_reflect_last_look() {
        let kept = Some(attempt("nearest", CandidateVerdict::Better, None).candidate);
        let told = |on_seats, end| {
            let held = SeatStatus { on_seats, ..SeatStatus::default() };
            let outcome = LiveOutcome { kept: kept.clone(), held, end, ..LiveOutcome::default() };
            page(&outcome).text(None)
        };
        assert_snapshot!(told(2, None), @"'nearest' is kept: 2 threads have seats at the last check.");
        assert_snapshot!(told(1, None), @"'nearest' is kept: 1 of 2 threads has a seat at the last check.");
        assert_snapshot!(told(0, Some(ObservationEnd::Program)), @"'nearest' was kept to the end: 0 of 2 threads had seats at the last check.");
    }

    #[test]
    fn losses_are_always_reported() {
        let lost = |own, refused| LiveOutcome {
            attempts: vec![
                attempt("nearest", CandidateVerdict::Worse, Some(0.8)),
                attempt("apart", CandidateVerdict::NotShown, None),
            ],
            sweeps: vec![Sweep { threads: 2, refused, took: Duration::from_micros(9) }],
            own,
            held: SeatStatus { on_seats: own, moved: own, starved: vec![starved(); own] },
            ..LiveOutcome::default()
        };
        for count in [0, 1, 2] {
            let faults = seatmap_needs::faults(&losses(&lost(count, count)).join("\n"));
            assert!(faults.is_empty(), "{faults:?}");
        }
        assert_snapshot!(losses(&lost(1, 2)).join("\n"), @r"
        The seats 'nearest' were worse, and were removed.
        The kernel refused the seats of 2 threads.
        1 thread set its own CPUs and was left alone.
        1 thread was off the seats: the program or another one changed the masks.
        1 thread was runnable, but got no CPU time on its seat (thread 71 'a\u{1b}[2J' on CPU 1): other tasks ran there.
        ");
        assert!(losses(&LiveOutcome::default()).is_empty());
    }

    #[test]
    fn remarks_name_limit_and_way_out() {
        let halted = HaltedProcess { pid: 7, name: "a".to_owned(), reason: "it waits".to_owned() };
        let remarks = [
            AutoRemark::OtherUser(vec![7]),
            AutoRemark::Bound { bound: 1, threads: 2 },
            AutoRemark::NoSeats(NoSeats::Silent),
            AutoRemark::NoSeats(NoSeats::Spread),
            AutoRemark::Halted(halted),
        ];
        assert_snapshot!(remarks.each_ref().map(remark).join("\n"), @"
        process 7 is another user's and left out
        1 of 2 threads: bound to fewer CPUs than the program, and left alone
        no seats can be tried now: no messages between its threads were seen; 'seatmap advise' also tries seats for a program together with its clients
        no seats can be tried now: many threads communicate a little, and none stands out
        a (7) does not run: it waits
        ");
    }

    #[test]
    fn missing_trials_are_explained() {
        let metric_problem =
            Some("'command:cat' was still running after 10 s and was stopped".to_owned());
        let late = LiveOutcome { metric_problem, ..LiveOutcome::default() };
        let discarded =
            [(2, 0, 0), (0, 1, 1), (2, 1, 3), (4, 1, 3)].map(|(disturbed, torn, repeated)| {
                LiveOutcome { disturbed, torn, repeated, ..LiveOutcome::default() }
            });
        let program = Some(ObservationEnd::Program);
        let ended = [
            (program, None, None),
            (Some(ObservationEnd::Time), None, None),
            (program, Some(1e3), None),
            (program, Some(0.0), Some(NoSeats::Silent)),
            (Some(ObservationEnd::Stopped), Some(1e3), None),
        ];
        let mut ended = ended.map(|(end, messages_per_s, no_seats)| {
            let seconds = 1.04;
            LiveOutcome { end, messages_per_s, no_seats, seconds, ..LiveOutcome::default() }
        });
        ended[4].sweeps = vec![Sweep { threads: 2, refused: 0, took: Duration::from_micros(9) }];
        let pages = std::iter::once(late).chain(discarded).chain(ended);
        let pages = pages.map(|outcome| page(&outcome).text(None));
        assert_snapshot!("missing-trials", Vec::from_iter(pages).join("----\n"));
    }
}
