//! Sentences of a seating's report.

use crate::cell_watch::CellEnd;
use crate::fit::CpuFitReport;
use crate::report::{Behind, Report, SeatedThread};
use crate::verifier::ProcessMemory;
use seatmap_data::document::visible;
use seatmap_data::words::{agreeing, counted};
use seatmap_os::CpuList;

/// The most processes whose memory is shown.
const MOST_PROCESSES: usize = 8;

impl Report {
    /// The problems, a line each: seats not had or kept, or that made a program do less.
    pub fn troubles(&self) -> Vec<String> {
        let policies = self.threads.iter().filter_map(policy_trouble);
        let pages = self.pages(|process| process.is_elsewhere());
        let of_threads = self.troubled().map(trouble).chain(policies);
        self.losses()
            .into_iter()
            .chain(of_threads)
            .chain(pages)
            .chain(self.hampered.sentences())
            .collect()
    }

    /// The problems that are not one thread's, a line each.
    pub fn losses(&self) -> Vec<String> {
        let end = self.cell_end.as_ref().map(CellEnd::sentence);
        let losses = [end, self.came_otherwise(), self.shared(), self.given_up()];
        losses.into_iter().flatten().chain(self.narrowed_lines.iter().cloned()).collect()
    }

    /// Remarks that are not problems, a line each.
    pub fn notes(&self) -> Vec<String> {
        let notes = [
            self.left_over().filter(|_| !self.is_without_seats()),
            self.empty_seats(),
            self.wide_first(),
            self.helpers(),
            self.kept_behind(),
            self.fit.as_ref().map(CpuFitReport::outcome),
        ];
        let roaming = self.roaming.iter().map(|program| {
            format!(
                "{} may read the number of CPUs in any thread at any time, so each thread may run \
                 on all seats; --strict seats them one by one",
                visible(program)
            )
        });
        notes
            .into_iter()
            .flatten()
            .chain(roaming)
            .chain(
                [&self.throttled, &self.crowding, &self.unmet_rules].into_iter().flatten().cloned(),
            )
            .chain(self.pages(|process| !process.is_elsewhere()))
            .collect()
    }

    fn pages(&self, are_meant: impl Fn(&ProcessMemory) -> bool) -> Vec<String> {
        let Some(memory) = &self.memory else { return Vec::new() };
        let meant: Vec<&ProcessMemory> =
            memory.processes.iter().filter(|process| are_meant(process)).collect();
        let mut lines: Vec<String> =
            meant.iter().take(MOST_PROCESSES).map(|process| process.sentence()).collect();
        if let Some(more) = meant.len().checked_sub(MOST_PROCESSES).filter(|more| *more > 0) {
            lines.push(format!("memory of {}: see --report", counted(more, "more process")));
        }
        lines
    }

    /// The threads for which there was no seat. Only their launcher knows whether they needed one.
    pub fn left_over(&self) -> Option<String> {
        if self.unseated == 0 {
            return None;
        }
        let threads = counted(self.unseated, "thread");
        // Existing threads may have been pinned earlier.
        let left = if self.threads.iter().any(|thread| thread.late && !thread.has_seat()) {
            agreeing(self.unseated, "keeps its CPUs", "keep their CPUs")
        } else {
            agreeing(
                self.unseated,
                "was left to the kernel's scheduler",
                "were left to the kernel's scheduler",
            )
        };
        Some(match self.ordered_tasks {
            0 => format!("{threads} without a task in any rule {left}"),
            _ => format!("{threads} beyond the {} {left}", counted(self.tasks, "task")),
        })
    }

    /// Whether only `fit` was requested.
    pub fn is_without_seats(&self) -> bool {
        self.fit.is_some() && !self.threads.iter().any(SeatedThread::has_seat)
    }

    fn came_otherwise(&self) -> Option<String> {
        if self.strangers == 0 {
            return None;
        }
        let threads = counted(self.strangers, "thread");
        let were = agreeing(self.strangers, "was", "were");
        let seats = agreeing(self.strangers, "it took the next seat", "they took the next seats");
        Some(format!(
            "{threads} {were} created in another way than every task of the plan; {seats} in order \
             of creation"
        ))
    }

    fn empty_seats(&self) -> Option<String> {
        if self.cyclic || self.empty_tasks.is_empty() {
            return None;
        }
        let tasks = CpuList(self.empty_tasks.iter().map(|task| *task as u32).collect());
        let word = if self.empty_tasks.len() == 1 { "task" } else { "tasks" };
        Some(format!("{word} {tasks} got no thread"))
    }

    fn wide_first(&self) -> Option<String> {
        let first = self.threads.first().filter(|first| first.task.is_none() && first.waiting)?;
        let cpus = CpuList(first.cpus.clone());
        let stayed = self.ordered_tasks > 0 && first.pid == self.pid && self.created == 1;
        stayed.then(|| {
            format!(
                "the program created no other thread, so it kept the whole set, {cpus}; --strict \
                 seats it"
            )
        })
    }

