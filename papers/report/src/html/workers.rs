//! The page of the cost of work by pinned workers, and by threads created for it.

use super::{libspe2, simulated};
use crate::svg::Chart;
use maud::{Markup, html};
use seatmap_data::statistics::words;
use seatmap_experiments::cellule::WorkersComparison;
use seatmap_experiments::cellule::costs::{CALLS, TimedCall, WorkerCosts};
use seatmap_experiments::cellule::document::{CelluleResult, WorkersDocument};
use seatmap_experiments::cellule::gains::{GainFigure, SizeGain};
use seatmap_experiments::cellule::kernel::KernelShare;
use seatmap_experiments::cellule::spread::SampleSummary;
use seatmap_experiments::cellule::streams::Through;
use seatmap_report::counted;
use seatmap_report::duration::duration;
use seatmap_report::html::{document, head};

/// The result as one HTML file that works offline and without scripts.
pub fn workers(document_of: &WorkersDocument) -> String {
    let title = format!("Pinned workers and threads on {}", document_of.machine);
    let cpus = seatmap_os::CpuList(document_of.cpus.clone());
    let lead = html! { p.lead { "CPUs " (cpus) ", the controller's first" } };
    let body = html! {
        (head(&title, &sentence(&document_of.found), &lead))
        main {
            @match &document_of.found {
                CelluleResult::Calls(all) => @for costs in all { (calls(costs)) },
                CelluleResult::Program(found) => (program(found)),
                CelluleResult::Gains(figures) => div.columns {
                    @for figure in figures { (gains(figure)) } },
                CelluleResult::Streams(all) => (streams(all)),
                CelluleResult::Libspe2(found) => (libspe2::page(found)),
                CelluleResult::Cellule(found) => (simulated::page(found)),
            }
        }
        footer { "After Gupta et al. 2010. The runtime's workers are made once and wait; threads \
                  are made for the work." }
    };
    document(&title, &body, "", "null")
}

fn sentence(found: &CelluleResult) -> String {
    match found {
        CelluleResult::Calls(all) => of_calls(all),
        CelluleResult::Program(found) => {
            let gain = found.gain_percent.thread_per_worker;
            format!(
                "{} takes {} than with a new thread for each worker.",
                found.workload,
                saved(gain)
            )
        }
        CelluleResult::Gains(figures) => of_gains(figures),
        CelluleResult::Streams(all) => of_streams(all),
        CelluleResult::Libspe2(found) => libspe2::sentence(found),
        CelluleResult::Cellule(found) => simulated::sentence(found),
    }
}

fn saved(gain_percent: f64) -> String {
    let word = if gain_percent < 0.0 { "more" } else { "less" };
    format!("{:.1} % {word} time with the runtime", gain_percent.abs())
}

fn of_calls(all: &[WorkerCosts]) -> String {
    // The largest number of workers comes last.
    let run =
        all.last().and_then(|costs| Some((costs.workers, costs.calls.get(&TimedCall::CtxRun)?)));
    let Some((count, cost)) = run else { return "No call was measured.".to_owned() };
    let runtime = cost.runtime.median_ns;
    let threads = cost.threads.median_ns;
    let advice =
        if runtime < threads { "keep workers for short work" } else { "new threads are as fast" };
    format!(
        "Running an empty program on {} takes {} with the runtime and {} with threads: {advice}.",
        counted(count, "worker"),
        duration(runtime),
        duration(threads)
    )
}

fn of_gains(figures: &[GainFigure]) -> String {
    let curves =
        figures.iter().flat_map(|figure| figure.series.iter().map(move |series| (figure, series)));
    let best = curves
        .flat_map(|(figure, series)| series.points.iter().map(move |point| (figure, series, point)))
        .max_by(|(.., a), (.., b)| per_worker(a).total_cmp(&per_worker(b)));
    let Some((figure, series, best)) = best else { return "Nothing was measured.".to_owned() };
    // The largest gain, and the gain at the largest size, so that readers see it fade. Other
    // figures have other units.
    let largest = series.points.iter().max_by_key(|point| point.at).unwrap_or(best);
    format!(
        "Waiting workers gain most if the work is short, {} % at {} and {} % at {}, by {}: \
         {}, {}.",
        words::figure(per_worker(best), 0),
        best.at,
        words::figure(per_worker(largest), 0),
        largest.at,
        figure.across,
        figure.title,
        series.name
    )
}

