//! The page of a race of ways to seat a program.

use super::{document, head};
use crate::axis::Unit;
use crate::svg::curves::{Curve, curves};
use crate::svg::frame::Title;
use crate::svg::intervals::{Interval, intervals};
use crate::tune::{about, fate, in_order, middle, names, sentences};
use maud::{Markup, html};
use seatmap_tune::Tuned;
use seatmap_tune::race::Phase;
use seatmap_tune::tuned::Verdict;

/// Candidates whose readings are drawn: more lines than these are not told apart.
const DRAWN: usize = 6;

/// A race as one HTML file that works offline and without scripts.
#[must_use]
pub fn tune(tuned: &Tuned) -> String {
    let Some(verdict) = &tuned.verdict else {
        let body = html! { (head("Seats raced", "The race is not over.", &html! {})) };
        return document("Seats raced", &body, "", "null");
    };
    let said = sentences(tuned, verdict);
    let lead = match &tuned.simulated {
        Some(_) => html! { p.lead { (about(tuned, verdict)) } },
        None => html! { p.lead { (tuned.command.join(" ")) ": " (about(tuned, verdict)) } },
    };
    let way = match &tuned.simulated {
        Some(_) => "Each block runs every candidate once, all with the same skew at the start.",
        None => {
            "Each block runs every candidate once, in random order. The winner then runs again, A B B A."
        }
    };
    let body = html! {
        (head("Seats raced", &said[0], &lead))
        main {
            section.card { h2 { "The winner against others, by fresh runs" } (intervals(&rows(tuned, verdict), "difference, %"))
                @for line in &said { p { (line) } } }
            section.card { h2 { "Candidates" } (table(tuned, verdict)) }
            section.card { h2 { "Every block" } (blocks(tuned, verdict)) }
            section.card { h2 { "Computer and settings" } table.figures { tbody {
                @for (what, value) in tuned.fingerprint.words() { tr { th.wide scope="row" { (what) } td { (value) } } } } } }
        }
        footer { (way) }
    };
    document("Seats raced", &body, "", "null")
}

fn rows(tuned: &Tuned, verdict: &Verdict) -> Vec<Interval> {
    let row = |found: &seatmap_tune::tuned::Difference| Interval {
        name: format!("from '{}'", names(tuned)[found.with]),
        centre: found.percent,
        ends: found.interval_percent,
    };
    verdict.confirmed.iter().map(row).collect()
}

fn table(tuned: &Tuned, verdict: &Verdict) -> Markup {
    html! {
        table.figures {
            thead { tr { th.wide { "Candidate" } th { "Median" } th { "To the best" } th { "Runs" } th { "By the model" } th { "Result" } } }
            tbody { @for at in in_order(tuned, verdict) {
                @let values = tuned.values(at);
                tr {
                    th.wide scope="row" { (tuned.candidates[at].name) } td { (middle(tuned, &values)) }
                    td { (format!("{:+.1} %", verdict.above_winner_percent[at])) } td { (values.len()) }
                    td { (tuned.candidates[at].predicted.map(|cost| format!("{cost:.0}")).unwrap_or_default()) }
                    td { (fate(tuned, verdict, at)) }
                }
            } }
        }
    }
}

fn blocks(tuned: &Tuned, verdict: &Verdict) -> Markup {
    let is_time = tuned.unit == "s";
    let scale = if is_time { 1e9 } else { 1.0 };
    let names = names(tuned);
    let of = |(place, at): (usize, usize)| {
        let in_race = tuned
            .runs
            .iter()
            .filter(|run| run.turn.candidate == at && run.turn.phase == Phase::Race);
        let points = in_race.map(|run| (run.turn.block as f64 + 1.0, run.value * scale)).collect();
        Curve::new(place, &names[at], points)
    };
    let all: Vec<Curve> =
        in_order(tuned, verdict).into_iter().take(DRAWN).enumerate().map(of).collect();
    let up = Title { text: "reading", unit: if is_time { Unit::Time } else { Unit::Number } };
    curves(&all, Title { text: "block", unit: Unit::Whole }, up)
}
