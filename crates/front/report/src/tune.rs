//! A race of ways to seat a program, in words.

use crate::about::counted;
use crate::bench::{digits, reading_of, short};
use seatmap_document::visible;
use seatmap_statistics::median;
use seatmap_tune::Tuned;
use seatmap_tune::metric::Better;
use seatmap_tune::race::{DEFAULT, Phase};
use seatmap_tune::tuned::{Difference, Run, Seats, Verdict};

/// The whole race for a terminal.
#[must_use]
pub fn text(tuned: &Tuned) -> String {
    let Some(verdict) = &tuned.verdict else {
        return format!("{} so far, and no result yet\n", counted(tuned.runs.len(), "run"));
    };
    let mut text = format!("{}\n\n{}\n", visible(&about(tuned, verdict)), table(tuned, verdict));
    sentences(tuned, verdict).iter().for_each(|line| text += &format!("{}\n", visible(line)));
    text
}

/// How much was run.
pub(crate) fn about(tuned: &Tuned, verdict: &Verdict) -> String {
    if let Some(simulated) = &tuned.simulated {
        return format!(
            "{} of {} on {}, by the time of {}'s messages: {} of each choose the winner, and {} confirm it",
            counted(tuned.runs.len(), "run"),
            counted(tuned.candidates.len(), "candidate"),
            simulated.machine,
            short(&simulated.pattern),
            verdict.blocks,
            tuned.runs.len() / tuned.candidates.len() - verdict.blocks
        );
    }
    let fours: usize = verdict.confirmed.iter().map(|found| found.groups).sum();
    format!(
        "{} of {} in {} and {} of four, by {}",
        counted(tuned.runs.len(), "run"),
        counted(tuned.candidates.len(), "candidate"),
        counted(verdict.blocks, "block"),
        counted(fours, "group"),
        tuned.metric
    )
}

/// The candidates' names.
pub(crate) fn names(tuned: &Tuned) -> Vec<String> {
    crate::bench::short_names(tuned.candidates.iter().map(|candidate| candidate.name.as_str()))
}

/// The candidates, the best first.
pub(crate) fn in_order(tuned: &Tuned, verdict: &Verdict) -> Vec<usize> {
    let sign = if tuned.better == Better::Lower { 1.0 } else { -1.0 };
    let mut order: Vec<usize> = (0..tuned.candidates.len()).collect();
    order.sort_by(|a, b| {
        let above = |at: &usize| sign * verdict.above_winner_percent[*at];
        above(a).total_cmp(&above(b))
    });
    order
}

fn table(tuned: &Tuned, verdict: &Verdict) -> String {
    let names = names(tuned);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(9);
    let mut text = format!(
        "  {:<width$}  {:>12}  {:>9}  {:>4}  result\n",
        "candidate", "median", "to best", "runs"
    );
    for at in in_order(tuned, verdict) {
        let name = &names[at];
        let above = format!("{:+.1} %", verdict.above_winner_percent[at]);
        let values = tuned.values(at);
        let fate = fate(tuned, verdict, at);
        text += &format!(
            "  {name:<width$}  {:>12}  {above:>9}  {:>4}  {fate}\n",
            middle(tuned, &values),
            values.len()
        );
    }
    text
}

/// The median of some readings, with its unit.
pub(crate) fn middle(tuned: &Tuned, values: &[f64]) -> String {
    median(values).map_or_else(String::new, |value| reading_of(&tuned.unit, value))
}

/// The end of a candidate's race.
pub(crate) fn fate(tuned: &Tuned, verdict: &Verdict, candidate: usize) -> &'static str {
    let in_race = |run: &&Run| run.turn.candidate == candidate && run.turn.phase == Phase::Race;
    match candidate {
        _ if candidate == verdict.winner => "best",
        _ if verdict.rejected.contains(&candidate) => "shown to be worse",
        _ if tuned.runs.iter().filter(in_race).count() < verdict.blocks => "left early",
        _ => "not rejected",
    }
}

