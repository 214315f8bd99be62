//! The threads of a seated program, a row each: a table, and a page.

use crate::page::{Page, Table, TableCell, cells, section};
use crate::words::{beyond, counted, unless_empty};
use seatmap_launch::SeatedThread;
use seatmap_os::CpuList;

/// Threads with problems are always reported.
const MOST_ROWS: usize = 40;

/// The seating as a table, a row for each thread, in order of creation.
pub fn page(threads: &[SeatedThread], created: usize) -> Page {
    let rows = threads.iter().take(MOST_ROWS).map(|thread| {
        let [task, cpus, seen_on] = places(thread);
        let [word, ..] = verdict(thread);
        let name = unless_empty(thread.name.clone());
        cells![thread.order, thread.tid, name, task, cpus, seen_on, word]
    });
    let table =
        Table::new("thread | tid | name | task | CPU | seen on | verified").flush().rows(rows);
    let more = beyond(created, MOST_ROWS).map(|more| format!("... and {more} more"));
    Page::of(section("Threads", table).with(more))
}

/// The seating as one HTML file that works offline and without scripts. Each of `remarks` is a
/// sentence.
pub fn html(
    program: &str,
    machine: &str,
    remarks: Vec<String>,
    threads: &[SeatedThread],
) -> String {
    let rows = threads.iter().map(|thread| {
        let [task, cpus, seen_on] = places(thread).map(TableCell::from);
        let [_, word, class] = verdict(thread);
        let trouble = TableCell::from(thread.trouble.as_deref().unwrap_or_default());
        let name = TableCell::from(&thread.name);
        let judged = trouble.level(word, class);
        cells![thread.order, thread.tid, name, task, cpus, seen_on, judged]
    });
    let table =
        Table::new("order:> | thread:> | name | task | seat | seen on | verdict").rows(rows);
    let page = Page {
        lead: remarks,
        sections: vec![section("Threads", table)],
        footer: "Threads in order of creation. A seat is verified when the kernel confirmed it and \
                 no sample found the thread elsewhere.",
        ..Page::new(format!("{program} on {machine}"), sentence(threads))
    };
    page.html()
}

/// The task, the seat, and the CPUs on which it was seen: `0`, `14-15`, or a dash.
fn places(thread: &SeatedThread) -> [String; 3] {
    let [cpus, seen_on] = [&thread.cpus, &thread.seen_on].map(|cpus| CpuList(cpus.clone()));
    let task = thread.task_label().unwrap_or_default();
    [task, cpus.to_string(), seen_on.to_string()].map(unless_empty)
}

/// The words for a terminal and for a page, and the class of the page's colour, in order of
/// certainty.
fn verdict(thread: &SeatedThread) -> [&'static str; 3] {
    match (thread.has_seat(), thread.verified) {
        (false, _) => ["no seat", "no seat", "fair"],
        (_, true) if thread.late => ["yes, late", "verified", "good"],
        (_, true) => ["yes", "verified", "good"],
        _ if thread.is_troubled() => ["NO", "elsewhere", "bad"],
        _ if thread.waiting => ["not yet", "not yet", "fair"],
        _ => ["ended", "not seen", "fair"],
    }
}

