//! Stops threads before their first instruction.
//!
//! The tracer traces (ptrace(2)) every thread that may create a thread in need of a seat. A traced
//! thread runs at full speed; it stops only when it creates a thread, executes a program or
//! receives a signal.
//!
//! When the last seat of a plan is taken, the tracer releases unseated threads at once: their new
//! threads inherit the right mask. A seated thread stays traced while it creates threads, which
//! would otherwise share its CPU. It is released at the second signal since its last creation, or
//! after several looks.
//!
//! A cycling list has no last seat, so its threads stay traced. A thread with so many signals that
//! tracing would slow it is also released; its later creations are found a little late.

use crate::allowance::Allowance;
use crate::hampered::Hampered;
use crate::inject::Injected;
use crate::pinner::{Birth, Pinner};
use crate::tracee::{TraceeStop, WaitStatus};
use crate::verifier::Verifier;
use crate::{Ending, inject, tracee};
use seatmap_data::invariant;
use seatmap_os::traced::SeccompFilters;
use seatmap_os::{Tid, task, traced};
use std::collections::{HashMap, HashSet};
use std::time::Duration;

const BURST: usize = 64;

/// Looks without a creation before a release: two seconds at a quiet program's pace.
const PATIENCE: u32 = 24;

/// The burst, with one more per [`SIGNALS_PACE`]; the next signal releases the thread. A signal
/// stop costs it 10 to 40 us, and Go's runtime may preempt a busy thread 100 times a second.
const SIGNALS: u32 = 50;
const SIGNALS_PACE: Duration = Duration::from_millis(10);

/// System calls that resume by themselves after an interruption (signal(7)). Others, such as
/// `epoll_wait`, would return an unexpected `EINTR`.
const RESUMED: [libc::c_long; 8] = [
    libc::SYS_futex,
    libc::SYS_nanosleep,
    libc::SYS_clock_nanosleep,
    libc::SYS_wait4,
    libc::SYS_waitid,
    libc::SYS_ppoll,
    libc::SYS_pselect6,
    libc::SYS_rt_sigsuspend,
];

const TRACER: &str = "tracer";

#[derive(Default)]
pub struct Tracer {
    leader: Tid,
    traced: HashMap<Tid, Traced>,
    /// Threads that stopped before their creators did.
    early: HashSet<Tid>,
    /// The same under a plan with paths: only the creator's report identifies a thread's task.
    awaiting: HashSet<Tid>,
    /// The signal that stopped the first process.
    pub stopped: Option<i32>,
    /// Whether the first process continued since the last query.
    pub went_on: bool,
    /// How the first process ended.
    pub ending: Option<Ending>,
    /// Programs hampered by tracing.
    pub hampered: Hampered,
    /// Looks at pages, if requested, also at a process's end.
    pub verifier: Option<Verifier>,
    filters: Option<SeccompFilters>,
}

struct Traced {
    patience: u32,
    signals: Allowance,
}

impl Traced {
    fn new() -> Self {
        Traced { patience: PATIENCE, signals: Allowance::new(SIGNALS, SIGNALS_PACE) }
    }
}

impl Tracer {
    /// Traces nothing until [`Tracer::seize`].
    pub fn new(leader: Tid, verifier: Option<Verifier>) -> Self {
        let own = traced::status(task::own_pid());
        Tracer {
            leader,
            verifier,
            filters: own.and_then(|own| SeccompFilters::read(&own)),
            ..Tracer::default()
        }
    }

    pub fn seize(&mut self) -> std::io::Result<()> {
        tracee::seize(self.leader, self.verifier.is_some())?;
        self.traced.insert(self.leader, Traced::new());
        Ok(())
    }

    pub fn expects(&self, tid: Tid) -> bool {
        self.traced.contains_key(&tid)
    }

