//! The threads of an observed program.

use crate::ObservedTask;
use crate::names::{by_path, numbered};
use crate::talk::Born;
use seatmap_data::invariant;
use seatmap_os::sched::ThreadTimes;
use seatmap_os::task::Family;
use seatmap_os::{Root, Tid};
use std::collections::HashMap;

#[derive(Default)]
struct Member {
    born: Born,
    creator: Option<usize>,
    name: String,
    before_ns: u64,
    run_ns: u64,
    started_ticks: u64,
    is_left_out: bool,
}

/// Indexes never change.
#[derive(Default)]
pub struct Roster {
    members: Vec<Member>,
    /// The living thread of each TID, or its last one.
    places: HashMap<Tid, usize>,
}

impl Roster {
    pub fn update(&mut self, mut threads: Vec<Born>) {
        // A process's first thread comes first: older ones count it as their creator.
        threads.sort_by_key(|thread| (thread.born_ns, thread.tid != thread.pid, thread.tid));
        for born in threads {
            let known = self.places.get(&born.tid).copied();
            // A reused TID has another creation time and means a new thread.
            let known = known.filter(|place| self.members[*place].born.born_ns == born.born_ns);
            let place = known.unwrap_or_else(|| self.arrive(&born));
            let was_missed = known.is_none() && born.born_ns == 0 && born.end.is_none();
            self.members[place].is_left_out |= was_missed && self.members[place].started_ticks == 0;
            let member = &self.members[place].born;
            invariant!(
                member.tid == born.tid && (member.end.is_none() || born.end.is_some()),
                "roster",
                "place {place} is of thread {}, which ended as {:?}, and thread {} takes it",
                member.tid,
                member.end,
                born.tid
            );
            if let Some((name, run_ns)) = &born.end {
                let member = &mut self.members[place];
                // perf reports a CPU time of 0 at the end.
                member.run_ns = member.run_ns.max(*run_ns);
                if !name.is_empty() {
                    member.name.clone_from(name);
                }
            }
            self.members[place].born = born;
        }
    }

    fn arrive(&mut self, born: &Born) -> usize {
        let was_there = born.born_ns == 0;
        // Unknown creators are replaced by the process's first thread.
        let creator =
            if !was_there { born.creator } else { if born.tid == born.pid { 0 } else { born.pid } };
        let mut member = Member {
            born: born.clone(),
            creator: self.places.get(&creator).copied(),
            ..Member::default()
        };
        if was_there && born.end.is_none() {
            member.look();
            member.before_ns = member.run_ns;
        }
        self.places.insert(born.tid, self.members.len());
        self.members.push(member);
        self.members.len() - 1
    }

    pub fn place(&mut self, tid: Tid) -> usize {
        match self.places.get(&tid) {
            Some(place) => *place,
            // The kernel's table may have been full.
            None => self.arrive(&Born {
                tid,
                pid: Family::of(tid).map_or(tid, |family| family.pid),
                ..Born::default()
            }),
        }
    }

    pub fn look(&mut self) {
        let living = self.members.iter_mut().filter(|member| member.born.end.is_none());
        living.for_each(Member::look);
    }

    pub fn living(&self) -> Vec<(Tid, Tid)> {
        let living =
            self.members.iter().filter(|member| member.born.end.is_none() && !member.is_left_out);
        living.map(|member| (member.born.pid, member.born.tid)).collect()
    }

    pub fn forget(&mut self) {
        self.look();
        self.members.iter_mut().for_each(|member| member.before_ns = member.run_ns);
    }

    /// Tasks, and each thread's task, in order of creation. Names are numbered in the order of
    /// paths, which a second run repeats even if the order of creation differs. An omitted thread's
    /// task number is out of range.
    pub fn tasks(&self) -> (Vec<ObservedTask>, Vec<usize>) {
        let mut order = Vec::from_iter(0..self.members.len());
        order.retain(|place| !self.members[*place].is_left_out);
        order.sort_by_key(|place| self.members[*place].age());
        let mut task_of = vec![usize::MAX; self.members.len()];
        order.iter().enumerate().for_each(|(task, place)| task_of[*place] = task);
        let paths = by_path(&order, |place| self.members[place].creator);
        let names = numbered(paths.iter().map(|(_, place)| self.members[*place].name.as_str()));
        let mut tasks: Vec<(usize, ObservedTask)> = Vec::new();
        for ((path, place), name) in paths.iter().zip(names) {
            let member = &self.members[*place];
            let task = ObservedTask {
                name,
                path: path.to_string(),
                pid: member.born.pid,
                tid: member.born.tid,
                cpu_s: member.run_ns.saturating_sub(member.before_ns) as f64 / 1e9,
            };
            tasks.push((task_of[*place], task));
        }
        tasks.sort_by_key(|(number, _)| *number);
        (tasks.into_iter().map(|(_, task)| task).collect(), task_of)
    }
}

