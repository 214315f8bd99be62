//! A program that ran on pretended machines: its threads, and what was wrong.

use crate::check;
use crate::page::{Page, Table, TableCell, section};
use crate::words::{beyond, counted};
use seatmap_watch::judge::judged::CheckText;

const MOST_LISTED: usize = 64;

/// The threads, in the words of `seatmap_pretend`, and how their seats were judged.
pub fn page(about: String, threads: Vec<[String; 7]>, judged: Option<(String, CheckText)>) -> Page {
    let more = beyond(threads.len(), MOST_LISTED).map(|more| format!("{more:>8} more"));
    let table =
        Table::new("PROCESS:>8 | THREAD:>8 | NAME:16 | CORES:>5 | CPUS:>5 | NODES:6 | MASK")
            .flush()
            .rows(threads.into_iter().take(MOST_LISTED));
    let threads = section("Threads", vec![about]).with(table);
    let judged =
        judged.map(|(when, text)| check::added(section("Check", vec![when]), &text, false));
    let sections = std::iter::once(threads.with(more)).chain(judged).collect();
    Page { sections, ..Page::default() }
}

/// A command on many machines: what was wrong on each in each situation, then each rule once, with
/// its first fault, the command that repeats it, and the number of runs.
pub fn zoo(
    headline: String,
    situations: &[&str],
    rows: Vec<Vec<String>>,
    findings: Vec<([String; 3], usize)>,
) -> Page {
    let table = Table::new("").words(situations.iter().copied()).rows(rows);
    let findings = findings.into_iter().flat_map(|([rule, what, repeat], runs)| {
        let runs = counted(runs, "run");
        [
            [TableCell::strong(rule), format!("{what} ({runs})").into()],
            [TableCell::default(), TableCell::code(repeat)],
        ]
    });
    let findings = Table::new("|").rows(findings);
    Page {
        sections: vec![section("Machines", table), section("Findings", findings)],
        ..Page::new("Pretended machines", headline).headed()
    }
}
