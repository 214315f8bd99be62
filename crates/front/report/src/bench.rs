//! Compares commands: what their runs show, in words.

mod neighbours;

use crate::axis::AxisUnit;
use crate::page::{Block, Page, Table, TableCell, cells, html_section, section};
use crate::svg::{Interval, PlotCurve, Title};
use crate::words::{counted, duration, figure, joined, lasting, signed, visible};
use seatmap_data::statistics::{quantile, signed_rank};
use seatmap_trial::tune::document::BaselineComparison;
use seatmap_trial::tune::metric::Better;
use seatmap_trial::tune::verdict::{NoiseFloor, blocks_to_show, percent};
use seatmap_trial::tune::{BenchResults, CommandComparison, ComparisonVerdict};
use std::collections::BTreeSet;

/// A session that cannot detect this change says how many blocks it needs.
const WORTH_SHOWING_PERCENT: f64 = 10.0;

const LONGEST_NAME: usize = 40;

/// The page of a comparison: differences, readings, and what they show.
pub fn page(results: &BenchResults) -> Page {
    let names = names(results);
    let comparisons = comparisons(results);
    let found = results.comparisons.iter();
    let found = found.map(|found| (found.with, percent(found.ratio), found.interval_percent()));
    let baseline = Vec::from_iter(results.baseline.iter().map(|then| of_baseline(results, then)));
    let floor = floor(results);
    // Without a comparison: an earlier result or the smallest detectable difference.
    let headline = comparisons.iter().chain(&baseline).chain(&floor).next().cloned();
    let said = Vec::from_iter(
        comparisons
            .into_iter()
            .chain(floor)
            .chain(baseline)
            .chain(notes(&results.seats.notes, results.throttled.as_deref()))
            .chain(neighbours::sentences(results, &cpus(&results.seats.cpus))),
    );
    Page {
        lead: vec![about(results)],
        sections: vec![
            html_section(
                format!("The difference of '{}' from the others", names[0]),
                differences(&names, found),
            ),
            section("Readings", table(results)).unit(direction(results)),
            section("In words", said),
            html_section("Every block", blocks(results)),
            html_section(
                "CPU time used by other programs during each run",
                neighbours::curves(results, names.clone()),
            ),
            html_section("Computer and settings", settings(results)),
        ],
        footer: "Every block runs each command once and the first one twice, in random order.",
        ..Page::new("Commands compared", headline.unwrap_or_default())
    }
}

/// Other influences on the readings.
pub(crate) fn notes<'a>(
    notes: &'a [String],
    quotas: Option<&'a str>,
) -> impl Iterator<Item = String> {
    let quotas = quotas.map(|quotas| {
        format!("{quotas}: the readings depend on the quota, not only on the program")
    });
    notes.iter().cloned().chain(quotas).map(|note| format!("Note: {note}."))
}

fn about(results: &BenchResults) -> String {
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
pub(crate) fn cpus(list: &str) -> String {
    format!("{} {list}", if list.contains(['-', ',']) { "CPUs" } else { "CPU" })
}

fn table(results: &BenchResults) -> Table {
    let table =
        Table::new("command:7 | median:>11 | middle half of all runs:>24 | runs:>").page_only(3);
    let named = results.commands.iter().zip(names(results)).enumerate();
    table.rows(named.map(|(at, (command, name))| {
        let values = results.values(at);
        cells![
            TableCell::from(name).tip(command.command.join(" ")),
            command.median.map_or("none".to_owned(), |median| reading(results, median)),
            middle_half(results, &values),
            values.len()
        ]
    }))
}

fn middle_half(results: &BenchResults, values: &[f64]) -> String {
    let quartiles = [0.25, 0.75].map(|share| quantile(values, share));
    joined(quartiles.iter().flatten().map(|value| reading(results, *value)), " to ")
}

/// Differences in percent, with the ends of their intervals.
pub(crate) fn differences(
    names: &[String],
    found: impl Iterator<Item = (usize, f64, Option<[f64; 2]>)>,
) -> Block {
    let rows = found.map(|(with, centre, ends)| Interval {
        name: format!("from '{}'", names[with]),
        centre,
        ends,
    });
    Block::Intervals(rows.collect())
}

fn blocks(results: &BenchResults) -> Block {
    let curves = names(results).into_iter().enumerate().map(|(at, name)| {
        // The second run serves only the first command's comparison with itself.
        let readings = results.runs.iter().filter(|run| run.command == at && !run.again);
        (name, readings.map(|run| (run.block, run.value)).collect())
    });
    readings_by_block(&results.unit, curves)
}

/// Curves over the blocks, which count from 0.
pub(crate) fn readings_by_block(
    unit: &str,
    named: impl Iterator<Item = (String, Vec<(usize, f64)>)>,
) -> Block {
    let is_time = unit == "s";
    let scale = if is_time { 1e9 } else { 1.0 };
    Block::Curves {
        curves: named
            .enumerate()
            .map(|(at, (name, readings))| {
                // Displayed blocks count from 1.
                let points =
                    readings.iter().map(|(block, value)| (*block as f64 + 1.0, value * scale));
                PlotCurve::new(at, &name, points.collect())
            })
            .collect(),
        across: "block",
        up: Title {
            text: "reading",
            unit: if is_time { AxisUnit::Time } else { AxisUnit::Number },
        },
    }
}

fn settings(results: &BenchResults) -> Table {
    let longest = results.runs.iter().map(|run| run.seconds).fold(0.0, f64::max);
    let begun = [("begun", results.begun.clone()), ("longest run", duration(1e9 * longest))];
    Table::facts(results.fingerprint.words().into_iter().chain(begun))
}

fn reading(results: &BenchResults, value: f64) -> String {
    reading_of(&results.unit, value)
}

/// A time in a suitable unit, or four significant digits.
pub(crate) fn reading_of(unit: &str, value: f64) -> String {
    if unit == "s" {
        return duration(1e9 * value);
    }
    match value {
        0.0 => "0".to_owned(),
        1e4.. => format!("{value:.0}"),
        // Four significant digits: 3 minus the power of ten of the first digit.
        1e-3.. => format!("{value:.*}", (3.0 - value.log10().floor()).max(0.0) as usize),
        _ => format!("{value:.3e}"),
    }
}

/// A name shortened in the middle, with control characters made visible.
pub(crate) fn short(name: &str) -> String {
    let name = visible(name);
    let letters = Vec::from_iter(name.chars());
    if letters.len() <= LONGEST_NAME {
        return name;
    }
    let end = (LONGEST_NAME - 3) / 2;
    let kept = [&letters[..LONGEST_NAME - 3 - end], &['.'; 3], &letters[letters.len() - end..]];
    kept.concat().into_iter().collect()
}

/// Short but unique names. If cutting the middle makes some equal, their common parts are cut
/// instead.
pub(crate) fn short_names<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let whole = Vec::from_iter(names.map(visible));
    let cut = Vec::from_iter(whole.iter().map(|name| short(name)));
    let count = |names: &[String]| names.iter().collect::<BTreeSet<_>>().len();
    if count(&cut) == count(&whole) {
        return cut;
    }
    let whole = Vec::from_iter(whole.iter().map(String::as_str));
    seatmap_cluster::names::apart(&whole, LONGEST_NAME)
}