impl Member {
    /// Threads with unknown starts come last.
    fn age(&self) -> (u64, u64, Tid) {
        let ticks = if self.started_ticks == 0 { u64::MAX } else { self.started_ticks };
        (self.born.born_ns, ticks, self.born.tid)
    }

    fn look(&mut self) {
        let root = Root::new("/");
        let folder = format!("/proc/{}/task/{}", self.born.pid, self.born.tid);
        if let Ok(Some(task)) = seatmap_os::task::in_folder(&root, &folder, self.born.tid) {
            (self.name, self.started_ticks) = (task.name, task.started_ticks);
        }
        let times = root.read(&format!("{folder}/schedstat")).unwrap_or_default();
        if let Some(times) = ThreadTimes::parse(times.as_bytes()) {
            self.run_ns = times.run_ns.max(self.run_ns);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FAR: Tid = 1 << 30;

    fn ended(tid: Tid, creator: Tid, born_ns: u64, name: &str) -> Born {
        Born {
            tid: FAR + tid,
            pid: FAR,
            creator: FAR + creator,
            born_ns,
            end: Some((name.to_owned(), 1_000_000)),
        }
    }

    fn told(roster: &Roster) -> Vec<(String, String)> {
        roster.tasks().0.into_iter().map(|task| (task.name, task.path)).collect()
    }

    #[test]
    fn names_and_paths_follow_creation_order() {
        let mut roster = Roster::default();
        roster.update(vec![
            ended(0, -9, 1, "app"),
            ended(7, 0, 30, "worker"),
            ended(5, 0, 20, "worker"),
        ]);
        roster.update(vec![ended(9, 5, 40, "worker"), ended(2, 7, 25, "log")]);
        let pairs = [
            ("app", "0"),
            ("worker#0", "0.0"),
            ("log", "0.1.0"),
            ("worker#2", "0.1"),
            ("worker#1", "0.0.0"),
        ];
        assert_eq!(told(&roster), pairs.map(|(name, path)| (name.to_owned(), path.to_owned())));
    }

    #[test]
    #[should_panic(
        expected = "broke an invariant: roster: place 0 is of thread 1073741827, which ended"
    )]
    fn reappearing_ended_thread_panics() {
        let mut roster = Roster::default();
        roster.update(vec![ended(3, -9, 1, "done")]);
        roster.update(vec![Born { end: None, ..ended(3, -9, 1, "") }]);
    }

    #[test]
    fn reused_thread_id_is_another_task() {
        let mut roster = Roster::default();
        roster.update(vec![ended(0, -9, 1, "app"), ended(5, 0, 20, "a")]);
        assert_eq!(roster.place(FAR + 5), 1);
        roster.update(vec![ended(5, 0, 30, "b")]);
        assert_eq!((roster.place(FAR + 5), told(&roster).len()), (2, 3));
    }

    #[test]
    fn unreported_thread_has_its_process() {
        let other = std::thread::spawn(|| {
            let mut roster = Roster::default();
            roster.place(seatmap_os::task::own_tid());
            roster.tasks().0.remove(0)
        });
        let task = other.join().unwrap();
        assert_eq!(task.pid, seatmap_os::task::own_pid());
        assert_ne!(task.tid, task.pid);
    }

    #[test]
    fn ended_thread_updates_its_task() {
        let mut roster = Roster::default();
        roster.update(vec![Born { end: None, ..ended(3, -9, 1, "") }]);
        roster.update(vec![ended(3, -9, 1, "done")]);
        let (tasks, task_of) = roster.tasks();
        assert_eq!(
            (tasks.len(), tasks[0].name.as_str(), tasks[0].cpu_s, task_of[0]),
            (1, "done", 0.001, 0)
        );
    }
}
