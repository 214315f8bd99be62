//! Counts threads' time on each CPU by an eBPF program. Periodic looks find a brief migration only
//! by chance.

use crate::files::SystemFiles;
use crate::seating::{RanOn, WatchedThread};
use crate::thread::ran_on;
use seatmap_data::document::with_causes;
use seatmap_os::bpf::assembler::EbpfOperation::Subtract;
use seatmap_os::bpf::assembler::EbpfRegister::{R0, R1, R2, R3, R6, R7, R8, R9, Stack};
use seatmap_os::bpf::assembler::JumpCondition::{Different, Equal};
use seatmap_os::bpf::assembler::Width::{Double, Word};
use seatmap_os::bpf::assembler::{Assembler, Helper};
use seatmap_os::bpf::{
    AttachedProgram, Btf, BtfError, EbpfProgram, LoadError, Map, room_for_threads,
};
use seatmap_os::{Root, Tid, boot, i32_at, rights, u32_at, u64_at, visibility};
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::io;

/// The minimum table sizes: running processes and threads, and pairs of thread and CPU.
const RUNNING: u32 = 16_384;
const PAIRS: u32 = 65_536;

const ANY: i32 = 0;

#[derive(Debug, thiserror::Error)]
enum TraceError {
    #[error("cannot trace the scheduler of another computer")]
    Elsewhere,
    #[error("thread IDs in a container differ from the kernel's")]
    Container,
    #[error(transparent)]
    Types(#[from] BtfError),
    #[error(
        "cannot create eBPF maps ({0}); run {by}, or with CAP_BPF and CAP_PERFMON",
        by = rights::as_root()
    )]
    Tables(#[from] io::Error),
    #[error(transparent)]
    Load(#[from] LoadError),
}

pub struct SchedulerTrace(Result<Counting, String>);

#[derive(Debug)]
struct Counting {
    tables: Tables,
    _program: AttachedProgram,
    followed: BTreeSet<Tid>,
    before: HashMap<Tid, Times>,
    before_ns: u64,
    lost: u64,
}

type Times = BTreeMap<u32, u64>;

#[derive(Debug)]
struct Tables {
    processes: Map,
    running: Map,
    /// In ns per thread and CPU.
    times: Map,
    lost: Map,
}

impl SchedulerTrace {
    /// Starts counting. Each seating reports a failure.
    pub fn begin(root: &Root, pids: &BTreeSet<Tid>) -> Self {
        SchedulerTrace(Counting::begin(root, pids).map_err(|error| error.to_string()))
    }

    /// New processes are counted from now on.
    pub fn tell(&mut self, threads: &mut [WatchedThread], files: &mut SystemFiles) {
        let result = match &mut self.0 {
            Ok(counting) => counting
                .tell(threads)
                .map_err(|error| format!("cannot trace the scheduler: {}", with_causes(&error))),
            Err(why) => Err(why.clone()),
        };
        if let Err(why) = result {
            files.note("trace", None, format!("{why}; short looks sample the CPUs instead"));
        }
    }
}

impl Counting {
    fn begin(root: &Root, pids: &BTreeSet<Tid>) -> Result<Self, TraceError> {
        if !root.is_this_computer() {
            return Err(TraceError::Elsewhere);
        }
        if visibility::is_in_container(root) {
            return Err(TraceError::Container);
        }
        let tables = Tables {
            processes: Map::hash("processes", 4, 8, room_for_threads(RUNNING))?,
            running: Map::hash("running", 4, 16, room_for_threads(RUNNING))?,
            times: Map::hash("times", 8, 8, room_for_threads(PAIRS))?,
            lost: Map::counters("lost", 1)?,
        };
        let btf = Btf::of_kernel()?;
        let fields = [btf.field("task_struct", "pid")?, btf.field("task_struct", "tgid")?];
        let place = btf.tracepoint("sched_switch")?;
        let program =
            EbpfProgram::load("seatmap_switch", place, &switch(&tables, fields))?.attach()?;
        let mut counting = Counting {
            tables,
            _program: program,
            followed: BTreeSet::new(),
            before: HashMap::new(),
            before_ns: boot::awake_nanoseconds(),
            lost: 0,
        };
        counting.follow(pids)?;
        Ok(counting)
    }

    fn follow(&mut self, pids: &BTreeSet<Tid>) -> io::Result<()> {
        for gone in self.followed.difference(pids) {
            // The entry need not exist.
            let _ = self.tables.processes.remove(&gone.to_ne_bytes());
        }
        for new in pids.difference(&self.followed) {
            self.tables
                .processes
                .set(&new.to_ne_bytes(), &boot::awake_nanoseconds().to_ne_bytes())?;
        }
        self.followed.clone_from(pids);
        Ok(())
    }

    fn tell(&mut self, threads: &mut [WatchedThread]) -> io::Result<()> {
        let (now, now_ns) = self.times()?;
        let is_whole = self.has_kept_all()?;
        // A count with gaps would show too few CPUs.
        if is_whole {
            self.mark(threads, &now, now_ns.saturating_sub(self.before_ns));
        }
        let alive: HashSet<Tid> = threads.iter().map(|thread| thread.tid).collect();
        self.keep(now, now_ns, &alive);
        self.follow(&threads.iter().map(|thread| thread.pid).collect())?;
        if is_whole {
            Ok(())
        } else {
            Err(io::Error::other("more threads ran than the eBPF maps hold"))
        }
    }

    fn has_kept_all(&mut self) -> io::Result<bool> {
        let lost = self.tables.lost.counts()?.iter().sum();
        Ok(std::mem::replace(&mut self.lost, lost) == lost)
    }

    fn mark(&self, threads: &mut [WatchedThread], now: &HashMap<Tid, Times>, passed_ns: u64) {
        for thread in threads.iter_mut().filter(|thread| self.followed.contains(&thread.pid)) {
            let times = since(self.before.get(&thread.tid), now.get(&thread.tid), passed_ns);
            thread.is_traced = true;
            thread.ran_on = match (now.contains_key(&thread.tid), thread.cpu) {
                // It has run without a switch since before the count, so it is still on that CPU.
                (false, Some(cpu)) if thread.run_percent > 0.0 => {
                    vec![RanOn { cpu, percent: 100.0 }]
                }
                _ => shares(&times),
            };
        }
    }

    /// Removes a thread only if an earlier count had it: living threads may lack a new one.
    fn keep(&mut self, now: HashMap<Tid, Times>, now_ns: u64, alive: &HashSet<Tid>) {
        let earlier = std::mem::replace(&mut self.before, now);
        for (tid, times) in
            self.before.extract_if(|tid, _| earlier.contains_key(tid) && !alive.contains(tid))
        {
            for cpu in times.keys() {
                // The entry need not exist.
                let _ = self.tables.times.remove(&key(tid, *cpu));
            }
        }
        self.before_ns = now_ns;
    }

    fn times(&self) -> io::Result<(HashMap<Tid, Times>, u64)> {
        let mut all: HashMap<Tid, Times> = HashMap::new();
        // A switch between the two reads counts twice; the next count subtracts it.
        let mut running = Vec::new();
        self.tables.running.entries(|key, value| {
            let since = u64_at(value, 0).zip(u64_at(value, 8));
            running.extend(i32_at(key, 0).zip(since));
        })?;
        let now_ns = boot::awake_nanoseconds();
        self.tables.times.entries(|key, value| {
            let place = i32_at(key, 0).zip(u32_at(key, 4));
            if let Some(((tid, cpu), ns)) = place.zip(u64_at(value, 0)) {
                *all.entry(tid).or_default().entry(cpu).or_default() += ns;
            }
        })?;
        for (tid, (since_ns, cpu)) in running {
            let ns = now_ns.saturating_sub(since_ns);
            *all.entry(tid).or_default().entry(cpu as u32).or_default() += ns;
        }
        Ok((all, now_ns))
    }
}

fn key(tid: Tid, cpu: u32) -> [u8; 8] {
    let mut key = [0; 8];
    key[..4].copy_from_slice(&tid.to_ne_bytes());
    key[4..].copy_from_slice(&cpu.to_ne_bytes());
    key
}

/// The window is the limit, because a late first switch would add earlier time.
fn since(before: Option<&Times>, now: Option<&Times>, window_ns: u64) -> Times {
    now.into_iter()
        .flatten()
        .map(|(cpu, ns)| {
            let earlier = before.and_then(|times| times.get(cpu)).copied().unwrap_or(0);
            (*cpu, ns.saturating_sub(earlier).min(window_ns))
        })
        .filter(|(_, ns)| *ns > 0)
        .collect()
}

fn shares(times: &Times) -> Vec<RanOn> {
    let all: u64 = times.values().sum();
    ran_on(times.iter().map(|(cpu, ns)| (*cpu, 100.0 * *ns as f64 / all as f64)))
}

/// `sched_switch(preempted, previous, next)`. Registers: 6 the previous thread, later its time on
/// the CPU; 7 the next thread; 8 the CPU; 9 the time. Stack: the process at -4, the thread at -8,
/// thread and CPU at -16, a start and its CPU at -32, the time on the CPU at -40.
fn switch(tables: &Tables, fields: [usize; 2]) -> Assembler {
    let mut code = Assembler::new();
    code.load(Double, R6, R1, 8).load(Double, R7, R1, 16);
    code.call(Helper::Clock).copy(R9, R0).call(Helper::Cpu).copy(R8, R0);
    leave(&mut code, tables, fields);
    begin(code.label("next"), tables, fields);
    code.label("end").end().label("lost").count_one(&tables.lost, 0).end();
    code
}

fn leave(code: &mut Assembler, tables: &Tables, [pid, tgid]: [usize; 2]) {
    code.load(Word, R1, R6, tgid).store(Word, Stack, -4, R1);
    code.look_up(&tables.processes, -4).jump_if(Equal, R0, 0, "next");
    code.load(Double, R3, R0, 0).load(Word, R1, R6, pid).store(Word, Stack, -8, R1);
    code.store(Word, Stack, -16, R1).store(Word, Stack, -12, R8);
    code.copy(R6, R9).calculate(Subtract, R6, R3);
    code.look_up(&tables.running, -8).jump_if(Equal, R0, 0, "begun");
    code.load(Double, R1, R0, 0).copy(R6, R9).calculate(Subtract, R6, R1);
    code.label("begun").store(Double, Stack, -40, R6);
    code.map(R1, &tables.running).stack(R2, -8).call(Helper::Delete);
    code.look_up(&tables.times, -16).jump_if(Equal, R0, 0, "first");
    code.count(R0, 0, R6).jump("next").label("first");
    code.update(&tables.times, [-16, -40], ANY).jump_if(Different, R0, 0, "lost");
}

fn begin(code: &mut Assembler, tables: &Tables, [pid, tgid]: [usize; 2]) {
    code.load(Word, R1, R7, tgid).store(Word, Stack, -4, R1);
    code.look_up(&tables.processes, -4).jump_if(Equal, R0, 0, "end");
    code.load(Word, R1, R7, pid).store(Word, Stack, -8, R1);
    code.store(Double, Stack, -32, R9).store(Double, Stack, -24, R8);
    code.update(&tables.running, [-8, -32], ANY).jump_if(Different, R0, 0, "lost");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_shares_are_capped_by_window() {
        let [before, now] =
            [BTreeMap::from([(0, 50), (1, 10)]), BTreeMap::from([(0, 80), (1, 10), (2, 900)])];
        let new = since(Some(&before), Some(&now), 100);
        assert_eq!(new, BTreeMap::from([(0, 30), (2, 100)]));
        assert_eq!(since(None, None, 100), BTreeMap::new());
        let shares = shares(&BTreeMap::from([(0, 25), (3, 75)]));
        assert_eq!(shares, [RanOn { cpu: 3, percent: 75.0 }, RanOn { cpu: 0, percent: 25.0 }]);
    }

    #[test]
    fn ended_threads_are_removed_from_table() {
        let pid = std::process::id() as Tid;
        let mut counting = match Counting::begin(&Root::new("/"), &BTreeSet::from([pid])) {
            Ok(counting) => counting,
            Err(why) => return seatmap_needs::skipped!("{why}"),
        };
        for _ in 0..200 {
            std::thread::spawn(|| std::thread::sleep(std::time::Duration::from_micros(100)))
                .join()
                .unwrap();
        }
        let [_, second, third] = [0; 3].map(|_| {
            let (now, now_ns) = counting.times().unwrap();
            let count = now.len();
            counting.keep(now, now_ns, &HashSet::from([pid]));
            count
        });
        assert!(second >= 200 && third < 100, "{second}, then {third}");
    }

    #[test]
    fn scheduler_trace_rejects_other_computer() {
        let folder = tempfile::tempdir().unwrap();
        let result =
            SchedulerTrace::begin(&Root::new(folder.path()), &BTreeSet::new()).0.unwrap_err();
        assert!(result.contains("another computer"), "{result}");
    }
}
