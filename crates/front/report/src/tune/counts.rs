//! A program by its number of threads: the curve, and what the program did with its setting.

use crate::bench::{reading_of, tenths_of_percent};
use crate::page::{Block, PageSection, Table, TableCell};
use crate::svg::Interval;
use crate::words::{counted, joined};
use seatmap_data::statistics::greatest;
use seatmap_trial::tune::Tuned;
use seatmap_trial::tune::tried_counts::{CountPoint, TriedCounts};
use seatmap_trial::tune::verdict::percent;

/// The longest bar of a terminal, in letters.
const LONGEST_BAR: f64 = 16.0;

/// The runs before the race, as the start of the page's first line.
pub fn about(counts: &TriedCounts) -> String {
    let runs = counted(counts.runs.len(), "run");
    let all = counted(counts.counts.len(), "number");
    format!("{runs} with {} of {all} of {}, then ", counts.tried(), counts.axis())
}

/// A curve with the metric's name, unit and best number.
struct NamedCurve<'a> {
    metric: &'a str,
    unit: &'a str,
    best: Option<u32>,
    points: Vec<CountPoint>,
}

fn curves<'a>(tuned: &'a Tuned, counts: &'a TriedCounts) -> Vec<NamedCurve<'a>> {
    let first = NamedCurve {
        metric: &tuned.metric,
        unit: &tuned.unit,
        best: counts.best,
        points: counts.curve(tuned.confidence),
    };
    let second = counts.second.as_ref().map(|second| NamedCurve {
        metric: &second.metric,
        unit: &second.unit,
        best: second.best,
        points: counts.second_curve(tuned.confidence),
    });
    [Some(first), second].into_iter().flatten().collect()
}

/// A row for each number, and its difference from the best one.
pub fn section(tuned: &Tuned, counts: &TriedCounts) -> PageSection {
    let curves = curves(tuned, counts);
    let section = PageSection::new("By number of threads");
    let section = section.with(table(tuned, counts, &curves));
    curves.iter().fold(section, |section, curve| section.with(beside_best(counts, curve)))
}

fn table(tuned: &Tuned, counts: &TriedCounts, curves: &[NamedCurve<'_>]) -> Table {
    let interval = format!("{} % interval", tenths_of_percent(tuned.confidence));
    let names = ["reading", "second reading"];
    let heads: Vec<&str> =
        names.into_iter().zip(curves).flat_map(|(name, _)| [name, &interval]).collect();
    let axis = counts.axis().to_string();
    let first = &curves[0].points;
    let longest = greatest(first.iter().map(|point| point.reading));
    let rows = first.iter().enumerate().map(|(at, point)| {
        let mut cells = vec![TableCell::from(point.count)];
        for curve in curves {
            let readings = curve.points.get(at);
            cells.push(readings.map_or("none".to_owned(), |own| reading(own, curve)).into());
            cells.push(readings.map_or("none".to_owned(), |own| ends(own, curve)).into());
        }
        cells.push(if point.threads == 0 { "".into() } else { point.threads.into() });
        let letters = (LONGEST_BAR * point.reading / longest).round() as usize;
        cells.push("█".repeat(letters).into());
        cells
    });
    let columns = Table::default().figures([axis.as_str()]).figures(heads.iter().copied());
    let table = columns.figures(["threads seen"]).words([""]).rows(rows);
    // Short runs end before the first look.
    table.where_filled(1 + heads.len())
}

fn reading(point: &CountPoint, curve: &NamedCurve<'_>) -> String {
    reading_of(curve.unit, point.reading)
}

fn ends(point: &CountPoint, curve: &NamedCurve<'_>) -> String {
    let ends = point.ends.iter().flatten();
    joined(ends.map(|end| reading_of(curve.unit, *end)), " to ")
}

fn beside_best(counts: &TriedCounts, curve: &NamedCurve<'_>) -> Block {
    let best = curve.points.iter().find(|point| Some(point.count) == curve.best);
    let differences = best.iter().flat_map(|best| {
        let others = curve.points.iter().filter(|point| point.count != best.count);
        others.map(|point| Interval {
            name: format!("{} beside {}", counts.axis().with(point.count), best.count),
            centre: percent(point.reading / best.reading),
            ends: point.ends.map(|ends| ends.map(|end| percent(end / best.reading))),
        })
    });
    Block::Intervals(differences.collect())
}

/// The best number by each metric, and the most threads of the program.
pub fn sentences(tuned: &Tuned, counts: &TriedCounts) -> Vec<String> {
    let axis = counts.axis();
    let bests = curves(tuned, counts).into_iter().filter_map(|curve| {
        let best = axis.with(curve.best?);
        Some(format!("By {}, {best} is the best number that ran.", curve.metric))
    });
    let cap = counts.cap().map(|(least, highest, threads)| {
        format!(
            "{} started {}, as {} did: the program uses no more.",
            axis.with(highest),
            counted(threads, "thread"),
            axis.with(least)
        )
    });
    bests.chain(cap).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;

    #[test]
    fn curve_has_intervals_bars_and_the_best_by_each_metric() {
        let tuned = Tuned::from_json(include_str!("../tests/counts.json")).unwrap();
        let counts = tuned.counts.as_ref().unwrap();
        let page = Page::of(section(&tuned, counts)).and(sentences(&tuned, counts)).text(None);
        insta::assert_snapshot!(page);
        assert_eq!(about(counts), "8 runs with 4 of 8 numbers of OMP_NUM_THREADS, then ");
    }
}
