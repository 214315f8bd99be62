//! Commands compared: what their runs show, in words.

use crate::about::counted;
use crate::duration::duration;
use seatmap_document::visible;
use seatmap_statistics::{quantile, signed_rank};
use seatmap_tune::document::Baseline;
use seatmap_tune::metric::Better;
use seatmap_tune::verdict::percent;
use seatmap_tune::{Comparison, Results, Verdict};
use std::collections::BTreeSet;

/// Names are cut at this length in a table.
const LONGEST_NAME: usize = 40;

/// The whole result for a terminal.
#[must_use]
pub fn text(results: &Results) -> String {
    let mut text = format!("{}\n\n{}\n", visible(&about(results)), table(results));
    let said = comparisons(results)
        .into_iter()
        .chain(floor(results))
        .chain(results.baseline.iter().map(|then| of_baseline(results, then)));
    let notes = results.seats.notes.iter().map(|note| format!("Note: {note}."));
    said.chain(notes)
        .chain(results.throttled.iter().map(|quotas| throttled(quotas)))
        .for_each(|line| text += &format!("{}\n", visible(&line)));
    text
}

/// The note about quotas that were used up during the runs.
pub(crate) fn throttled(quotas: &str) -> String {
    format!("Note: {quotas}: the readings are those of the quota, and not of the program alone.")
}

/// How much was run, and where.
pub(crate) fn about(results: &Results) -> String {
    let metric =
        if results.metric == "time" { String::new() } else { format!(" of {}", results.metric) };
    let cut = if results.complete { "" } else { ", incomplete" };
    let blocks = counted(results.blocks().len(), "block");
    let kept = match results.fingerprint.quiet.as_str() {
        "nobody" => String::new(),
        way => format!(", kept quiet by {way}"),
    };
    format!(
        "{blocks}{metric} on {} ({}{kept}){cut}",
        cpus(&results.seats.cpus),
        results.fingerprint.seats
    )
}

/// `CPU 3`, `CPUs 0-3`.
fn cpus(list: &str) -> String {
    format!("{} {list}", if list.contains(['-', ',']) { "CPUs" } else { "CPU" })
}

fn table(results: &Results) -> String {
    let names = names(results);
    let width = names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max(7);
    let mut text =
        format!("  {:<width$}  {:>11}  {:>24}\n", "command", "median", "middle half of all runs");
    for (at, name) in names.iter().enumerate() {
        let [median, half] = [median(results, at), middle_half(results, at)];
        text += &format!("  {name:<width$}  {median:>11}  {half:>24}\n");
    }
    text
}

/// The median of a command's readings.
pub(crate) fn median(results: &Results, command: usize) -> String {
    results.commands[command]
        .median
        .map_or_else(|| "none".to_owned(), |value| reading(results, value))
}

/// The quartiles of a command's readings.
pub(crate) fn middle_half(results: &Results, command: usize) -> String {
    let values = results.values(command);
    match (quantile(&values, 0.25), quantile(&values, 0.75)) {
        (Some(low), Some(high)) => {
            format!("{} to {}", reading(results, low), reading(results, high))
        }
        _ => String::new(),
    }
}

/// A reading with its unit.
pub(crate) fn reading(results: &Results, value: f64) -> String {
    reading_of(&results.unit, value)
}

/// A reading in seconds with a unit that suits; any other with four digits that matter.
pub(crate) fn reading_of(unit: &str, value: f64) -> String {
    if unit == "s" {
        return duration(1e9 * value);
    }
    match value {
        1e4.. => format!("{value:.0}"),
        1e-3.. => format!("{value:.*}", (3.0 - value.log10().floor()).max(0.0) as usize),
        _ => format!("{value:.3e}"),
    }
}

/// A name that leaves room for figures and keeps both its ends, without line ends and what else a
/// table cannot hold.
pub(crate) fn short(name: &str) -> String {
    let name = visible(name);
    match name.char_indices().nth(LONGEST_NAME) {
        None => name,
        Some(_) => {
            let end = (LONGEST_NAME - 3) / 2;
            let letters: Vec<char> = name.chars().collect();
            let kept =
                [&letters[..LONGEST_NAME - 3 - end], &['.'; 3], &letters[letters.len() - end..]];
            kept.concat().into_iter().collect()
        }
    }
}

/// Short names for things that stand beside each other, each other than the rest: where the middle
/// is what differs, the parts that all have in common are left out instead.
pub(crate) fn short_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let whole: Vec<String> = names.map(visible).collect();
    let cut: Vec<String> = whole.iter().map(|name| short(name)).collect();
    let count = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len();
    if count(&cut) == count(&whole) {
        return cut;
    }
    seatmap_cluster::names::apart(
        &whole.iter().map(String::as_str).collect::<Vec<_>>(),
        LONGEST_NAME,
    )
}

/// The commands' names.
pub(crate) fn names(results: &Results) -> Vec<String> {
    short_names(results.commands.iter().map(|command| command.name.as_str()))
}

