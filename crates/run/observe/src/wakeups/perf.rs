//! Counts wakeups from a kernel record of each: slower than eBPF, and permitted more often.

use crate::outsiders::Outsiders;
use crate::source::{MessageSource, OF_INTERRUPTS, count_of};
use crate::talk::{Born, TalkBatch, ThreadMessages};
use crate::{Method, TalkKind};
use seatmap_data::invariant;
use seatmap_data::pattern::Outsider;
use seatmap_os::cpus::Cpus;
use seatmap_os::records::{Records, TracepointRecord};
use seatmap_os::task::Family;
use seatmap_os::tracefs::Tracefs;
use seatmap_os::{Tid, i32_at, task};
use std::collections::{HashMap, HashSet};
use std::io;
use std::time::Duration;

/// An estimate: rings of eight threads used 1.2 to 1.9 us more per wakeup, on a loaded virtual
/// machine (AMD EPYC, KVM, Linux 6.18).
const RECORD: Duration = Duration::from_nanos(1500);

/// The record flags of a device interrupt and of a non-maskable one
/// (`include/linux/trace_events.h`).
const IN_HARDIRQ: u8 = 0x08 | 0x40;

const FLAGS: usize = 2;

#[derive(Default)]
pub struct Perf {
    cpus: Vec<Records>,
    wakee: usize,
    processes: HashMap<Tid, HashSet<Tid>>,
    threads: HashMap<Tid, Tid>,
    /// Older threads found since the last look.
    found: HashMap<Tid, Born>,
    follows_children: bool,
    /// Children are followed until the look after following was switched off.
    ends_following: bool,
    born_ns: HashMap<Tid, (u64, Tid)>,
    names: HashMap<Tid, String>,
    records: u64,
    interrupts: u64,
    strangers: Outsiders,
    stranger_names: HashMap<Tid, String>,
    lost: u64,
}

impl Perf {
    pub fn begin() -> io::Result<Self> {
        let tracepoint = Tracefs::open()?.tracepoint("sched/sched_waking")?;
        let wakee = tracepoint.field("pid").filter(|(_, bytes)| *bytes == 4);
        let (wakee, _) = wakee.ok_or_else(|| io::Error::other("sched_waking has no thread ID"))?;
        let online = Cpus::read()?.online;
        let cpus = online
            .into_iter()
            .map(|cpu| Records::begin(&tracepoint, cpu))
            .collect::<io::Result<_>>()?;
        Ok(Perf { cpus, wakee, ..Perf::default() })
    }

    fn add(&mut self, pid: Tid, tid: Tid) {
        // If the end record of an earlier thread with this TID is lost, its process would never
        // end.
        self.leave(tid);
        self.processes.entry(pid).or_default().insert(tid);
        self.threads.insert(tid, pid);
    }

    fn take(
        &mut self,
        record: TracepointRecord,
        counts: &mut HashMap<(Tid, Tid), u64>,
        look: &mut TalkBatch,
    ) {
        match record {
            TracepointRecord::Passed { tid, data, .. } => self.passed(tid, &data, counts),
            TracepointRecord::Created { time_ns, tid, pid, creator, creator_pid } => {
                // A child of this process, not a thread of it.
                let is_own =
                    self.follows_children && creator_pid == task::own_pid() && pid != creator_pid;
                if is_own || self.processes.contains_key(&creator_pid) {
                    // It was created while its process came under observation. The record says
                    // more.
                    self.found.remove(&tid);
                    self.add(pid, tid);
                    self.born_ns.insert(tid, (time_ns, creator));
                    look.threads.push(Born { tid, pid, creator, born_ns: time_ns, end: None });
                }
            }
            TracepointRecord::Ended { tid, .. } => self.ended(tid, look),
            TracepointRecord::Named { tid, name, .. } => {
                let is_ours = self.threads.contains_key(&tid);
                let names = if is_ours { &mut self.names } else { &mut self.stranger_names };
                names.insert(tid, name);
            }
            TracepointRecord::Lost(count) => self.lost += count,
        }
    }

    fn passed(&mut self, waker: Tid, data: &[u8], counts: &mut HashMap<(Tid, Tid), u64>) {
        self.records += 1;
        let wakee = i32_at(data, self.wakee).filter(|wakee| self.threads.contains_key(wakee));
        let Some(wakee) = wakee else { return };
        let in_hardirq = data.get(FLAGS).is_some_and(|flags| flags & IN_HARDIRQ != 0);
        match () {
            // Thread 0 is a CPU's idle thread, which wakes no other thread itself.
            () if in_hardirq || waker == 0 => self.interrupts += 1,
            () if !self.threads.contains_key(&waker) => {
                // An ended thread is reported by its own number.
                let pid = Family::of(waker).map_or(waker, |family| family.pid);
                let names = &self.stranger_names;
                self.strangers.count(pid, 1.0, || names.get(&pid).cloned().unwrap_or_default());
            }
            () if waker != wakee => *counts.entry((waker, wakee)).or_default() += 1,
            () => {}
        }
    }

    fn ended(&mut self, tid: Tid, look: &mut TalkBatch) {
        self.stranger_names.remove(&tid);
        let Some(pid) = self.leave(tid) else { return };
        let (born_ns, creator) = self.born_ns.remove(&tid).unwrap_or_default();
        let end = Some((self.names.remove(&tid).unwrap_or_default(), 0));
        look.threads.push(Born { tid, pid, creator, born_ns, end });
    }

    /// Stops following a thread, and its process with the last one. Returns the process.
    fn leave(&mut self, tid: Tid) -> Option<Tid> {
        let pid = self.threads.remove(&tid)?;
        if let Some(living) = self.processes.get_mut(&pid) {
            living.remove(&tid);
            if living.is_empty() {
                self.processes.remove(&pid);
            }
        }
        Some(pid)
    }

