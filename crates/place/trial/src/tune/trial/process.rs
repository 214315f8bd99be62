//! The process of one run and its descendants.

use super::{Contestant, GRACE, Printed};
use rustix::event::{PollFd, PollFlags, poll};
use rustix::process::{
    Pid, PidfdFlags, Signal, WaitOptions, kill_process, kill_process_group, pidfd_open, waitpid,
};
use seatmap_os::cpu_set::PreparedMask;
use seatmap_os::{CpuSet, Ending, Root, interpreter, orphans, task};
use std::collections::BTreeSet;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::OwnedFd;
use std::os::unix::process::{CommandExt, ExitStatusExt};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

/// Between calls of `stop`; the end of the process also ends a wait.
const LOOK: Duration = Duration::from_millis(50);

/// Short programs end soon; the next looks are each twice as late.
const FIRST_LOOK: Duration = Duration::from_millis(2);

const PAUSE: Duration = Duration::from_millis(5);

pub struct FinishedRun {
    pub elapsed: Duration,
    /// The CPU time of the process and its reaped descendants.
    pub cpu_time: Duration,
    pub ending: Ending,
    pub left: Option<(i32, String)>,
    /// The most threads of its processes at one look, if they were counted.
    pub threads: usize,
}

/// It leads its own session, so Ctrl-C reaches it only through this process.
pub struct RunProcess {
    pid: Pid,
    handle: OwnedFd,
    begun: Instant,
    patience: Duration,
    counts_threads: bool,
    /// Children of this process outside the run.
    others: BTreeSet<i32>,
}

impl RunProcess {
    pub fn new(contestant: &Contestant, raised: bool, printed: &Printed) -> io::Result<Self> {
        // Leftover processes become children of this process, and are found.
        orphans::adopt(true)?;
        // A guard or earlier helper does not belong to the run.
        let others = orphans::children()?;
        let mut words = contestant.launcher.iter().chain(&contestant.command);
        let program = words.next().ok_or_else(|| io::Error::other("there is no command"))?;
        let mut command = Command::new(program);
        command
            .args(words)
            .envs(contestant.variables.iter().cloned())
            .stdin(Stdio::null())
            .stdout(printed.out.try_clone()?)
            .stderr(printed.error.try_clone()?);
        // The child must not allocate between fork and exec.
        let group = contestant.group.as_ref().map(|members| Root::new("/").control_file(members));
        let group = group.transpose()?;
        // The child sets its own mask, because old kernels would remove an offline CPU from a mask
        // that this thread changes and restores.
        let mask = contestant.cpus.as_ref().map(CpuSet::prepared).transpose()?;
        // SAFETY: between fork and exec the closure makes system calls only.
        unsafe { command.pre_exec(move || prepare(raised, group.as_ref(), mask.as_ref())) };
        let begun = Instant::now();
        // The library's handle waits only for this process; here all children are reaped.
        let child =
            command.spawn().map_err(|error| interpreter::explained(Path::new(program), error))?;
        let pid = Pid::from_child(&child);
        let handle = pidfd_open(pid, PidfdFlags::empty())?;
        let counts_threads = contestant.counts_threads;
        Ok(RunProcess { pid, handle, begun, patience: contestant.patience, counts_threads, others })
    }

    /// `None` if `stop` returned true before the end of the run.
    ///
    /// # Errors
    /// The leftover processes cannot be listed.
    pub fn wait(self, stop: &dyn Fn() -> bool) -> io::Result<Option<FinishedRun>> {
        let mut pause = if self.counts_threads { FIRST_LOOK } else { LOOK };
        let mut threads = 0;
        while !self.is_over(pause) {
            if stop() {
                self.end();
                return Ok(None);
            }
            if self.counts_threads {
                threads = threads.max(self.threads());
                pause = LOOK.min(2 * pause);
            }
        }
        let elapsed = self.begun.elapsed();
        let Some((ending, cpu_time)) = self.reap() else { return Ok(None) };
        // A launcher's daemons do not count in the time.
        let until = Instant::now() + self.patience;
        while left_behind(&self.others)?.is_some() && Instant::now() < until {
            std::thread::sleep(PAUSE);
        }
        let left = left_behind(&self.others)?;
        let root = Root::new("/");
        let left = left.map(|pid| (pid, task::name(&root, pid).unwrap_or_default()));
        if left.is_some() {
            end_all(&self.others);
        }
        Ok(Some(FinishedRun { elapsed, cpu_time, ending, left, threads }))
    }

