//! Tables for people.

use crate::cellule::WorkersComparison;
use crate::cellule::costs::{CALLS, WorkerCosts};
use crate::cellule::gains::GainFigure;
use crate::cellule::kernel::KernelShare;
use crate::cellule::spread::SampleSummary;
use crate::cellule::streams::Through;
use seatmap_data::statistics::words;
use std::fmt::Write;

pub(super) fn time(ns: f64) -> String {
    // A unit begins where rounding would give a thousand of the one below it.
    match ns {
        999_995_000.0.. => format!("{:.2} s", ns / 1e9),
        999_995.0.. => format!("{:.2} ms", ns / 1e6),
        999.5.. => format!("{:.2} us", ns / 1e3),
        _ => format!("{ns:.0} ns"),
    }
}

pub(super) fn spread(spread: &SampleSummary) -> String {
    format!("{:>9} +- {:>9}", time(spread.median_ns), time(spread.deviation_ns))
}

/// Each call's cost, a table for each number of workers.
pub fn costs(all: &[WorkerCosts]) -> String {
    let mut text = String::new();
    for costs in all {
        let _ = writeln!(
            text,
            "{} by one controller; median +- standard deviation, of all together; the clock steps \
             by {}",
            workers(costs.workers),
            time(costs.clock_step_ns)
        );
        let _ =
            writeln!(text, "  {:<10} {:>22}  {:>22}  {:>7}", "call", "runtime", "threads", "ratio");
        for (call, name, _) in CALLS {
            let _ = match costs.calls.get(&call) {
                None => writeln!(text, "  {name:<10} {:>22}  {:>22}", "none", "none"),
                Some(cost) => {
                    let ratio = cost.runtime.median_ns / cost.threads.median_ns;
                    writeln!(
                        text,
                        "  {name:<10} {}  {}  {ratio:>7.4}",
                        spread(&cost.runtime),
                        spread(&cost.threads)
                    )
                }
            };
        }
        text.push('\n');
    }
    for (_, name, what) in CALLS {
        let _ = writeln!(text, "  {name:<10} {what}");
    }
    text
}

/// A program by each way.
pub fn comparison(found: &WorkersComparison) -> String {
    let [by_runtime, by_worker, by_task] =
        [found.kernel.runtime, found.kernel.thread_per_worker, found.kernel.thread_per_task];
    let tasks =
        if found.tasks == 1 { "1 task".to_owned() } else { format!("{} tasks", found.tasks) };
    format!(
        "{}, {}, {tasks} an iteration; results are right\n",
        found.workload,
        workers(found.workers)
    ) + &cost_row("runtime", &found.runtime, by_runtime, None)
        + &cost_row(
            "a thread a worker",
            &found.thread_per_worker,
            by_worker,
            Some(found.gain_percent.thread_per_worker),
        )
        + &cost_row(
            "a thread a task",
            &found.thread_per_task,
            by_task,
            Some(found.gain_percent.thread_per_task),
        )
}

fn cost_row(name: &str, of: &SampleSummary, in_kernel: KernelShare, gain: Option<f64>) -> String {
    let gain = gain.map(|gain| format!("  runtime gains {} %", words::figure(gain, 1)));
    let gain = gain.unwrap_or_default();
    format!("  {name:<20} {}  {}{gain}\n", spread(of), kernel(in_kernel))
}

fn kernel(kernel: KernelShare) -> String {
    let share =
        kernel.kernel_percent.map_or_else(|| "?".to_owned(), |percent| format!("{percent:.0}"));
    format!("{share:>3} % in the kernel, {:>6.1} waits", kernel.voluntary_switches)
}

/// The gains by size.
pub fn gains(figures: &[GainFigure]) -> String {
    let mut text =
        "(Linux - runtime) / Linux in %, over a thread a worker | a thread a task\n".to_owned();
    for figure in figures {
        let _ = writeln!(text, "\n{}, by {}", figure.title, figure.across);
        for series in &figure.series {
            let _ = write!(text, "  {:<14}", series.name);
            for point in &series.points {
                let gain = point.gain_percent;
                let _ = write!(
                    text,
                    " {}: {:.0} | {:.0} ",
                    point.at, gain.thread_per_worker, gain.thread_per_task
                );
            }
            text.truncate(text.trim_end().len());
            text.push('\n');
        }
    }
    text
}

/// The throughput.
pub fn streams(all: &[Through]) -> String {
    let link = all.first().map_or("", |one| one.link);
    let mut text = format!(
        "{link:<16} {:>12} {:>12}   share of stream 1: median (least-most)\n",
        "stream 1", "stream 2"
    );
    for one in all {
        let _ = write!(text, "{:<16}", one.configuration);
        for mbps in &one.mbps {
            let _ = write!(text, " {mbps:>5.0} Mbit/s");
        }
        for shares in &one.shares {
            let range = format!("{:.4} ({:.4}-{:.4})", shares.median, shares.least, shares.most);
            let _ = write!(text, "   {range} in {:.0} ms", shares.window_ms);
        }
        text.push('\n');
    }
    text
}

fn workers(count: usize) -> String {
    if count == 1 { "1 worker".to_owned() } else { format!("{count} workers") }
}
