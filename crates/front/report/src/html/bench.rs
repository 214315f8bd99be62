//! The page of commands compared by running them.

use super::{document, head};
use crate::axis::Unit;
use crate::bench::{
    about, comparisons, direction, floor, median, middle_half, names, of_baseline, reading,
    sentence, throttled,
};
use crate::svg::curves::{Curve, curves};
use crate::svg::frame::Title;
use crate::svg::intervals::{Interval, intervals};
use maud::{Markup, html};
use seatmap_tune::Results;
use seatmap_tune::verdict::percent;

/// A result as one HTML file that works offline and without scripts.
#[must_use]
pub fn bench(results: &Results) -> String {
    let lead = html! { p.lead { (about(results)) } };
    let body = html! {
        (head("Commands compared", &sentence(results), &lead))
        main {
            @if !results.comparisons.is_empty() {
                section.card {
                    h2 { "The difference of '" (names(results)[0]) "' from the others" }
                    (intervals(&rows(results), "difference, %"))
                    @for line in comparisons(results) { p { (line) } }
                }
            }
            section.card { h2 { "Readings" } (table(results)) @for line in floor(results) { p { (line) } }
                @if let Some(then) = &results.baseline { p { (of_baseline(results, then)) } }
                @if let Some(quotas) = &results.throttled { p { (throttled(quotas)) } } }
            section.card { h2 { "Every block" } (blocks(results)) }
            section.card { h2 { "Computer and settings" } (fingerprint(results)) }
        }
        footer { "Every block runs each command once and the first one twice, in random order." }
    };
    document("Commands compared", &body, "", "null")
}

fn rows(results: &Results) -> Vec<Interval> {
    let row = |found: &seatmap_tune::Comparison| Interval {
        name: names(results)[found.with].clone(),
        centre: percent(found.ratio),
        ends: found
            .ratio_low
            .zip(found.ratio_high)
            .map(|(low, high)| [percent(low), percent(high)]),
    };
    results.comparisons.iter().map(row).collect()
}

fn table(results: &Results) -> Markup {
    let names = names(results);
    html! {
        table.figures {
            thead { tr { th.wide { "Command" } th { "Median" } th { "Middle half" } th { "Runs" } } }
            tbody { @for (at, command) in results.commands.iter().enumerate() { tr {
                th.wide scope="row" title=(command.command.join(" ")) { (names[at]) }
                td { (median(results, at)) } td { (middle_half(results, at)) } td { (results.values(at).len()) }
            } } }
        }
        @if !direction(results).is_empty() { p { "Of these readings, " (direction(results)) "." } }
    }
}

/// Each command's mean reading in each block.
fn blocks(results: &Results) -> Markup {
    let is_time = results.unit == "s";
    let scale = if is_time { 1e9 } else { 1.0 };
    let names = names(results);
    let of = |(at, name): (usize, &String)| {
        let readings = results.runs.iter().filter(|run| run.command == at && !run.again);
        let points = readings.map(|run| (run.block as f64 + 1.0, run.value * scale)).collect();
        Curve::new(at, name, points)
    };
    let all: Vec<Curve> = names.iter().enumerate().map(of).collect();
    let up = Title { text: "reading", unit: if is_time { Unit::Time } else { Unit::Number } };
    curves(&all, Title { text: "block", unit: Unit::Whole }, up)
}

fn fingerprint(results: &Results) -> Markup {
    let longest = results.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
    html! {
        table.figures { tbody {
            @for (what, value) in results.fingerprint.words() { tr { th.wide scope="row" { (what) } td { (value) } } }
            tr { th.wide scope="row" { "begun" } td { (results.begun) } }
            tr { th.wide scope="row" { "longest run" } td { (crate::duration::duration(1e9 * longest)) } }
            @if let Some(value) = results.commands[0].median { tr { th.wide scope="row" { "median of the first" } td { (reading(results, value)) } } }
        } }
        @for note in &results.seats.notes { p { (note) "." } }
    }
}
