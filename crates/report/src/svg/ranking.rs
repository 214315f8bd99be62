//! Times over ranks, as in the figures of Keller & Varbanescu 2010: the mean as a line that rises, each run around it.

use super::curves::COLOURS;
use super::number;
use crate::ranking::{about, duration};
use maud::{Markup, html};
use seatmap_measure::rank::Ranking;

const WIDTH: f64 = 760.0;
const HEIGHT: f64 = 440.0;
/// Room for the times, left.
const LEFT: f64 = 84.0;
/// Room for the names of curves, right.
const RIGHT: f64 = 96.0;
/// Room for the title, above.
const TOP: f64 = 64.0;
/// Room for the ranks, below.
const BOTTOM: f64 = 48.0;
/// Letters of a line below the title, of 6 units each.
const LINE: usize = ((WIDTH - LEFT) / 6.0) as usize;
/// Points of a curve; more could not be told apart.
const MOST_POINTS: usize = 4000;
/// Runs that are drawn one by one: as many as there are colours for.
const MOST_RUNS: usize = COLOURS.len() - 1;

/// Times of all mappings over their ranks, as a standalone picture.
#[must_use]
pub fn ranking(ranking: &Ranking) -> String {
    picture(ranking).into_string() + "\n"
}

/// The picture, also for pages.
pub(crate) fn picture(ranking: &Ranking) -> Markup {
    // XML knows no control characters, not even as references.
    let title = seatmap_document::visible(&format!("{} on {}", ranking.setup.pattern, ranking.setup.machine));
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {HEIGHT}")) width=(WIDTH) height=(HEIGHT)
            role="img" font-family="system-ui, sans-serif" font-size="11" {
            title { (title) }
            rect width=(WIDTH) height=(HEIGHT) fill="#fff" {}
            text x=(LEFT) y="26" font-size="16" font-weight="600" fill="#1b1f24" { (title) }
            @for (at, line) in lines(&about(ranking)).iter().enumerate() {
                text x=(LEFT) y=(44 + 13 * at) fill="#57606a" { (line) }
            }
            (axes(ranking))
            (curves(ranking))
        }
    }
}

/// Clauses in lines that fit into the picture.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for clause in text.split("; ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + clause.chars().count() + 2 <= LINE => *line += &format!("; {clause}"),
            _ => lines.push(clause.to_owned()),
        }
    }
    lines
}

/// The largest time, at the top of the picture.
fn most(ranking: &Ranking) -> f64 {
    let times = ranking.ranking.iter().flat_map(|row| &row.runs_ns).copied();
    times.fold(f64::MIN_POSITIVE, f64::max)
}

fn x(rank: usize, ranks: usize) -> f64 {
    LEFT + (WIDTH - LEFT - RIGHT) * (rank - 1) as f64 / (ranks - 1).max(1) as f64
}

/// From zero, so that a factor of two looks like one.
fn y(ns: f64, most: f64) -> f64 {
    HEIGHT - BOTTOM - (HEIGHT - TOP - BOTTOM) * ns / most
}

fn axes(ranking: &Ranking) -> Markup {
    let (most, ranks) = (most(ranking), ranking.mappings);
    html! {
        g fill="#57606a" {
            @for step in 0..=4 {
                @let ns = most * f64::from(step) / 4.0;
                line x1=(LEFT) x2=(WIDTH - RIGHT) y1=(number(y(ns, most))) y2=(number(y(ns, most))) stroke="#d0d7de" {}
                text x=(LEFT - 8.0) y=(number(y(ns, most) + 4.0)) text-anchor="end" { (duration(ns)) }
            }
            @for rank in ticks(ranks) {
                text x=(number(x(rank, ranks))) y=(HEIGHT - BOTTOM + 18.0) text-anchor="middle" { (rank) }
            }
            text x=(number((LEFT + WIDTH - RIGHT) / 2.0)) y=(HEIGHT - 10.0) text-anchor="middle" { "rank by the mean over the runs" }
        }
    }
}

/// Up to five ranks, the first and the last among them.
fn ticks(ranks: usize) -> Vec<usize> {
    let mut ticks: Vec<usize> = (0..=4).map(|step| 1 + (ranks - 1) * step / 4).collect();
    ticks.dedup();
    ticks
}

/// Each run, and the mean above them.
fn curves(ranking: &Ranking) -> Markup {
    let runs = ranking.setup.runs as usize;
    html! {
        @for run in 0..if runs > 1 { runs.min(MOST_RUNS) } else { 0 } {
            (curve(ranking, &format!("run {}", run + 1), run + 1, COLOURS[run], 0.8, |row| ranking.ranking[row].runs_ns[run]))
        }
        (curve(ranking, "mean", 0, COLOURS[MOST_RUNS], 2.0, |row| ranking.ranking[row].mean_ns))
    }
}

/// One curve, named in the given line of the legend.
fn curve(ranking: &Ranking, name: &str, line: usize, colour: &str, width: f64, ns: impl Fn(usize) -> f64) -> Markup {
    let (most, ranks) = (most(ranking), ranking.mappings);
    let step = ranks.div_ceil(MOST_POINTS);
    let rows = (0..ranks).step_by(step);
    let points: Vec<String> =
        rows.map(|row| format!("{},{}", number(x(row + 1, ranks)), number(y(ns(row), most)))).collect();
    html! {
        polyline fill="none" stroke=(colour) stroke-width=(width) points=(points.join(" ")) {}
        text x=(WIDTH - RIGHT + 10.0) y=(TOP + 10.0 + 16.0 * line as f64) fill=(colour) { (name) }
    }
}
