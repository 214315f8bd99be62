//! The report of a seating.

use crate::cell_watch::CellEnd;
use crate::fit::CpuFitReport;
use crate::hampered::Hampered;
use crate::pinner::Pinner;
use crate::policies::ThreadMemory;
use crate::record::{ThreadRecord, Trouble};
use crate::seats::Beyond;
use crate::verifier::MemoryReport;
use seatmap_os::{CpuList, Tid};
use serde::{Deserialize, Serialize};
use std::time::SystemTime;

/// The `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// The seating of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Report {
    /// The format's name and version.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// The first process; null if it did not start.
    pub pid: Option<Tid>,
    /// The number of threads to seat, including child processes'.
    pub created: usize,
    /// Short-lived processes without a seat; not part of `created`.
    pub helpers: usize,
    /// The number of threads allowed on all seats because they had to wait for a shared one.
    pub widened: usize,
    /// Programs that count the CPUs of any thread at any time, so that each thread may use all
    /// seats.
    pub roaming: Vec<String>,
    /// Such programs with one seat per thread, which count fewer CPUs than there are seats.
    pub narrowed: Vec<String>,
    /// Sentences about these, except the started program: the launcher prints that one earlier.
    #[serde(skip)]
    pub narrowed_lines: Vec<String>,
    /// Quotas of CPU time used up during the run, a sentence each.
    #[serde(skip)]
    pub throttled: Vec<String>,
    /// Lines about unavoidable seats of other runs.
    #[serde(skip)]
    pub crowding: Vec<String>,
    /// Lines about rules without a matching thread.
    #[serde(skip)]
    pub unmet_rules: Vec<String>,
    /// Threads skipped on request.
    pub skipped: usize,
    /// Threads without a seat, except skipped ones.
    pub unseated: usize,
    /// The number of tasks.
    pub tasks: usize,
    /// The number of tasks in order of creation; the others belong to rules.
    pub ordered_tasks: usize,
    /// Threads seated in order because no task of the plan has their path.
    pub strangers: usize,
    /// Tasks without a thread.
    pub empty_tasks: Vec<usize>,
    /// Whether the list of seats cycles.
    pub cyclic: bool,
    /// The words that named the seats (`kind:performance`); absent if none did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub words: Option<String>,
    /// The CPUs that these words named, as a list; absent without words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<String>,
    /// The first 10,000 threads, in order of creation.
    pub threads: Vec<SeatedThread>,
    /// Programs hampered by tracing.
    pub hampered: Hampered,
    /// Processes and threads that outlived the program's first process; null if none.
    pub behind: Option<Behind>,
    /// The end of the program's cell, if before the program's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cell_end: Option<CellEnd>,
    /// The CPUs that the program saw, if requested.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fit: Option<CpuFitReport>,
    /// The program's memory; null if not requested, missing in older documents.
    #[serde(default)]
    pub memory: Option<MemoryReport>,
    /// Whether seating had ended. The document from the run's start says false, and remains if the
    /// supervisor is killed. Missing in older documents.
    #[serde(default)]
    pub complete: bool,
    /// The time of writing, in seconds since 1970. Later processes only reuse its numbers. Missing
    /// in older documents.
    #[serde(default)]
    pub taken_at_s: f64,
}

#[derive(Deserialize)]
struct SeatingEnd {
    complete: Option<bool>,
}

/// Whether this document is a seating.
pub fn is_seating(bytes: &[u8]) -> bool {
    seatmap_data::document::is_kind(bytes, "seatmap-seating/")
}

/// Explains a seating to a command that would draw it.
pub fn where_to_look(text: &str) -> String {
    let unfinished = unfinished(text).map(|sentence| format!("; {sentence}")).unwrap_or_default();
    format!(
        "holds the seats of a run, which 'seatmap check --expect FILE' compares with the running \
         threads{unfinished}"
    )
}

fn unfinished(text: &str) -> Option<&'static str> {
    let end = seatmap_data::document::read::<SeatingEnd>(text, FORMAT).ok()?;
    (end.complete == Some(false)).then_some(
        "it was written before the run ended: the process that seats the threads still runs, or \
         was killed",
    )
}