    fn look_at(&mut self, records: Vec<TracepointRecord>) -> TalkBatch {
        let mut look = TalkBatch::default();
        let mut counts = HashMap::new();
        records.into_iter().for_each(|record| self.take(record, &mut counts, &mut look));
        self.check();
        self.follows_children &= !self.ends_following;
        // Their ends may be among the records.
        look.threads.splice(0..0, self.found.drain().map(|(_, born)| born));
        let talk = counts.into_iter().map(|((from, to), count)| {
            let messages = count as f64;
            ThreadMessages { from, to, kind: TalkKind::Other, messages, bytes: messages }
        });
        look.talk = talk.collect();
        look
    }

    fn check(&self) {
        let in_processes: usize = self.processes.values().map(HashSet::len).sum();
        invariant!(
            in_processes == self.threads.len() && !self.processes.values().any(HashSet::is_empty),
            "records of wakeups",
            "{} threads are followed, and {in_processes} of these processes: {:?}",
            self.threads.len(),
            self.processes
        );
    }
}

impl MessageSource for Perf {
    fn name(&self) -> &'static str {
        "perf"
    }

    fn methods(&self) -> &'static [Method] {
        &[Method::Wakeups]
    }

    fn follow(&mut self, pid: Tid) -> io::Result<()> {
        for tid in task::threads(pid)? {
            self.add(pid, tid);
            self.found.insert(tid, Born { tid, pid, ..Born::default() });
        }
        Ok(())
    }

    fn follow_own_children(&mut self, on: bool) -> io::Result<()> {
        // The record of the child's creation is read later.
        self.follows_children |= on;
        self.ends_following = !on;
        Ok(())
    }

    fn tells_cpu_times(&self) -> bool {
        false
    }

    fn look(&mut self) -> io::Result<TalkBatch> {
        let mut records = Vec::new();
        self.cpus.iter_mut().for_each(|cpu| cpu.take(|record| records.push(record)));
        // Only the records of one CPU's buffer are in order.
        records.sort_by_key(TracepointRecord::time_ns);
        Ok(self.look_at(records))
    }

    fn has_processes(&self) -> io::Result<bool> {
        Ok(!self.processes.is_empty())
    }

    fn kernel_time(&mut self) -> Option<Duration> {
        Some(RECORD.mul_f64(self.records as f64))
    }

    fn outsiders(&self) -> Vec<Outsider> {
        self.strangers.all()
    }

    fn unseen(&self) -> Vec<String> {
        let kinds =
            "how threads wait: perf's records do not distinguish futexes, pipes and sockets"
                .to_owned();
        let counted = [
            count_of(self.interrupts, "wakeup", [OF_INTERRUPTS; 2]),
            count_of(
                self.lost,
                "record",
                [
                    "was lost: a CPU wrote it faster than it was read",
                    "were lost: a CPU wrote them faster than they were read",
                ],
            ),
        ];
        counted.into_iter().flatten().chain([kinds]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn followed() -> Perf {
        let mut perf = Perf::default();
        for tid in [7, 8] {
            perf.add(7, tid);
            perf.found.insert(tid, Born { tid, pid: 7, ..Born::default() });
        }
        perf
    }

    fn created() -> TracepointRecord {
        TracepointRecord::Created { time_ns: 100, tid: 8, pid: 7, creator: 7, creator_pid: 7 }
    }

    #[test]
    fn found_and_recorded_thread_is_one_task() {
        let born = Born { tid: 8, pid: 7, creator: 7, born_ns: 100, end: None };
        let first = Born { tid: 7, pid: 7, ..Born::default() };
        let look = followed().look_at(vec![created()]);
        assert_eq!(look.threads, [first.clone(), born.clone()]);
        let end = Some((String::new(), 0));
        let ended = TracepointRecord::Ended { time_ns: 200, tid: 8 };
        let look = followed().look_at(vec![created(), ended]);
        assert_eq!(look.threads, [first, born.clone(), Born { end, ..born }]);
    }

    #[test]
    fn outside_waker_counts_for_its_process() {
        let waker = std::thread::spawn(|| {
            let mut perf = followed();
            let waker = task::own_tid();
            perf.passed(waker, &8_i32.to_ne_bytes(), &mut HashMap::new());
            perf.passed(1, &8_i32.to_ne_bytes(), &mut HashMap::new());
            (waker, perf.outsiders())
        });
        let (waker, outsiders) = waker.join().unwrap();
        assert_ne!(waker, task::own_pid());
        let pids: Vec<Tid> = outsiders.iter().map(|outsider| outsider.pid).collect();
        assert_eq!(pids, [1], "this process is not listed");
    }

    #[test]
    fn found_thread_may_end_immediately() {
        let look = followed().look_at(vec![TracepointRecord::Ended { time_ns: 200, tid: 8 }]);
        let of = look.threads.iter().filter(|born| born.tid == 8);
        let ends: Vec<bool> = of.map(|born| born.end.is_some()).collect();
        assert_eq!(ends, [false, true]);
    }

    #[test]
    fn process_ends_despite_lost_thread_record() {
        let mut perf = Perf::default();
        perf.add(7, 8);
        perf.add(9, 8);
        perf.check();
        assert_eq!((perf.leave(8), perf.has_processes().unwrap()), (Some(9), false));
    }

    #[test]
    #[should_panic(expected = "broke an invariant: records of wakeups: 0 threads are followed")]
    fn process_without_followed_thread_panics() {
        let mut perf = Perf::default();
        perf.processes.entry(7).or_default().insert(7);
        perf.check();
    }
}
