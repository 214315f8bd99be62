//! One observation.

use crate::goroutines::GoPrograms;
use crate::observation::PairMessages;
use crate::roster::Roster;
use crate::source::{MessageSource, count_of};
use crate::talk::ThreadMessages;
use crate::wakeups::{Ebpf, Perf};
use crate::windows::Stretches;
use crate::{Method, Observation, ObserveError, Subject, TalkKind, Window};
use seatmap_data::document::with_causes;
use seatmap_data::pattern::{Edge, Outsider};
use seatmap_launch::halted::{self, HaltedProcess};

use seatmap_os::{Root, StopCheck, Tid, proc_mount, task, visibility};
use std::collections::BTreeSet;
use std::process::Child;
use std::time::{Duration, Instant};

const WINDOW: Duration = Duration::from_millis(100);

const PAUSE: Duration = Duration::from_millis(5);

const LONG_PAUSE: Duration = Duration::from_millis(20);

/// Below this CPU time, in seconds, the overhead is meaningless.
pub const LEAST_S: f64 = 0.05;

/// Windows between two readings of names and CPU times.
const NAMES_EVERY: u32 = 10;

/// The mechanism of a method.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum TracingMechanism {
    /// The best permitted one.
    #[default]
    Best,
    /// Programs in the kernel.
    Ebpf,
    /// A record for each event.
    Perf,
}

/// The reason for the end of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ObservationEnd {
    /// The program and all its descendants have ended.
    Program,
    /// The time is over.
    Time,
    /// The caller stopped the session.
    Stopped,
}

/// A running observation. Dropping it cleans up the kernel.
pub struct ObservationSession {
    source: Box<dyn MessageSource>,
    better: Option<String>,
    /// The started command, which outlives the session unless the caller ends it.
    pub child: Option<Child>,
    child_lived: bool,
    roster: Roster,
    stretches: Stretches,
    begun: Instant,
    looked: Duration,
    looks: u32,
    own_before_ns: u64,
    messages: f64,
    /// When the observation restarted.
    since: Duration,
    early: Vec<ThreadMessages>,
    go_programs: GoPrograms,
}

impl ObservationSession {
    /// Begins to observe a program, and starts a command.
    ///
    /// # Errors
    /// [`ObserveError`]: the kernel is unchanged, and no command runs.
    pub fn begin(
        method: Option<Method>,
        means: TracingMechanism,
        subject: &Subject,
    ) -> Result<Self, ObserveError> {
        let (mut source, better) = source(method, means)?;
        let own_before_ns = own_ns();
        let begun = Instant::now();
        let child = subject.follow(source.as_mut())?;
        let mut session = ObservationSession {
            source,
            better,
            child_lived: child.is_some(),
            child,
            roster: Roster::default(),
            stretches: Stretches::default(),
            begun,
            looked: Duration::ZERO,
            looks: 0,
            own_before_ns,
            messages: 0.0,
            since: Duration::ZERO,
            early: Vec::new(),
            go_programs: GoPrograms::default(),
        };
        let look = session.source.look()?;
        session.roster.update(look.threads);
        session.early = look.talk;
        Ok(session)
    }

    /// Observes until the program ends, the time is over, or `stop` returns true.
    ///
    /// # Errors
    /// [`ObserveError::Kernel`]: earlier results stay.
    pub fn watch(
        &mut self,
        time: Option<Duration>,
        stop: StopCheck,
    ) -> Result<ObservationEnd, ObserveError> {
        self.pass(time, stop, true)
    }

    /// Like [`ObservationSession::watch`], for callers with frequent work: results may be older.
    ///
    /// # Errors
    /// As [`ObservationSession::watch`].
    pub fn wait(
        &mut self,
        time: Option<Duration>,
        stop: StopCheck,
    ) -> Result<ObservationEnd, ObserveError> {
        self.pass(time, stop, false)
    }