    fn helpers(&self) -> Option<String> {
        if self.helpers == 0 {
            return None;
        }
        let helpers = counted(self.helpers, "short-lived process");
        let they = agreeing(self.helpers, "it", "they");
        let them = agreeing(self.helpers, "it, too", "them");
        Some(format!("{helpers} ended before {they} could take a seat; --strict seats {them}"))
    }

    fn shared(&self) -> Option<String> {
        if self.widened == 0 {
            return None;
        }
        let threads = counted(self.widened, "thread");
        let their = agreeing(self.widened, "its seat", "their seats");
        let each = agreeing(self.widened, "it", "each");
        Some(format!(
            "{threads} had to wait for other threads on {their} and may now run on all seats; \
             --strict keeps {each} in place"
        ))
    }

    fn kept_behind(&self) -> Option<String> {
        let behind = self.behind?;
        let pid = behind.supervisor?;
        let (them, their) = if behind.processes == 1 { ("it", "its") } else { ("them", "their") };
        let live = behind.sentence();
        Some(format!(
            // Plural: "their" or "its" stands in the braces.
            "{live}; process {pid} keeps {them} seated ('kill {pid}' stops that and restores \
             {their} CPUs)"
        ))
    }

    fn given_up(&self) -> Option<String> {
        let behind = self.behind.filter(|behind| behind.supervisor.is_none())?;
        let live = behind.sentence();
        Some(match behind.freed {
            0 if behind.threads == 1 => format!("{live}, but was not seated"),
            0 => format!("{live}, but none of them was seated"),
            freed => {
                let threads = counted(freed, "thread");
                let lacking = behind.waiter.map_or_else(String::new, |pid| {
                    format!(
                        ", except offline ones; process {pid} waits until these are online again, \
                         and exits"
                    )
                });
                format!(
                    "{live}; seating has ended, and {threads} may use all of the program's CPUs \
                     again{lacking}"
                )
            }
        })
    }
}

impl Behind {
    fn sentence(&self) -> String {
        let run = if self.processes == 1 { "runs" } else { "run" };
        let threads = match (self.processes, self.threads) {
            (1, 1) => String::new(),
            (_, threads) => format!(" with {}", counted(threads, "thread")),
        };
        format!("{}{threads} still {run}", counted(self.processes, "process"))
    }
}

impl SeatedThread {
    /// Its task by number and, if any, name.
    pub fn task_label(&self) -> Option<String> {
        self.task.map(|task| match &self.task_name {
            Some(name) => format!("{task} {}", visible(name)),
            None => task.to_string(),
        })
    }
}

fn trouble(thread: &SeatedThread) -> String {
    let why = match &thread.trouble {
        Some(trouble) => trouble.clone(),
        None => format!("seen on {}", CpuList(thread.seen_on.clone()).named()),
    };
    format!("thread {} ('{}', tid {}): {why}", thread.order, visible(&thread.name), thread.tid)
}

