//! Threads created during a cell's life at level `affinity`, with narrow masks but not in its
//! journal.
//!
//! A thread may have inherited its mask, or a user may have set it, for instance with `taskset`. So
//! its first ancestor process older than the cell decides:
//!
//! | that ancestor has, with this mask | the thread |
//! |---|---|
//! | only threads that the cell narrowed from one mask | inherited it, and gets the old mask |
//! | no thread that the cell narrowed | chose it, and keeps it |
//! | both | is unclear; it is unchanged and reported |
//!
//! The thread is also unclear if another process adopted it (process 1, or one of another session),
//! or a process in between has no thread with this mask. A program started with `taskset` during
//! the cell's life counts as an heir.

use super::left::Left;
use crate::{CellJournal, SettingChange, census, thread_mask};
use seatmap_data::grouped::by_key;
use seatmap_os::task::ThreadStat;
use seatmap_os::{CpuSet, FileError, Root, Tid, affinity, task};
use std::collections::{BTreeMap, BTreeSet};

/// Reused numbers could form a circle.
const LONGEST_LINE: usize = 64;

#[derive(Debug, Default)]
pub struct Inheritance {
    /// Each with the change that the cell would have recorded.
    pub heirs: Vec<SettingChange>,
    pub unclear: Vec<Left>,
}

/// A thread narrowed by the cell.
struct Moved {
    from: CpuSet,
    to: Vec<CpuSet>,
}

enum Origin {
    Heir(CpuSet),
    Own,
    Unclear,
}

struct Thread {
    task: ThreadStat,
    mask: CpuSet,
}

struct Family<'a> {
    root: &'a Root,
    journal: &'a CellJournal,
    others: &'a [CellJournal],
    open: &'a CpuSet,
    moved: BTreeMap<Tid, Moved>,
    processes: BTreeMap<Tid, Vec<Thread>>,
}

/// Finds heirs. `open` are the CPUs outside other cells.
///
/// # Errors
/// [`FileError`]: the threads cannot be listed.
pub fn find(
    root: &Root,
    journal: &CellJournal,
    others: &[CellJournal],
    open: &CpuSet,
) -> Result<Inheritance, FileError> {
    let is_needed = !moved(journal, others, open).is_empty();
    let all = if is_needed { task::all(root)? } else { Vec::new() };
    let threads = all.into_iter().filter_map(|task| task.cpus().map(|mask| Thread { task, mask }));
    Ok(Family::new(root, journal, others, open, threads).found())
}

/// In a control group, the kernel handles heirs.
fn moved(journal: &CellJournal, others: &[CellJournal], open: &CpuSet) -> BTreeMap<Tid, Moved> {
    if journal.has_group() {
        return BTreeMap::new();
    }
    let narrowed = journal.changes.iter().filter(|change| change.is_new_mask());
    narrowed
        .filter_map(|change| {
            let from = CpuSet::of_list(&change.old)?;
            let to = CpuSet::of_list(&change.new)?;
            // A younger cell may have narrowed it further.
            let further = to.outside(&cells(others), open);
            Some((thread_mask::tid_of(&change.path).ok()?, Moved { from, to: vec![to, further] }))
        })
        .collect()
}

fn cells(journals: &[CellJournal]) -> CpuSet {
    journals.iter().flat_map(|journal| journal.header.set()).collect()
}

impl<'a> Family<'a> {
    fn new(
        root: &'a Root,
        journal: &'a CellJournal,
        others: &'a [CellJournal],
        open: &'a CpuSet,
        threads: impl Iterator<Item = Thread>,
    ) -> Self {
        let processes = by_key(threads.map(|thread| (thread.task.pid, thread)));
        Family { root, journal, others, open, moved: moved(journal, others, open), processes }
    }

    fn found(&self) -> Inheritance {
        let mut found = Inheritance::default();
        for Thread { task, mask } in
            self.processes.values().flatten().filter(|thread| self.is_narrow(thread))
        {
            match self.origin(task, mask) {
                Origin::Own => {}
                Origin::Heir(from) => found.heirs.push(self.change(task, mask, from)),
                Origin::Unclear => found.unclear.push(self.unclear(task, mask)),
            }
        }
        found
    }

