//! Lists the tasks and interrupts that had the CPU in the gaps, by the kernel's trace.

use crate::duration::duration;
use seatmap_health::noise::{CpuNoise, GapCause, NoiseReport, Traced, TracedGap};
use std::iter::once;

/// The name for the part of a gap that the kernel's trace does not explain.
pub(crate) const NOBODY: &str = "nobody in the kernel: hypervisor, firmware or hardware";

/// Takers that are named for each CPU.
const TAKERS: usize = 6;

/// The number of gaps that are listed for each CPU.
const GAPS: usize = 3;

/// A table of them, and the longest gaps; empty where the trace was not asked for.
pub(super) fn takers(report: &NoiseReport) -> String {
    let told: String =
        report.cpus.iter().filter_map(|noise| Some(of_cpu(noise, noise.trace.as_ref()?))).collect();
    if told.is_empty() {
        told
    } else {
        format!(
            "\nWho had the CPU in gaps of 5 us and more, by the kernel's trace\n  CPU     \
             gaps      in all  in one gap  who\n{told}"
        )
    }
}

fn of_cpu(noise: &CpuNoise, trace: &Traced) -> String {
    let named = trace
        .takers
        .iter()
        .take(TAKERS)
        // Always named where it took anything: it is the part that no cell can prevent.
        .chain(once(&trace.unexplained))
        .filter(|taker| taker.gaps > 0);
    let mut text: String = named.map(|taker| row(noise.cpu, taker)).collect();
    if text.is_empty() {
        text = format!("  {:>3}        0\n", noise.cpu);
    }
    if trace.takers.len() > TAKERS {
        // Below the names: CPU, gaps and both times with their blanks take 40 letters.
        text += &format!("{:40}and {} more\n", "", trace.takers.len() - TAKERS);
    }
    for found in trace.longest.iter().take(GAPS) {
        text += &format!("       {}\n", gap(found));
    }
    if let Some(told) = left_out(noise, trace) {
        text += &format!("       {told}\n");
    }
    if trace.gaps_before_trace > 0 {
        let older = if trace.gaps_before_trace == 1 { "gap is" } else { "gaps are" };
        text += &format!(
            "       {} more {older} older than what the trace could hold\n",
            trace.gaps_before_trace
        );
    }
    text
}

/// Where even the shortest gap that was kept is one of those asked about, others may have been left
/// out.
pub(crate) fn left_out(noise: &CpuNoise, trace: &Traced) -> Option<String> {
    let kept = noise.timeline.len() as u64;
    let asked = trace.gaps + trace.gaps_before_trace;
    // Plural: they are hundreds.
    (kept == asked && noise.gaps > kept)
        .then(|| format!("of the longest {kept} gaps alone; there were {}", noise.gaps))
}

fn row(cpu: u32, taker: &GapCause) -> String {
    let who = if taker.who.is_empty() { NOBODY.to_owned() } else { on_a_line(&taker.who) };
    let all = duration(taker.total_us * 1e3);
    let one = duration(taker.longest_us * 1e3);
    format!("  {cpu:>3} {:>8} {all:>11} {one:>11}  {who}\n", taker.gaps)
}

/// `7.340 ms at 1.203 s: nobody 7.280 ms, hog 40.000 us`: a gap, and the share of each task in it,
/// the largest first.
pub(crate) fn gap(gap: &TracedGap) -> String {
    let mut parts: Vec<(String, f64)> =
        gap.takers.iter().map(|share| (on_a_line(&share.who), share.us)).collect();
    parts.push(("nobody".to_owned(), gap.unexplained_us));
    // Sorted after the unexplained part has joined, which may be the largest.
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts: Vec<String> =
        parts.iter().map(|(who, us)| format!("{who} {}", duration(us * 1e3))).collect();
    format!(
        "{} at {}: {}",
        duration(gap.length_ns as f64),
        duration(gap.start_ns as f64),
        parts.join(", ")
    )
}

/// A name may hold anything: none begins a line of its own.
fn on_a_line(who: &str) -> String {
    seatmap_data::document::visible(who)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_name_makes_no_line() {
        let mut report = samples::noise();
        let trace = report.cpus[0].trace.as_mut().unwrap();
        (trace.takers[1].who, trace.longest[0].takers[0].who) = ("a\n  b".into(), "a\n  b".into());
        let told = takers(&report);
        assert_eq!(told.matches("a\\n  b").count(), 2, "{told}");
        assert_eq!(told.lines().count(), takers(&samples::noise()).lines().count());
    }

    #[test]
    fn gaps_that_are_left_out_are_told_of() {
        let mut noise = samples::noise().cpus[0].clone();
        let trace = noise.trace.clone().unwrap();
        assert_eq!(left_out(&noise, &trace), None, "shorter ones were kept");
        noise.timeline.resize(254, noise.timeline[0]);
        assert_eq!(
            left_out(&noise, &trace).unwrap(),
            "of the longest 254 gaps alone; there were 351"
        );
        noise.gaps = 254;
        assert_eq!(left_out(&noise, &trace), None);
    }
}
