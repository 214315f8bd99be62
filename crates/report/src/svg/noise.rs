//! Gaps of each CPU: how long they are, and when they came.

use super::number;
use maud::{Markup, html};
use seatmap_cell::noise::{CpuNoise, Report};

const WIDTH: f64 = 860.0;
/// Room for the CPU's name, left.
const LEFT: f64 = 64.0;
/// Width of the histograms.
const LENGTHS: f64 = 260.0;
/// From a histogram to its timeline, with the names of the lengths.
const BETWEEN: f64 = 72.0;
/// Room at the right.
const RIGHT: f64 = 24.0;
/// Room for the title, above.
const TOP: f64 = 64.0;
/// Height of a row, and of what is drawn in it.
const ROW: f64 = 84.0;
const DRAWN: f64 = 68.0;
/// Room for the axes, below.
const BOTTOM: f64 = 36.0;

/// The shortest length drawn, in nanoseconds, as a power of ten: below the threshold of any clock.
const SHORTEST: f64 = 1.0;
/// The longest at least, so that quiet rooms look quiet.
const LONGEST: f64 = 6.0;
/// The count at the top of a histogram, as a power of ten, at least.
const COUNT: f64 = 3.0;

/// What all rows share.
struct Scales {
    /// The longest gap, as a power of ten of nanoseconds.
    longest: f64,
    /// The largest count of a bin, as a power of ten.
    count: f64,
    seconds: f64,
}

impl Scales {
    fn of(report: &Report) -> Self {
        let bins = || report.cpus.iter().flat_map(|noise| &noise.histogram);
        let power = |value: u64| (value.max(1) as f64).log10().ceil();
        Scales {
            longest: bins().map(|bin| power(bin.from_ns + 1)).fold(LONGEST, f64::max),
            count: bins().map(|bin| power(bin.count)).fold(COUNT, f64::max),
            seconds: report.seconds.max(f64::MIN_POSITIVE),
        }
    }

    /// From 0, the shortest, to 1, the longest.
    fn length(&self, ns: u64) -> f64 {
        (((ns.max(1) as f64).log10() - SHORTEST) / (self.longest - SHORTEST)).clamp(0.0, 1.0)
    }

    fn x_of_length(&self, ns: u64) -> f64 {
        LEFT + LENGTHS * self.length(ns)
    }

    fn x_of_time(&self, ns: u64) -> f64 {
        let left = LEFT + LENGTHS + BETWEEN;
        left + (WIDTH - RIGHT - left) * (ns as f64 / 1e9 / self.seconds).min(1.0)
    }
}

/// Histograms and timelines as a standalone picture.
#[must_use]
pub fn noise(report: &Report) -> String {
    picture(report).into_string() + "\n"
}

/// The picture, also for pages.
pub(crate) fn picture(report: &Report) -> Markup {
    let (scales, height) = (Scales::of(report), TOP + ROW * report.cpus.len() as f64 + BOTTOM);
    let timeline = LEFT + LENGTHS + BETWEEN;
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {height}")) width=(WIDTH) height=(height)
            role="img" font-family="system-ui, sans-serif" font-size="11" {
            title { "Gaps on each CPU" }
            rect width=(WIDTH) height=(height) fill="#fff" {}
            text x=(LEFT) y="26" font-size="16" font-weight="600" fill="#1b1f24" { "Gaps on each CPU" }
            text x=(LEFT) y="48" fill="#57606a" { "how many, by length" }
            text x=(timeline) y="48" fill="#57606a" { "when, and how long: the longest 1024" }
            @for (at, noise) in report.cpus.iter().enumerate() {
                (row(noise, TOP + ROW * at as f64 + DRAWN, &scales))
            }
            (axes(&scales, height - BOTTOM + 8.0))
        }
    }
}