    /// Waits for the end at most this long.
    fn is_over(&self, most: Duration) -> bool {
        let mut watched = [PollFd::new(&self.handle, PollFlags::IN)];
        let most = most.try_into().ok();
        matches!(poll(&mut watched, most.as_ref()), Ok(1..))
    }

    /// Now, with those that its ended processes left.
    fn threads(&self) -> usize {
        let root = Root::new("/");
        let all = orphans::children().unwrap_or_default();
        let mut left: Vec<i32> = all.difference(&self.others).copied().collect();
        let mut count = 0;
        while let Some(pid) = left.pop() {
            let threads = task::threads(pid).unwrap_or_default();
            count += threads.len();
            left.extend(task::children(&root, pid, &threads).unwrap_or_default());
        }
        count
    }

    /// The kernel reports the CPU time only then.
    fn reap(&self) -> Option<(Ending, Duration)> {
        let mut status = 0;
        // SAFETY: a structure of numbers, for which zeros are valid.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        let pid = self.pid.as_raw_nonzero().get();
        // SAFETY: both places are valid for the whole call.
        let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
        let times = [usage.ru_utime, usage.ru_stime].map(|time| {
            Duration::from_secs(time.tv_sec.unsigned_abs())
                + Duration::from_micros(time.tv_usec.unsigned_abs())
        });
        (reaped == pid).then(|| (Ending::of(ExitStatus::from_raw(status)), times.into_iter().sum()))
    }

    fn end(&self) {
        // Processes outside the group become children of this subreaper.
        let _ = kill_process_group(self.pid, Signal::TERM);
        let until = Instant::now() + GRACE;
        while !self.is_over(LOOK) && Instant::now() < until {}
        let _ = kill_process_group(self.pid, Signal::KILL);
        let _ = self.reap();
        end_all(&self.others);
    }
}

fn prepare(raised: bool, mut group: Option<&File>, mask: Option<&PreparedMask>) -> io::Result<()> {
    // This comes first, because an autogroup is created with its session.
    orphans::lead_session()?;
    if let Some(mask) = mask {
        mask.give(0)?;
    }
    if let Some(members) = &mut group {
        // 0 means the writing process.
        members.write_all(b"0")?;
    }
    if raised {
        // Without autogroups or privileges the share stays as it is.
        let _ = seatmap_os::sched::prefer_own_session();
    }
    Ok(())
}

fn left_behind(others: &BTreeSet<i32>) -> io::Result<Option<i32>> {
    Ok(orphans::children()?
        .difference(others)
        .copied()
        .find(|pid| matches!(waitpid(Pid::from_raw(*pid), WaitOptions::NOHANG), Ok(None))))
}

fn end_all(others: &BTreeSet<i32>) {
    let until = Instant::now() + GRACE;
    // An ended parent's children become this process's, so one signal is not enough.
    for signal in [Signal::TERM, Signal::KILL] {
        while left_behind(others).is_ok_and(|left| left.is_some())
            && (signal == Signal::KILL || Instant::now() < until)
        {
            for pid in orphans::children()
                .unwrap_or_default()
                .difference(others)
                .copied()
                .filter_map(Pid::from_raw)
            {
                let _ = kill_process(pid, signal);
            }
            std::thread::sleep(PAUSE);
        }
    }
}
