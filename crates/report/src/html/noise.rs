//! The page of the noise on some CPUs.

use super::document;
use crate::noise::trace::{self, NOBODY};
use crate::ranking::duration;
use crate::svg;
use maud::{Markup, html};
use seatmap_cell::noise::{CpuNoise, Report, Traced};

/// Noise as one HTML file that works offline and without scripts.
#[must_use]
pub fn noise(report: &Report) -> String {
    let body = html! {
        header {
            div.title {
                h1 { "Noise" }
                button.js #theme type="button" aria-label="Switch between light and dark" { "Light / dark" }
            }
            p.lead { (report.cpus.len()) " CPUs, " (format!("{:.2}", report.seconds)) " s"
                @if report.interrupted { ", interrupted" } }
        }
        main {
            section.card { h2 { "Gaps" } (svg::noise::picture(report)) }
            section.card { h2 { "In figures" } (figures(report)) }
            @for noise in &report.cpus { section.card { h2 { "What came to CPU " (noise.cpu) } (sources(noise)) }
                @if let Some(trace) = &noise.trace { section.card { h2 { "Who had CPU " (noise.cpu) " in its gaps" } (takers(noise, trace)) } } }
            section.card { h2 { "The meters" } (meters(report)) }
        }
        footer { "Stolen, gaps and longest: detour loop. FWQ: fixed work quanta. Both take turns." }
    };
    document("Noise", &body, "", "null")
}

fn figures(report: &Report) -> Markup {
    html! {
        table.figures {
            thead { tr {
                th { "CPU" } th { "Stolen" } th { "Gaps/s" } th { "Longest" } th { "FWQ median" } th { "p99" } th { "p99.9" }
                th { "Slowest" } th { "Excess" } th { "Steal" }
            } }
            tbody { @for noise in &report.cpus { tr {
                th scope="row" { (noise.cpu) } td { (percent(noise.stolen_percent)) }
                td { (format!("{:.1}", noise.gaps_per_second)) } td { (us(noise.longest_gap_us)) }
                td { (us(noise.fwq_p50_us)) } td { (us(noise.fwq_p99_us)) } td { (us(noise.fwq_p999_us)) }
                td { (us(noise.fwq_max_us)) } td { (percent(noise.fwq_excess_percent)) }
                td { (noise.steal_percent.map(percent).unwrap_or_default()) }
            } } }
        }
    }
}

fn sources(noise: &CpuNoise) -> Markup {
    let behind = |share: Option<f64>| share.map(|share| format!("{share:.1} %")).unwrap_or_default();
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

/// Of the gaps of 5 us and more, by the kernel's trace.
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

fn meters(report: &Report) -> Markup {
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
