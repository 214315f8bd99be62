//! Compares base and head of several benchmarks: what their runs show, in words.

use crate::bench::{
    cpus, digits, interval, notes, reading_of, short_names, signed_digits, tenths_of_percent,
};
use crate::page::{Block, Page, Table, TableCell, cells, html_section, section};
use crate::svg::Interval;
use crate::words::{capital, counted};
use seatmap_trial::gate::{BenchmarkResult, GateReport};
use seatmap_trial::tune::verdict::percent;
use seatmap_trial::tune::{CommandComparison, ComparisonVerdict, LimitOutcome};

/// The page of a comparison: the verdict, the differences, and what they show.
pub fn page(report: &GateReport) -> Page {
    let header = &report.header;
    let unshown = report.unshown().into_iter().map(|said| format!("{}.", capital(&said)));
    let alone = report.unpaired.iter();
    let alone = alone.map(|alone| {
        format!("'{}' is only in {}, so it is not compared.", alone.name, alone.only.word())
    });
    let family = format!(
        "All verdicts together hold with {} % confidence: each interval is widened for the number \
         of benchmarks (Holm).",
        tenths_of_percent(header.confidence)
    );
    let said = Vec::from_iter(
        unshown
            .chain(alone)
            .chain(disturbed(report))
            .chain(notes(&header.seats.notes, header.throttled.as_deref()))
            .chain([family]),
    );
    Page {
        lead: vec![about(report)],
        sections: vec![
            html_section("Head's difference from base", differences(report)),
            section("Benchmarks", table(report)),
            section("In words", said),
            html_section("Computer and settings", settings(report)),
        ],
        footer: "In every block each benchmark runs base once and head twice, in random order.",
        ..Page::new("Base and head compared", format!("{}.", report.verdict())).headed()
    }
}

fn about(report: &GateReport) -> String {
    let header = &report.header;
    let runs: usize = report.benchmarks.iter().map(|result| result.runs.len()).sum();
    let label = header.label.as_ref().map_or_else(String::new, |label| format!(" of {label}"));
    format!(
        "{}{label}, {} on {} ({}).",
        counted(report.benchmarks.len(), "benchmark"),
        counted(runs, "reading"),
        cpus(&header.seats.cpus),
        header.fingerprint.seats
    )
}

fn disturbed(report: &GateReport) -> Option<String> {
    let disturbed = report.benchmarks.iter().filter_map(|result| result.disturbed.as_ref());
    let blocks: usize = disturbed.map(|disturbed| disturbed.blocks).sum();
    (blocks > 0).then(|| {
        format!(
            "Note: other programs used the CPUs during {}; such blocks are excluded if enough \
             others remain.",
            counted(blocks, "block")
        )
    })
}

fn names(report: &GateReport) -> Vec<String> {
    short_names(report.benchmarks.iter().map(|result| result.name.as_str()))
}

fn differences(report: &GateReport) -> Block {
    let rows = report.benchmarks.iter().zip(names(report)).filter_map(|(result, name)| {
        let found = result.comparison.as_ref()?;
        Some(Interval { name, centre: percent(found.ratio), ends: found.interval_percent() })
    });
    Block::Intervals(rows.collect())
}

fn table(report: &GateReport) -> Table {
    Table::new("benchmark | base:> | head:> | difference:> | interval:> | verdict").rows(
        report.benchmarks.iter().zip(names(report)).map(|(result, name)| {
            let difference = result.comparison.as_ref().map_or_else(String::new, |found| {
                format!("{} %", signed_digits(percent(found.ratio)))
            });
            cells![
                name,
                median(result, 1),
                median(result, 0),
                TableCell::strong(difference),
                of_interval(result),
                verdict(result)
            ]
        }),
    )
}

fn median(result: &BenchmarkResult, side: usize) -> String {
    let median = result.commands[side].median;
    median.map_or_else(|| "none".to_owned(), |median| reading_of(&result.unit, median))
}

fn of_interval(result: &BenchmarkResult) -> String {
    let ends = result.comparison.as_ref().and_then(CommandComparison::interval_percent);
    ends.map_or_else(
        || "too few blocks".to_owned(),
        |ends_percent| interval(ends_percent, result.tested_confidence),
    )
}

/// The verdict relative to the limit, if any.
fn verdict(result: &BenchmarkResult) -> String {
    let limit = result.fail_above_percent.unwrap_or_default();
    let difference = match result.comparison.as_ref().map(|found| found.verdict) {
        Some(ComparisonVerdict::Better) => "better",
        Some(ComparisonVerdict::Worse) => "worse",
        Some(ComparisonVerdict::Different) => "different",
        Some(ComparisonVerdict::NotShown) => "no difference shown",
        Some(ComparisonVerdict::TooFew) | None => "too few blocks",
    };
    match result.outcome {
        None => difference.to_owned(),
        Some(LimitOutcome::Above) => format!("worse by more than {limit} %"),
        Some(LimitOutcome::Within) => format!("{difference}, within {limit} %"),
        Some(LimitOutcome::CannotTell) => match result.shows_above_percent {
            Some(least) => format!("undecided below {} %", digits(least)),
            None => "undecided".to_owned(),
        },
    }
}

fn settings(report: &GateReport) -> Table {
    let begun = [("begun", report.header.begun.clone())];
    Table::facts(report.header.fingerprint.words().into_iter().chain(begun))
}
