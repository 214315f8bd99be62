//! Times by rank, like the figures of Keller & Varbanescu 2010: the mean as a rising line, with
//! each run around it.

use crate::ranking::about;
use maud::{Markup, html};
use seatmap_experiments::rank::Ranking;
use seatmap_report::AxisUnit;
use seatmap_report::svg::Title;
use seatmap_report::svg::curves::{COLOURS, PlotCurve, WIDTH, curves, drawing, height};
use seatmap_report::svg::number;

const TITLE: f64 = 30.0;
const LINE: f64 = 14.0;
/// Characters in such a line, 6 units wide each.
const LETTERS: usize = (WIDTH / 6.0) as usize;
/// The most points of a curve; more are indistinguishable and make large files.
const MOST_POINTS: usize = 4000;
/// The most runs to draw: one for each colour.
const MOST_RUNS: usize = COLOURS.len() - 1;

/// The axes' titles. The times fill the height, so that small differences are visible.
const ACROSS: Title = Title { text: "rank by the mean over the runs", unit: AxisUnit::Whole };
const UP: Title =
    Title { text: "time of a mapping; the axis does not begin at 0", unit: AxisUnit::Time };

/// The times of all mappings by rank, as a standalone picture.
pub fn ranking(ranking: &Ranking) -> String {
    // XML allows no control characters, not even as references.
    let title = seatmap_data::document::visible(&format!(
        "{} on {}",
        ranking.setup.pattern, ranking.setup.machine
    ));
    let lines = lines(&about(ranking));
    let drawn = drawn(ranking);
    let above = TITLE + LINE * lines.len() as f64 + 6.0;
    let height = number(above + height(&drawn));
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}"))
            width=(WIDTH) height=(height)
            role="img" font-family="system-ui, sans-serif" font-size="11" {
            title { (title) }
            rect width=(WIDTH) height=(height) fill="#fff" {}
            text x="0" y="20" font-size="15" font-weight="600" fill="#1b1f24" { (title) }
            @for (at, line) in lines.iter().enumerate() {
                text.about x="0" y=(number(TITLE + LINE * at as f64 + 8.0))
                    fill="#57606a" { (line) }
            }
            g transform=(format!("translate(0 {})", number(above))) {
                @if let Some(drawing) = drawing(&drawn, ACROSS, UP) { (drawing) }
            }
        }
    };
    picture.into_string() + "\n"
}

/// The curves for a page, which has the text.
pub fn picture(ranking: &Ranking) -> Markup {
    curves(&drawn(ranking), ACROSS, UP)
}

/// Wraps clauses into lines that fit the picture.
fn lines(text: &str) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for clause in text.split("; ") {
        match lines.last_mut() {
            Some(line) if line.chars().count() + clause.chars().count() + 2 <= LETTERS => {
                *line += &format!("; {clause}");
            }
            _ => lines.push(clause.to_owned()),
        }
    }
    lines
}

fn drawn(ranking: &Ranking) -> Vec<PlotCurve> {
    let runs = ranking.setup.runs as usize;
    // With a single run, the mean is the run itself.
    let several = if runs > 1 { runs.min(MOST_RUNS) } else { 0 };
    let mean = points(ranking, |row| ranking.ranking[row].mean_ns);
    // Drawn last, on top of the runs.
    let mean = PlotCurve { width: 2.2, ..PlotCurve::new(MOST_RUNS, "mean", mean) };
    (0..several)
        .map(|run| PlotCurve {
            width: 0.8,
            ..PlotCurve::new(
                run,
                &format!("run {}", run + 1),
                points(ranking, |row| ranking.ranking[row].runs_ns[run]),
            )
        })
        .chain([mean])
        .collect()
}

fn points(ranking: &Ranking, ns: impl Fn(usize) -> f64) -> Vec<(f64, f64)> {
    let step = ranking.mappings.div_ceil(MOST_POINTS).max(1);
    (0..ranking.mappings).step_by(step).map(|row| ((row + 1) as f64, ns(row))).collect()
}
