//! The page of `seatmap run --html`: a report in the words of a page.

use seatmap_console::here::host_name;
use seatmap_launch::{Report, SeatedThread};
use seatmap_os::CpuList;
use seatmap_report::html::{SeatingPage, ThreadRow, Verdict, seating_page};

/// The page of a report.
pub fn page(program: &str, report: &Report) -> String {
    seating_page(&SeatingPage {
        program: program.to_owned(),
        machine: host_name(),
        summary: [report.losses(), report.notes()].concat(),
        threads: report.threads.iter().map(row).collect(),
    })
}

fn row(thread: &SeatedThread) -> ThreadRow {
    let cpus = |cpus: &[u32]| CpuList(cpus.to_vec()).to_string();
    ThreadRow {
        order: thread.order,
        tid: thread.tid,
        name: thread.name.clone(),
        task: thread.task_label(),
        seat: thread.has_seat().then(|| cpus(&thread.cpus)),
        seen_on: cpus(&thread.seen_on),
        verdict: verdict(thread),
        trouble: thread.trouble.clone(),
    }
}

fn verdict(thread: &SeatedThread) -> Verdict {
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
