//! Who sat where, as it is written to a file.

use crate::hampered::Hampered;
use crate::mask::Tid;
use crate::record::Record;
use crate::seats::Beyond;
use crate::usher::Usher;
use serde::Serialize;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-seating/1";

/// The seating of one run.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Report {
    /// [`FORMAT`].
    pub format: &'static str,
    /// The first process.
    pub pid: Option<Tid>,
    /// How many threads were seen.
    pub created: usize,
    /// How many of them were skipped.
    pub skipped: usize,
    /// How many had no seat, the skipped left out.
    pub unseated: usize,
    /// How many tasks there were to seat.
    pub tasks: usize,
    /// How many of them were given in order of creation; the others are rules'.
    pub ordered_tasks: usize,
    /// The tasks that no thread took.
    pub empty_tasks: Vec<usize>,
    /// Whether the list of seats started again at its end.
    pub cyclic: bool,
    /// Each thread, in order of creation, the first [`MOST_RECORDS`](crate::roll::MOST_RECORDS) of them.
    pub threads: Vec<Thread>,
    /// Programs that missed something.
    pub hampered: Hampered,
}

/// One thread.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Thread {
    /// Its place in the order of creation over all processes, counted from 0.
    pub order: usize,
    /// Its process; null where it was gone too soon.
    pub pid: Option<Tid>,
    /// Its number.
    pub tid: Tid,
    /// The last name it was seen with.
    pub name: String,
    /// Its task; null for one that has no seat.
    pub task: Option<usize>,
    /// What the task is called.
    pub task_name: Option<String>,
    /// Where it was to sit.
    pub cpu: Option<u32>,
    /// The CPUs it was seen on since, in order of appearance; empty where it was gone too soon.
    pub seen_on: Vec<u32>,
    /// Whether the kernel confirmed the seat and no look found anything else.
    pub verified: bool,
    /// Whether it had run before it was found.
    pub late: bool,
    /// What went wrong.
    pub trouble: Option<String>,
}

impl Report {
    pub(crate) fn of(usher: &Usher, pid: Option<Tid>, hampered: Hampered) -> Self {
        let seats = usher.seating.seats();
        let named = |record| thread(record, &seats.names);
        let threads: Vec<Thread> = usher.roll.records().iter().map(named).collect();
        let taken: std::collections::HashSet<usize> = threads.iter().filter_map(|thread| thread.task).collect();
        Report {
            format: FORMAT,
            pid,
            created: usher.roll.created(),
            skipped: usher.roll.skipped(),
            unseated: usher.roll.unseated(),
            tasks: seats.cpus.len(),
            ordered_tasks: usher.seating.ordered_tasks(),
            empty_tasks: (0..seats.cpus.len()).filter(|task| !taken.contains(task)).collect(),
            cyclic: seats.beyond == Beyond::Cycle,
            threads,
            hampered,
        }
    }

    /// The threads that do not sit where they should.
    pub fn troubled(&self) -> impl Iterator<Item = &Thread> {
        self.threads.iter().filter(|thread| thread.is_troubled())
    }
}

impl Thread {
    /// Whether it was seen elsewhere than on its seat. One that was gone before it could sit down was not.
    #[must_use]
    pub fn is_troubled(&self) -> bool {
        self.trouble.is_some() || self.cpu.is_some_and(|seat| self.seen_on.iter().any(|cpu| *cpu != seat))
    }
}

fn thread(record: &Record, names: &[String]) -> Thread {
    let task = record.seat.map(|seat| seat.task);
    Thread {
        order: record.order,
        pid: record.pid,
        tid: record.tid,
        name: record.name.clone(),
        task,
        task_name: task.and_then(|task| names.get(task)).cloned(),
        cpu: record.seat.map(|seat| seat.cpu),
        seen_on: record.seen_on.clone(),
        verified: record.verified(),
        late: record.late,
        trouble: record.trouble.as_ref().map(ToString::to_string),
    }
}
