//! The curves of CellStats' figures: latency and bandwidth against size.

use super::charts::column;
use seatmap_experiments::cell_stats::{CellStatsSurvey, LatencyPoint, SurveyFigure};
use seatmap_report::AxisUnit;
use seatmap_report::svg::Title;
use seatmap_report::svg::curves::PlotCurve;

const LATENCY: Title<'static> = Title { text: "latency", unit: AxisUnit::Time };
const BANDWIDTH: Title<'static> = Title { text: "bandwidth, GB/s", unit: AxisUnit::Number };

/// All figures as a standalone picture.
pub fn stats(survey: &CellStatsSurvey) -> String {
    let all = survey.figures.iter().flat_map(|figure| {
        charts(figure).map(|(curves, titles)| (figure.title.as_str(), curves, titles))
    });
    column(all)
}

/// A figure's curves with the titles of both axes: latency, and bandwidth if it has one.
pub(crate) fn charts(
    figure: &SurveyFigure,
) -> impl Iterator<Item = (Vec<PlotCurve>, [Title<'static>; 2])> {
    // Bytes use Ki and Mi; elements and workers double too, but are plain counts.
    let unit = if figure.across == "bytes" { AxisUnit::Bytes } else { AxisUnit::Doublings };
    let across = Title { text: figure.across, unit };
    let latency = curves(figure, |point| Some(point.latency_ns));
    let bandwidth = curves(figure, |point| point.bandwidth_gbps);
    let has_bandwidth = bandwidth.iter().any(|curve| !curve.points.is_empty());
    [(latency, [across, LATENCY])]
        .into_iter()
        .chain(has_bandwidth.then_some((bandwidth, [across, BANDWIDTH])))
}

fn curves(figure: &SurveyFigure, value: impl Fn(&LatencyPoint) -> Option<f64>) -> Vec<PlotCurve> {
    let named = figure.series.iter().enumerate();
    named
        .map(|(at, series)| {
            let points = series.points.iter();
            let points = points.filter_map(|point| Some((point.at as f64, value(point)?)));
            PlotCurve::new(at, &series.name, points.collect::<Vec<_>>())
        })
        .collect()
}