    /// Traced threads without their creators' reports.
    pub fn awaiting(&self) -> impl Iterator<Item = Tid> + '_ {
        self.awaiting.iter().copied().filter(|tid| self.expects(*tid))
    }

    pub fn awaits_creator(&self, tid: Tid) -> bool {
        self.awaiting.contains(&tid) && self.expects(tid)
    }

    pub fn is_tracing(&self) -> bool {
        !self.traced.is_empty()
    }

    /// Handles a burst of reports. Returns whether there may be more.
    pub fn hear(&mut self, pinner: &mut Pinner) -> bool {
        for _ in 0..BURST {
            let Some((tid, ended)) = tracee::next_report() else { return false };
            if ended {
                // Comes first: the report's removal clears `/proc`.
                pinner.last_look(tid);
            }
            let Some(status) = tracee::take_report(tid) else { return false };
            self.act(tid, status, pinner);
        }
        true
    }

    /// Interrupts releasable threads that will not notice.
    pub fn let_go(&mut self, pinner: &Pinner) {
        for tid in self.traced.keys().filter(|tid| pinner.policies.due(**tid).is_some()) {
            if would_not_notice(*tid) {
                tracee::interrupt(*tid);
            }
        }
        // The verifier reads pages at each process's end, so all threads stay traced.
        if self.verifier.is_some() || pinner.seating.order_is_open() {
            return;
        }
        for (tid, traced) in &mut self.traced {
            traced.patience = traced.patience.saturating_sub(1);
            if traced.patience == 0 && would_not_notice(*tid) {
                tracee::interrupt(*tid);
            }
        }
    }

    fn act(&mut self, tid: Tid, status: WaitStatus, pinner: &mut Pinner) {
        match status {
            WaitStatus::Ended(ending) => {
                self.traced.remove(&tid);
                pinner.gone(tid);
                invariant!(
                    !pinner.threads.knows(tid),
                    TRACER,
                    "thread {tid} has ended, and is seated"
                );
                if tid == self.leader {
                    self.ending = Some(ending);
                }
            }
            WaitStatus::Continued => self.note_stop(tid, None),
            // An untraced child only reports its stop.
            WaitStatus::Stopped(TraceeStop::Signal(signal))
                if tid == self.leader && !self.expects(tid) =>
            {
                self.note_stop(tid, Some(signal));
            }
            WaitStatus::Stopped(stop) => self.pass(tid, stop, pinner),
        }
    }

    fn pass(&mut self, tid: Tid, stop: TraceeStop, pinner: &mut Pinner) {
        if !self.expects(tid) {
            // An untraced orphan, adopted by this process.
            if matches!(stop, TraceeStop::Signal(_)) {
                return;
            }
            self.traced.insert(tid, Traced::new());
            // Only its creator's later report identifies this thread under a plan with paths.
            if pinner.seating.has_paths() {
                self.awaiting.insert(tid);
            } else {
                self.early.insert(tid);
                if let Some(birth) = Birth::of(tid, false) {
                    pinner.arrive(tid, birth);
                }
            }
        }
        match stop {
            TraceeStop::Cloned | TraceeStop::Forked => self.created(tid, stop, pinner),
            TraceeStop::Executed => self.executed(tid, pinner),
            TraceeStop::Group(signal) => self.note_stop(tid, Some(signal)),
            TraceeStop::Trap => self.note_stop(tid, None),
            TraceeStop::Exiting => self.look_at_end(tid, pinner),
            TraceeStop::Signal(_) => {}
        }
        match self.give_policy(tid, stop, pinner) {
            Injected::Done(_) => self.go_on(tid, stop, pinner),
            Injected::Reported(status) => self.act(tid, status, pinner),
            Injected::Gone => {}
        }
    }

    /// A system call is interrupted again at its end.
    fn give_policy(&mut self, tid: Tid, stop: TraceeStop, pinner: &mut Pinner) -> Injected {
        let Some(policy) = pinner.policies.due(tid) else { return Injected::Done(Ok(())) };
        match stop {
            TraceeStop::Trap => {
                let is_first = pinner.threads.living(tid).is_none_or(|living| living.pid == tid);
                let injected = inject::set_policy(tid, is_first, &policy.call(), self.filters);
                if let Injected::Done(outcome) = &injected {
                    pinner.policy_given(tid, outcome.clone());
                }
                injected
            }
            TraceeStop::Cloned | TraceeStop::Forked | TraceeStop::Executed => {
                tracee::interrupt(tid);
                Injected::Done(Ok(()))
            }
            TraceeStop::Group(_) | TraceeStop::Exiting | TraceeStop::Signal(_) => {
                Injected::Done(Ok(()))
            }
        }
    }

    fn look_at_end(&mut self, tid: Tid, pinner: &mut Pinner) {
        let pid = pinner.threads.living(tid).map_or(tid, |living| living.pid);
        if let Some(verifier) = &mut self.verifier {
            verifier.last_look(tid, pid);
        }
    }

    fn created(&mut self, creator: Tid, stop: TraceeStop, pinner: &mut Pinner) {
        invariant!(
            self.expects(creator),
            TRACER,
            "thread {creator} reports {stop:?}, and is not traced"
        );
        if let Some(new) = tracee::message(creator).filter(|new| !self.early.remove(new)) {
            let process = pinner.threads.living(creator).map_or(creator, |living| living.pid);
            let is_thread = stop == TraceeStop::Cloned && task::is_thread_of(new, process);
            let pid = if is_thread { process } else { new };
            // An untraced thread with its number has ended since the last look.
            if pinner.threads.knows(new) {
                pinner.gone(new);
            }
            // It may have stopped first, and been released or ended.
            if !self.awaiting.remove(&new) {
                self.traced.insert(new, Traced::new());
            }
            pinner.arrive(new, Birth { pid, creator, is_late: false });
        }
        if let Some(traced) = self.traced.get_mut(&creator) {
            traced.patience = PATIENCE;
        }
    }

    fn go_on(&mut self, tid: Tid, stop: TraceeStop, pinner: &mut Pinner) {
        let signal = if let TraceeStop::Signal(signal) = stop { signal } else { 0 };
        if self.may_go(tid, stop, pinner) {
            tracee::detach(tid, signal);
            self.traced.remove(&tid);
        } else if let TraceeStop::Group(_) = stop {
            tracee::listen(tid);
        } else {
            invariant!(
                self.expects(tid),
                TRACER,
                "thread {tid} goes on after {stop:?}, and is not traced"
            );
            tracee::resume(tid, signal);
        }
    }

    fn may_go(&mut self, tid: Tid, stop: TraceeStop, pinner: &mut Pinner) -> bool {
        let signal = matches!(stop, TraceeStop::Signal(_));
        let seated = pinner.threads.living(tid).is_some_and(|living| living.seat.is_some());
        let Some(traced) = self.traced.get_mut(&tid) else { return true };
        if pinner.seating.order_is_open()
            || self.verifier.is_some()
            || pinner.policies.due(tid).is_some()
        {
            return signal && !traced.signals.take();
        }
        let patience = traced.patience;
        if signal {
            traced.patience = 0;
        }
        // An unseated thread passes on the right mask.
        !seated || patience == 0
    }

    fn executed(&mut self, tid: Tid, pinner: &mut Pinner) {
        let former = tracee::message(tid).unwrap_or(tid);
        if former != tid {
            self.traced.remove(&former);
        }
        self.traced.insert(tid, Traced::new());
        let file = task::program_file(tid).unwrap_or_default();
        pinner.executed(former, tid, &file);
        invariant!(
            former == tid || !pinner.threads.knows(former),
            TRACER,
            "thread {former} executed {} as {tid}, and still has a seat of its own",
            file.display()
        );
        self.hampered.note(tid, &file);
    }

    fn note_stop(&mut self, tid: Tid, signal: Option<i32>) {
        if tid == self.leader {
            self.went_on |= self.stopped.is_some() && signal.is_none();
            self.stopped = signal;
        }
    }
}