fn policy_trouble(thread: &SeatedThread) -> Option<String> {
    let memory = thread.memory.as_ref().filter(|memory| !memory.is_set)?;
    let why = memory
        .trouble
        .as_deref()
        .unwrap_or("it ended, or did not stop, before the policy could be set");
    let order = thread.order;
    let name = visible(&thread.name);
    let tid = thread.tid;
    Some(format!(
        "thread {order} ('{name}', tid {tid}) does not have the memory policy {}: {why}",
        memory.policy
    ))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policies::ThreadMemory;
    use crate::verifier::{MemoryReport, PagesOnNode};

    #[test]
    fn report_sentences_use_correct_number_forms() {
        for count in [0, 1, 2] {
            for supervisor in [None, Some(7)] {
                let [processes, threads, freed] = [count; 3];
                let behind = Behind { processes, threads, supervisor, freed, waiter: None };
                let report = Report {
                    created: count,
                    helpers: count,
                    widened: count,
                    unseated: count,
                    tasks: count,
                    ordered_tasks: count,
                    strangers: count,
                    empty_tasks: (0..count).collect(),
                    behind: (count > 0).then_some(behind),
                    narrowed_lines: vec![
                        crate::runtime::LanguageRuntime::Java.narrowed("java", count),
                    ],
                    ..report(Vec::new())
                };
                for line in report.troubles().iter().chain(&report.notes()) {
                    let faults = seatmap_needs::faults(line);
                    assert!(faults.is_empty(), "{faults:?}");
                }
            }
        }
    }

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
            ..SeatedThread::default()
        }
    }

    fn report(threads: Vec<SeatedThread>) -> Report {
        let created = threads.len();
        Report {
            pid: Some(70),
            created,
            unseated: threads.iter().filter(|thread| !thread.has_seat()).count(),
            tasks: 4,
            ordered_tasks: 4,
            empty_tasks: vec![2, 3],
            threads,
            ..Report::default()
        }
    }

    #[test]
    fn troubles_and_notes_are_sentences() {
        let mut moved = thread(2, "wand\u{1b}erer", Some((1, 11)));
        (moved.verified, moved.trouble) =
            (false, Some("seated on CPU 11, and then ...".to_owned()));
        let mut late = thread(3, "late", Some((3, 0)));
        (late.late, late.seen_on) = (true, Vec::new());
        let mut gone = thread(4, "", Some((2, 0)));
        (gone.verified, gone.seen_on) = (false, Vec::new());
        let mut waits = thread(5, "waits", Some((0, 4)));
        (waits.verified, waits.waiting) = (false, true);
        let report = report(vec![
            thread(0, "main", Some((0, 4))),
            thread(1, "helper", None),
            moved,
            late,
            gone,
            waits,
        ]);
        insta::assert_snapshot!(report.troubles().join("\n"), @r"thread 2 ('wand\u{1b}erer', tid 72): seated on CPU 11, and then ...");
        insta::assert_snapshot!(report.notes().join("\n"), @r"
        1 thread beyond the 4 tasks was left to the kernel's scheduler
        tasks 2,3 got no thread
        ");
    }

    #[test]
    fn already_running_threads_keep_their_masks() {
        let mut late = thread(1, "late", None);
        late.late = true;
        let mut report = report(vec![thread(0, "main", Some((0, 4))), late.clone()]);
        assert_eq!(report.left_over().unwrap(), "1 thread beyond the 4 tasks keeps its CPUs");
        (report.unseated, report.ordered_tasks) = (2, 0);
        report.threads.push(late);
        let ruled = "2 threads without a task in any rule keep their CPUs";
        assert_eq!(report.left_over().unwrap(), ruled);
    }

    #[test]
    fn report_mentions_helpers_and_remaining_processes() {
        let mut report = report(vec![thread(0, "main", Some((0, 4)))]);
        (report.empty_tasks, report.helpers) = (Vec::new(), 40);
        report.threads[0].task = None;
        report.threads[0].cpus = vec![4, 5];
        report.threads[0].waiting = true;
        let told = |behind| {
            let report = Report { behind: Some(behind), ..report.clone() };
            report.losses().last().or(report.notes().last()).cloned().unwrap()
        };
        insta::assert_snapshot!(report.notes().join("\n"), @"
        the program created no other thread, so it kept the whole set, 4,5; --strict seats it
        40 short-lived processes ended before they could take a seat; --strict seats them
        ");
        let daemon =
            Behind { processes: 6, threads: 6, supervisor: Some(81), freed: 0, waiter: None };
        insta::assert_snapshot!(told(daemon), @"6 processes with 6 threads still run; process 81 keeps them seated ('kill 81' stops that and restores their CPUs)");
        insta::assert_snapshot!(told(Behind { supervisor: None, freed: 5, ..daemon }), @"6 processes with 6 threads still run; seating has ended, and 5 threads may use all of the program's CPUs again");
        let lacking = told(Behind { supervisor: None, freed: 5, waiter: Some(9), ..daemon });
        let end = "except offline ones; process 9 waits until these are online again, and exits";
        assert!(lacking.ends_with(end), "{lacking}");
        let one = Behind { processes: 1, threads: 1, supervisor: None, freed: 0, waiter: None };
        assert_eq!(told(one), "1 process still runs, but was not seated");
        report.strangers = 2;
        let strangers = "2 threads were created in another way than every task of the plan; they took the next seats";
        assert!(
            report.losses().iter().any(|loss| loss.starts_with(strangers)),
            "{:?}",
            report.losses()
        );
        report.widened = 3;
        insta::assert_snapshot!(report.losses().last().unwrap(), @"3 threads had to wait for other threads on their seats and may now run on all seats; --strict keeps each in place");
    }

    #[test]
    fn report_mentions_memory_policies_and_nodes() {
        let mut lost = thread(1, "w", Some((1, 0)));
        let policy = || "bind:1".to_owned();
        lost.memory =
            Some(ThreadMemory { policy: policy(), is_set: false, trouble: Some("why".to_owned()) });
        let mut set = thread(0, "w", Some((0, 0)));
        set.memory = Some(ThreadMemory { policy: policy(), is_set: true, trouble: None });
        let mut report = report(vec![set, lost]);
        insta::assert_snapshot!(report.troubles().join("\n"), @"thread 1 ('w', tid 71) does not have the memory policy bind:1: why");
        let nodes = vec![PagesOnNode { node: 0, own_bytes: 4096, shared_bytes: 9 }];
        let process = ProcessMemory {
            pid: 7,
            name: "w".to_owned(),
            nodes,
            policies: Vec::new(),
            elsewhere_bytes: None,
            at_end: false,
        };
        let processes = vec![process; MOST_PROCESSES + 2];
        report.memory = Some(MemoryReport { wish: None, policy: None, nodes: None, processes });
        let notes = report.notes();
        assert_eq!(notes[1], "memory of w (7) at the last look: 4 KiB on node 0");
        assert_eq!(
            (notes.len(), notes[9].as_str()),
            (10, "memory of 2 more processes: see --report")
        );
    }
}
