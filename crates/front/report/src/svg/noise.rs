//! The gaps of each CPU: how long they are, and when they occurred.

use super::frame::{ChartFrame, chart, standalone, title_of};
use super::number;
use crate::axis::{Axis, AxisUnit, Scaling};
use maud::{Markup, html};
use seatmap_health::noise::{Bin, CpuNoise, NoiseReport};

/// Width of either half: narrow enough to be legible on a telephone.
const WIDTH: f64 = 480.0;
/// Room for the CPU's name and its ticks.
const LEFT: f64 = 94.0;
const RIGHT: f64 = 22.0;
/// Room for the title of the vertical axis.
const TOP: f64 = 28.0;
/// The heights of a row and of its plot.
const ROW: f64 = 88.0;
const DRAWN: f64 = 64.0;
/// Room for the ticks and the title of the horizontal axis.
const BOTTOM: f64 = 22.0;
/// The gap around the halves of a standalone picture.
const MARGIN: f64 = 24.0;
const TITLE: f64 = 40.0;

/// A length below the threshold of any clock.
const SHORTEST_NS: f64 = 10.0;
/// Quiet CPUs must look quiet.
const LONGEST_NS: f64 = 1e6;
/// The axis of counts reaches at least this.
const COUNT: f64 = 1e3;
/// A count below one gap, so one gap is visible.
const LEAST_COUNT: f64 = 0.7;

/// A row for each CPU, all with the same axes.
pub struct NoiseChart<'a> {
    report: &'a NoiseReport,
    x: Axis,
    y: Axis,
    titles: [&'static str; 2],
    /// Colour and its CSS class.
    mark: (&'static str, &'static str),
    path: fn(&CpuNoise, &ChartFrame) -> String,
}

pub fn lengths(report: &NoiseReport) -> NoiseChart<'_> {
    let most = bins(report).map(|bin| bin.count as f64).fold(COUNT, f64::max);
    NoiseChart {
        report,
        x: length_axis(report),
        y: Axis::new(LEAST_COUNT, most, Scaling::Log, AxisUnit::Number),
        titles: ["number of gaps", "length of the gap"],
        mark: ("#0072b2", "series-0"),
        path: bars,
    }
}

pub fn timeline(report: &NoiseReport) -> NoiseChart<'_> {
    // Even an empty report needs an axis.
    let until_ns = 1e9 * report.seconds.max(f64::MIN_POSITIVE);
    NoiseChart {
        report,
        x: Axis::new(0.0, until_ns, Scaling::Linear, AxisUnit::Time),
        y: length_axis(report),
        titles: ["length of the gap, the longest 1024", "time since the measurement began"],
        mark: ("#d55e00", "series-1"),
        path: sticks,
    }
}

fn bins(report: &NoiseReport) -> impl Iterator<Item = &Bin> {
    report.cpus.iter().flat_map(|noise| &noise.histogram)
}

fn length_axis(report: &NoiseReport) -> Axis {
    let longest = bins(report).map(|bin| bin.to_ns as f64).fold(LONGEST_NS, f64::max);
    Axis::new(SHORTEST_NS, longest, Scaling::Log, AxisUnit::Time)
}

/// Both halves next to each other, as a standalone picture.
pub fn noise(report: &NoiseReport) -> String {
    let halves = [lengths(report), timeline(report)];
    let width = 2.0 * WIDTH + 3.0 * MARGIN;
    let height = TITLE + halves[0].height() + MARGIN;
    let drawn = html! {
        (title_of("Gaps on each CPU", [MARGIN, 26.0]))
        @for (half, x) in halves.iter().zip([MARGIN, WIDTH + 2.0 * MARGIN]) {
            g transform=(format!("translate({x} {TITLE})")) { (half.drawing()) }
        }
    };
    standalone([width, height], &drawn)
}

impl NoiseChart<'_> {
    pub fn picture(&self) -> Markup {
        let label = format!("{} of each CPU", self.titles[0]);
        chart([WIDTH, self.height()], &label, &self.drawing())
    }

    fn height(&self) -> f64 {
        TOP + ROW * self.report.cpus.len() as f64 + BOTTOM
    }

    fn drawing(&self) -> Markup {
        let last = self.report.cpus.len().saturating_sub(1);
        html! {
            (self.frame(0).title_up(self.titles[0]))
            @for (row, noise) in self.report.cpus.iter().enumerate() { (self.row(row, noise)) }
            (self.frame(last).title_across(self.titles[1]))
        }
    }

    fn frame(&self, row: usize) -> ChartFrame {
        let top = TOP + ROW * row as f64;
        ChartFrame {
            left: LEFT,
            top,
            width: WIDTH - LEFT - RIGHT,
            height: DRAWN,
            x: self.x,
            y: self.y,
        }
    }

    fn row(&self, row: usize, noise: &CpuNoise) -> Markup {
        let frame = self.frame(row);
        let (colour, class) = self.mark;
        let path = (self.path)(noise, &frame);
        html! {
            text.name x="0" y=(number(frame.bottom() - 0.5 * DRAWN + 4.0))
                fill="#1b1f24" { "CPU " (noise.cpu) }
            (frame.ticks_up())
            (frame.ticks_across())
            @if !path.is_empty() { path.gaps.(class) fill=(colour) stroke=(colour) stroke-width="1"
                d=(path) {} }
        }
    }
}

/// Bars as high as the logarithm of the count.
fn bars(noise: &CpuNoise, frame: &ChartFrame) -> String {
    noise
        .histogram
        .iter()
        .map(|bin| {
            let [from, to] = [bin.from_ns, bin.to_ns].map(|ns| frame.x(ns as f64));
            let floor = number(frame.bottom());
            let top = number(frame.y(bin.count as f64));
            format!("M{} {floor}V{top}H{}V{floor}z", number(from), number(to))
        })
        .collect()
}

fn sticks(noise: &CpuNoise, frame: &ChartFrame) -> String {
    noise
        .timeline
        .iter()
        .map(|gap| {
            let x = number(frame.x(gap.start_ns as f64));
            let floor = number(frame.bottom());
            format!("M{x} {floor}V{}", number(frame.y(gap.length_ns as f64)))
        })
        .collect()
}