/// Whether a thread can be stopped without its program noticing.
fn would_not_notice(tid: Tid) -> bool {
    let call = task::system_call(tid);
    call.is_some_and(|call| {
        call == "running" || call.parse().is_ok_and(|number| RESUMED.contains(&number))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::allocator::SeatAllocator;
    use crate::seats::{Beyond, SeatList};
    use crate::watch::ProcessWatch;
    use seatmap_os::task::ThreadStat;
    use seatmap_os::{CpuList, CpuSet};
    use std::io::{BufRead, BufReader, Write};
    use std::process::{Child, Command, Stdio};
    use std::time::Instant;

    /// In a separate process, because the tracer takes all children's reports.
    const ALONE: &str = "SEATMAP_TEST_ALONE";

    const LONGEST_WAIT: Duration = Duration::from_secs(20);

    fn wait_until(what: &str, mut is_so: impl FnMut() -> bool) {
        let begun = Instant::now();
        while !is_so() {
            assert!(begun.elapsed() < LONGEST_WAIT, "{what}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }

    fn run_alone(test: &str, alone: fn()) {
        if std::env::var_os(ALONE).is_some() {
            return alone();
        }
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args([&format!("tracer::tests::{test}"), "--exact", "--nocapture"]);
        let output = command.arg("--test-threads=1").env(ALONE, "1").output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }

    struct Creation {
        creator: Tid,
        created: Tid,
        tracer: Tracer,
        pinner: Pinner,
        _shell: Child,
    }

    impl Creation {
        /// `None` if nothing may be traced.
        fn begin(commands: &str) -> Option<Self> {
            crate::front::adopt_orphans();
            let cpus: CpuSet = seatmap_os::affinity::current().unwrap().into_iter().collect();
            let list = CpuList(vec![cpus.first().unwrap(); 3]);
            let paths = ["0", "0.0", "0.1"].map(str::to_owned).to_vec();
            let seats = SeatList { paths, ..SeatList::of_cpus(&list, Beyond::Leave) };
            let mut shell = Command::new("sh")
                .args(["-c", &format!("echo; read line; ({commands}); true")])
                .stdin(Stdio::piped())
                .stdout(Stdio::piped())
                .spawn()
                .unwrap();
            // A spawned process may still be in execve(2), which would be its first stop.
            BufReader::new(shell.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
            let creator = shell.id() as Tid;
            let mut tracer = Tracer::new(creator, None);
            if tracer.seize().is_err() {
                shell.kill().unwrap();
                shell.wait().unwrap();
                return None;
            }
            let mut pinner = Pinner::new(SeatAllocator::new(seats, Vec::new(), 0), cpus, None);
            pinner.arrive(creator, Birth { pid: creator, creator, is_late: false });
            shell.stdin.take().unwrap().write_all(b"\n").unwrap();
            wait_until("the shell creates a process", || {
                ThreadStat::of(creator).is_some_and(|task| task.state == 't')
            });
            let created = tracee::message(creator).unwrap();
            Some(Creation { creator, created, tracer, pinner, _shell: shell })
        }

        fn hear_until(&mut self, what: &str, is_so: impl Fn(&Tracer) -> bool) {
            wait_until(what, || {
                self.tracer.hear(&mut self.pinner);
                is_so(&self.tracer)
            });
        }
    }

    #[test]
    fn task_of_killed_creator_is_seated() {
        run_alone("task_of_killed_creator_is_seated", || {
            let Some(mut made) = Creation::begin("exec sleep 60") else {
                return seatmap_needs::skipped!("this process may not trace");
            };
            let created = made.created;
            // SAFETY: the shell is this process's child, and not waited for yet.
            unsafe { libc::kill(made.creator, libc::SIGKILL) };
            let creator = made.creator;
            wait_until("the shell ends", || {
                ThreadStat::of(creator).is_none_or(|task| task.has_ended())
            });
            made.hear_until("the tracer hears of both", |tracer| {
                tracer.ending.is_some() && tracer.expects(created)
            });
            let mut watch = ProcessWatch::new(creator);
            watch.look(&mut made.pinner, &mut made.tracer);
            let is_seated = made.pinner.threads.knows(created);
            made.hear_until("it goes on", |_| {
                ThreadStat::of(created).is_some_and(|task| task.state == 'S')
            });
            // SAFETY: this process traces it, so no other process can have its number.
            unsafe { libc::kill(created, libc::SIGKILL) };
            made.hear_until("the tracer hears of its end", |tracer| !tracer.expects(created));
            assert!(is_seated && !made.pinner.threads.knows(created));
        });
    }

    #[test]
    fn task_ended_before_report_is_not_awaited() {
        run_alone("task_ended_before_report_is_not_awaited", || {
            let Some(mut made) = Creation::begin("exit") else {
                return seatmap_needs::skipped!("this process may not trace");
            };
            let created = made.created;
            wait_until("its end", || {
                let status = tracee::take_report(created);
                let is_over = matches!(status, Some(WaitStatus::Ended(_)));
                if let Some(status) = status {
                    made.tracer.act(created, status, &mut made.pinner);
                }
                is_over
            });
            made.hear_until("the shell's end", |tracer| tracer.ending.is_some());
            let mut watch = ProcessWatch::new(made.creator);
            watch.look(&mut made.pinner, &mut made.tracer);
            assert!(made.pinner.threads.is_empty() && !made.tracer.is_tracing());
        });
    }
}
