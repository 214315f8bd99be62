//! A made computer for tests.

use crate::{WatchOptions, Watcher};
use seatmap_os::{Root, Tid};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

pub struct Made {
    folder: tempfile::TempDir,
    pub now_ns: Arc<AtomicU64>,
}

#[derive(Clone)]
pub struct MadeThread {
    pub name: &'static str,
    pub state: char,
    pub parent: Tid,
    pub flags: u64,
    pub nice: i32,
    pub started_ticks: u64,
    pub cpu: u32,
    pub policy: u32,
    pub run_ms: u64,
    pub wait_ms: u64,
    pub mask: &'static str,
    /// Voluntary and forced ones.
    pub switches: [u64; 2],
}

impl Default for MadeThread {
    fn default() -> Self {
        MadeThread {
            name: "worker",
            state: 'S',
            parent: 1,
            flags: 0,
            nice: 0,
            started_ticks: 500,
            cpu: 0,
            policy: 0,
            run_ms: 0,
            wait_ms: 0,
            mask: "0-1",
            switches: [3, 4],
        }
    }
}

impl Made {
    /// A computer booted ten seconds ago.
    pub fn new() -> Self {
        let made = Made {
            folder: tempfile::tempdir().unwrap(),
            now_ns: Arc::new(AtomicU64::new(10_000_000_000)),
        };
        made.write(
            "proc/stat",
            "cpu  0 0\ncpu0 0 0 0 0 0 0 0 0 0 0\ncpu1 0 0 0 0 0 0 0 0 0 0\nintr 0\n",
        );
        made.write(
            "proc/interrupts",
            "  CPU0 CPU1\n 24: 0 0 IO-APIC 5-edge disk\nLOC: 0 0 Local timer interrupts\n",
        );
        made.write("proc/sys/kernel/hostname", "made\n");
        made.write(
            "proc/self/mountinfo",
            "1 0 0:1 / /cg rw - cgroup2 none rw\n2 0 0:2 / /proc rw - proc proc rw\n",
        );
        made
    }

    pub fn path(&self, path: &str) -> PathBuf {
        self.folder.path().join(path)
    }

    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) {
        std::fs::create_dir_all(self.path(path).parent().unwrap()).unwrap();
        std::fs::write(self.path(path), text).unwrap();
    }

    /// Writes the files of a thread, and of its process if it is the first.
    pub fn thread(&self, pid: Tid, tid: Tid, thread: &MadeThread) {
        let MadeThread {
            name,
            state,
            parent,
            flags,
            nice,
            started_ticks,
            cpu,
            policy,
            run_ms,
            wait_ms,
            mask,
            switches: [voluntary, forced],
        } = thread;
        let stat = format!(
            "{tid} ({name}) {state} {parent} 1 1 0 -1 {flags} 0 0 0 0 {} 0 0 0 20 {nice} 2 0 \
             {started_ticks} 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 17 {cpu} 0 {policy} 0 0 0\n",
            run_ms / 10
        );
        let status = format!(
            "Name:\t{name}\nTgid:\t{pid}\nUid:\t7\t8\t7\t7\nCpus_allowed_list:\t{mask}\n\
             voluntary_ctxt_switches:\t{voluntary}\nnonvoluntary_ctxt_switches:\t{forced}\n"
        );
        let folder = format!("proc/{pid}/task/{tid}");
        let times = format!("{} {} 1\n", run_ms * 1_000_000, wait_ms * 1_000_000);
        let sched = "x\nse.nr_migrations : 12\n".to_owned();
        for (file, text) in
            [("stat", &stat), ("schedstat", &times), ("sched", &sched), ("status", &status)]
        {
            self.write(&format!("{folder}/{file}"), text);
        }
        self.write(&format!("proc/{tid}/status"), status);
        if pid == tid && !self.path(&format!("proc/{pid}/cgroup")).exists() {
            self.write(&format!("proc/{pid}/cgroup"), "0::/box\n");
        }
    }

    /// Ends a process, or one of its threads.
    pub fn end(&self, path: &str) {
        std::fs::remove_dir_all(self.path(&format!("proc/{path}"))).unwrap();
    }

    pub fn pass(&self, time: Duration) {
        self.now_ns.fetch_add(u64::try_from(time.as_nanos()).unwrap(), Ordering::Relaxed);
    }

    pub fn options(&self) -> WatchOptions {
        WatchOptions { root: Root::new(self.folder.path()), ..WatchOptions::default() }
    }

    pub fn begin(&self, choice: &crate::ProcessChoice) -> Result<Watcher, crate::ChoiceError> {
        let now_ns = Arc::clone(&self.now_ns);
        Watcher::begin_at(choice, &self.options(), Box::new(move || now_ns.load(Ordering::Relaxed)))
    }
}

pub fn pids(pids: &[Tid]) -> crate::ProcessChoice {
    crate::ProcessChoice::Processes { pids: pids.to_vec(), with_children: false }
}
