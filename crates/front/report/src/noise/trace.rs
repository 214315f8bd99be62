//! Lists the tasks and interrupts that used the CPU during gaps, from the kernel's trace.

use super::us;
use crate::page::{PageSection, Table, TableCell, cells, section};
use crate::words::{beyond, duration, joined, visible};
use seatmap_health::noise::{CpuNoise, GapCause, NoiseReport, Traced, TracedGap};
use std::iter::once;

/// The part of a gap that the kernel's trace does not explain.
const UNEXPLAINED: &str = "unexplained: hypervisor, firmware or hardware";

const TAKERS: usize = 6;

/// The columns of the first CPU's table, and of the others.
const COLUMNS: [&str; 2] =
    ["CPU:>3 | gaps:>7 | total:>10 | longest:>10 | task or interrupt", ":>3 | :>7 | :>10 | :>10 |"];

const GAPS: usize = 3;

/// `None` without a trace.
pub fn takers(report: &NoiseReport) -> Option<PageSection> {
    let traced = report.cpus.iter().filter_map(|noise| Some((noise, noise.trace.as_ref()?)));
    let title = "Tasks and interrupts in gaps of 5 us and more, from the kernel's trace".to_owned();
    let section = section("Tasks and interrupts", vec![title]);
    traced.clone().next()?;
    Some(traced.enumerate().fold(section, |section, (at, (noise, trace))| {
        section.with(table(COLUMNS[at.min(1)], noise.cpu, trace)).with(lines(noise, trace))
    }))
}

fn table(columns: &str, cpu: u32, trace: &Traced) -> Table {
    let named = trace
        .takers
        .iter()
        .take(TAKERS)
        // Always listed if it took any time: no cell can prevent this part.
        .chain(once(&trace.unexplained))
        .filter(|taker| taker.gaps > 0);
    let mut rows = Vec::from_iter(named.map(|taker| row(cpu, taker)));
    if rows.is_empty() {
        rows.push(cells![cpu, "0"].into());
    }
    Table::new(columns).rows(rows)
}

fn lines(noise: &CpuNoise, trace: &Traced) -> Vec<String> {
    let unnamed = beyond(trace.takers.len(), TAKERS);
    let unnamed = unnamed.map(|unnamed| format!("{:40}and {unnamed} more", ""));
    let older = Some(trace.gaps_before_trace).filter(|older| *older > 0).map(|older| {
        let are = if older == 1 { "gap is" } else { "gaps are" };
        format!("{older} more {are} older than the trace")
    });
    let told = trace.longest.iter().take(GAPS).map(gap).chain(left_out(noise, trace)).chain(older);
    unnamed.into_iter().chain(told.map(|line| format!("{:7}{line}", ""))).collect()
}

/// Notes that shorter gaps may be missing.
pub fn left_out(noise: &CpuNoise, trace: &Traced) -> Option<String> {
    let kept = noise.timeline.len() as u64;
    let asked = trace.gaps + trace.gaps_before_trace;
    // Plural: there are hundreds.
    (kept == asked && noise.gaps > kept)
        .then(|| format!("only the longest {kept} of {} gaps", noise.gaps))
}

fn row(cpu: u32, taker: &GapCause) -> Vec<TableCell> {
    let [all, one] = [taker.total_us, taker.longest_us].map(us);
    cells![cpu, taker.gaps, all, one, who(taker)].into()
}

pub fn who(taker: &GapCause) -> &str {
    if taker.who.is_empty() { UNEXPLAINED } else { &taker.who }
}

/// `7.340 ms at 1.203 s: unexplained 7.280 ms, hog 40.000 us`, the largest share first.
pub fn gap(gap: &TracedGap) -> String {
    let mut parts = Vec::from_iter(gap.takers.iter().map(|share| (visible(&share.who), share.us)));
    parts.push(("unexplained".to_owned(), gap.unexplained_us));
    // Sort after adding the unexplained part, which may be the largest.
    parts.sort_by(|a, b| b.1.total_cmp(&a.1));
    let parts = parts.iter().map(|(who, taken_us)| format!("{who} {}", us(*taken_us)));
    format!(
        "{} at {}: {}",
        duration(gap.length_ns as f64),
        duration(gap.start_ns as f64),
        joined(parts, ", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::Page;
    use crate::samples;

    #[test]
    fn hostile_name_adds_no_line() {
        let mut report = samples::noise();
        let trace = report.cpus[0].trace.as_mut().unwrap();
        (trace.takers[1].who, trace.longest[0].takers[0].who) = ("a\n  b".into(), "a\n  b".into());
        let text = |report| Page::of(takers(report).unwrap()).text(None);
        let told = text(&report);
        assert_eq!(told.matches("a\\n  b").count(), 2, "{told}");
        assert_eq!(told.lines().count(), text(&samples::noise()).lines().count());
    }

    #[test]
    fn omitted_gaps_are_counted() {
        let mut noise = samples::noise().cpus[0].clone();
        let trace = noise.trace.clone().unwrap();
        assert_eq!(left_out(&noise, &trace), None, "shorter ones were kept");
        noise.timeline.resize(254, noise.timeline[0]);
        assert_eq!(left_out(&noise, &trace).unwrap(), "only the longest 254 of 351 gaps");
        noise.gaps = 254;
        assert_eq!(left_out(&noise, &trace), None);
    }
}
