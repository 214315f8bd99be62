//! The files that a seating is read from, and the notes on those that this user may not read.

use crate::seating::Unseen;
use seatmap_data::document::with_causes;
use seatmap_os::proc_folder::{ProcFolder, is_refused};
use seatmap_os::sched::{Stat, ThreadTimes};
use seatmap_os::{CpuSet, Root, Tid, boot, proc_mount, rights, visibility};
use std::collections::BTreeMap;
use std::io;

/// The computer's files, with `/proc` held open.
#[derive(Debug)]
pub(crate) struct SystemFiles {
    pub root: Root,
    pub proc: ProcFolder,
    ticks_per_s: u64,
    unseen: BTreeMap<(String, String), Vec<Tid>>,
}

impl SystemFiles {
    pub fn open(root: &Root) -> io::Result<Self> {
        proc_mount::check(root).map_err(io::Error::other)?;
        let proc = ProcFolder::open(root)?;
        let ticks_per_s = boot::ticks_per_s().max(1);
        Ok(SystemFiles { root: root.clone(), proc, ticks_per_s, unseen: BTreeMap::new() })
    }

    /// The processes, ascending.
    pub fn processes(&mut self) -> io::Result<Vec<Tid>> {
        self.proc.numbers(format_args!("."))
    }

    /// The threads of a process, ascending; none where it has ended.
    pub fn threads(&mut self, pid: Tid) -> Vec<Tid> {
        // Most processes have one, which the folder tells without being read.
        if self.proc.folders(format_args!("{pid}/task")).ok() == Some(1) {
            return vec![pid];
        }
        match self.proc.numbers(format_args!("{pid}/task")) {
            Ok(mut tids) => {
                // The kernel lists a folder in pieces, and finds its place by counting: where
                // threads end meanwhile, one may come twice.
                tids.dedup();
                tids
            }
            Err(error) => {
                self.note_refusal("threads", pid, &error);
                Vec::new()
            }
        }
    }

    /// The facts of a thread's `stat` line; `None` where the thread has ended.
    pub fn stat<T>(&mut self, pid: Tid, tid: Tid, take: impl FnOnce(&Stat<'_>) -> T) -> Option<T> {
        match self.proc.stat(pid, tid) {
            Ok(line) => Stat::parse(line).map(|stat| take(&stat)),
            Err(error) => {
                self.note_refusal("threads", pid, &error);
                None
            }
        }
    }

    /// The times of a thread; those of its `stat` file, in clock ticks, where the kernel keeps no
    /// finer ones. `None` where the thread has ended.
    pub fn times(&mut self, pid: Tid, tid: Tid) -> Option<ThreadTimes> {
        let counts = self.proc.schedstat(pid, tid);
        match counts.ok().and_then(ThreadTimes::parse) {
            Some(times) => Some(times),
            None => {
                let ticks = self.stat(pid, tid, |stat| stat.run_ticks)?;
                Some(ThreadTimes { run_ns: self.nanoseconds(ticks), wait_ns: None })
            }
        }
    }

    /// The CPUs that a thread may run on, as the kernel answers now; `None` where it has to be read
    /// from its files.
    pub fn asked_mask(&self, tid: Tid) -> Option<CpuSet> {
        self.root.is_this_computer().then(|| CpuSet::of_thread(tid).ok()).flatten()
    }

    /// Clock ticks in ns.
    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(1_000_000_000 / self.ticks_per_s)
    }

    /// Notes that a thing of a process cannot be seen, if the error says so: this user may not see
    /// it, or this process may open no more files.
    pub fn note_refusal(&mut self, what: &'static str, pid: Tid, error: &io::Error) {
        if is_refused(error) {
            let why = if visibility::may_trace(&self.root) {
                "the kernel refuses, although this user may look into the processes of others"
            } else if visibility::is_in_user_namespace(&self.root) {
                "it belongs to a user over whom this user namespace gives no right"
            } else if rights::is_root() {
                "the process belongs to another user; root of the host may look"
            } else {
                "the process belongs to another user; root may look"
            };
            self.note(what, Some(pid), why);
        } else {
            self.note_shortage(what, pid, error);
        }
    }

    /// Notes that a thing of a process was not seen, if the kernel had no room for an open file.
    pub fn note_shortage(&mut self, what: &'static str, pid: Tid, error: &io::Error) {
        if is_short(error) {
            self.note(
                what,
                Some(pid),
                format!("files below /proc cannot be read: {}", with_causes(error)),
            );
        }
    }

    /// Notes that a thing was not seen.
    pub fn note(&mut self, what: &'static str, pid: Option<Tid>, why: impl Into<String>) {
        let pids = self.unseen.entry((what.to_owned(), why.into())).or_default();
        // The threads of a process come one after the other, and it is noted once.
        pids.extend(pid.filter(|pid| pids.last() != Some(pid)));
    }

    /// Notes once more a thing that an earlier seating has noted.
    pub fn note_again(&mut self, unseen: &Unseen) {
        let noted = self.unseen.entry((unseen.what.clone(), unseen.why.clone())).or_default();
        noted.extend(&unseen.pids);
    }

    /// Notes the processes that no user of this kind is shown.
    pub fn note_the_hidden(&mut self) {
        for hidden in hidden_threads(&self.root) {
            self.note("threads", None, hidden.why);
        }
        if visibility::is_in_container(&self.root) {
            let why = "this is a container, which does not show the processes outside; they may \
                       share its CPUs";
            self.note("strangers", None, why);
        }
    }

    /// The notes so far; the next seating begins without any.
    pub fn take_notes(&mut self) -> Vec<Unseen> {
        std::mem::take(&mut self.unseen)
            .into_iter()
            .map(|((what, why), mut pids)| {
                pids.sort_unstable();
                pids.dedup();
                Unseen { what, pids, why }
            })
            .collect()
    }
}

/// The note that `/proc` hides threads of others, if it does.
pub(crate) fn hidden_threads(root: &Root) -> Vec<Unseen> {
    let why = visibility::hidden(root);
    why.map(|why| Unseen { what: "threads".to_owned(), pids: Vec::new(), why })
        .into_iter()
        .collect()
}

/// Whether the kernel had no room for an open file, which says nothing about the file.
pub(crate) fn is_short(error: &io::Error) -> bool {
    let short = [libc::EMFILE, libc::ENFILE, libc::ENOMEM];
    error.raw_os_error().is_some_and(|code| short.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_that_could_not_be_opened_are_not_seen() {
        let mut files = SystemFiles::open(&Root::new("/")).unwrap();
        files.note_refusal("threads", 7, &io::Error::from_raw_os_error(libc::ESRCH));
        assert!(files.take_notes().is_empty(), "it has ended");
        files.note_refusal("threads", 7, &io::Error::from_raw_os_error(libc::EMFILE));
        let notes = files.take_notes();
        assert!(
            notes.len() == 1 && notes[0].pids == [7] && notes[0].what == "threads",
            "{notes:?}"
        );
    }
}
