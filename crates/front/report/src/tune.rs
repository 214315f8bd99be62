//! A race between ways to seat a program, in words.

mod counts;

use crate::bench::{
    amount, differences, digits, interval, notes, reading_of, readings_by_block, short,
    short_names, tenths_of_percent,
};
use crate::page::{Block, Page, Table, TableCell, cells, html_section, section};
use crate::traffic;
use crate::words::{counted, signed};
use seatmap_data::statistics::median;
use seatmap_trial::tune::Tuned;
use seatmap_trial::tune::metric::Better;
use seatmap_trial::tune::race::{DEFAULT, RacePhase};
use seatmap_trial::tune::tuned::{
    CandidateEnd, CandidateResult, CandidateSeats, ConfirmedDifference, RaceRun, TuneVerdict,
};

/// More curves cannot be distinguished.
const DRAWN: usize = 6;

/// The page of a race: the winner, the candidates, and the conclusions.
pub fn page(tuned: &Tuned) -> Page {
    // The file of an interrupted race, which --resume can continue.
    let Some(verdict) = &tuned.verdict else {
        let runs = counted(tuned.runs.len(), "run");
        return Page {
            lead: vec![format!("{runs} so far, no result yet")],
            ..Page::new("Seats raced", "The race is not over.")
        };
    };
    let said = sentences(tuned, verdict);
    let curve = tuned.counts.as_ref().map(|tried| counts::section(tuned, tried));
    let found = verdict.confirmed.iter();
    let found = found.map(|found| (found.with, found.percent, found.interval_percent));
    Page {
        lead: vec![about(tuned, verdict)],
        sections: vec![
            html_section(
                "The winner compared with others, by fresh runs",
                differences(&names(tuned), found),
            ),
            curve.unwrap_or_default(),
            section("Candidates", table(tuned, verdict)),
            section("In words", said.clone()),
            html_section("Every block", blocks(tuned, verdict)),
            html_section("Computer and settings", settings(tuned)),
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
    // A race on a model runs a pattern instead of a command.
    let command = Some(("command", tuned.command.join(" "))).filter(|(_, line)| !line.is_empty());
    Table::facts(command.into_iter().chain(tuned.fingerprint.words()))
}

fn about(tuned: &Tuned, verdict: &TuneVerdict) -> String {
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
    let search = tuned.counts.as_ref().map_or_else(String::new, counts::about);
    format!(
        "{search}{} of {} in {} and {} of four, by {}",
        counted(tuned.runs.len(), "run"),
        counted(tuned.candidates.len(), "candidate"),
        counted(verdict.blocks, "block"),
        counted(fours, "group"),
        tuned.metric
    )
}

fn names(tuned: &Tuned) -> Vec<String> {
    short_names(tuned.candidates.iter().map(|candidate| candidate.name.as_str()))
}

/// The winner, then the others, best first.
fn in_order(tuned: &Tuned, verdict: &TuneVerdict) -> Vec<(usize, CandidateResult)> {
    // If larger readings are better, the best candidate has the largest percentage.
    let sign = if tuned.better == Better::Lower { 1.0 } else { -1.0 };
    let mut order =
        Vec::from_iter((0..tuned.candidates.len()).map(|at| (at, tuned.result_of(verdict, at))));
    order.sort_by(|(a, one), (b, other)| {
        // Fresh runs may rank another first; the sentences are about the winner.
        let is_not_winner = (*a != verdict.winner).cmp(&(*b != verdict.winner));
        let above = sign * one.above_winner_percent;
        is_not_winner.then(above.total_cmp(&(sign * other.above_winner_percent)))
    });
    order
}

fn table(tuned: &Tuned, verdict: &TuneVerdict) -> Table {
    let names = names(tuned);
    Table::new("candidate:9 | median:>12 | to best:>9 | runs:>4 | estimated:> | judged by | result")
        .page_only(4)
        .rows(in_order(tuned, verdict).into_iter().map(|(at, result)| {
            let candidate = &tuned.candidates[at];
            let values = &result.values;
            cells![
                TableCell::from(&names[at]).tip(candidate.name.as_str()),
                median(values).map_or_else(String::new, |value| reading_of(&tuned.unit, value)),
                format!("{} %", signed(result.above_winner_percent, 1)),
                values.len(),
                candidate.predicted.map_or_else(String::new, traffic::three_digits),
                judged_by(result.judged_by),
                end(result.end)
            ]
        }))
}

fn blocks(tuned: &Tuned, verdict: &TuneVerdict) -> Block {
    let names = names(tuned);
    let best = in_order(tuned, verdict).into_iter().take(DRAWN);
    let curves = best.map(|(at, _)| {
        let readings = raced(tuned, at).map(|run| (run.turn.block, run.value)).collect();
        (names[at].clone(), readings)
    });
    readings_by_block(&tuned.unit, curves)
}

/// Runs before the confirmation of the winner.
fn raced(tuned: &Tuned, candidate: usize) -> impl Iterator<Item = &RaceRun> {
    tuned
        .runs
        .iter()
        .filter(move |run| run.turn.candidate == candidate && run.turn.phase == RacePhase::Race)
}

fn judged_by(phase: RacePhase) -> &'static str {
    if phase == RacePhase::Confirm { "fresh runs" } else { "race" }
}

fn end(end: CandidateEnd) -> &'static str {
    match end {
        CandidateEnd::Best => "best",
        CandidateEnd::BestInRace => "best in the race",
        CandidateEnd::ShownWorse => "shown to be worse",
        CandidateEnd::ShownBetter => "shown to be better",
        CandidateEnd::NoDifference => "no difference shown",
        CandidateEnd::TooFewRuns => "too few runs",
        CandidateEnd::LeftEarly => "dropped early",
        CandidateEnd::NotRejected => "not rejected",
    }
}