    /// Whether it started during the cell's life, with a mask given to others.
    fn is_narrow(&self, Thread { task, mask }: &Thread) -> bool {
        let is_looked_at =
            !task.is_kernel && !task.has_ended() && !task.is_spared(&[task::own_pid()]);
        is_looked_at
            && !self.was_there(task)
            && self.moved.values().any(|moved| moved.to.contains(mask))
    }

    fn change(&self, task: &ThreadStat, mask: &CpuSet, from: CpuSet) -> SettingChange {
        let path = task.folder();
        // A younger cell with the thread on record restores the rest.
        let is_noted = self.others.iter().any(|other| other.of_path(&path).is_some());
        let old = if is_noted { from } else { from.outside(&cells(self.others), self.open) };
        SettingChange::of_mask(task.tid, task.started_ticks, old, mask)
    }

    fn unclear(&self, task: &ThreadStat, mask: &CpuSet) -> Left {
        let why = format!(
            "it may run only on {}: it chose this mask or inherited it from the cell (cannot be \
             determined); '{}' widens it",
            mask.named(),
            affinity::commands(self.open, &[task.tid])
        );
        Left::new(format!("thread {} ({})", task.tid, task.name), why)
    }

    fn was_there(&self, task: &ThreadStat) -> bool {
        let is_older =
            self.journal.header.began_ticks.is_some_and(|began| task.started_ticks < began);
        is_older || self.noted(task).is_some()
    }

    fn noted(&self, task: &ThreadStat) -> Option<&SettingChange> {
        let path = task.folder();
        self.journal
            .of_path(&path)
            .filter(|change| change.started_ticks == Some(task.started_ticks))
    }

    fn origin(&self, task: &ThreadStat, mask: &CpuSet) -> Origin {
        // A helper never chooses its mask.
        if census::is_helper(self.root, task) {
            return Origin::Heir(self.open.clone());
        }
        let mut process = task.pid;
        for _ in 0..LONGEST_LINE {
            let Some(threads) = self.processes.get(&process) else { return Origin::Unclear };
            if threads.iter().any(|thread| self.was_there(&thread.task)) {
                return self.judge(threads, mask);
            }
            if !threads.iter().any(|thread| thread.mask == *mask) {
                return Origin::Unclear;
            }
            let Some(starter) = self.starter(threads) else { return Origin::Unclear };
            process = starter;
        }
        Origin::Unclear
    }

    fn judge(&self, threads: &[Thread], mask: &CpuSet) -> Origin {
        let there = threads.iter().filter(|thread| self.was_there(&thread.task));
        let (narrowed, others): (Vec<&Thread>, Vec<&Thread>) =
            there.partition(|thread| self.narrowed(&thread.task).is_some());
        let sources: BTreeSet<&CpuSet> = narrowed
            .iter()
            .filter_map(|thread| {
                Some(&self.narrowed(&thread.task).filter(|moved| moved.to.contains(mask))?.from)
            })
            .collect();
        let is_shared = others.iter().any(|thread| thread.mask == *mask);
        match sources.into_iter().collect::<Vec<_>>()[..] {
            [] => Origin::Own,
            [from] if !is_shared => Origin::Heir((*from).clone()),
            _ => Origin::Unclear,
        }
    }

    fn narrowed(&self, thread: &ThreadStat) -> Option<&Moved> {
        self.noted(thread).and_then(|_| self.moved.get(&thread.tid))
    }

    /// The parent, unless it may have adopted an orphan, in another session or in one that the
    /// orphan started.
    fn starter(&self, threads: &[Thread]) -> Option<Tid> {
        let own = &threads.first()?.task;
        let parent = &self.processes.get(&own.parent)?.first()?.task;
        let is_starter =
            own.parent > 1 && (own.session == parent.session || own.session == own.pid);
        is_starter.then_some(own.parent)
    }
}

#[cfg(test)]
mod tests;