    fn pass(
        &mut self,
        time: Option<Duration>,
        stop: StopCheck,
        looks_last: bool,
    ) -> Result<ObservationEnd, ObserveError> {
        loop {
            let end = self.end(time, stop)?;
            // After the end, so that the last look misses nothing.
            let is_last = end.is_some_and(|end| looks_last || end != ObservationEnd::Time);
            if is_last || self.begun.elapsed() >= self.looked + WINDOW {
                self.look()?;
            }
            if let Some(end) = end {
                return Ok(end);
            }
            let pause = if self.child.is_some() { PAUSE } else { LONG_PAUSE };
            let left = time.map(|time| time.saturating_sub(self.begun.elapsed()));
            std::thread::sleep(left.map_or(pause, |left| left.min(pause)));
        }
    }

    fn end(
        &mut self,
        time: Option<Duration>,
        stop: StopCheck,
    ) -> Result<Option<ObservationEnd>, ObserveError> {
        // An ended child is a zombie until it is waited for.
        let child_lives =
            self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)));
        let is_late = time.is_some_and(|time| self.begun.elapsed() >= time);
        Ok(match () {
            () if stop() => Some(ObservationEnd::Stopped),
            // Before the time, so that short waits also see the end.
            () if self.is_over(child_lives, is_late)? => Some(ObservationEnd::Program),
            () if is_late => Some(ObservationEnd::Time),
            () => None,
        })
    }

    /// Asks the source only at looks, and when the command has just ended.
    fn is_over(&mut self, child_lives: bool, is_look: bool) -> Result<bool, ObserveError> {
        let is_news = std::mem::replace(&mut self.child_lived, child_lives) && !child_lives;
        let is_due = is_look || is_news || self.begun.elapsed() >= self.looked + WINDOW;
        Ok(!child_lives && is_due && !self.source.has_processes()?)
    }

    fn look(&mut self) -> Result<(), ObserveError> {
        let look = self.source.look()?;
        self.looked = self.begun.elapsed();
        self.roster.update(look.threads);
        let roster = &mut self.roster;
        let mut talk = std::mem::take(&mut self.early);
        talk.extend(look.talk);
        let between = talk.iter().filter(|talk| talk.from != talk.to);
        self.messages += between.map(|talk| talk.messages).sum::<f64>();
        let placed =
            talk.into_iter().map(|talk| (roster.place(talk.from), roster.place(talk.to), talk));
        self.stretches.take(self.looked, placed);
        // Without the source's report, a thread's CPU time is lost at its end.
        if self.looks.is_multiple_of(NAMES_EVERY) || !self.source.tells_cpu_times() {
            self.roster.look();
        }
        // By the second look the command has become its program.
        if self.looks.is_multiple_of(NAMES_EVERY) || self.looks == 1 {
            self.go_programs.look(self.roster.living().into_iter().map(|(pid, _)| pid));
        }
        self.looks += 1;
        Ok(())
    }

    /// The time since the session began.
    pub fn elapsed(&self) -> Duration {
        self.begun.elapsed()
    }

    /// The messages between the program's threads until the last look.
    pub fn messages(&self) -> f64 {
        self.messages
    }

    /// The mechanism, and why no better one.
    pub fn mechanism(&self) -> String {
        let better = self.better.as_ref();
        let reason = better.map(|reason| format!("; not {reason}")).unwrap_or_default();
        format!("{}{reason}", self.source.name())
    }

    /// Each thread's process and number at the last look, by first sight.
    pub fn threads(&self) -> Vec<(Tid, Tid)> {
        self.roster.living()
    }

    /// Pauses or resumes the observation of messages, almost without cost while paused. Threads'
    /// starts and ends are always observed. Records of each event cannot be paused.
    ///
    /// # Errors
    /// [`ObserveError::Kernel`].
    pub fn pause(&mut self, pauses: bool) -> Result<(), ObserveError> {
        Ok(self.source.pause(pauses)?)
    }

    /// Forgets the results so far, but still follows the program.
    pub fn forget(&mut self) {
        self.roster.forget();
        self.stretches = Stretches::default();
        self.early.clear();
        self.since = self.looked;
    }

    /// Ends the observation. A living command continues.
    pub fn finish(mut self) -> (Observation, Option<Child>) {
        // On a crowded computer, CPU times may be read long after the last look.
        if self.source.has_processes().unwrap_or(false) {
            let _ = self.look();
        }
        let observation = self.seen();
        (observation, self.child)
    }

    /// The result since the session began or restarted.
    pub fn seen(&mut self) -> Observation {
        self.roster.look();
        let (tasks, task_of) = self.roster.tasks();
        let mut windows = Vec::new();
        let mut from_s = self.since.as_secs_f64();
        for stretch in &self.stretches.all {
            let edges = stretch.pairs.iter().filter_map(|((from, to), sum)| {
                let [from, to] = program_ends(&task_of, *from, *to)?;
                Some(Edge { from, to, bytes: sum.bytes, messages: sum.messages })
            });
            let mut edges: Vec<Edge> = edges.collect();
            edges.sort_by_key(|edge| (edge.from, edge.to));
            let to_s = stretch.to.as_secs_f64();
            windows.push(Window { from_s, to_s, edges });
            from_s = to_s;
        }
        // An ending process is not followed.
        let is_own = |one: &Outsider| tasks.iter().any(|task| task.pid == one.pid);
        let (ended, outsiders): (Vec<_>, Vec<_>) =
            self.source.outsiders().into_iter().partition(is_own);
        let program_s: f64 = tasks.iter().map(|task| task.cpu_s).sum();
        let shares = self.shares(&task_of);
        let mut unseen = self.source.unseen();
        let wakeups: f64 = ended.iter().map(|one| one.wakeups).sum();
        let came = [
            "came from an ended process of the program",
            "came from ended processes of the program",
        ];
        unseen.extend(count_of(wakeups as u64, "wakeup", came));
        let counts_goroutines = self.source.methods().contains(&Method::Goroutines);
        unseen.extend(self.go_programs.unseen(counts_goroutines));
        // A halted program's silence means nothing.
        if shares.is_empty() {
            let pids: BTreeSet<Tid> = tasks.iter().map(|task| task.pid).collect();
            let halted = halted::among(&Root::new("/"), pids);
            unseen.extend(halted.iter().map(|HaltedProcess { pid, name, reason }| {
                format!("all messages of {name} ({pid}), which does not run: {reason}")
            }));
        }
        Observation {
            methods: self.source.methods().to_vec(),
            means: self.mechanism(),
            shares,
            overhead: self.overhead(program_s),
            from_start: self.child.is_some(),
            outsiders,
            unseen,
            tasks,
            windows,
        }
    }

    fn shares(&self, task_of: &[usize]) -> Vec<PairMessages> {
        let pairs = self.stretches.kinds.iter().filter_map(|((from, to), messages)| {
            Some((program_ends(task_of, *from, *to)?, messages))
        });
        let shares = pairs.flat_map(|([from, to], messages)| {
            let by_kind = TalkKind::ALL.into_iter().zip(*messages);
            by_kind.map(move |(kind, messages)| PairMessages { from, to, kind, messages })
        });
        PairMessages::largest_first(shares.filter(|share| share.messages > 0.0))
    }

    fn overhead(&mut self, program_s: f64) -> Option<f64> {
        if self.since > Duration::ZERO {
            return None;
        }
        let own_s = own_ns().saturating_sub(self.own_before_ns) as f64 / 1e9;
        let kernel_s = self.source.kernel_time()?.as_secs_f64();
        (program_s >= LEAST_S).then_some((kernel_s + own_s) / program_s)
    }
}