fn sentences(tuned: &Tuned, verdict: &TuneVerdict) -> Vec<String> {
    let mut said = vec![against_default(tuned, verdict)];
    let runner_up = verdict.confirmed.iter().find(|found| found.with != DEFAULT);
    said.extend(runner_up.map(|found| format!("{}.", difference(tuned, verdict, found))));
    said.extend(advice(tuned, verdict));
    said.extend(tuned.counts.iter().flat_map(|tried| counts::sentences(tuned, tried)));
    let predicted = tuned.candidates.iter().filter(|one| one.predicted.is_some()).count();
    let known = verdict.rank_correlation.filter(|_| predicted >= FEWEST_ORDERED);
    said.extend(known.map(agreement));
    said.extend(notes(&tuned.rivals, tuned.throttled.as_deref()));
    said
}

/// By chance, one order in 6 of three candidates is the model's, but only one in 120 of five.
const FEWEST_ORDERED: usize = 5;

fn agreement(correlation: f64) -> String {
    let word = match correlation {
        0.7.. => "agrees with the runs",
        0.3.. => "partly agrees with the runs",
        -0.3.. => "is unrelated to the runs",
        _ => "contradicts the runs",
    };
    format!("The model's order {word}: rank correlation {correlation:.2}.")
}

fn against_default(tuned: &Tuned, verdict: &TuneVerdict) -> String {
    let found = verdict.confirmed.iter().find(|found| found.with == DEFAULT);
    found.map_or("No candidate was better than the default.".to_owned(), |found| {
        format!("{}.", difference(tuned, verdict, found))
    })
}

fn difference(tuned: &Tuned, verdict: &TuneVerdict, found: &ConfirmedDifference) -> String {
    let names = names(tuned);
    let own = &names[verdict.winner];
    let other = &names[found.with];
    let Some([low, high]) = found.interval_percent else {
        return format!("Too few runs to compare '{own}' with '{other}'");
    };
    // Without a direction, the farther end still bounds the difference.
    if !found.shows_direction() {
        let percent = tenths_of_percent(tuned.confidence);
        let most_percent = low.abs().max(high.abs());
        if most_percent > 100.0 {
            return format!(
                "The runs of '{own}' and '{other}' vary too much to detect a difference at \
                 {percent} % confidence"
            );
        }
        let most = digits(most_percent);
        return format!(
            "'{own}' and '{other}' differ by at most {most} % ({percent} % confidence)"
        );
    }
    let by = amount(&tuned.metric, found.percent);
    let interval = interval([low, high], tuned.confidence);
    let is_better = (found.percent < 0.0) == (tuned.better == Better::Lower);
    let verdict = match (tuned.metric == "time", is_better) {
        (true, _) => "",
        (false, true) => "is better: it ",
        (false, false) => "is worse: it ",
    };
    format!("'{own}' {verdict}{by} than '{other}' {interval}")
}

