//! A program that ran on a pretended machine: its threads, and how their seats were judged.

use crate::check;
use crate::page::{Page, Table, section};
use crate::words::beyond;
use seatmap_watch::judge::judged::CheckText;

const MOST_LISTED: usize = 64;

/// The threads, in the words of `seatmap_pretend`, and how their seats were judged.
pub fn page(about: String, threads: Vec<[String; 7]>, judged: Option<(String, CheckText)>) -> Page {
    let more = beyond(threads.len(), MOST_LISTED).map(|more| format!("{more:>8} more"));
    let table = Table::with_figures(["PROCESS", "THREAD"])
        .words(["NAME"])
        .figures(["CORES", "CPUS"])
        .words(["NODES", "MASK"])
        .least([8, 8, 16, 5, 5, 6])
        .flush()
        .rows(threads.into_iter().take(MOST_LISTED));
    let threads = section("Threads", vec![about]).with(table);
    let judged =
        judged.map(|(when, text)| check::added(section("Check", vec![when]), &text, false));
    let sections = std::iter::once(threads.with(more)).chain(judged).collect();
    Page { sections, ..Page::default() }
}