fn program_ends(task_of: &[usize], from: usize, to: usize) -> Option<[usize; 2]> {
    let ends = [task_of[from], task_of[to]];
    (!ends.contains(&usize::MAX)).then_some(ends)
}

fn source(
    method: Option<Method>,
    means: TracingMechanism,
) -> Result<(Box<dyn MessageSource>, Option<String>), ObserveError> {
    check(method.unwrap_or(Method::Wakeups), means)?;
    let mut reasons = Vec::new();
    for methods in parts(method, means) {
        match Ebpf::begin(methods) {
            Ok(ebpf) => return Ok((Box::new(ebpf), joined(reasons))),
            Err(error) => reasons.push(format!("eBPF: {}", with_causes(&error))),
        }
    }
    if means != TracingMechanism::Ebpf && !method.is_some_and(needs_ebpf) {
        match Perf::begin() {
            Ok(perf) => return Ok((Box::new(perf), joined(reasons))),
            Err(error) => reasons.push(format!("perf: {}", with_causes(&error))),
        }
    }
    Err(ObserveError::Forbidden { reasons: joined(reasons).unwrap_or_default() })
}

/// The methods that eBPF may use together, the best first.
fn parts(method: Option<Method>, means: TracingMechanism) -> &'static [&'static [Method]] {
    match method {
        _ if means == TracingMechanism::Perf => &[],
        None => &[&[Method::Wakeups, Method::Sockets], &[Method::Wakeups]],
        Some(Method::Sockets) => &[&[Method::Sockets]],
        Some(Method::Goroutines) => &[&[Method::Wakeups, Method::Sockets, Method::Goroutines]],
        Some(_) => &[&[Method::Wakeups]],
    }
}

