//! The seats of a program, from a plan or from `seatmap run --report`.

mod reported;

use crate::seating::Seating;
use seatmap_data::document::DocumentError;
use seatmap_data::plan::Plan;
use seatmap_launch::sets::{ComputerCpus, KeptWords, MovedWords};
use seatmap_os::cpu_list::MAX_CPU;
use seatmap_os::{CpuSet, FileError, Root, Tid, published};
use serde::Deserialize;
use std::collections::BTreeSet;

pub use reported::{ReportError, ReportedProgram};

/// A program's proper seats.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Expected {
    /// The seats, by creation of their threads.
    pub seats: Vec<ExpectedSeat>,
    /// Whether a seat without a thread is a fault: a plan's tasks need one each, but a report's
    /// thread may have ended.
    pub needs_all: bool,
    /// Whether launchers published the seats. Threads not yet published are then no fault.
    pub is_shown: bool,
    /// Whether each seat is for one thread, by TID.
    pub is_numbered: bool,
    /// Processes on the wrong computer, each with a sentence about the right one.
    pub misplaced: Vec<(Tid, String)>,
    /// The only program that a seating on file concerns.
    pub program: Option<ReportedProgram>,
    /// The words that named the seats.
    pub words: Vec<KeptWords>,
    /// Those that name other CPUs of the computer now ([`Expected::on`]).
    pub moved: Vec<MovedWords>,
}

/// One thread's proper seat.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpectedSeat {
    /// Its name in a sentence: `task 3`, `task 3 'left'`, `thread 4711`.
    pub label: String,
    /// The CPUs.
    pub cpus: CpuSet,
    /// The task's name, if the plan has names.
    pub name: Option<String>,
    /// The PID and TID of its thread, if known.
    pub thread: Option<(Tid, Tid)>,
}

#[derive(Deserialize)]
struct Report {
    threads: Vec<Seated>,
    /// Its threads may have other names.
    #[serde(default)]
    processes: Vec<Named>,
    taken_at_s: Option<f64>,
    complete: Option<bool>,
    words: Option<String>,
    within: Option<String>,
}

#[derive(Deserialize)]
struct Named {
    pid: Tid,
    name: String,
}

#[derive(Deserialize)]
struct Seated {
    pid: Option<Tid>,
    tid: Tid,
    name: Option<String>,
    task: Option<usize>,
    task_name: Option<String>,
    cpus: Option<Vec<u32>>,
    mask: Option<String>,
}

impl Expected {
    /// The seats of a plan, one per task.
    pub fn of_plan(plan: &Plan) -> Self {
        Expected {
            seats: (0..plan.placement.len())
                .map(|task| {
                    let name = plan.names.get(task).filter(|name| !name.is_empty()).cloned();
                    let cpus = plan.seat(task).iter().copied().collect();
                    ExpectedSeat { label: label(task, name.as_deref()), cpus, name, thread: None }
                })
                .collect(),
            needs_all: true,
            words: KeptWords::in_plan(plan).into_iter().collect(),
            ..Expected::default()
        }
    }

    /// The seats of a run's report, or of an earlier check. Omits threads without a seat.
    ///
    /// # Errors
    /// [`DocumentError`]: the text is not a seating, or names an impossible CPU.
    pub fn of_seating(text: &str) -> Result<Self, DocumentError> {
        let report: Report = seatmap_data::document::read(text, crate::seating::FORMAT)?;
        let program = ReportedProgram::of(&report);
        // A CPU set has a bit for each index, so CPU 4294967295 would fill the memory.
        let cpus = report.threads.iter().enumerate();
        let mut cpus =
            cpus.flat_map(|(at, seated)| seated.cpus.iter().flatten().map(move |cpu| (at, *cpu)));
        if let Some((at, cpu)) = cpus.find(|(_, cpu)| *cpu > MAX_CPU) {
            return Err(DocumentError::Inconsistent(format!(
                "threads[{at}].cpus: CPU {cpu} is beyond the largest index, {MAX_CPU}"
            )));
        }
        let words = KeptWords::in_document(report.words.as_deref(), report.within.as_deref());
        let words = words.into_iter().collect();
        let seats = report.threads.into_iter().filter_map(Seated::seat).collect();
        let is_numbered = program.is_some();
        Ok(Expected { seats, is_numbered, program, words, ..Expected::default() })
    }

    /// Compares the words with the present CPUs of a computer. A seat on all CPUs of words moves
    /// with them, unless one is offline.
    pub fn on(mut self, computer: &ComputerCpus) -> Self {
        self.moved = self.words.iter().filter_map(|kept| kept.moved(computer)).collect();
        let online: CpuSet = computer.topology.os_indices().collect();
        for moved in &self.moved {
            let Ok(now) = &moved.now else { continue };
            let then = &moved.kept.then;
            let on_all = self.seats.iter_mut().filter(|seat| seat.cpus == *then);
            on_all.filter(|_| then.is_subset(&online)).for_each(|seat| seat.cpus.clone_from(now));
        }
        self
    }

    /// Compares the words with the present CPUs of this computer, which take milliseconds to read.
    pub(crate) fn here(self) -> Self {
        if self.words.is_empty() {
            return self;
        }
        match ComputerCpus::read_whole() {
            Ok(computer) => self.on(&computer),
            Err(_) => self,
        }
    }