/// A sentence for each comparison.
pub(crate) fn comparisons(results: &Results) -> Vec<String> {
    let told = |found: &Comparison| {
        let with = format!("'{}'", names(results)[found.with]);
        format!("{}.", compared(results, found, &with))
    };
    results.comparisons.iter().map(told).collect()
}

/// A comparison in words, without its full stop.
fn compared(results: &Results, found: &Comparison, with: &str) -> String {
    let own = &names(results)[0];
    let by = amount(results, found.ratio);
    let Some((low, high)) = found.ratio_low.zip(found.ratio_high) else {
        let fewest = signed_rank::fewest(results.confidence);
        return format!(
            "'{own}' {by} than {with}; an interval needs at least {}",
            counted(fewest, "whole block")
        );
    };
    let interval = interval(low, high, results.confidence);
    match found.verdict {
        Verdict::NotShown | Verdict::TooFew => {
            format!("No difference between '{own}' and {with} is shown {interval}")
        }
        Verdict::Different => format!("'{own}' {by} than {with} {interval}"),
        Verdict::Better => format!("'{own}' is better: it {by} than {with} {interval}"),
        Verdict::Worse => format!("'{own}' is worse: it {by} than {with} {interval}"),
    }
}

/// `takes 3.1 % less time`, `reads 3.1 % higher`.
fn amount(results: &Results, ratio: f64) -> String {
    let size = digits(percent(ratio).abs());
    let is_more = ratio > 1.0;
    if results.metric == "time" {
        format!("takes {size} % {} time", if is_more { "more" } else { "less" })
    } else {
        format!("reads {size} % {}", if is_more { "higher" } else { "lower" })
    }
}

/// `[-1.2 to +0.4 % at 95 %]`.
fn interval(low: f64, high: f64, confidence: f64) -> String {
    let signed = |ratio: f64| {
        format!("{}{}", if ratio < 1.0 { "-" } else { "+" }, digits(percent(ratio).abs()))
    };
    format!("[{} to {} % at {} %]", signed(low), signed(high), (1000.0 * confidence).round() / 10.0)
}

/// Two digits that matter of a percentage.
pub(crate) fn digits(percent: f64) -> String {
    match percent {
        1.0.. => format!("{percent:.1}"),
        _ => format!("{percent:.2}"),
    }
}

/// The least difference that can be shown, from the first command's difference from itself.
pub(crate) fn floor(results: &Results) -> Vec<String> {
    let Some(itself) = &results.itself else {
        return vec!["One block does not say which differences this computer can show.".to_owned()];
    };
    let blocks = counted(results.blocks().len(), "block");
    let mut said = vec![format!(
        "This computer can show differences above {} % with {blocks}: '{}' differs from itself by {} %.",
        digits(itself.floor_percent),
        names(results)[0],
        digits(itself.difference_percent.abs()),
    )];
    if itself.differs_from_itself {
        said.push(
            "Warning: it differs from itself at 99 %, so a run changes what the next one finds."
                .to_owned(),
        );
    }
    said
}

/// The comparison with an earlier result.
pub(crate) fn of_baseline(results: &Results, then: &Baseline) -> String {
    let with = format!("'{}' of {}", short(&then.name), then.begun);
    match &then.comparison {
        _ if !then.differences.is_empty() => {
            format!(
                "Not comparable with {with}, because these differ: {}.",
                then.differences.join("; ")
            )
        }
        None => format!("Too few runs, now or then, to compare with {with}."),
        Some(found) => format!("{}.", compared(results, found, &with)),
    }
}

/// The one sentence on top of a page.
pub(crate) fn sentence(results: &Results) -> String {
    let mut said = comparisons(results)
        .into_iter()
        .chain(results.baseline.iter().map(|then| of_baseline(results, then)))
        .chain(floor(results));
    said.next().unwrap_or_default()
}

/// Whether larger readings are better, in words.
pub(crate) fn direction(results: &Results) -> &'static str {
    match results.better {
        None => "",
        Some(Better::Lower) => "smaller is better",
        Some(Better::Higher) => "larger is better",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_are_cut_stay_different() {
        let stem = "redis-benchmark --threads 4 --pipeline 16 --requests 100000 --tests";
        let ends = ["get", "set"].map(|test| format!("{stem} {test}"));
        let cut = short_names(ends.iter().map(String::as_str));
        assert!(
            cut[0].ends_with(" get") && cut[1].ends_with(" set") && cut[0].starts_with("redis-"),
            "{cut:?}"
        );
        assert!(cut.iter().all(|name| name.chars().count() == LONGEST_NAME), "{cut:?}");
        // They differ in the middle, which would have been left out.
        let middles = ["4", "8"]
            .map(|threads| format!("{stem} {threads} --and-then-much-that-is-the-same-for-both"));
        let cut = short_names(middles.iter().map(String::as_str));
        assert!(cut[0] != cut[1], "{cut:?}");
        assert_eq!(short_names(["a\nb", "c"].into_iter()), ["a\\nb", "c"]);
    }
}
