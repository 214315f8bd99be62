//! The page of one run: the CPU of each thread, and what went wrong.

use crate::about::{counted, or_dash};
use crate::page::{Page, PageSection, Table, TableCell};
use seatmap_launch::SeatedThread;
use seatmap_os::CpuList;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// The kernel confirmed the seat, and no sample disagreed.
    Verified,
    /// A sample found the thread elsewhere, or the kernel refused the seat.
    Elsewhere,
    Unseated,
    /// The thread waited for its seat to the end.
    Waiting,
    /// The thread ended before its CPU could be read.
    Unseen,
}

impl Verdict {
    fn of(thread: &SeatedThread) -> Self {
        // In order of certainty.
        if !thread.has_seat() {
            Verdict::Unseated
        } else if thread.verified {
            Verdict::Verified
        } else if thread.is_troubled() {
            Verdict::Elsewhere
        } else if thread.waiting {
            Verdict::Waiting
        } else {
            Verdict::Unseen
        }
    }

    /// The word and the class of its colour.
    fn word(self) -> (&'static str, &'static str) {
        match self {
            Verdict::Verified => ("verified", "good"),
            Verdict::Elsewhere => ("elsewhere", "bad"),
            Verdict::Unseated => ("no seat", "fair"),
            Verdict::Waiting => ("not yet", "fair"),
            Verdict::Unseen => ("not seen", "fair"),
        }
    }
}

/// A seating as one HTML file that works offline and without scripts. Each of `remarks` is a
/// sentence.
pub fn seating_page(
    program: &str,
    machine: &str,
    remarks: Vec<String>,
    threads: &[SeatedThread],
) -> String {
    let page = Page {
        lead: remarks,
        sections: vec![PageSection::new("Threads").with(table(threads))],
        footer: "Threads in order of creation. A seat is verified when the kernel confirmed it and \
                 no sample found the thread elsewhere.",
        ..Page::new(format!("{program} on {machine}"), sentence(threads))
    };
    page.html()
}

/// Whether all threads are on their seats; else the first that is not.
fn sentence(threads: &[SeatedThread]) -> String {
    let of = |verdict| threads.iter().filter(move |thread| Verdict::of(thread) == verdict);
    let all = threads.len();
    let seated = of(Verdict::Verified).count();
    // A single thread elsewhere makes the run's figures unusable.
    if let Some(first) = of(Verdict::Elsewhere).next() {
        let count = of(Verdict::Elsewhere).count();
        let trouble =
            first.trouble.as_ref().map(|trouble| format!(" ({trouble})")).unwrap_or_default();
        return format!(
            "{count} of {} did not run on the requested CPUs, the first of them {}, thread \
             {}{trouble}: do not trust this run's figures.",
            counted(all, "thread"),
            first.name,
            first.tid
        );
    }
    match all {
        0 => "No thread was seen.".to_owned(),
        _ if seated == all => {
            format!("All {} ran on the requested CPUs in every sample.", counted(all, "thread"))
        }
        _ => format!(
            "{seated} of {} ran on the requested CPUs, and none was found elsewhere; {} had no \
             seat, {} waited for one to the end, and {} ended before the first sample.",
            counted(all, "thread"),
            of(Verdict::Unseated).count(),
            of(Verdict::Waiting).count(),
            of(Verdict::Unseen).count()
        ),
    }
}

fn table(threads: &[SeatedThread]) -> Table {
    Table::with_figures(["order", "thread"])
        .words(["name", "task", "seat", "seen on", "verdict"])
        .rows(threads.iter().map(|thread| {
            let (word, class) = Verdict::of(thread).word();
            [
                thread.order.into(),
                thread.tid.into(),
                TableCell::from(&thread.name),
                or_dash(thread.task_label()).into(),
                spelled(&thread.cpus).into(),
                spelled(&thread.seen_on).into(),
                TableCell::from(thread.trouble.as_deref().unwrap_or_default()).level(word, class),
            ]
        }))
}

/// `0`, `14-15`, or a dash.
fn spelled(cpus: &[u32]) -> String {
    if cpus.is_empty() { "-".to_owned() } else { CpuList(cpus.to_vec()).to_string() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(order: usize, verdict: Verdict) -> SeatedThread {
        let seen_on = match verdict {
            Verdict::Verified => vec![14],
            Verdict::Elsewhere => vec![3],
            _ => Vec::new(),
        };
        SeatedThread {
            order,
            pid: None,
            tid: 4711 + order as i32,
            name: format!("io-{order}"),
            task: Some(order),
            task_name: None,
            cpus: if verdict == Verdict::Unseated { Vec::new() } else { vec![14, 15, 16] },
            seen_on,
            verified: verdict == Verdict::Verified,
            waiting: verdict == Verdict::Waiting,
            elsewhere_ms: 0,
            late: false,
            trouble: None,
            memory: None,
        }
    }

    #[test]
    fn sentence_judges_reliability_of_run() {
        use Verdict::{Elsewhere, Unseated, Unseen, Verified, Waiting};
        let refused = SeatedThread {
            trouble: Some("the kernel refused CPU 15".into()),
            ..thread(1, Elsewhere)
        };
        let all = [
            vec![thread(0, Verified), thread(1, Verified)],
            vec![thread(0, Verified), refused],
            vec![thread(0, Verified), thread(1, Unseated), thread(2, Unseen), thread(3, Waiting)],
            Vec::new(),
        ];
        insta::assert_snapshot!(all.map(|threads| sentence(&threads)).join("\n"), @"
        All 2 threads ran on the requested CPUs in every sample.
        1 of 2 threads did not run on the requested CPUs, the first of them io-1, thread 4712 (the kernel refused CPU 15): do not trust this run's figures.
        1 of 4 threads ran on the requested CPUs, and none was found elsewhere; 1 had no seat, 1 waited for one to the end, and 1 ended before the first sample.
        No thread was seen.
        ");
    }

    #[test]
    fn thread_names_are_escaped() {
        let name = "<script>alert(1)</script>".into();
        let hostile = SeatedThread { name, ..thread(0, Verdict::Verified) };
        let remarks = vec!["1 task had no thread.".into()];
        let page = seating_page("redis-server", "desk", remarks, &[hostile]);
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(
            page.contains("1 task had no thread.")
                && page.contains("<span class=\"whole\">14-16</span></td>")
        );
    }
}