fn per_worker(point: &SizeGain) -> f64 {
    point.gain_percent.thread_per_worker
}

fn of_streams(all: &[Through]) -> String {
    match all.iter().max_by(|a, b| sum(a).total_cmp(&sum(b))) {
        Some(best) => {
            format!("The fastest is {}: {:.0} Mbit/s.", best.configuration, sum(best))
        }
        None => "Nothing was sent.".to_owned(),
    }
}

fn sum(one: &Through) -> f64 {
    one.mbps.iter().sum::<f64>()
}

fn calls(costs: &WorkerCosts) -> Markup {
    html! {
        section.card {
            h2 { "Calls with " (counted(costs.workers, "worker")) span.unit { "median and standard \
                deviation" } }
            table.figures {
                thead { tr { th { "Call" } th.wide { "" } th { "Runtime" } th { "Threads" }
                    th { "Ratio" } } }
                tbody { @for (call, name, what) in CALLS {
                    @let cost = costs.calls.get(&call);
                    tr {
                        th scope="row" { (name) } td.wide { (what) }
                        @match cost {
                            Some(cost) => {
                                td { (spread(&cost.runtime)) } td { (spread(&cost.threads)) }
                                td {
                                    (format!(
                                        "{:.4}",
                                        cost.runtime.median_ns / cost.threads.median_ns
                                    ))
                                }
                            }
                            None => { td { "none" } td { "none" } td {} }
                        }
                    }
                } }
            }
            p.hint { "The clock steps by " (duration(costs.clock_step_ns)) "; shorter calls look \
                alike." }
        }
    }
}

pub fn spread(of: &SampleSummary) -> Markup {
    html! { strong { (duration(of.median_ns)) } " ± " (duration(of.deviation_ns)) }
}

fn program(found: &WorkersComparison) -> Markup {
    let kernel = found.kernel;
    let gain = found.gain_percent;
    let rows = [
        ("runtime", &found.runtime, kernel.runtime, None),
        (
            "a thread a worker",
            &found.thread_per_worker,
            kernel.thread_per_worker,
            Some(gain.thread_per_worker),
        ),
        (
            "a thread a task",
            &found.thread_per_task,
            kernel.thread_per_task,
            Some(gain.thread_per_task),
        ),
    ];
    html! {
        section.card {
            h2 { (found.workload) ", " (counted(found.workers, "worker")) ", "
                (counted(found.tasks as usize, "task")) " an iteration" }
            table.figures {
                thead { tr { th { "Way" } th { "Time" } th { "In the kernel" } th { "Waits a run" }
                    th { "The runtime gains" } } }
                tbody { @for (name, of, kernel, gain) in rows { tr {
                    th scope="row" { (name) } td { (spread(of)) } td { (share(kernel)) }
                    td { (format!("{:.1}", kernel.voluntary_switches)) }
                    td { @if let Some(gain) = gain { (format!("{} %", words::figure(gain, 1))) } }
                } } }
            }
        }
    }
}

fn share(kernel: KernelShare) -> String {
    kernel.kernel_percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.0} %"))
}

fn gains(figure: &GainFigure) -> Markup {
    html! {
        section.card {
            h2 { (figure.title) }
            (chart(figure, true, "a thread a worker").picture())
            (chart(figure, false, "a thread a task").picture())
        }
    }
}

fn chart(figure: &GainFigure, is_per_worker: bool, over: &str) -> Chart {
    Chart {
        title: String::new(),
        across: figure.across.to_owned(),
        up: format!("gain over {over}, %"),
        curves: figure.curves(is_per_worker),
    }
}

