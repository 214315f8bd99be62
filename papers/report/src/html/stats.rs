//! The page of communication costs.

use crate::stats::recommendations;
use crate::svg::stats::charts;
use maud::{Markup, html};
use seatmap_experiments::cell_stats::{CellStatsSurvey, SurveyFigure};
use seatmap_report::duration::duration;
use seatmap_report::html::{document, head};
use seatmap_report::svg::curves::curves;

/// The advice if no figures support a specific one.
const NOTHING: &str = "Compare the ways below, and use the cheapest that does the work.";

/// A survey as one HTML file that works offline and without scripts: tables, and the paper's
/// figures.
pub fn stats(machine: &str, survey: &CellStatsSurvey) -> String {
    let said = recommendations(survey);
    // The first recommendation goes to the page's head, the others to a list.
    let (sentence, more) =
        said.split_first().map_or((NOTHING, &[][..]), |(first, more)| (first.as_str(), more));
    let lead = html! { p.lead { "What each way of communicating costs" } };
    let body = html! {
        (head(machine, sentence, &lead))
        main {
            @if !more.is_empty() {
                section.card { h2 { "Further advice" }
                    ul.findings { @for line in more { li { (line) } } } }
            }
            section.card { h2 { "Messages, threads, barriers" } (rows(survey)) }
            div.columns { @for figure in &survey.figures { (drawn(figure)) } }
        }
        footer { "After CellStats (Abellán, Fernández & Acacio 2009), tables 1 and 2 and figures 4 \
                  to 12. " (super::ABOUT_SPES) }
    };
    document(&format!("{machine}: communication"), &body, "", "null")
}

fn rows(survey: &CellStatsSurvey) -> Markup {
    html! {
        table.figures {
            tbody {
                @for row in &survey.rows {
                    tr { th scope="row" { (row.what) }
                        td { strong { (duration(row.latency_ns)) } } } }
                @for refused in &survey.refused {
                    tr { th scope="row" { (refused.what) ": " (refused.why) } td { "-" } } }
            }
        }
    }
}

fn drawn(figure: &SurveyFigure) -> Markup {
    html! {
        section.card {
            h2 { (figure.title) }
            @for (them, [across, up]) in charts(figure) { (curves(&them, across, up)) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_experiments::cell_stats::{LatencyPoint, SurveyLatency, SurveySeries};

    fn survey() -> CellStatsSurvey {
        let point = |at, latency_ns| LatencyPoint {
            at,
            latency_ns,
            bandwidth_gbps: Some(at as f64 / latency_ns),
        };
        let series = SurveySeries {
            name: "1 CPU".into(),
            points: vec![point(8, 12.0), point(1 << 20, 3.4e6)],
        };
        let row = |what: &str, latency_ns| SurveyLatency { what: what.into(), latency_ns };
        CellStatsSurvey {
            rows: vec![
                row("thread create, join", 80_136.0),
                row("mailbox, CPU to CPU on the same chip", 101.0),
            ],
            figures: vec![SurveyFigure {
                title: "Copies".into(),
                across: "bytes",
                series: vec![series],
            }],
            refused: Vec::new(),
        }
    }

    #[test]
    fn times_use_nanoseconds_to_milliseconds() {
        let page = stats("desk", &survey());
        assert!(page.contains("p class=\"sentence\">Create threads once"), "{page}");
        for text in [">80.136 us<", ">101.0 ns<", ">10 ns<", ">1 ms<", ">32<", ">1 Mi<"] {
            assert!(page.contains(text), "{text} in {page}");
        }
    }

    #[test]
    fn picture_and_table_have_each_point() {
        let points = crate::stats::csv(&survey());
        let last = points.lines().nth(2).unwrap_or_default();
        assert!(last.starts_with("\"Copies\",\"1 CPU\",bytes,1048576,3400000,0.3084"), "{last}");
        let picture = crate::svg::stats(&survey());
        assert_eq!(picture.matches("<polyline").count(), 2, "latency and bandwidth: {picture}");
        assert!(picture.starts_with("<svg") && picture.contains(">Copies</text>"), "{picture}");
    }

    #[test]
    fn chart_labels_never_repeat() {
        let mut small = survey();
        small.figures[0].series[0]
            .points
            .iter_mut()
            .for_each(|point| point.bandwidth_gbps = Some(0.06 + 1e-9 * point.at as f64));
        let page = stats("desk", &small);
        let chart = page.rsplit("<svg").next().unwrap_or_default();
        let up: Vec<&str> = chart
            .split("text-anchor=\"end\" fill=\"#57606a\">")
            .skip(1)
            .filter_map(|part| part.split('<').next())
            .collect();
        let mut distinct = up.clone();
        distinct.dedup();
        assert!(up.len() > 2 && up == distinct, "{up:?}");
    }
}