fn names(results: &BenchResults) -> Vec<String> {
    short_names(results.commands.iter().map(|command| command.name.as_str()))
}

fn comparisons(results: &BenchResults) -> Vec<String> {
    let names = names(results);
    results
        .comparisons
        .iter()
        .map(|found| format!("{}.", compared(results, found, &format!("'{}'", names[found.with]))))
        .collect()
}

/// A comparison in words, without its full stop.
fn compared(results: &BenchResults, found: &CommandComparison, with: &str) -> String {
    let own = &names(results)[0];
    let by = amount(&results.metric, percent(found.ratio));
    // The signed-rank test has no interval for so few blocks at this confidence.
    let Some([low, high]) = found.interval_percent() else {
        let fewest = signed_rank::fewest(results.confidence);
        return format!(
            "Too few blocks to compare '{own}' with {with}: an interval needs at least {}",
            counted(fewest, "whole block")
        );
    };
    let interval = interval([low, high], results.confidence);
    match found.verdict {
        ComparisonVerdict::NotShown if low > 0.0 || high < 0.0 => format!(
            "No difference between '{own}' and {with} was detected: {interval} is within the \
             difference of '{own}' from itself"
        ),
        ComparisonVerdict::NotShown | ComparisonVerdict::TooFew => {
            format!("No difference between '{own}' and {with} was detected {interval}")
        }
        ComparisonVerdict::Different => format!("'{own}' {by} than {with} {interval}"),
        ComparisonVerdict::Better => format!("'{own}' is better: it {by} than {with} {interval}"),
        ComparisonVerdict::Worse => format!("'{own}' is worse: it {by} than {with} {interval}"),
    }
}

/// `takes 3.1 % less time`, `reads 3.1 % higher`.
pub(crate) fn amount(metric: &str, percent: f64) -> String {
    let size = digits(percent.abs());
    let is_more = percent > 0.0;
    let amount = if is_more { "more" } else { "less" };
    match metric {
        "time" => format!("takes {size} % {amount} time"),
        "cpu" => format!("takes {size} % {amount} CPU time"),
        _ => format!("reads {size} % {}", if is_more { "higher" } else { "lower" }),
    }
}

/// `[-1.2 to +0.4 % at 95 %]`.
pub(crate) fn interval(ends_percent: [f64; 2], confidence: f64) -> String {
    let [low, high] = ends_percent.map(signed_digits);
    format!("[{low} to {high} % at {} %]", tenths_of_percent(confidence))
}

/// A share in percent. 100 * 0.29 is not whole in floating point; tenths are precise enough.
pub(crate) fn tenths_of_percent(share: f64) -> f64 {
    (1000.0 * share).round() / 10.0
}

/// A percentage with two significant digits.
pub(crate) fn digits(percent: f64) -> String {
    figure(percent, decimals(percent))
}

