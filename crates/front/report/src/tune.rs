//! A race of ways to seat a program, in words.

use crate::about::counted;
use crate::bench::{amount, differences, digits, interval, reading_of, readings_by_block, short};
use crate::page::{Block, Page, Section, Table, TableCell, draw};
use crate::traffic;
use seatmap_statistics::median;
use seatmap_statistics::words::signed;
use seatmap_tune::Tuned;
use seatmap_tune::metric::Better;
use seatmap_tune::race::{DEFAULT, Phase};
use seatmap_tune::tuned::{Difference, Run, Seats, Verdict};

/// Candidates whose readings are drawn: more curves than these are not distinguished.
const DRAWN: usize = 6;

/// The whole race for a terminal.
#[must_use]
pub fn text(tuned: &Tuned) -> String {
    draw::text(&page(tuned))
}

/// The winner against others, the candidates, and what the race shows.
pub(crate) fn page(tuned: &Tuned) -> Page {
    // The file of a race that was interrupted, which --resume goes on with.
    let Some(verdict) = &tuned.verdict else {
        let runs = counted(tuned.runs.len(), "run");
        return Page {
            lead: vec![format!("{runs} so far, and no result yet")],
            ..Page::new("Seats raced", "The race is not over.")
        };
    };
    let said = sentences(tuned, verdict);
    let found = verdict.confirmed.iter();
    let found = found.map(|found| (found.with, found.percent, found.interval_percent));
    Page {
        lead: vec![about(tuned, verdict)],
        sections: vec![
            Section::page("The winner against others, by fresh runs")
                .with(differences(&names(tuned), found)),
            Section::new("Candidates").with(table(tuned, verdict)),
            Section::new("In words").with(said.clone()),
            Section::page("Every block").with(blocks(tuned, verdict)),
            Section::page("Computer and settings").with(settings(tuned)),
        ],
        footer: match &tuned.simulated {
            Some(_) => "Each block runs every candidate once, all with the same skew at the start.",
            None => {
                "Each block runs every candidate once, in random order. The winner then runs \
                 again, A B B A."
            }
        },
        ..Page::new("Seats raced", said[0].as_str())
    }
}

fn settings(tuned: &Tuned) -> Table {
    // A race on a model runs a pattern and not a command.
    let command = Some(("command", tuned.command.join(" "))).filter(|(_, line)| !line.is_empty());
    Table::facts(command.into_iter().chain(tuned.fingerprint.words()))
}

/// How much was run.
fn about(tuned: &Tuned, verdict: &Verdict) -> String {
    if let Some(simulated) = &tuned.simulated {
        return format!(
            "{} of {} on {}, by the time of {}'s messages: {} of each choose the winner, and {} \
             confirm it",
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

fn names(tuned: &Tuned) -> Vec<String> {
    crate::bench::short_names(tuned.candidates.iter().map(|candidate| candidate.name.as_str()))
}

/// The candidates, the best first.
fn in_order(tuned: &Tuned, verdict: &Verdict) -> Vec<usize> {
    // Where larger readings are better, the best candidate has the largest share above the others.
    let sign = if tuned.better == Better::Lower { 1.0 } else { -1.0 };
    let mut order: Vec<usize> = (0..tuned.candidates.len()).collect();
    order.sort_by(|a, b| {
        let above = |at: &usize| sign * verdict.above_winner_percent[*at];
        above(a).total_cmp(&above(b))
    });
    order
}

fn table(tuned: &Tuned, verdict: &Verdict) -> Table {
    let names = names(tuned);
    let table = Table::default()
        .words(["candidate"])
        .figures(["median", "to best", "runs", "by the model"])
        .words(["result"])
        .least([9, 12, 9, 4])
        .page_only(4);
    table.rows(in_order(tuned, verdict).into_iter().map(|at| {
        let candidate = &tuned.candidates[at];
        let values = tuned.values(at);
        [
            TableCell::from(&names[at]).tip(candidate.name.as_str()),
            median(&values).map_or_else(String::new, |value| reading_of(&tuned.unit, value)).into(),
            format!("{} %", signed(verdict.above_winner_percent[at], 1)).into(),
            values.len().into(),
            candidate.predicted.map_or_else(String::new, traffic::three_digits).into(),
            fate(tuned, verdict, at).into(),
        ]
    }))
}

/// The readings of the best candidates in the race, block by block.
fn blocks(tuned: &Tuned, verdict: &Verdict) -> Block {
    let names = names(tuned);
    let best = in_order(tuned, verdict).into_iter().take(DRAWN);
    let curves = best.map(|at| {
        let readings = raced(tuned, at).map(|run| (run.turn.block, run.value)).collect();
        (names[at].clone(), readings)
    });
    readings_by_block(&tuned.unit, curves)
}

/// A candidate's runs before the winner was confirmed.
fn raced(tuned: &Tuned, candidate: usize) -> impl Iterator<Item = &Run> {
    tuned
        .runs
        .iter()
        .filter(move |run| run.turn.candidate == candidate && run.turn.phase == Phase::Race)
}

/// The end of a candidate's race.
fn fate(tuned: &Tuned, verdict: &Verdict, candidate: usize) -> &'static str {
    match candidate {
        // The order matters: a candidate that was shown to be worse has also left early.
        _ if candidate == verdict.winner => "best",
        _ if verdict.rejected.contains(&candidate) => "shown to be worse",
        _ if raced(tuned, candidate).count() < verdict.blocks => "left early",
        _ => "not rejected",
    }
}

/// The result, sentence by sentence, the most important first.
fn sentences(tuned: &Tuned, verdict: &Verdict) -> Vec<String> {
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
    // An interval that holds 0 shows no direction, but its farther end bounds the difference.
    if low <= 0.0 && high >= 0.0 {
        let percent = (1000.0 * tuned.confidence).round() / 10.0;
        let most = digits(low.abs().max(high.abs()));
        return format!(
            "No difference larger than {most} % between '{own}' and '{other}' is shown at \
             {percent} %"
        );
    }
    let by = amount(&tuned.metric, found.percent);
    let interval = interval([low, high], tuned.confidence);
    let is_better = (found.percent < 0.0) == (tuned.better == Better::Lower);
    // Less time is better, without a word about it.
    let verdict = match (tuned.metric == "time", is_better) {
        (true, _) => "",
        (false, true) => "is better: it ",
        (false, false) => "is worse: it ",
    };
    format!("'{own}' {verdict}{by} than '{other}' {interval}")
}

/// The next step.
fn advice(tuned: &Tuned, verdict: &Verdict) -> Option<String> {
    match &tuned.candidates[verdict.winner].seats {
        // Seats that are not shown to be as good as the default are never recommended.
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
            "To get this: keep the plan with -o PLAN, and start the job in the order that 'seatmap \
             export PLAN' writes"
                .to_owned(),
        ),
    }
}
