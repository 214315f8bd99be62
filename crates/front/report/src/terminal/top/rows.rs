//! The rows of the table: threads, filtered and sorted, or in a tree below their processes.

use super::row::{RowId, TopRow};
use super::view::{Sort, TopView};
use crate::words::visible;
use seatmap_os::Tid;
use seatmap_watch::LookJudgement;
use seatmap_watch::live::SeatingFrame;
use std::cmp::Ordering;
use std::collections::HashMap;

/// The rows of a sample that a view shows.
pub fn rows(frame: &SeatingFrame, judgement: &LookJudgement, view: &TopView) -> Vec<TopRow> {
    let mut threads = all(frame, judgement);
    let filter = view.filter.to_lowercase();
    if !filter.is_empty() {
        threads.retain(|row| fits(row, &filter));
    }
    let order = |a: &TopRow, b: &TopRow| {
        let order = compare(view.sort, a, b);
        // By number, so equal rows do not change places.
        (if view.is_reversed { order.reverse() } else { order }).then(a.id.cmp(&b.id))
    };
    if !view.is_tree {
        threads.sort_by(order);
        return threads;
    }
    threads.sort_by_key(|row| row.id.pid);
    let mut processes =
        Vec::from_iter(threads.chunk_by_mut(|a, b| a.id.pid == b.id.pid).map(|threads| {
            let process = whole(threads);
            threads.sort_by(order);
            [&[process], &*threads].concat()
        }));
    processes.sort_by(|a, b| order(&a[0], &b[0]));
    processes.concat()
}

/// Matches the program, the name or a number; `text` is in lower case.
pub fn fits(row: &TopRow, text: &str) -> bool {
    let numbers = [Some(row.id.pid), row.id.tid];
    [&row.name, &row.program].into_iter().any(|name| name.to_lowercase().contains(text))
        || numbers.into_iter().flatten().any(|number| number.to_string() == text)
}

fn all(frame: &SeatingFrame, judgement: &LookJudgement) -> Vec<TopRow> {
    let seats: HashMap<_, _> =
        judgement.seats.iter().map(|seat| (seat.tid, seat.cpus.as_str())).collect();
    let programs: HashMap<Tid, String> = frame
        .seating
        .processes
        .iter()
        .map(|process| (process.pid, visible(&process.name)))
        .collect();
    let mut gravest = HashMap::new();
    for (at, finding) in judgement.findings.iter().enumerate() {
        let threads = finding.tids.iter().map(|tid| (*tid, "thread"));
        // A finding that names threads does not concern the others of their process.
        let process = finding.pid.filter(|_| finding.tids.is_empty()).map(|pid| (pid, "process"));
        for one in threads.chain(process) {
            // Findings are sorted gravest first.
            gravest.entry(one).or_insert(at);
        }
    }
    let row =
        |(thread, rates): (&seatmap_watch::WatchedThread, &seatmap_watch::live::Rates)| TopRow {
            id: RowId { pid: thread.pid, tid: Some(thread.tid) },
            name: visible(&thread.name),
            program: programs.get(&thread.pid).cloned().unwrap_or_default(),
            cpu: thread.cpu,
            mask: thread.mask.clone(),
            seat: seats.get(&thread.tid).copied().unwrap_or_default().to_owned(),
            load_percent: thread.run_percent,
            wait_percent: thread.wait_percent,
            switches: rates.switches,
            migrations: rates.migrations,
            wakeups: rates.wakeups,
            finding: [(thread.tid, "thread"), (thread.pid, "process")]
                .iter()
                .filter_map(|one| gravest.get(one).copied())
                .min(),
            threads: vec![thread.tid],
        };
    frame.seating.threads.iter().zip(&frame.rates).map(row).collect()
}

