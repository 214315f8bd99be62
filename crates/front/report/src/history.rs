//! Benchmarks over time, in words and curves.

use crate::axis::AxisUnit;
use crate::bench::{digits, reading_of};
use crate::noise::BARS;
use crate::page::{Block, Page, Table, cells, html_section, section};
use crate::svg::{PlotCurve, Title};
use crate::words::{counted, visible};
use seatmap_data::statistics::median;
use seatmap_trial::gate::Trend;
use seatmap_trial::gate::history::{TrendChange, TrendPoint, Trends};

/// The page of the benchmarks and their changes.
pub fn page(trends: &Trends) -> Page {
    let changes = Vec::from_iter(
        trends
            .trends
            .iter()
            .flat_map(|trend| trend.changes.iter().map(move |change| changed(trend, change))),
    );
    let headline = match changes.len() {
        0 => "No benchmark has changed.".to_owned(),
        count => format!("{} found.", counted(count, "change")),
    };
    let mut said = vec![headline.clone()];
    said.extend(changes);
    let short = trends.trends.iter().filter(|trend| trend.is_too_short()).count();
    said.extend((short > 0).then(|| {
        format!(
            "{} with fewer than 6 sessions on one kind of computer cannot be judged.",
            counted(short, "trend")
        )
    }));
    said.extend(computers(trends));
    let curves = trends.trends.iter().enumerate().map(|(at, trend)| curve(trends, at, trend));
    Page {
        sections: vec![
            section("Benchmarks", table(trends)),
            section("In words", said),
            html_section(
                "Every session, relative to its benchmark's median",
                Block::Curves {
                    curves: curves.collect(),
                    across: "session",
                    up: Title { text: "difference, %", unit: AxisUnit::Number },
                },
            ),
        ],
        footer: "Changes are found by E-divisive means: at most 10 of 1,000 random orders of the \
                 same results show such a change.",
        ..Page::new("Benchmarks over time", headline)
    }
}

fn table(trends: &Trends) -> Table {
    Table::new("benchmark | sessions:> | first:> | last:> | changes:> | trend").rows(
        trends.trends.iter().map(|trend| {
            cells![
                name(trends, trend),
                trend.points.len(),
                reading(trend, trend.points.first()),
                reading(trend, trend.points.last()),
                trend.changes.len(),
                spark(trend)
            ]
        }),
    )
}

fn reading(trend: &Trend, point: Option<&TrendPoint>) -> String {
    point.map_or_else(String::new, |point| reading_of(&trend.unit, point.median))
}

/// The newest results, from the lowest to the highest.
fn spark(trend: &Trend) -> String {
    const MOST: usize = 40;
    let newest = &trend.points[trend.points.len().saturating_sub(MOST)..];
    let values = newest.iter().map(|point| point.median);
    let low = values.clone().fold(f64::INFINITY, f64::min);
    let high = values.clone().fold(0.0, f64::max);
    // Noise of a thousandth must not look as large as a change.
    let range = (high - low).max(0.02 * high);
    values
        .map(|value| BARS[(7.0 * (value - low) / range).round().clamp(0.0, 7.0) as usize])
        .collect()
}

fn changed(trend: &Trend, change: &TrendChange) -> String {
    let point = &trend.points[change.at];
    let label = point.label.as_ref();
    let label = label.map_or_else(String::new, |label| format!(" ({})", visible(label)));
    let judged = match trend.is_worse(change) {
        Some(true) => "worse",
        Some(false) => "better",
        None => "different",
    };
    let way = if change.change_percent > 0.0 { "higher" } else { "lower" };
    format!(
        "'{}' became {judged}: {} % {way} since {}{label} [{:.1} % certain, computer {}].",
        visible(&trend.name),
        digits(change.change_percent.abs()),
        point.begun,
        change.certainty_percent,
        trend.computer,
    )
}

fn computers(trends: &Trends) -> impl Iterator<Item = String> {
    let kinds = trends.computers.iter().enumerate();
    kinds.skip(1).map(|(at, kind)| {
        format!(
            "Computer {} ({}) differs from computer 1 and is judged separately: {}.",
            at + 1,
            counted(kind.sessions, "session"),
            kind.differences.join("; ")
        )
    })
}

fn curve(trends: &Trends, at: usize, trend: &Trend) -> PlotCurve {
    let values = Vec::from_iter(trend.points.iter().map(|point| point.median));
    let level = median(&values).unwrap_or(1.0);
    let points = values.iter().enumerate();
    let points = points.map(|(at, value)| (at as f64 + 1.0, 100.0 * (value / level - 1.0)));
    PlotCurve::new(at, &name(trends, trend), points.collect())
}

fn name(trends: &Trends, trend: &Trend) -> String {
    let name = visible(&trend.name);
    if trends.computers.len() > 1 { format!("{name}, computer {}", trend.computer) } else { name }
}