    /// Like [`Expected::of_seating`], if the program is alive.
    ///
    /// # Errors
    /// [`ReportError`]: as [`Expected::of_seating`]; or the program has ended, or did not have its
    /// last seats when the file was written.
    pub fn of_living(text: &str, root: &Root) -> Result<Self, ReportError> {
        let mut expected = Self::of_seating(text)?;
        let Some(program) = expected.program.take() else { return Ok(expected) };
        let program = program.living(root)?;
        expected
            .seats
            .retain(|seat| seat.thread.is_some_and(|(pid, _)| program.processes.contains(&pid)));
        Ok(Expected { program: Some(program), ..expected })
    }

    /// Whether the seats are for this process; those on file are for one program.
    pub fn concerns(&self, pid: Tid) -> bool {
        self.program.as_ref().is_none_or(|program| program.processes.contains(&pid))
    }

    /// The processes with a numbered seat; `None` if any program may take the seats.
    pub fn seated_processes(&self) -> Option<BTreeSet<Tid>> {
        let seated = self.seats.iter().filter_map(|seat| seat.thread);
        self.is_numbered.then(|| seated.map(|(pid, _)| pid).collect())
    }

    /// The seats given by running launchers (`seatmap run`) to threads of these processes.
    ///
    /// # Errors
    /// [`FileError`]: a launcher's seats cannot be read.
    pub fn shown(root: &Root, seating: &Seating) -> Result<Option<Self>, FileError> {
        let pids = seating.processes.iter().map(|process| process.pid);
        // The supervisor is an ancestor of the program, and publishes its seats in readable memory.
        let texts = published::read_above(root, pids, published::SEATING)?;
        let chosen: BTreeSet<Tid> = seating.processes.iter().map(|process| process.pid).collect();
        let mut seats: Vec<ExpectedSeat> = Vec::new();
        let mut words = Vec::new();
        for shown in &texts {
            // Another version may use another format.
            let Ok(report) = Self::of_seating(&String::from_utf8_lossy(&shown.text)) else {
                continue;
            };
            // The launcher may be among the processes, without a seat.
            let before = seats.len();
            seats.extend(report.seats.into_iter().filter(|seat| {
                seat.thread
                    .is_some_and(|(pid, _)| chosen.contains(&pid) && shown.may_speak_of(root, pid))
            }));
            words.extend(report.words.into_iter().filter(|_| seats.len() > before));
        }
        let shown =
            Expected { seats, is_shown: true, is_numbered: true, words, ..Expected::default() };
        Ok((!shown.seats.is_empty()).then_some(shown))
    }

    /// All CPUs of all seats.
    pub fn whole(&self) -> CpuSet {
        self.seats.iter().fold(CpuSet::default(), |whole, seat| whole.with(&seat.cpus))
    }
}

impl Seated {
    fn seat(self) -> Option<ExpectedSeat> {
        let listed = self.cpus.map(|cpus| cpus.into_iter().collect());
        let cpus: CpuSet = listed
            .or_else(|| CpuSet::of_list(&self.mask?))
            .filter(|cpus: &CpuSet| !cpus.is_empty())?;
        let label = match self.task {
            Some(task) => label(task, self.task_name.as_deref()),
            None => format!("thread {}", self.tid),
        };
        Some(ExpectedSeat {
            label,
            cpus,
            name: self.task_name,
            thread: self.pid.map(|pid| (pid, self.tid)),
        })
    }
}

fn label(task: usize, name: Option<&str>) -> String {
    name.map_or_else(|| format!("task {task}"), |name| format!("task {task} '{name}'"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn plan_gives_one_seat_per_task() {
        let mut plan = Plan::new("desk", vec![3, 1]);
        plan.names = vec!["boss".to_owned(), String::new()];
        let expected = Expected::of_plan(&plan);
        let labels: Vec<&str> = expected.seats.iter().map(|seat| seat.label.as_str()).collect();
        assert_eq!(labels, ["task 0 'boss'", "task 1"]);
        assert_eq!((expected.whole().to_string().as_str(), expected.needs_all), ("1,3", true));
    }

    #[test]
    fn seating_report_gives_seats_of_bound_threads() {
        let text = r#"{"format": "seatmap-seating/1", "threads": [
            {"pid": 7, "tid": 7, "task": null, "task_name": null, "cpus": []},
            {"pid": 7, "tid": 8, "task": 1, "task_name": "left", "cpus": [2, 3]},
            {"pid": 7, "tid": 9, "mask": "0-1"}]}"#;
        let expected = Expected::of_seating(text).unwrap();
        let seats: Vec<_> = expected
            .seats
            .iter()
            .map(|seat| (seat.label.as_str(), seat.cpus.to_string()))
            .collect();
        assert_eq!(
            seats,
            [("task 1 'left'", "2,3".to_owned()), ("thread 9", "0,1".to_owned())],
            "a thread without a seat may sit anywhere"
        );
        assert_eq!(expected.seats[0].thread, Some((7, 8)));
        assert!(!expected.needs_all);
    }

    #[test]
    fn other_documents_are_refused() {
        let refusal = |text: &str| Expected::of_seating(text).unwrap_err().to_string();
        assert!(refusal(r#"{"format": "seatmap-profile/1"}"#).contains("seatmap-profile/1"));
        assert!(refusal(r#"{"format": "seatmap-seating/1"}"#).contains("threads"));
        assert!(refusal("nonsense").contains("line 1"));
        let far =
            r#"{"format": "seatmap-seating/1", "threads": [{"tid": 7, "cpus": [4294967295]}]}"#;
        assert_eq!(
            refusal(far),
            "threads[0].cpus: CPU 4294967295 is beyond the largest index, 1048576"
        );
    }
}