fn needs_ebpf(method: Method) -> bool {
    matches!(method, Method::Sockets | Method::Goroutines)
}

fn check(method: Method, means: TracingMechanism) -> Result<(), ObserveError> {
    let root = Root::new("/");
    let reason = if needs_ebpf(method) && means == TracingMechanism::Perf {
        "it works only with ebpf".to_owned()
    } else if !needs_ebpf(method) && method != Method::Wakeups {
        "the program must report on itself".to_owned()
    } else if let Err(error) = proc_mount::check(&root) {
        error.to_string()
    } else if visibility::is_in_container(&root) {
        "thread IDs in this PID namespace differ from the kernel's; run it outside the container"
            .to_owned()
    } else {
        return Ok(());
    };
    Err(ObserveError::Unavailable { method, reason })
}

fn joined(mut reasons: Vec<String>) -> Option<String> {
    reasons.dedup();
    (!reasons.is_empty()).then(|| reasons.join("; "))
}

pub fn own_ns() -> u64 {
    task::times(task::own_tid()).map_or(0, |times| times.run_ns)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paused_session_counts_no_messages() {
        let own = Subject::Processes(vec![std::process::id() as Tid]);
        let mut session =
            match ObservationSession::begin(Some(Method::Wakeups), TracingMechanism::Ebpf, &own) {
                Ok(session) => session,
                Err(error) => return seatmap_needs::skipped!("{error}"),
            };
        let watch = |session: &mut ObservationSession, ms: u64| {
            let until = session.elapsed() + Duration::from_millis(ms);
            session.watch(Some(until), &|| false).unwrap();
            session.messages()
        };
        let (ask, asked) = std::sync::mpsc::sync_channel(0);
        let goes_on = std::sync::Arc::new(());
        let until = std::sync::Arc::downgrade(&goes_on);
        std::thread::spawn(move || while until.strong_count() > 0 && ask.send(()).is_ok() {});
        std::thread::spawn(move || while asked.recv().is_ok() {});
        assert!((0..1000).any(|_| watch(&mut session, 10) > 0.0));
        session.pause(true).unwrap();
        let paused = watch(&mut session, 10);
        assert_eq!(watch(&mut session, 50).to_bits(), paused.to_bits());
        session.pause(false).unwrap();
        assert!((0..1000).any(|_| watch(&mut session, 10) > paused));
        drop(goes_on);
    }
}