fn advice(tuned: &Tuned, verdict: &TuneVerdict) -> Option<String> {
    // Without a gain in fresh runs, there is nothing to recommend.
    if !tuned.shows_gain(verdict) {
        return Some("Leave the program unpinned: nothing is shown to be better.".to_owned());
    }
    let winner = &tuned.candidates[verdict.winner];
    let how = match (&winner.seats, &winner.memory) {
        (CandidateSeats::Free, None) => "COMMAND".to_owned(),
        (CandidateSeats::Free, Some(policy)) => {
            format!("seatmap run --memory {policy} -- COMMAND")
        }
        (CandidateSeats::Within(list), _) => match &winner.words {
            Some(words) => format!("taskset -c $(seatmap cpus {words}) COMMAND"),
            None => format!("taskset -c {list} COMMAND"),
        },
        (CandidateSeats::Order(list), _) => format!("seatmap run --cpus {list} -- COMMAND"),
        (CandidateSeats::Placement(_), _) => {
            "seatmap run --plan PLAN -- COMMAND, with the plan written by -o PLAN".to_owned()
        }
        (CandidateSeats::Kernel(setting), _) => format!(
            "COMMAND, with {} turned {} for the whole computer",
            setting.switch,
            if setting.on { "on" } else { "off" }
        ),
        (CandidateSeats::Ranks(_), _) => {
            "save the plan with -o PLAN, and start the job in the order written by 'seatmap export \
             PLAN'"
                .to_owned()
        }
    };
    let mut variables = winner.variables.clone();
    let mut option = String::new();
    if let (Some(tried), Some(count)) = (&tuned.counts, winner.count) {
        let axis = tried.axis();
        if axis.variable(count).is_some() {
            variables.insert(0, axis.with(count));
        } else {
            option = format!(", with the option {}", axis.with(count));
        }
    }
    let variables: String = variables.iter().map(|variable| format!("{variable} ")).collect();
    Some(format!("To get this: {variables}{how}{option}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_trial::tune::tried_counts::TriedCounts;
    use seatmap_trial::tune::tuned::Entrant;

    /// One CPU wins the race; the parameters are the result of the fresh runs.
    fn raced_with(percent: f64, interval: [f64; 2]) -> Tuned {
        let mut race = Tuned::from_json(include_str!("tests/race.json")).unwrap();
        let found = &mut race.verdict.as_mut().unwrap().confirmed[0];
        found.percent = percent;
        found.interval_percent = Some(interval);
        race
    }

    /// Table and sentences agree, even if the race found a gain.
    #[test]
    fn a_race_without_a_gain_claims_none() {
        let page = page(&raced_with(0.25, [-0.91, 0.8])).text(None);
        insta::assert_snapshot!(page, @r"
        4 runs of 2 candidates in 1 block and 1 group of four, by time

          candidate        median    to best  runs  judged by   result
          one CPU       12.100 ms     +0.0 %     1  fresh runs  best in the race
          default       12.070 ms     -0.2 %     1  fresh runs  no difference shown

        'one CPU' and 'default' differ by at most 0.91 % (95 % confidence).
        Leave the program unpinned: nothing is shown to be better.
        ");
    }

    /// On a busy computer, an interval of few runs reached 57811 %.
    #[test]
    fn unlimited_difference_shows_no_figure() {
        let page = page(&raced_with(40.0, [-30.0, 57_811.7])).text(None);
        let said =
            "The runs of 'one CPU' and 'default' vary too much to detect a difference at 95 %";
        assert!(page.contains(said) && !page.contains("57811"), "{page}");
    }

    #[test]
    fn confirmed_gain_shows_command() {
        let page = page(&raced_with(-10.0, [-12.0, -8.0])).text(None);
        assert!(
            page.contains("fresh runs  best\n") && page.contains("shown to be worse"),
            "{page}"
        );
        assert!(page.contains("To get this: taskset -c 1 COMMAND"), "{page}");
    }

    /// The winner with another start, as on the line that shows how to get it.
    fn advised(winner: Entrant) -> String {
        let mut race = raced_with(-10.0, [-12.0, -8.0]);
        race.counts = Some(TriedCounts {
            setting: "-t {}".to_owned(),
            counts: vec![1, 4],
            ..TriedCounts::default()
        });
        race.candidates[1] = winner;
        advice(&race, race.verdict.as_ref().unwrap()).unwrap()
    }

    #[test]
    fn advice_has_words_variables_and_options() {
        let on = |list: &str| Entrant::new("best", CandidateSeats::Within(list.to_owned()));
        let free = Entrant::new("best", CandidateSeats::Free);
        let words = Some("kind:performance".to_owned());
        let variables = vec!["OMP_WAIT_POLICY=passive".to_owned()];
        let memory = Some("interleave".to_owned());
        let winners = [
            Entrant { words, count: Some(4), ..on("0-3") },
            Entrant { variables, count: Some(4), ..free.clone() },
            Entrant { memory, ..free },
        ];
        assert_eq!(
            winners.map(advised),
            [
                "To get this: taskset -c $(seatmap cpus kind:performance) COMMAND, with the option \
                 -t 4",
                "To get this: OMP_WAIT_POLICY=passive COMMAND, with the option -t 4",
                "To get this: seatmap run --memory interleave -- COMMAND",
            ]
        );
        let mut race = raced_with(-10.0, [-12.0, -8.0]);
        race.counts =
            Some(TriedCounts { setting: "OMP_NUM_THREADS".to_owned(), ..TriedCounts::default() });
        race.candidates[1] =
            Entrant { count: Some(2), ..Entrant::new("2 threads", CandidateSeats::Free) };
        assert_eq!(
            advice(&race, race.verdict.as_ref().unwrap()).unwrap(),
            "To get this: OMP_NUM_THREADS=2 COMMAND"
        );
    }
}