/// Processes and threads that outlived the program's first process.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Behind {
    /// The number of processes.
    pub processes: usize,
    /// The number of their threads.
    pub threads: usize,
    /// The process that still seats them, if any.
    pub supervisor: Option<Tid>,
    /// The number of threads with their mask restored, as without Seatmap.
    pub freed: usize,
    /// The process that restores masks when missing CPUs come online (Linux before 6.3 drops
    /// offline CPUs), if needed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub waiter: Option<Tid>,
}

/// One thread.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SeatedThread {
    /// Its position in the order of seating, from 0.
    pub order: usize,
    /// Its process; null if it ended too soon.
    pub pid: Option<Tid>,
    /// The thread's number.
    pub tid: Tid,
    /// Its last seen name, at most 15 bytes; empty if it ended too soon.
    pub name: String,
    /// Its task; null without a seat, or on a shared one without a task.
    pub task: Option<usize>,
    /// The name of the task.
    pub task_name: Option<String>,
    /// Its seat's CPUs; empty without a seat.
    pub cpus: Vec<u32>,
    /// The CPUs on which it was seen later, in order of appearance.
    pub seen_on: Vec<u32>,
    /// Whether the kernel confirmed its seat, and no look found it elsewhere for longer than 0.5 s.
    pub verified: bool,
    /// Whether it waited on the whole set to the end; missing in older documents.
    #[serde(default)]
    pub waiting: bool,
    /// Its time away from its seat before it returned, in milliseconds; missing in older documents.
    #[serde(default)]
    pub elsewhere_ms: u64,
    /// Whether it ran with its creator's mask before it was found.
    pub late: bool,
    /// The problem, in words, if any.
    pub trouble: Option<String>,
    /// Its planned memory policy, if any; missing in older documents.
    #[serde(default)]
    pub memory: Option<ThreadMemory>,
}

impl Report {
    pub(crate) fn of(pinner: &Pinner, pid: Option<Tid>, hampered: Hampered) -> Self {
        let seats = &pinner.seating.seats;
        let threads: Vec<SeatedThread> =
            pinner.threads.records.iter().map(|record| thread(record, &seats.names)).collect();
        let cpus = pinner.seating.whole.len();
        let since_epoch =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        let narrowed = pinner.runtimes.narrowed.iter();
        let later = narrowed.clone().filter(|narrowed| !narrowed.is_first);
        let taken: std::collections::HashSet<usize> =
            threads.iter().filter_map(|thread| thread.task).collect();
        Report {
            format: FORMAT,
            pid,
            created: pinner.threads.created,
            helpers: pinner.threads.helpers,
            widened: pinner.widened,
            roaming: pinner
                .runtimes
                .roaming
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            narrowed_lines: later.map(|narrowed| narrowed.sentence(cpus)).collect(),
            narrowed: narrowed.map(|narrowed| narrowed.file.display().to_string()).collect(),
            crowding: pinner.seating.leases.notes(),
            unmet_rules: pinner.seating.unmet_rules(),
            skipped: pinner.threads.skipped,
            unseated: pinner.threads.unseated,
            tasks: seats.own().len(),
            ordered_tasks: pinner.seating.ordered_tasks(),
            strangers: pinner.seating.strangers,
            empty_tasks: seats.own.clone().filter(|task| !taken.contains(task)).collect(),
            cyclic: seats.beyond == Beyond::Cycle,
            words: seats.kept.as_ref().map(|kept| kept.words.clone()),
            within: seats.kept.as_ref().map(|kept| kept.then.to_string()),
            threads,
            hampered,
            taken_at_s: since_epoch.as_secs_f64(),
            ..Report::default()
        }
    }

    pub(crate) fn lose_the_cell(&mut self, end: CellEnd, pinner: &Pinner) {
        for (thread, record) in self.threads.iter_mut().zip(&pinner.threads.records) {
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

    /// Threads off their seats.
    pub fn troubled(&self) -> impl Iterator<Item = &SeatedThread> {
        self.threads.iter().filter(|thread| thread.is_troubled())
    }
}

impl SeatedThread {
    /// Whether it has a seat, its task's or a shared one.
    pub fn has_seat(&self) -> bool {
        !self.cpus.is_empty()
    }

    /// Whether it was seen off its seat, not just ended before it had one.
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
        elsewhere_ms: u64::try_from(record.elsewhere.ended.as_millis()).unwrap_or(u64::MAX),
        late: record.late,
        trouble: record.trouble.as_ref().map(ToString::to_string),
        memory: record.memory.clone(),
    }
}

#[cfg(test)]
mod tests;