/// 0.995 rounds up to 1.0.
/// The same with its sign.
pub(crate) fn signed_digits(percent: f64) -> String {
    signed(percent, decimals(percent))
}

fn decimals(percent: f64) -> usize {
    if percent.abs() < 0.995 { 2 } else { 1 }
}

/// The smallest detectable difference, from the first command's difference from itself and the
/// spread of the comparisons; if it is large, also the blocks that a smaller one needs.
fn floor(results: &BenchResults) -> Vec<String> {
    // One block of the comparison with itself has no spread.
    let Some(itself) = &results.itself else {
        return vec![
            "One block is too few to tell which differences would be detected.".to_owned(),
        ];
    };
    let floor = format!(
        "{} '{}' differs from itself by {} %.",
        detected(results, itself),
        names(results)[0],
        digits(itself.difference_percent.abs()),
    );
    let warning =
        "Warning: it differs from itself with 99 % confidence, so one run affects the next.";
    let warning = itself.differs_from_itself.then(|| warning.to_owned());
    [Some(floor), blocks_needed(results), warning].into_iter().flatten().collect()
}

fn detected(results: &BenchResults, itself: &NoiseFloor) -> String {
    let count = results.blocks().len();
    let blocks = counted(count, "block");
    let fewest = signed_rank::fewest(results.confidence);
    if count < fewest {
        return format!("With {blocks} no change can be detected: at least {fewest} are needed.");
    }
    let ends_percent = itself.ends_percent(&results.comparisons);
    let [low, high] = ends_percent.map(signed_digits);
    let earlier = match itself.sessions {
        1 => "",
        2 => " and the floor of the earlier session",
        _ => " and the floors of earlier sessions",
    };
    format!(
        "With {blocks}{earlier}, only changes beyond {low} % or {high} % would have been \
         detected; a later session may need more."
    )
}

/// The blocks, time and option to detect a difference of 10 %; `None` if this session has enough or
/// has shown all differences.
fn blocks_needed(results: &BenchResults) -> Option<String> {
    let blocks = results.blocks();
    let found = &results.comparisons;
    let is_open =
        found.is_empty() || found.iter().any(|one| one.verdict == ComparisonVerdict::NotShown);
    let needed = blocks_to_show(&blocks, WORTH_SHOWING_PERCENT, results.confidence)
        .filter(|needed| *needed > blocks.len())
        .filter(|_| is_open)?;
    let whole = results.runs.last().map_or(1, |run| run.block + 1);
    let block_s = results.runs.iter().map(|run| run.seconds).sum::<f64>() / whole as f64;
    // Plural: a change takes several blocks.
    Some(format!(
        "To detect a change of {WORTH_SHOWING_PERCENT} %, run about {needed} blocks ({}): --runs \
         {needed}.",
        lasting(needed as f64 * block_s)
    ))
}

fn of_baseline(results: &BenchResults, then: &BaselineComparison) -> String {
    let with = format!("'{}' of {}", short(&then.name), then.begun);
    match &then.comparison {
        // Comes first: under other conditions, a difference may be due to them.
        _ if !then.differences.is_empty() => {
            format!(
                "Not comparable with {with}, because these differ: {}.",
                then.differences.join("; ")
            )
        }
        None => format!("Too few runs, now or earlier, to compare with {with}."),
        Some(found) => format!("{}.", compared(results, found, &with)),
    }
}

fn direction(results: &BenchResults) -> &'static str {
    match results.better {
        None => "",
        Some(Better::Lower) => "lower is better",
        Some(Better::Higher) => "higher is better",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentages_have_two_digits_and_no_negative_zero() {
        assert_eq!([0.994, 0.996, 12.34].map(digits), ["0.99", "1.0", "12.3"]);
        assert_eq!(interval([-0.001, 0.0], 0.95), "[+0.00 to +0.00 % at 95 %]");
        assert_eq!([-0.001, -12.34].map(signed_digits), ["+0.00", "-12.3"]);
        assert_eq!(interval([-1.26, 0.126], 0.95), "[-1.3 to +0.13 % at 95 %]");
        assert_eq!(reading_of("jobs", 0.0), "0");
    }

    #[test]
    fn shortened_names_stay_different() {
        let stem = "redis-benchmark --threads 4 --pipeline 16 --requests 100000 --tests";
        let ends = ["get", "set"].map(|test| format!("{stem} {test}"));
        let cut = short_names(ends.iter().map(String::as_str));
        assert!(
            cut[0].ends_with(" get") && cut[1].ends_with(" set") && cut[0].starts_with("redis-"),
            "{cut:?}"
        );
        assert!(cut.iter().all(|name| name.chars().count() == LONGEST_NAME), "{cut:?}");
        let middles = ["4", "8"]
            .map(|threads| format!("{stem} {threads} --and-then-much-that-is-the-same-for-both"));
        let cut = short_names(middles.iter().map(String::as_str));
        assert!(cut[0] != cut[1], "{cut:?}");
        assert_eq!(short_names(["a\nb", "c"].into_iter()), ["a\\nb", "c"]);
    }
}
