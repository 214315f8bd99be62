//! The files of a seating, and notes on unread ones.

use crate::seating::{CellCpus, FORMAT, KernelSettings, Seating, Unseen};
use crate::thread::seconds;
use seatmap_data::document::with_causes;
use seatmap_os::cpu_time::CpuTimes;
use seatmap_os::proc_folder::{ProcFolder, is_refused};
use seatmap_os::sched::{Stat, ThreadStatus, ThreadTimes};
use seatmap_os::{CpuSet, Root, Tid, boot, devices, proc_mount, rights, visibility};
use std::collections::BTreeMap;
use std::io;
use std::time::SystemTime;

/// No program is visible, although none is hidden and none has ended.
const ALONE: &str = "this PID namespace has no other programs, and those outside are hidden";

pub struct SystemFiles {
    pub root: Root,
    pub proc: ProcFolder,
    /// Whether the computer has accelerators or network cards.
    pub has_devices: bool,
    /// Nanoseconds since the boot; tests set their own clock.
    pub clock: Box<dyn Fn() -> u64 + Send>,
    machine: String,
    ticks_per_s: u64,
    unseen: BTreeMap<(String, String), Vec<Tid>>,
}

impl SystemFiles {
    pub fn open(root: &Root) -> io::Result<Self> {
        proc_mount::check(root).map_err(io::Error::other)?;
        let machine = root.read("/proc/sys/kernel/hostname");
        Ok(SystemFiles {
            root: root.clone(),
            proc: ProcFolder::open(root)?,
            has_devices: devices::is_any(root),
            clock: Box::new(boot::nanoseconds),
            machine: machine.unwrap_or_else(|_| "host".to_owned()),
            ticks_per_s: boot::ticks_per_s().max(1),
            unseen: BTreeMap::new(),
        })
    }

    pub fn now_ns(&self) -> u64 {
        (self.clock)()
    }

    pub fn processes(&mut self) -> io::Result<Vec<Tid>> {
        self.proc.numbers(format_args!("."))
    }

    /// A process's threads, ascending; none if it has ended.
    pub fn threads(&mut self, pid: Tid) -> Vec<Tid> {
        // Most processes have one thread, as the folder's link count shows.
        if self.proc.folders(format_args!("{pid}/task")).ok() == Some(1) {
            return vec![pid];
        }
        self.proc.threads(pid).unwrap_or_else(|error| {
            self.note_refusal("threads", pid, &error);
            Vec::new()
        })
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

    /// A thread's times; without finer ones, those of `stat`, in clock ticks.
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

    /// A thread's mask, from files if necessary.
    pub fn mask(&mut self, pid: Tid, tid: Tid) -> Option<CpuSet> {
        self.asked_mask(tid)
            .or_else(|| ThreadStatus::parse(self.proc.status(pid, tid).ok()?).mask())
    }

    pub fn cpu_times(&mut self) -> CpuTimes {
        let times = self.proc.read(format_args!("stat"));
        times.map(|text| CpuTimes::of(text, &self.root)).unwrap_or_default()
    }

    pub fn nanoseconds(&self, ticks: u64) -> u64 {
        ticks.saturating_mul(1_000_000_000 / self.ticks_per_s)
    }

    /// Notes something unseen if this user may not read it, or no more files can be opened.
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

    /// A seating that ends now, with the notes so far; the next one starts without any.
    pub fn seating(
        &mut self,
        kernel: KernelSettings,
        watched_ns: u64,
        looks: u32,
        is_alone: bool,
    ) -> Seating {
        for hidden in hidden_threads(&self.root) {
            self.note("threads", None, hidden.why);
        }
        if visibility::is_in_container(&self.root) {
            let why = "processes outside this container are hidden; they may share its CPUs";
            self.note("strangers", None, why);
        }
        if is_alone {
            self.note("threads", None, ALONE);
        }
        let since_epoch =
            SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        Seating {
            format: FORMAT.to_owned(),
            machine: self.machine.clone(),
            taken_at_s: since_epoch.as_secs_f64(),
            watched_s: seconds(watched_ns),
            looks,
            kernel,
            cells: CellCpus::all(&self.root),
            unseen: self.take_notes(),
            ..Seating::default()
        }
    }

    fn take_notes(&mut self) -> Vec<Unseen> {
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
    let hidden = visibility::hidden(root).into_iter();
    hidden.map(|why| Unseen { what: "threads".to_owned(), pids: Vec::new(), why }).collect()
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
