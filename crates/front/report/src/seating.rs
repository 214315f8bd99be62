//! The threads of a seated program, a row each.

use crate::page::{Page, PageSection, Table};
use seatmap_launch::SeatedThread;
use seatmap_os::CpuList;

/// Threads with problems are always reported.
const MOST_ROWS: usize = 40;

/// The seating as a table, a row for each thread, in order of creation.
pub fn page(threads: &[SeatedThread], created: usize) -> Page {
    let heads = ["thread", "tid", "name", "task", "CPU", "seen on", "verified"];
    let table = Table::with_words(heads).flush().rows(threads.iter().take(MOST_ROWS).map(row));
    let more = created.checked_sub(MOST_ROWS).filter(|more| *more > 0);
    let more = more.map(|more| format!("... and {more} more"));
    Page::of(PageSection::new("Threads").with(table).with(more))
}

fn row(thread: &SeatedThread) -> [String; 7] {
    let cpus = CpuList(thread.cpus.clone()).to_string();
    [
        thread.order.to_string(),
        thread.tid.to_string(),
        or_dash(&thread.name),
        or_dash(&thread.task_label().unwrap_or_default()),
        or_dash(&cpus),
        or_dash(&CpuList(thread.seen_on.clone()).to_string()),
        verdict(thread).to_owned(),
    ]
}

fn or_dash(text: &str) -> String {
    if text.is_empty() { "-" } else { text }.to_owned()
}

fn verdict(thread: &SeatedThread) -> &'static str {
    match (thread.has_seat(), thread.verified, thread.late) {
        (false, ..) => "no seat",
        (_, true, false) => "yes",
        (_, true, true) => "yes, late",
        (_, false, _) if thread.is_troubled() => "NO",
        (_, false, _) if thread.waiting => "not yet",
        (_, false, _) => "ended",
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

    #[test]
    fn table_shows_seat_of_each_thread() {
        let trouble = Some("seated on CPU 11, and then ...".to_owned());
        let threads = [
            thread(0, "main", Some((0, 4))),
            thread(1, "helper", None),
            SeatedThread { verified: false, trouble, ..thread(2, "wand\u{1b}erer", Some((1, 11))) },
            SeatedThread { late: true, seen_on: Vec::new(), ..thread(3, "late", Some((3, 0))) },
            SeatedThread { verified: false, seen_on: Vec::new(), ..thread(4, "", Some((2, 0))) },
            SeatedThread { verified: false, waiting: true, ..thread(5, "waits", Some((0, 4))) },
        ];
        insta::assert_snapshot!(page(&threads, 6).text(None), @r"
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
        let threads: Vec<SeatedThread> =
            (0..99).map(|order| thread(order, "w", Some((0, 0)))).collect();
        let table = page(&threads, 99).text(None);
        assert_eq!(table.lines().count(), 1 + MOST_ROWS + 1);
        assert!(table.ends_with("... and 59 more\n"), "{table}");
    }
}
