//! The files of a seating, and notes on unread ones.

use crate::seating::Unseen;
use seatmap_data::document::with_causes;
use seatmap_os::proc_folder::{ProcFolder, is_refused};
use seatmap_os::sched::{Stat, ThreadTimes};
use seatmap_os::{CpuSet, Root, Tid, boot, proc_mount, rights, visibility};
use std::collections::BTreeMap;
use std::io;

#[derive(Debug)]
pub struct SystemFiles {
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

    pub fn processes(&mut self) -> io::Result<Vec<Tid>> {
        self.proc.numbers(format_args!("."))
    }

    /// A process's threads, ascending; none if it has ended.
    pub fn threads(&mut self, pid: Tid) -> Vec<Tid> {
        // Most processes have one thread, and the folder's link count shows this.
        if self.proc.folders(format_args!("{pid}/task")).ok() == Some(1) {
            return vec![pid];
        }
        match self.proc.numbers(format_args!("{pid}/task")) {
            Ok(mut tids) => {
                // The kernel lists a folder in pieces by counting entries, so a thread may appear
                // twice if others end meanwhile.
                tids.dedup();
                tids
            }
            Err(error) => {
                self.note_refusal("threads", pid, &error);
                Vec::new()
            }
        }
    }

    /// The facts of a `stat` line, unless the thread has ended.
    pub fn stat<T>(&mut self, pid: Tid, tid: Tid, take: impl FnOnce(&Stat<'_>) -> T) -> Option<T> {
        match self.proc.stat(pid, tid) {
            Ok(line) => Stat::parse(line).map(|stat| take(&stat)),
            Err(error) => {
                self.note_refusal("threads", pid, &error);
                None
            }
        }
    }

    /// A thread's times. If the kernel keeps no finer ones, those of `stat`, in clock ticks.
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

    /// A mask from a system call; `None` if it must be read from files.
    pub fn asked_mask(&self, tid: Tid) -> Option<CpuSet> {
        self.root.is_this_computer().then(|| CpuSet::of_thread(tid).ok()).flatten()
    }

    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(1_000_000_000 / self.ticks_per_s)
    }

    /// Notes something unseen if the error means that this user may not read it, or that no more
    /// files can be opened.
    pub fn note_refusal(&mut self, what: &'static str, pid: Tid, error: &io::Error) {
        if is_refused(error) {
            let why = if visibility::may_trace(&self.root) {
                "the kernel refused, although this user may inspect other users' processes"
            } else if visibility::is_in_user_namespace(&self.root) {
                "the process belongs to a user that this user namespace does not map"
            } else if rights::is_root() {
                "the process belongs to another user; run seatmap as root of the host"
            } else {
                "the process belongs to another user; run seatmap as root"
            };
            self.note(what, Some(pid), why);
        } else {
            self.note_shortage(what, pid, error);
        }
    }

    /// Notes something unseen if the kernel could not open another file.
    pub fn note_shortage(&mut self, what: &'static str, pid: Tid, error: &io::Error) {
        if is_short(error) {
            self.note(
                what,
                Some(pid),
                format!("cannot read files in /proc: {}", with_causes(error)),
            );
        }
    }

    pub fn note(&mut self, what: &'static str, pid: Option<Tid>, why: impl Into<String>) {
        let pids = self.unseen.entry((what.to_owned(), why.into())).or_default();
        pids.extend(pid.filter(|pid| pids.last() != Some(pid)));
    }

    pub fn note_again(&mut self, unseen: &Unseen) {
        let noted = self.unseen.entry((unseen.what.clone(), unseen.why.clone())).or_default();
        noted.extend(&unseen.pids);
    }

    pub fn note_the_hidden(&mut self) {
        for hidden in hidden_threads(&self.root) {
            self.note("threads", None, hidden.why);
        }
        if visibility::is_in_container(&self.root) {
            let why = "processes outside this container are hidden; they may share its CPUs";
            self.note("strangers", None, why);
        }
    }

    /// The notes so far; the next seating starts without any.
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

pub fn hidden_threads(root: &Root) -> Vec<Unseen> {
    let why = visibility::hidden(root);
    why.map(|why| Unseen { what: "threads".to_owned(), pids: Vec::new(), why })
        .into_iter()
        .collect()
}

pub fn is_short(error: &io::Error) -> bool {
    let short = [libc::EMFILE, libc::ENFILE, libc::ENOMEM];
    error.raw_os_error().is_some_and(|code| short.contains(&code))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unopened_files_are_noted_unless_process_ended() {
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