fn streams(all: &[Through]) -> Markup {
    html! {
        section.card {
            h2 { "Streams" @if let Some(one) = all.first() { span.unit { (one.link) } } }
            table.figures {
                thead { tr { th { "Configuration" } th { "Stream 1" } th { "Stream 2" }
                    th.wide { "Share of stream 1: median (least to most)" } } }
                tbody { @for one in all { tr {
                    th scope="row" { (one.configuration) }
                    @for stream in 0..2 {
                        td { @if let Some(mbps) = one.mbps.get(stream) {
                            (format!("{mbps:.0} Mbit/s")) } } }
                    td.wide { @for shares in &one.shares {
                        (format!(
                            "{:.4} ({:.4} to {:.4}) in {:.0} ms ",
                            shares.median, shares.least, shares.most, shares.window_ms
                        ))
                    } }
                } } }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_experiments::cellule::compare::RuntimeGain;
    use seatmap_experiments::cellule::costs::CallComparison;
    use seatmap_experiments::cellule::gains::GainSeries;

    fn spread_of(median_ns: f64) -> SampleSummary {
        SampleSummary {
            median_ns,
            ci95_low_ns: median_ns,
            ci95_high_ns: median_ns,
            p99_ns: median_ns,
            deviation_ns: 1.0,
            samples: 9,
        }
    }

    fn page(found: CelluleResult) -> String {
        workers(&WorkersDocument::new("<desk>".into(), vec![0, 1], found))
    }

    #[test]
    fn calls_state_time_of_empty_program() {
        let cost = CallComparison { runtime: spread_of(1_200.0), threads: spread_of(30_000.0) };
        let costs = WorkerCosts {
            workers: 1,
            clock_step_ns: 0.4,
            calls: [(TimedCall::CtxRun, cost)].into(),
        };
        let page = page(CelluleResult::Calls(vec![costs]));
        let sentence = "Running an empty program on 1 worker takes 1.200 us with the runtime and 30.000 us with threads: keep workers for short work.";
        assert!(
            page.contains(sentence) && page.contains("0.0400") && page.contains("none"),
            "{page}"
        );
        assert!(page.contains("on &lt;desk&gt;"));
    }

    #[test]
    fn gains_are_drawn_for_both_alternatives() {
        let point = |at, gain| SizeGain {
            at,
            gain_percent: RuntimeGain { thread_per_worker: gain, thread_per_task: 2.0 * gain },
            runtime_ns: 1.0,
        };
        let series = GainSeries {
            name: "1 worker".into(),
            points: vec![point(128, 40.0), point(2048, 1.0)],
        };
        // More cycles than the other figure has rows.
        let cycles = GainSeries { name: "4 workers".into(), points: vec![point(4096, 7.0)] };
        let figure = |title, across, series| GainFigure { title, across, series: vec![series] };
        let page = page(CelluleResult::Gains(vec![
            figure("matrix", "rows and columns", series),
            figure("prices", "cycles", cycles),
        ]));
        assert!(
            page.contains(
                "if the work is short, 40 % at 128 and 1 % at 2048, by rows and columns: matrix, 1 worker."
            ),
            "{page}"
        );
        assert_eq!(page.matches("<svg class=\"chart\"").count(), 4);
        assert!(
            page.contains(">gain over a thread a task, %</text>") && page.contains(">80</text>"),
            "{page}"
        );
    }

    #[test]
    fn streams_name_fastest_configuration() {
        let one = |configuration, mbps: &[f64]| Through {
            configuration,
            link: "loopback",
            mbps: mbps.to_vec(),
            shares: Vec::new(),
        };
        let page = page(CelluleResult::Streams(vec![
            one("plain", &[900.0]),
            one("two pollers", &[600.0, 500.0]),
        ]));
        assert!(page.contains("The fastest is two pollers: 1100 Mbit/s."), "{page}");
    }
}
