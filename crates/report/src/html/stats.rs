//! The page of what communicating costs.

use super::document;
use crate::stats::recommendations;
use crate::svg::curves::{Curve, curves};
use maud::{Markup, html};
use seatmap_measure::cell_stats::{Figure, Point, Survey};

/// A survey as one HTML file that works offline and without scripts: tables, and the figures of the paper.
#[must_use]
pub fn stats(machine: &str, survey: &Survey) -> String {
    let body = html! {
        header {
            div.title {
                h1 { (machine) }
                button.js #theme type="button" aria-label="Switch between light and dark" { "Light / dark" }
            }
            p.lead { "What each way of communicating costs" }
        }
        main {
            section.card { h2 { "What to make of it" } ul.findings { @for line in recommendations(survey) { li { (line) } } } }
            section.card { h2 { "Messages, threads, barriers" } (rows(survey)) }
            div.columns { @for figure in &survey.figures { (drawn(figure)) } }
        }
        footer { "After CellStats (Abellán, Fernández & Acacio 2009), tables 1 and 2 and figures 4 to 12." }
    };
    document(&format!("{machine}: communication"), &body, "", "null")
}

fn rows(survey: &Survey) -> Markup {
    html! {
        table.figures {
            tbody {
                @for row in &survey.rows { tr { td style="text-align:left" { (row.what) } td { strong { (format!("{:.1}", row.latency_ns)) } " ns" } } }
                @for refused in &survey.refused { tr { td style="text-align:left" { (refused.what) ": " (refused.why) } td { "-" } } }
            }
        }
    }
}

fn drawn(figure: &Figure) -> Markup {
    let has_bandwidth =
        figure.series.iter().flat_map(|series| &series.points).any(|point| point.bandwidth_gbps.is_some());
    html! {
        section.card {
            h2 { (figure.title) }
            (picture(figure, "latency in ns", |point| Some(point.latency_ns)))
            @if has_bandwidth { (picture(figure, "bandwidth in GB/s", |point| point.bandwidth_gbps)) }
        }
    }
}

fn picture(figure: &Figure, up: &str, value: impl Fn(&Point) -> Option<f64>) -> Markup {
    let curve = |series: &seatmap_measure::cell_stats::Series| Curve {
        name: series.name.clone(),
        points: series.points.iter().filter_map(|point| Some((point.at as f64, value(point)?))).collect(),
    };
    curves(&figure.series.iter().map(curve).collect::<Vec<_>>(), figure.across, up)
}