/// The row of a process: the sums of its threads.
fn whole(threads: &[TopRow]) -> TopRow {
    let sum = |of: fn(&TopRow) -> Option<f64>| threads.iter().filter_map(of).reduce(|a, b| a + b);
    let first = &threads[0];
    let common = |of: fn(&TopRow) -> &String| {
        let is_common = threads.iter().all(|row| of(row) == of(first));
        if is_common { of(first).clone() } else { "several".to_owned() }
    };
    TopRow {
        id: RowId { pid: first.id.pid, tid: None },
        name: first.program.clone(),
        program: first.program.clone(),
        cpu: first.cpu.filter(|_| threads.iter().all(|row| row.cpu == first.cpu)),
        mask: common(|row| &row.mask),
        seat: common(|row| &row.seat),
        load_percent: threads.iter().map(|row| row.load_percent).sum(),
        wait_percent: sum(|row| row.wait_percent),
        switches: threads.iter().map(|row| row.switches).sum(),
        migrations: sum(|row| row.migrations),
        wakeups: threads.iter().map(|row| row.wakeups).sum(),
        finding: threads.iter().filter_map(|row| row.finding).min(),
        threads: threads.iter().flat_map(|row| row.threads.clone()).collect(),
    }
}

/// The largest loads and rates first.
fn compare(sort: Sort, a: &TopRow, b: &TopRow) -> Ordering {
    use Sort::*;
    let largest = |of: fn(&TopRow) -> f64| of(b).total_cmp(&of(a));
    match sort {
        Pid => a.id.pid.cmp(&b.id.pid),
        Tid => a.id.tid.cmp(&b.id.tid),
        Name => a.name.cmp(&b.name),
        Cpu => a.cpu.cmp(&b.cpu).then(largest(|row| row.load_percent)),
        Mask => a.mask.cmp(&b.mask),
        Seat => (a.seat.is_empty(), &a.seat).cmp(&(b.seat.is_empty(), &b.seat)),
        Load => largest(|row| row.load_percent),
        Wait => largest(|row| row.wait_percent.unwrap_or(-1.0)),
        Switches => largest(|row| row.switches),
        Migrations => largest(|row| row.migrations.unwrap_or(-1.0)),
        Wakeups => largest(|row| row.wakeups),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::terminal::top::samples::{frame, judgement};

    fn shown(view: &TopView) -> Vec<(Tid, Option<Tid>)> {
        rows(&frame(), &judgement(), view).iter().map(|row| (row.id.pid, row.id.tid)).collect()
    }

    #[test]
    fn busiest_thread_is_first_by_default() {
        let mut view = TopView::default();
        assert_eq!(shown(&view)[0], (70, Some(71)));
        view.is_reversed = true;
        assert_eq!(shown(&view).last(), Some(&(70, Some(71))));
        view = TopView { sort: Sort::Tid, ..TopView::default() };
        let tids = Vec::from_iter(shown(&view).into_iter().map(|(_, tid)| tid));
        assert!(tids.is_sorted());
    }

    #[test]
    fn filter_matches_names_and_numbers() {
        let filtered = |filter: &str| {
            shown(&TopView { filter: filter.to_owned(), ..TopView::default() }).len()
        };
        assert_eq!((filtered("WORKER"), filtered("90"), filtered("nothing")), (2, 1, 0));
    }

    #[test]
    fn process_row_precedes_threads_with_their_sum() {
        let rows = rows(&frame(), &judgement(), &TopView { is_tree: true, ..TopView::default() });
        assert_eq!((rows[0].id, rows[0].load_percent), (RowId { pid: 70, tid: None }, 160.0));
        assert_eq!(
            (rows[0].threads.len(), rows[1].id.tid, rows[0].mask.as_str()),
            (3, Some(71), "several")
        );
    }

    #[test]
    fn threads_are_marked_with_gravest_finding() {
        let rows = rows(&frame(), &judgement(), &TopView::default());
        let marked = Vec::from_iter(
            rows.iter().filter(|row| row.finding == Some(0)).filter_map(|row| row.id.tid),
        );
        assert_eq!(marked, [71], "72 sits on its seat");
    }
}
