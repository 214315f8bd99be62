//! The page of the noise on some CPUs.

use super::{document, head};
use crate::about::counted;
use crate::duration::duration;
use crate::noise::trace::{self, NOBODY};
use crate::{sentence, svg};
use maud::{Markup, html};
use seatmap_noise::{CpuNoise, NoiseReport, Traced};

/// Noise as one HTML file that works offline and without scripts.
#[must_use]
pub fn noise(report: &NoiseReport) -> String {
    let lead = html! {
        p.lead { (counted(report.cpus.len(), "CPU")) " for " (format!("{:.2}", report.seconds)) " s"
            @if report.interrupted { ", interrupted" } }
    };
    let body = html! {
        (head("Noise", &sentence::of_noise(report), &lead))
        main {
            section.card { h2 { "Gaps on each CPU" } (gaps(report)) }
            section.card { div.halves { (detours(report)) (quanta(report)) } }
            @for noise in &report.cpus { section.card { h2 { "What came to CPU " (noise.cpu) } (sources(noise)) }
                @if let Some(trace) = &noise.trace { section.card { h2 { "Who had CPU " (noise.cpu) " in its gaps" } (takers(noise, trace)) } } }
            section.card { h2 { "The meters" } (meters(report)) }
        }
        footer { "Stolen, gaps and longest: detour loop. FWQ: fixed work quanta. Both take turns." }
    };
    document("Noise", &body, "", "null")
}

/// How long they are, and when they came: below each other where there is little room.
fn gaps(report: &NoiseReport) -> Markup {
    html! {
        div.halves {
            figure { figcaption { "How many, by length" } (svg::noise::lengths(report).picture()) }
            figure { figcaption { "When, and how long" } (svg::noise::timeline(report).picture()) }
        }
    }
}

fn detours(report: &NoiseReport) -> Markup {
    html! {
        div {
            h2 { "Detour loop" }
            table.figures {
                thead { tr { th { "CPU" } th { "Stolen" } th { "Gaps/s" } th { "Longest" } th { "Steal" } } }
                tbody { @for noise in &report.cpus { tr {
                    th scope="row" { (noise.cpu) } td { (percent(noise.stolen_percent)) }
                    td { (format!("{:.1}", noise.gaps_per_second)) } td { (us(noise.longest_gap_us)) }
                    td { (noise.steal_percent.map(percent).unwrap_or_default()) }
                } } }
            }
        }
    }
}

fn quanta(report: &NoiseReport) -> Markup {
    html! {
        div {
            h2 { "FWQ: fixed work quanta" }
            table.figures {
                thead { tr { th { "CPU" } th { "Median" } th { "p99" } th { "p99.9" } th { "Slowest" } th { "Excess" } } }
                tbody { @for noise in &report.cpus { tr {
                    th scope="row" { (noise.cpu) }
                    td { (us(noise.fwq_p50_us)) } td { (us(noise.fwq_p99_us)) } td { (us(noise.fwq_p999_us)) }
                    td { (us(noise.fwq_max_us)) } td { (percent(noise.fwq_excess_percent)) }
                } } }
            }
        }
    }
}

fn sources(noise: &CpuNoise) -> Markup {
    let behind =
        |share: Option<f64>| share.map(|share| format!("{share:.1} %")).unwrap_or_default();
    html! {
        table.figures {
            thead { tr { th.wide { "Event" } th { "Count" } th { "A second" } th { "Behind at most, of the gaps" } } }
            tbody { @for source in &noise.sources { tr {
                td.wide { (source.name) } td { (source.count) } td { (format!("{:.1}", source.per_second)) }
                td { (behind(source.explains_at_most_percent)) }
            } } }
        }
        @if let Some(share) = noise.unexplained_at_least_percent.filter(|share| *share >= 1.0) {
            p { "At least " (format!("{share:.0}")) " % of the gaps are none of these: hypervisor, firmware or hardware." }
        }
    }
}

/// The causes of the gaps of 5 us and more, by the kernel's trace.
fn takers(noise: &CpuNoise, trace: &Traced) -> Markup {
    html! {
        table.figures {
            thead { tr { th.wide { "Who" } th { "Gaps" } th { "In all" } th { "In one at most" } } }
            tbody { @for taker in trace.takers.iter().chain([&trace.unexplained]) { tr {
                td.wide { @if taker.who.is_empty() { (NOBODY) } @else { (taker.who) } }
                td { (taker.gaps) } td { (us(taker.total_us)) } td { (us(taker.longest_us)) }
            } } }
        }
        @for gap in &trace.longest { p { (trace::gap(gap)) } }
        @if let Some(told) = trace::left_out(noise, trace) { p { "These are " (told) "." } }
    }
}

fn meters(report: &NoiseReport) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "CPU" } th { "Known to" } th { "Gaps from" } th { "Writing one down" } th { "Of the time" } } }
            tbody { @for noise in &report.cpus { tr {
                th scope="row" { (noise.cpu) } td { (duration(noise.meter.resolution_ns)) }
                td { (duration(noise.meter.threshold_ns)) } td { (duration(noise.meter.record_ns)) }
                td { (percent(noise.meter.overhead_percent)) }
            } } }
        }
    }
}

fn percent(percent: f64) -> String {
    format!("{percent:.2} %")
}

fn us(us: f64) -> String {
    duration(us * 1e3)
}