/// Whether all threads are on their seats; else the first that is not.
fn sentence(threads: &[SeatedThread]) -> String {
    let of = |word: &'static str| threads.iter().filter(move |thread| verdict(thread)[1] == word);
    let all = counted(threads.len(), "thread");
    let seated = of("verified").count();
    // A single thread elsewhere makes the run's figures unusable.
    if let Some(first) = of("elsewhere").next() {
        let trouble = first.trouble.as_ref().map(|trouble| format!(" ({trouble})"));
        return format!(
            "{} of {all} did not run on the requested CPUs, the first of them {}, thread {}{}: do \
             not trust this run's figures.",
            of("elsewhere").count(),
            first.name,
            first.tid,
            trouble.unwrap_or_default()
        );
    }
    match threads.len() {
        0 => "No thread was seen.".to_owned(),
        count if seated == count => format!("All {all} ran on the requested CPUs in every sample."),
        _ => format!(
            "{seated} of {all} ran on the requested CPUs, and none was found elsewhere; {} had no \
             seat, {} waited for one to the end, and {} ended before the first sample.",
            of("no seat").count(),
            of("not yet").count(),
            of("not seen").count()
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(order: usize, name: &str, seat: Option<(usize, u32)>) -> SeatedThread {
        SeatedThread {
            order,
            pid: Some(70),
            tid: 70 + order as i32,
            name: name.to_owned(),
            task: seat.map(|(task, _)| task),
            task_name: seat.filter(|(task, _)| *task == 0).map(|_| "left".to_owned()),
            cpus: seat.map(|(_, cpu)| cpu).into_iter().collect(),
            seen_on: seat.map(|(_, cpu)| cpu).into_iter().collect(),
            verified: seat.is_some(),
            waiting: false,
            elsewhere_ms: 0,
            late: false,
            trouble: None,
            memory: None,
        }
    }

    fn threads() -> [SeatedThread; 6] {
        let trouble = Some("seated on CPU 11, and then ...".to_owned());
        [
            thread(0, "main", Some((0, 4))),
            thread(1, "helper", None),
            SeatedThread { verified: false, trouble, ..thread(2, "wand\u{1b}erer", Some((1, 11))) },
            SeatedThread { late: true, seen_on: Vec::new(), ..thread(3, "late", Some((3, 0))) },
            SeatedThread { verified: false, seen_on: Vec::new(), ..thread(4, "", Some((2, 0))) },
            SeatedThread { verified: false, waiting: true, ..thread(5, "waits", Some((0, 4))) },
        ]
    }

    #[test]
    fn table_shows_seat_of_each_thread() {
        insta::assert_snapshot!(page(&threads(), 6).text(None), @r"
        thread  tid  name            task    CPU  seen on  verified
        0       70   main            0 left  4    4        yes
        1       71   helper          -       -    -        no seat
        2       72   wand\u{1b}erer  1       11   11       NO
        3       73   late            3       0    -        yes, late
        4       74   -               2       0    -        ended
        5       75   waits           0 left  4    4        not yet
        ");
    }

    #[test]
    fn long_table_is_truncated() {
        let threads = Vec::from_iter((0..99).map(|order| thread(order, "w", Some((0, 0)))));
        let table = page(&threads, 99).text(None);
        assert_eq!(table.lines().count(), 1 + MOST_ROWS + 1);
        assert!(table.ends_with("... and 59 more\n"), "{table}");
    }

    #[test]
    fn sentence_judges_reliability_of_run() {
        let [main, helper, wanderer, late, unseen, waits] = threads();
        let wanderer = SeatedThread { name: "io".to_owned(), ..wanderer };
        let all = [
            vec![main.clone(), late],
            vec![main.clone(), wanderer],
            vec![main, helper, unseen, waits],
        ];
        let all = all.iter().map(Vec::as_slice).chain([&[][..]]).map(sentence);
        insta::assert_snapshot!(Vec::from_iter(all).join("\n"), @"
        All 2 threads ran on the requested CPUs in every sample.
        1 of 2 threads did not run on the requested CPUs, the first of them io, thread 72 (seated on CPU 11, and then ...): do not trust this run's figures.
        1 of 4 threads ran on the requested CPUs, and none was found elsewhere; 1 had no seat, 1 waited for one to the end, and 1 ended before the first sample.
        No thread was seen.
        ");
    }

    #[test]
    fn thread_names_are_escaped() {
        let cpus = vec![14, 15, 16];
        let hostile =
            SeatedThread { cpus, ..thread(0, "<script>alert(1)</script>", Some((0, 14))) };
        let remarks = vec!["1 task had no thread.".into()];
        let page = html("redis-server", "desk", remarks, &[hostile]);
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(
            page.contains("1 task had no thread.")
                && page.contains("<span class=\"whole\">14-16</span></td>")
        );
    }
}
