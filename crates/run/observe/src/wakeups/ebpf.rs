//! Counts wakeups by eBPF programs.

use super::key::Key;
use super::layout::FieldOffsets;
use super::programs::{self, INTERRUPTS, LOST_PAIRS, LOST_THREADS, Tables};
use crate::goroutines::GoroutineHandoffs;
use crate::native::text;
use crate::outsiders::Outsiders;
use crate::sockets::Sockets;
use crate::source::{MessageSource, OF_INTERRUPTS, count_of};
use crate::talk::{Born, LINE_BYTES, TalkBatch};
use crate::{Method, TalkKind};
use seatmap_data::pattern::Outsider;
use seatmap_os::bpf::{AttachedProgram, Btf, BtfError, EbpfProgram, LoadError, Statistics};
use seatmap_os::{Tid, i32_at, u64_at};
use std::collections::HashMap;
use std::io;
use std::time::{Duration, Instant};

/// The programs are timed between every tenth look and the next.
const TIMED_EVERY: u64 = 10;

#[derive(Debug, thiserror::Error)]
pub enum EbpfError {
    #[error(transparent)]
    Types(#[from] BtfError),
    #[error("cannot create eBPF maps: {0}")]
    Tables(#[from] io::Error),
    #[error(transparent)]
    Load(#[from] LoadError),
}

pub struct Ebpf {
    tables: Tables,
    programs: Vec<AttachedProgram>,
    sockets: Option<Sockets>,
    handoffs: Option<GoroutineHandoffs>,
    methods: &'static [Method],
    outsiders: Outsiders,
    known: HashMap<Tid, (u64, bool)>,
    timed: Timed,
    /// Threads older than the observation that did not fit the tables.
    not_followed: u64,
}

#[derive(Default)]
struct Timed {
    statistics: Option<(Statistics, Instant)>,
    timed: Duration,
    begun: Option<Instant>,
    looks: u64,
}

impl Timed {
    /// Only between some looks, because timing costs more than some programs. The first look comes
    /// when the program has begun.
    fn look(&mut self) {
        self.begun.get_or_insert_with(Instant::now);
        if let Some((statistics, since)) = self.statistics.take() {
            self.timed += since.elapsed();
            drop(statistics);
        }
        if self.looks.is_multiple_of(TIMED_EVERY) {
            self.statistics = Statistics::begin().ok().zip(Some(Instant::now()));
        }
        self.looks += 1;
    }

    fn factor(&self) -> Option<f64> {
        let running = self.statistics.as_ref().map_or(Duration::ZERO, |(_, since)| since.elapsed());
        let timed = Some((self.timed + running).as_secs_f64()).filter(|timed| *timed > 0.0)?;
        Some(self.begun?.elapsed().as_secs_f64() / timed)
    }
}

impl Ebpf {
    /// With sockets, wakeups are those that move no counted bytes; with goroutines, those outside
    /// Go's runtime.
    pub fn begin(methods: &'static [Method]) -> Result<Self, EbpfError> {
        let btf = Btf::of_kernel()?;
        let layout = FieldOffsets::read(&btf)?;
        let tables = Tables::new()?;
        let places = [
            ("seatmap_waking", "sched_waking", programs::waking(&layout, &tables)),
            ("seatmap_fork", "sched_process_fork", programs::fork(&layout, &tables)),
            ("seatmap_exit", "sched_process_exit", programs::exit(&layout, &tables)),
        ];
        // Sockets need only the living threads.
        let unneeded = usize::from(!methods.contains(&Method::Wakeups));
        let mut attached = Vec::new();
        for (name, tracepoint, code) in places.into_iter().skip(unneeded) {
            let place = btf.tracepoint(tracepoint)?;
            attached.push(EbpfProgram::load(name, place, &code)?.attach()?);
        }
        let has_sockets = methods.contains(&Method::Sockets);
        let sockets = has_sockets.then(|| Sockets::begin(&btf, &layout, &tables)).transpose()?;
        let has_goroutines = methods.contains(&Method::Goroutines);
        let handoffs = has_goroutines.then(|| GoroutineHandoffs::begin(&tables)).transpose()?;
        Ok(Ebpf {
            tables,
            programs: attached,
            sockets,
            handoffs,
            methods,
            outsiders: Outsiders::default(),
            known: HashMap::new(),
            timed: Timed::default(),
            not_followed: 0,
        })
    }

    fn talk(&mut self, look: &mut TalkBatch) -> io::Result<()> {
        let outsiders = &mut self.outsiders;
        self.tables.pairs.take(|key, value| {
            let Some((parsed, count)) = Key::parse(key, value) else { return };
            let Some(talk) = parsed.talk(count) else { return };
            if parsed.waker < 0 {
                outsiders.count(-parsed.waker, talk.messages, || {
                    text(value.get(16..32).unwrap_or_default())
                });
            } else {
                look.talk.push(talk);
            }
        })?;
        let Some(sockets) = &mut self.sockets else { return Ok(()) };
        let is_pipe_seen = look.talk.iter().any(|talk| talk.kind == TalkKind::Pipe);
        let counts_pipes = sockets.counts_pipes();
        // Bytes are added below; these wakeups would count twice.
        look.talk.retain(|talk| match talk.kind {
            TalkKind::Socket => false,
            TalkKind::Pipe => !counts_pipes,
            _ => true,
        });
        // Next to real bytes, a wakeup counts as a cache line.
        look.talk.iter_mut().for_each(|talk| talk.bytes *= LINE_BYTES);
        look.talk.append(&mut sockets.talk(is_pipe_seen)?);
        Ok(())
    }

    fn threads(&mut self, look: &mut TalkBatch) -> io::Result<()> {
        let known = &mut self.known;
        let handoffs = &mut self.handoffs;
        let mut ended = Vec::new();
        self.tables.threads.entries(|key, value| {
            let Some(born) = born(key, value) else { return };
            if born.end.is_some() {
                ended.push(born.tid);
            }
            handoffs.iter_mut().for_each(|handoffs| handoffs.meet(born.tid, born.pid));
            let state = (born.born_ns, born.end.is_some());
            if known.insert(born.tid, state) != Some(state) {
                look.threads.push(born);
            }
        })?;
        // Their ends are reported, so the table needs them no longer.
        for tid in ended {
            self.tables.threads.remove(&tid.to_ne_bytes())?;
            self.known.remove(&tid);
        }
        Ok(())
    }

    /// Replaces the wakeups by which Go's scheduler starts and stops its threads.
    fn handoffs(&mut self, look: &mut TalkBatch) -> io::Result<()> {
        let Some(handoffs) = &mut self.handoffs else { return Ok(()) };
        handoffs.look();
        look.talk.retain(|talk| talk.kind != TalkKind::Futex || !handoffs.is_between(talk));
        look.talk.append(&mut handoffs.talk()?);
        let ended = look.threads.iter().filter(|born| born.end.is_some());
        ended.for_each(|born| handoffs.forget(born.tid));
        Ok(())
    }
}

fn has_room(set: io::Result<()>) -> io::Result<bool> {
    match set {
        Err(error) if error.kind() == io::ErrorKind::ArgumentListTooLong => Ok(false),
        set => set.map(|()| true),
    }
}

fn born(key: &[u8], value: &[u8]) -> Option<Born> {
    // `programs::THREAD_BYTES` lists the fields.
    let end = (u64_at(value, 8)? != 0).then_some((text(value.get(32..48)?), u64_at(value, 16)?));
    Some(Born {
        tid: i32_at(key, 0)?,
        creator: i32_at(value, 24)?,
        pid: i32_at(value, 28)?,
        born_ns: u64_at(value, 0)?,
        end,
    })
}

impl MessageSource for Ebpf {
    fn name(&self) -> &'static str {
        "eBPF"
    }

    fn methods(&self) -> &'static [Method] {
        self.methods
    }

    fn follow(&mut self, pid: Tid) -> io::Result<()> {
        // The process first, so that one of the two lists has a thread created meanwhile.
        let tids = seatmap_os::task::threads(pid)?;
        if !has_room(self.tables.processes.set(&pid.to_ne_bytes(), &1u32.to_ne_bytes()))? {
            self.not_followed += tids.len().max(1) as u64;
            return Ok(());
        }
        for tid in seatmap_os::task::threads(pid)? {
            let key = tid.to_ne_bytes();
            // The kernel's own record of it says more.
            if self.tables.threads.get(&key)?.is_none() {
                let mut record = vec![0; programs::THREAD_BYTES];
                record[28..32].copy_from_slice(&pid.to_ne_bytes());
                self.not_followed += u64::from(!has_room(self.tables.threads.set(&key, &record))?);
            }
        }
        // The kernel may have reported its end before it was followed, and will not again.
        if !seatmap_os::task::lives(pid) {
            self.tables.processes.remove(&pid.to_ne_bytes())?;
        }
        Ok(())
    }

    fn follow_own_children(&mut self, on: bool) -> io::Result<()> {
        let own = if on { u64::from(std::process::id()) } else { 0 };
        self.tables.launcher.set_counts(&[own])
    }

    fn pause(&mut self, pauses: bool) -> io::Result<()> {
        self.tables.pause(pauses)
    }

    fn tells_cpu_times(&self) -> bool {
        true
    }

    fn look(&mut self) -> io::Result<TalkBatch> {
        self.timed.look();
        let mut look = TalkBatch::default();
        // Messages before threads, so that senders and receivers are known.
        self.talk(&mut look)?;
        self.threads(&mut look)?;
        self.handoffs(&mut look)?;
        Ok(look)
    }

    fn has_processes(&self) -> io::Result<bool> {
        Ok(!self.tables.processes.is_empty()?)
    }

    fn kernel_time(&mut self) -> Option<Duration> {
        let factor = self.timed.factor()?;
        let times = self.programs.iter().map(|program| program.run_time().map(|run| run.time));
        let of_programs: Duration = times.sum::<io::Result<_>>().ok()?;
        let of_bytes = self.sockets.as_ref().map(Sockets::run_time).transpose().ok()?;
        // These are always counted.
        let of_goroutines = self.handoffs.as_ref().map(GoroutineHandoffs::time).transpose().ok()?;
        let timed = of_programs + of_bytes.unwrap_or_default();
        Some(timed.mul_f64(factor) + of_goroutines.unwrap_or_default())
    }

    fn outsiders(&self) -> Vec<Outsider> {
        self.outsiders.all()
    }

    fn unseen(&self) -> Vec<String> {
        let Ok(counts) = self.tables.counters.counts() else { return Vec::new() };
        let count = |number: u32| counts.get(number as usize).copied().unwrap_or_default();
        let threads = count(LOST_THREADS) + self.not_followed;
        let sentences = [
            count_of(count(INTERRUPTS), "wakeup", [OF_INTERRUPTS; 2]),
            count_of(
                count(LOST_PAIRS),
                "wakeup",
                ["was lost: the table of pairs was full", "were lost: the table of pairs was full"],
            ),
            count_of(
                threads,
                "thread",
                [
                    "was lost: the table of threads was full",
                    "were lost: the table of threads was full",
                ],
            ),
        ];
        let of_sockets = self.sockets.iter().flat_map(Sockets::unseen);
        let of_goroutines = self.handoffs.iter().flat_map(GoroutineHandoffs::unseen);
        sentences.into_iter().flatten().chain(of_sockets).chain(of_goroutines).collect()
    }
}
