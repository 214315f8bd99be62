//! The page of one run: which thread sat where, and what went wrong.

use crate::about::counted;
use crate::page::{Page, Section, Table, TableCell, draw};

/// The contents of a page of a seating. Plain data: a launcher fills it from its report.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SeatingPage {
    /// The program, as it was typed.
    pub program: String,
    /// The machine's name.
    pub machine: String,
    /// Further remarks, one sentence a line: threads without a seat, tasks that no thread took.
    pub summary: Vec<String>,
    /// The threads, in order of creation.
    pub threads: Vec<ThreadRow>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadRow {
    /// Its place in the order of creation, counted from 0.
    pub order: usize,
    /// Its number.
    pub tid: i32,
    /// The last name it was seen with.
    pub name: String,
    /// Its task, by number or name; `None` where it has none.
    pub task: Option<String>,
    /// The CPUs that its seat allows, such as `0` or `14-15`; `None` where it has no seat.
    pub seat: Option<String>,
    /// The CPUs on which it was seen; empty where it ended too soon.
    pub seen_on: String,
    /// Whether it sat there.
    pub verdict: Verdict,
    /// The failure, in words.
    pub trouble: Option<String>,
}

/// Whether a thread sat where it should.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The kernel confirmed the seat, and no look found the thread elsewhere.
    Verified,
    /// It was seen elsewhere, or the kernel refused the seat.
    Elsewhere,
    /// The thread had no seat.
    Unseated,
    /// The thread waited for its seat to the end.
    Waiting,
    /// The thread ended before its CPU could be read.
    Unseen,
}

impl Verdict {
    /// The word in the table, and the class of its colour.
    fn word(self) -> (&'static str, &'static str) {
        match self {
            Verdict::Verified => ("verified", "good"),
            Verdict::Elsewhere => ("elsewhere", "bad"),
            Verdict::Unseated => ("no seat", "fair"),
            Verdict::Waiting => ("waiting", "fair"),
            Verdict::Unseen => ("not seen", "fair"),
        }
    }
}

/// A seating as one HTML file that works offline and without scripts.
#[must_use]
pub fn seating_page(page: &SeatingPage) -> String {
    draw::html(&Page {
        lead: page.summary.clone(),
        sections: vec![Section::new("Threads").with(table(&page.threads))],
        footer: "Threads in order of creation. A seat is verified when the kernel confirmed it and no look found the thread elsewhere.",
        ..Page::new(format!("{} on {}", page.program, page.machine), sentence(page))
    })
}

/// Whether everything sits as asked, and else the first thread that does not.
fn sentence(page: &SeatingPage) -> String {
    let of = |verdict| page.threads.iter().filter(move |thread| thread.verdict == verdict);
    let all = page.threads.len();
    let seated = of(Verdict::Verified).count();
    // One thread elsewhere spoils a run's figures, however many sat where they should.
    if let Some(first) = of(Verdict::Elsewhere).next() {
        let count = of(Verdict::Elsewhere).count();
        let trouble =
            first.trouble.as_ref().map(|trouble| format!(" ({trouble})")).unwrap_or_default();
        return format!(
            "{count} of {} did not sit where asked, the first of them {}, thread {}{trouble}: do not trust this run's figures.",
            counted(all, "thread"),
            first.name,
            first.tid
        );
    }
    match all {
        0 => "No thread was seen.".to_owned(),
        _ if seated == all => {
            format!("All {} sat where asked, at every look.", counted(all, "thread"))
        }
        _ => format!(
            "{seated} of {} sat where asked, and no look found one elsewhere; {} had no seat, {} waited for one to the \
             end, and {} had gone before a look.",
            counted(all, "thread"),
            of(Verdict::Unseated).count(),
            of(Verdict::Waiting).count(),
            of(Verdict::Unseen).count()
        ),
    }
}

fn table(threads: &[ThreadRow]) -> Table {
    let table = Table::default()
        .figures(["order", "thread"])
        .words(["name", "task", "seat", "seen on", "verdict"]);
    table.rows(threads.iter().map(|thread| {
        let (word, class) = thread.verdict.word();
        let seen_on = Some(thread.seen_on.as_str()).filter(|list| !list.is_empty());
        [
            thread.order.into(),
            thread.tid.into(),
            TableCell::from(&thread.name),
            thread.task.as_deref().unwrap_or("-").into(),
            thread.seat.as_deref().unwrap_or("-").into(),
            seen_on.unwrap_or("-").into(),
            TableCell::from(thread.trouble.as_deref().unwrap_or_default()).level(word, class),
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(order: usize, verdict: Verdict) -> ThreadRow {
        ThreadRow {
            order,
            tid: 4711 + order as i32,
            name: format!("io-{order}"),
            task: Some(order.to_string()),
            seat: Some("14-15".into()),
            seen_on: "14".into(),
            verdict,
            trouble: None,
        }
    }

    fn of(threads: Vec<ThreadRow>) -> SeatingPage {
        SeatingPage {
            program: "redis-server".into(),
            machine: "desk".into(),
            summary: vec!["1 task had no thread.".into()],
            threads,
        }
    }

    #[test]
    fn the_sentence_says_whether_to_trust_the_run() {
        use Verdict::{Elsewhere, Unseated, Unseen, Verified, Waiting};
        let refused =
            ThreadRow { trouble: Some("the kernel refused CPU 15".into()), ..thread(1, Elsewhere) };
        let all = [
            vec![thread(0, Verified), thread(1, Verified)],
            vec![thread(0, Verified), refused],
            vec![thread(0, Verified), thread(1, Unseated), thread(2, Unseen), thread(3, Waiting)],
            Vec::new(),
        ];
        insta::assert_snapshot!(all.map(|threads| sentence(&of(threads))).join("\n"), @"
        All 2 threads sat where asked, at every look.
        1 of 2 threads did not sit where asked, the first of them io-1, thread 4712 (the kernel refused CPU 15): do not trust this run's figures.
        1 of 4 threads sat where asked, and no look found one elsewhere; 1 had no seat, 1 waited for one to the end, and 1 had gone before a look.
        No thread was seen.
        ");
    }

    #[test]
    fn names_of_threads_are_text() {
        let hostile =
            ThreadRow { name: "<script>alert(1)</script>".into(), ..thread(0, Verdict::Verified) };
        let page = seating_page(&of(vec![hostile]));
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(
            page.contains("1 task had no thread.")
                && page.contains("<td class=\"wide\">14-15</td>")
        );
    }
}
