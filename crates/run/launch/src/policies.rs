//! The memory policies of threads.
//!
//! Only the thread itself can change its policy, at a stop. Until then, its task's policy is *due*.

use crate::memory::ProgramMemory;
use crate::pinner::Pinner;
use crate::seats::Seat;
use seatmap_os::Tid;
use seatmap_os::mempolicy::MemoryPolicy;
use serde::Serialize;
use std::collections::HashMap;

/// The policy of a thread on a task's seat.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ThreadMemory {
    /// The policy, as in `/proc/PID/numa_maps`.
    pub policy: String,
    /// Whether the thread has it.
    pub is_set: bool,
    /// Why the thread lacks it, if known.
    pub trouble: Option<String>,
}

pub(crate) struct Policies {
    tasks: Vec<Option<MemoryPolicy>>,
    /// The launcher's policy, for threads without one in the plan.
    usual: MemoryPolicy,
    first: MemoryPolicy,
    threads: HashMap<Tid, OfThread>,
}

struct OfThread {
    has: MemoryPolicy,
    wants: MemoryPolicy,
    trouble: Option<String>,
}

impl Policies {
    pub fn none() -> Self {
        let usual = MemoryPolicy::usual();
        Policies { tasks: Vec::new(), first: usual.clone(), usual, threads: HashMap::new() }
    }

    /// A plan's policies; `first` is the first process's task.
    pub fn of(memory: &ProgramMemory, first: Option<usize>) -> Self {
        let usual = MemoryPolicy::of_caller().unwrap_or_else(|_| MemoryPolicy::usual());
        let tasks = memory.tasks.clone();
        let first =
            first.and_then(|task| tasks.get(task)?.clone()).unwrap_or_else(|| usual.clone());
        Policies { tasks, usual, first, threads: HashMap::new() }
    }

    /// The first process's policy at its start, if planned.
    pub fn of_first(&self) -> Option<&MemoryPolicy> {
        (self.first != self.usual).then_some(&self.first)
    }

    pub fn are_by_task(&self) -> bool {
        !self.tasks.is_empty()
    }

    pub fn arrive(&mut self, tid: Tid, creator: Tid) {
        if self.are_by_task() {
            let has = self
                .threads
                .get(&creator)
                .map_or_else(|| self.first.clone(), |creator| creator.has.clone());
            self.threads.insert(tid, OfThread { wants: has.clone(), has, trouble: None });
        }
    }

    fn sits(&mut self, tid: Tid, task: Option<usize>) {
        let wants = task
            .and_then(|task| self.tasks.get(task)?.clone())
            .unwrap_or_else(|| self.usual.clone());
        if let Some(thread) = self.threads.get_mut(&tid).filter(|thread| thread.wants != wants) {
            (thread.wants, thread.trouble) = (wants, None);
        }
    }

    pub fn renumber(&mut self, former: Tid, tid: Tid) {
        if let Some(thread) = self.threads.remove(&former) {
            self.threads.insert(tid, thread);
        }
    }

    pub fn remove(&mut self, tid: Tid) {
        self.threads.remove(&tid);
    }

    /// The policy that a thread still needs.
    pub fn due(&self, tid: Tid) -> Option<&MemoryPolicy> {
        let thread = self.threads.get(&tid).filter(|thread| thread.trouble.is_none())?;
        (thread.has != thread.wants).then_some(&thread.wants)
    }

    fn of_thread(&self, tid: Tid) -> Option<ThreadMemory> {
        let thread = self.threads.get(&tid).filter(|thread| thread.wants != self.usual)?;
        let is_set = thread.has == thread.wants;
        Some(ThreadMemory {
            policy: thread.wants.to_string(),
            is_set,
            trouble: thread.trouble.clone(),
        })
    }

    fn settle(&mut self, tid: Tid, outcome: Result<(), String>) {
        let Some(thread) = self.threads.get_mut(&tid) else { return };
        match outcome {
            Ok(()) => thread.has = thread.wants.clone(),
            Err(trouble) => thread.trouble = Some(trouble),
        }
    }
}

impl Pinner {
    pub(crate) fn choose_policy(&mut self, tid: Tid, seat: Option<&Seat>) {
        if self.policies.are_by_task() {
            self.policies.sits(tid, seat.and_then(|seat| seat.task));
            self.note_policy(tid);
        }
    }

    pub(crate) fn policy_given(&mut self, tid: Tid, outcome: Result<(), String>) {
        self.policies.settle(tid, outcome);
        self.note_policy(tid);
    }

    fn note_policy(&mut self, tid: Tid) {
        let memory = self.policies.of_thread(tid);
        if let Some(record) = self.threads.record(tid) {
            record.memory = memory;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_os::CpuSet;

    fn bind(node: u32) -> MemoryPolicy {
        MemoryPolicy::bind(CpuSet::single(node))
    }

    fn policies() -> Policies {
        let tasks = vec![Some(bind(2)), Some(bind(1)), None];
        Policies { tasks, usual: MemoryPolicy::local(), first: bind(2), threads: HashMap::new() }
    }

    #[test]
    fn threads_inherit_policies_until_task_differs() {
        let mut policies = policies();
        assert_eq!(policies.of_first(), Some(&bind(2)));
        policies.arrive(70, 70);
        policies.sits(70, Some(0));
        assert_eq!(policies.due(70), None, "it began with it");
        assert!(policies.of_thread(70).unwrap().is_set);
        policies.arrive(71, 70);
        assert_eq!(policies.due(71), None, "a thread without a seat yet keeps its creator's");
        policies.sits(71, Some(1));
        assert_eq!(policies.due(71), Some(&bind(1)));
        policies.settle(71, Ok(()));
        assert_eq!((policies.due(71), policies.threads[&71].has == bind(1)), (None, true));
        policies.arrive(72, 71);
        policies.sits(72, Some(2));
        assert_eq!(
            policies.due(72),
            Some(&MemoryPolicy::local()),
            "the plan says nothing: not its creator's"
        );
        policies.settle(72, Err("no".to_owned()));
        assert_eq!(policies.due(72), None, "what failed is not tried again");
        assert_eq!(policies.of_thread(72), None, "the plan says nothing about it");
        policies.sits(72, Some(0));
        assert_eq!(policies.due(72), Some(&bind(2)), "on another seat it is");
        policies.settle(72, Err("no".to_owned()));
        assert_eq!(policies.of_thread(72).unwrap().trouble.as_deref(), Some("no"));
        policies.sits(72, Some(1));
        assert_eq!(policies.due(72), None, "it inherited that one");
        policies.sits(72, Some(0));
        policies.renumber(72, 80);
        assert!(policies.due(72).is_none() && policies.due(80).is_some());
        policies.remove(80);
        assert_eq!(policies.due(80), None);
    }

    #[test]
    fn policies_without_plan_keep_nothing() {
        let mut policies = Policies::none();
        policies.arrive(70, 70);
        assert!(
            policies.threads.is_empty()
                && policies.due(70).is_none()
                && policies.of_first().is_none()
        );
    }
}
