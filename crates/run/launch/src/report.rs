//! The report of a seating, as it is written to a file.

use crate::cell_watch::CellEnd;
use crate::hampered::Hampered;
use crate::pinner::Pinner;
use crate::policies::ThreadMemory;
use crate::record::{ThreadRecord, Trouble};
use crate::seats::Beyond;
use crate::verifier::MemoryReport;
use seatmap_os::{CpuList, Tid};
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// The seating of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// The first process, by the number that the kernel gave it; null where there was none.
    pub pid: Option<Tid>,
    /// The number of threads that were to be seated, those of child processes included.
    pub created: usize,
    /// Short-lived processes that ended before they could take a seat; not among those created.
    pub helpers: usize,
    /// The number of threads that may run on all seats, as they had to wait for one that they
    /// shared.
    pub widened: usize,
    /// The files of programs that size themselves again and again by the CPUs of any thread, so
    /// that each may run on all seats.
    pub roaming: Vec<String>,
    /// The files of such programs whose threads have a seat each, so that they find fewer CPUs than
    /// there are seats.
    pub narrowed: Vec<String>,
    /// The sentences about them, but for the program that was started: the launcher says that one
    /// before it starts it.
    #[serde(skip)]
    pub narrowed_lines: Vec<String>,
    /// The quotas of CPU time that were used up while the program ran, a sentence each.
    #[serde(skip)]
    pub throttled: Vec<String>,
    /// Lines about the seats of other runs, where they were not passed over.
    #[serde(skip)]
    pub crowding: Vec<String>,
    /// Lines about rules that no thread fitted.
    #[serde(skip)]
    pub unmet_rules: Vec<String>,
    /// The number of threads that were skipped on demand.
    pub skipped: usize,
    /// The number of threads that had no seat, the skipped left out.
    pub unseated: usize,
    /// The number of tasks to seat.
    pub tasks: usize,
    /// The number of tasks given in order of creation; the others belong to rules.
    pub ordered_tasks: usize,
    /// The number of threads that took a seat in order, though the plan says how its tasks came to
    /// be: they came otherwise.
    pub strangers: usize,
    /// The tasks that no thread took.
    pub empty_tasks: Vec<usize>,
    /// Whether the list of seats started again at its end.
    pub cyclic: bool,
    /// Each thread, in order of creation, the first 10,000 of them.
    pub threads: Vec<SeatedThread>,
    /// Programs that tracing kept from something.
    pub hampered: Hampered,
    /// The processes and threads that outlived the program's first process; null where there were
    /// none.
    pub behind: Option<Behind>,
    /// The end of the cell in which the program ran; absent where it stood to the program's end.
    /// Figures of the whole run are of the time after it as well.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub cell_end: Option<CellEnd>,
    /// The program's memory; null where nothing was asked about it, and absent in older documents.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub memory: Option<MemoryReport>,
    /// Whether seating had ended when this was written. It had not in the document of a run's
    /// beginning, which stays where the process that seats the threads is killed; older documents
    /// do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub complete: bool,
    /// When this was written, in seconds since 1970: a process that started later has only got the
    /// number of one in it. Older documents do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub taken_at_s: f64,
}

/// The part of a seating that says whether it is whole.
#[derive(Deserialize)]
struct SeatingEnd {
    complete: Option<bool>,
}

/// Whether this document is a seating.
#[must_use]
pub fn is_seating(bytes: &[u8]) -> bool {
    seatmap_data::document::is_kind(bytes, "seatmap-seating/")
}

/// The words about a seating for those who want to see it: it is of threads that run, and has no
/// picture.
#[must_use]
pub fn where_to_look(text: &str) -> String {
    let unfinished = unfinished(text).map(|sentence| format!("; {sentence}")).unwrap_or_default();
    format!(
        "holds the seats of a run, which 'seatmap check --expect FILE' compares with the threads \
         that run now{unfinished}"
    )
}

/// The sentence about a seating that was written before its end, and says nothing of it; `None`
/// for any other document.
fn unfinished(text: &str) -> Option<&'static str> {
    let end = seatmap_data::document::read::<SeatingEnd>(text, FORMAT).ok()?;
    (end.complete == Some(false)).then_some(
        "it was written before the run's end, which was not seen: the process that seats the \
         threads is still there, or was killed",
    )
}