/// One CPU, standing on `floor`.
fn row(noise: &CpuNoise, floor: f64, scales: &Scales) -> Markup {
    let timeline = LEFT + LENGTHS + BETWEEN;
    html! {
        text x=(LEFT - 10.0) y=(number(floor)) text-anchor="end" fill="#1b1f24" { "CPU " (noise.cpu) }
        text x=(LEFT - 10.0) y=(number(floor - DRAWN + 8.0)) text-anchor="end" fill="#57606a" { "10^" (scales.count) }
        text x=(timeline - 6.0) y=(number(floor - DRAWN + 8.0)) text-anchor="end" fill="#57606a" {
            (decade(scales.longest))
        }
        path d=(format!("M{LEFT} {0}h{LENGTHS}M{timeline} {0}H{1}", number(floor), WIDTH - RIGHT)) stroke="#d0d7de" {}
        @if !noise.histogram.is_empty() {
            path class="gaps" fill="#0072b2" d=(bars(noise, floor, scales)) {}
            path stroke="#d55e00" stroke-width="1" d=(sticks(noise, floor, scales)) {}
        }
    }
}

/// A bar a bin, as high as the logarithm of its count; one gap is seen as well.
fn bars(noise: &CpuNoise, floor: f64, scales: &Scales) -> String {
    let bar = |bin: &seatmap_cell::noise::Bin| {
        let (from, to) = (scales.x_of_length(bin.from_ns), scales.x_of_length(bin.to_ns));
        let height = DRAWN * ((bin.count as f64).log10() + 0.2) / (scales.count + 0.2);
        format!("M{} {}V{}H{}V{}z", number(from), number(floor), number(floor - height), number(to), number(floor))
    };
    noise.histogram.iter().map(bar).collect()
}

fn sticks(noise: &CpuNoise, floor: f64, scales: &Scales) -> String {
    let stick = |gap: &seatmap_cell::noise::Gap| {
        let top = floor - DRAWN * scales.length(gap.length_ns);
        format!("M{} {}V{}", number(scales.x_of_time(gap.start_ns)), number(floor), number(top))
    };
    noise.timeline.iter().map(stick).collect()
}

fn axes(scales: &Scales, y: f64) -> Markup {
    let powers = (SHORTEST as u32..=scales.longest as u32).map(f64::from);
    let powers: Vec<f64> = powers.filter(|power| (power - SHORTEST) % 2.0 == 0.0).collect();
    html! {
        g fill="#57606a" text-anchor="middle" {
            @for power in powers {
                text x=(number(LEFT + LENGTHS * (power - SHORTEST) / (scales.longest - SHORTEST))) y=(y) { (decade(power)) }
            }
            @for at in times(scales.seconds) {
                text x=(number(scales.x_of_time((at * 1e9) as u64))) y=(y) { (number(at)) " s" }
            }
        }
    }
}

/// Round times, three to seven of them: multiples of 1, 2 or 5 in some decade.
fn times(seconds: f64) -> Vec<f64> {
    let decade = 10f64.powf((seconds / 3.0).log10().floor());
    let step = [5.0, 2.0, 1.0].map(|factor| factor * decade).into_iter().find(|step| 2.0 * step <= seconds);
    let step = step.unwrap_or(decade);
    (0..8).map(|at| f64::from(at) * step).take_while(|at| *at <= seconds).collect()
}

/// A power of ten of nanoseconds.
fn decade(power: f64) -> String {
    let (unit, power) = match power as u32 {
        0..3 => ("ns", power),
        3..6 => ("us", power - 3.0),
        6..9 => ("ms", power - 6.0),
        _ => ("s", power - 9.0),
    };
    format!("{} {unit}", 10f64.powf(power))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_round_and_few() {
        assert_eq!(times(2.0), [0.0, 0.5, 1.0, 1.5, 2.0]);
        assert_eq!(times(1.01), [0.0, 0.5, 1.0]);
        for seconds in [0.05, 0.1, 1.0, 3.3, 7.0, 60.0, 86_400.0] {
            let times = times(seconds);
            assert!((3..=8).contains(&times.len()) && times[times.len() - 1] > 0.4 * seconds, "{seconds}: {times:?}");
        }
    }

    #[test]
    fn lengths_have_units() {
        let shown: Vec<String> = [1.0, 3.0, 5.0, 8.0, 10.0].into_iter().map(decade).collect();
        assert_eq!(shown, ["10 ns", "1 us", "100 us", "100 ms", "10 s"]);
    }
}