/// The result, sentence by sentence, the most important first.
pub(crate) fn sentences(tuned: &Tuned, verdict: &Verdict) -> Vec<String> {
    let mut said = vec![against_default(tuned, verdict)];
    let runner_up = verdict.confirmed.iter().find(|found| found.with != DEFAULT);
    said.extend(runner_up.map(|found| format!("{}.", difference(tuned, verdict, found))));
    said.extend(advice(tuned, verdict));
    said.extend(verdict.rank_correlation.map(agreement));
    said.extend(tuned.rivals.iter().map(|rival| format!("Note: {rival}.")));
    said.extend(tuned.throttled.iter().map(|quotas| crate::bench::throttled(quotas)));
    said
}

/// How far the model's order is that of the runs, by their rank correlation.
fn agreement(correlation: f64) -> String {
    let word = match correlation {
        0.7.. => "agrees with the runs",
        0.3.. => "agrees with the runs in part",
        -0.3.. => "has nothing to do with the runs",
        _ => "is opposed to the runs",
    };
    format!("The model's order {word}: rank correlation {correlation:.2}.")
}

fn against_default(tuned: &Tuned, verdict: &Verdict) -> String {
    match verdict.confirmed.iter().find(|found| found.with == DEFAULT) {
        None => "No candidate was better than the default.".to_owned(),
        Some(found) => format!("{}.", difference(tuned, verdict, found)),
    }
}

/// A difference by fresh runs: with its interval, or as the largest that there may be.
fn difference(tuned: &Tuned, verdict: &Verdict, found: &Difference) -> String {
    let names = names(tuned);
    let own = &names[verdict.winner];
    let other = &names[found.with];
    let Some([low, high]) = found.interval_percent else {
        return format!("Too few runs compare '{own}' with '{other}'");
    };
    let percent = (1000.0 * tuned.confidence).round() / 10.0;
    if low <= 0.0 && high >= 0.0 {
        let most = digits(low.abs().max(high.abs()));
        return format!(
            "No difference larger than {most} % between '{own}' and '{other}' is shown at {percent} %"
        );
    }
    let is_better = (found.percent < 0.0) == (tuned.better == Better::Lower);
    let size = digits(found.percent.abs());
    let ends = interval(low, high);
    let word = match (tuned.metric == "time", is_better) {
        (true, true) => "takes less time than",
        (true, false) => "takes more time than",
        (false, true) => "is better than",
        (false, false) => "is worse than",
    };
    format!("'{own}' {word} '{other}' by {size} % [{ends} % at {percent} %]")
}

/// The ends of an interval as sizes, the smaller first.
fn interval(low: f64, high: f64) -> String {
    let a = low.abs().min(high.abs());
    let b = low.abs().max(high.abs());
    format!("{} to {}", digits(a), digits(b))
}

/// The next step.
fn advice(tuned: &Tuned, verdict: &Verdict) -> Option<String> {
    match &tuned.candidates[verdict.winner].seats {
        _ if !verdict.safe => Some("Leave the program free: nothing is shown to be better.".to_owned()),
        Seats::Free => None,
        Seats::Within(list) => Some(format!("To get this: taskset -c {list} COMMAND")),
        Seats::Order(list) => Some(format!("To get this: seatmap run --cpus {list} -- COMMAND")),
        Seats::Placement(_) => {
            Some("To get this: seatmap run --plan PLAN -- COMMAND, with the plan of -o PLAN".to_owned())
        }
        Seats::Kernel(setting) => {
            let state = if setting.on { "on" } else { "off" };
            Some(format!(
                "To get this: turn {} {state} for the whole computer, and leave the program free",
                setting.switch
            ))
        }
        Seats::Ranks(_) => Some(
            "To get this: keep the plan with -o PLAN, and start the job in the order that 'seatmap export PLAN' writes"
                .to_owned(),
        ),
    }
}