/// The processes and threads that outlived the program's first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Behind {
    /// Its processes.
    pub processes: usize,
    /// Their threads.
    pub threads: usize,
    /// The process that continues to seat them; null where seating has ended.
    pub supervisor: Option<Tid>,
    /// The number of threads that got back the mask that they would have without Seatmap.
    pub freed: usize,
    /// The process that gives them their masks once more when CPUs come that they lack: Linux
    /// before 6.3 takes CPUs that are offline out of masks. Absent where none is needed.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub waiter: Option<Tid>,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatedThread {
    /// The thread's place in the order of seating over all processes, counted from 0.
    pub order: usize,
    /// The thread's process; null where it ended too soon.
    pub pid: Option<Tid>,
    /// Its number.
    pub tid: Tid,
    /// The last name it was seen with, at most 15 bytes; empty where it ended too soon.
    pub name: String,
    /// The thread's task; null where it has no seat, or shares one that belongs to no task.
    pub task: Option<usize>,
    /// The name of the task.
    pub task_name: Option<String>,
    /// The CPUs of the thread's seat; empty where it has no seat.
    pub cpus: Vec<u32>,
    /// The CPUs that the thread was seen on since then, in order of appearance; empty where it
    /// ended too soon.
    pub seen_on: Vec<u32>,
    /// Whether the thread took its seat, the kernel confirmed that, and no look found it elsewhere
    /// for longer than 0.5 s.
    pub verified: bool,
    /// Whether the thread waited for its seat to the end, on the whole set of CPUs; older documents
    /// do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub waiting: bool,
    /// For how long the thread was away from its seat, where it came back, in milliseconds; older
    /// documents do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub elsewhere_ms: u64,
    /// Whether the thread had run before it was found; it had its creator's mask until then.
    pub late: bool,
    /// The problem, in words; null where there was none.
    pub trouble: Option<String>,
    /// Its memory policy, where a plan has one for it; absent in older documents.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub memory: Option<ThreadMemory>,
}

impl Report {
    pub(crate) fn of(pinner: &Pinner, pid: Option<Tid>, hampered: Hampered) -> Self {
        let seats = pinner.seating.seats();
        let threads: Vec<SeatedThread> =
            pinner.threads.records().iter().map(|record| thread(record, &seats.names)).collect();
        let cpus = pinner.seating.whole().len();
        let since_epoch =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let narrowed = pinner.narrowed().iter();
        let later = narrowed.clone().filter(|narrowed| !narrowed.is_first);
        let taken: std::collections::HashSet<usize> =
            threads.iter().filter_map(|thread| thread.task).collect();
        Report {
            format: FORMAT,
            pid,
            created: pinner.threads.created(),
            helpers: pinner.threads.helpers(),
            widened: pinner.widened(),
            roaming: pinner.roaming().iter().map(|path| path.display().to_string()).collect(),
            narrowed_lines: later.map(|narrowed| narrowed.sentence(cpus)).collect(),
            narrowed: narrowed.map(|narrowed| narrowed.file.display().to_string()).collect(),
            throttled: Vec::new(),
            crowding: pinner.seating.leases().notes(),
            unmet_rules: pinner.seating.unmet_rules(),
            skipped: pinner.threads.skipped(),
            unseated: pinner.threads.unseated(),
            tasks: seats.own().len(),
            ordered_tasks: pinner.seating.ordered_tasks(),
            strangers: pinner.seating.strangers(),
            empty_tasks: seats.own.clone().filter(|task| !taken.contains(task)).collect(),
            cyclic: seats.beyond == Beyond::Cycle,
            threads,
            hampered,
            behind: None,
            cell_end: None,
            memory: None,
            complete: false,
            taken_at_s: since_epoch.as_secs_f64(),
        }
    }

    /// Notes that the cell ended while the program ran: what moved the threads from their seats was
    /// most likely that, and not the program.
    pub(crate) fn lose_the_cell(&mut self, end: CellEnd, pinner: &Pinner) {
        for (thread, record) in self.threads.iter_mut().zip(pinner.threads.records()) {
            let is_moved = match &record.trouble {
                None => thread.is_troubled(),
                Some(trouble) => !matches!(trouble, Trouble::Refused { .. }),
            };
            if is_moved {
                let seat = CpuList(thread.cpus.clone()).named();
                thread.trouble = Some(format!("its seat was {seat} until its cell ended"));
            }
        }
        self.cell_end = Some(end);
    }

    /// The threads that do not sit where they should.
    pub fn troubled(&self) -> impl Iterator<Item = &SeatedThread> {
        self.threads.iter().filter(|thread| thread.is_troubled())
    }
}

impl SeatedThread {
    /// Whether the thread has a seat: a task's, or one that it shares.
    #[must_use]
    pub fn has_seat(&self) -> bool {
        !self.cpus.is_empty()
    }

    /// Whether the thread was seen elsewhere than on its seat. A thread that ended before it could
    /// sit down was not.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.trouble.is_some()
            || self.has_seat() && self.seen_on.iter().any(|cpu| !self.cpus.contains(cpu))
    }
}

fn thread(record: &ThreadRecord, names: &[String]) -> SeatedThread {
    let task = record.seat.as_ref().and_then(|seat| seat.task);
    SeatedThread {
        order: record.order,
        pid: record.pid,
        tid: record.tid,
        name: record.name.clone(),
        task,
        task_name: task.and_then(|task| names.get(task)).cloned(),
        cpus: record.seat.as_ref().map(|seat| seat.cpus.list().0).unwrap_or_default(),
        seen_on: record.all_seen_on(),
        verified: record.verified(),
        waiting: record.waiting,
        elsewhere_ms: u64::try_from(record.elsewhere.lasted().as_millis()).unwrap_or(u64::MAX),
        late: record.late,
        trouble: record.trouble.as_ref().map(ToString::to_string),
        memory: record.memory.clone(),
    }
}
