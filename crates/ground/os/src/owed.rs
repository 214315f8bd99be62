//! Restores affinity masks, and again when an offline CPU returns.
//!
//! Kernels before 6.3 remove offline CPUs from every new mask ([`affinity::forgets_offline`]), so a
//! process must wait until each thread has its whole mask, has exited, or has got another mask.
//!
//! | process that restores masks | process or thread that waits |
//! |---|---|
//! | a command that ends: a cell, a plan of services | its guardian, by [`OwedMasks::wait`] |
//! | a launcher while its program runs | itself ([`OwedMasks::note`], [`OwedMasks::look`]) |
//! | a process with other work | one of its threads ([`crate::kept_masks`]) |

use crate::task::{ThreadIdentity, ThreadStat};
use crate::{CpuList, CpuSet, Tid, affinity};
use std::fmt;
use std::io;
use std::str::FromStr;
use std::time::Duration;

/// A scan reads one small file, and CPUs seldom return.
pub(crate) const PAUSE: Duration = Duration::from_secs(1);

/// A thread and its mask. As text: number, start, CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ThreadMask {
    /// Thread.
    pub tid: Tid,
    /// Start in clock ticks after the boot; identifies threads that reuse a number.
    pub started_ticks: u64,
    /// Its mask.
    pub cpus: CpuSet,
}

impl ThreadMask {
    /// A thread with a mask.
    pub fn of(thread: ThreadIdentity, cpus: CpuSet) -> Self {
        ThreadMask { tid: thread.tid, started_ticks: thread.started_ticks, cpus }
    }

    /// The thread.
    pub fn identity(&self) -> ThreadIdentity {
        ThreadIdentity { tid: self.tid, started_ticks: self.started_ticks }
    }
}

impl fmt::Display for ThreadMask {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} {} {}", self.tid, self.started_ticks, self.cpus.list())
    }
}

/// Text that does not describe a thread and its mask.
#[derive(Clone, Copy, Debug, PartialEq, thiserror::Error)]
#[error("expected a thread ID, its start in clock ticks, and a list of CPUs")]
pub struct NoThreadMask;

impl FromStr for ThreadMask {
    type Err = NoThreadMask;

    fn from_str(text: &str) -> Result<Self, NoThreadMask> {
        let mut words = text.split(' ');
        let tid = parsed(words.next())?;
        let started_ticks = parsed(words.next())?;
        let list: CpuList = parsed(words.next())?;
        Ok(ThreadMask { tid, started_ticks, cpus: list.0.into_iter().collect() })
    }
}

fn parsed<T: FromStr>(word: Option<&str>) -> Result<T, NoThreadMask> {
    word.and_then(|word| word.parse().ok()).ok_or(NoThreadMask)
}

/// The kernel's calls about masks, replaceable in tests.
pub trait MaskKernel {
    /// Offline CPUs, if the kernel removes them from masks.
    fn forgotten_cpus(&self) -> CpuSet;

    /// The thread that has this number.
    fn identity(&self, tid: Tid) -> Option<ThreadIdentity>;

    /// Whole mask of a thread; `None` if it has exited.
    fn mask(&self, thread: ThreadIdentity) -> Option<CpuSet>;

    /// Sets a thread's mask.
    ///
    /// # Errors
    /// The kernel's.
    fn give(&mut self, tid: Tid, cpus: &CpuSet) -> io::Result<()>;
}

/// This computer's kernel.
#[derive(Clone, Copy, Debug)]
pub struct RunningKernel;

impl MaskKernel for RunningKernel {
    fn forgotten_cpus(&self) -> CpuSet {
        if affinity::forgets_offline() { affinity::offline() } else { CpuSet::default() }
    }

    fn identity(&self, tid: Tid) -> Option<ThreadIdentity> {
        ThreadIdentity::of(tid)
    }

    fn mask(&self, thread: ThreadIdentity) -> Option<CpuSet> {
        let task = ThreadStat::of(thread.tid).filter(|task| task.identity() == thread)?;
        affinity::whole(thread.tid).ok().filter(|_| !task.has_ended())
    }

    fn give(&mut self, tid: Tid, cpus: &CpuSet) -> io::Result<()> {
        cpus.give(tid)
    }
}

#[derive(Clone, Debug, PartialEq)]
struct Owed {
    thread: ThreadMask,
    has: CpuSet,
}

impl Owed {
    /// `None` if no missing CPU can return.
    fn give(kernel: &mut impl MaskKernel, thread: ThreadMask) -> Option<Self> {
        // The number may be reused.
        kernel.mask(thread.identity())?;
        // The thread is ending, or belongs to another user.
        kernel.give(thread.tid, &thread.cpus).ok()?;
        Owed::of(kernel, thread)
    }

    fn of(kernel: &impl MaskKernel, thread: ThreadMask) -> Option<Self> {
        let has = kernel.mask(thread.identity())?;
        let is_owed = thread.cpus.without(&has).meets(&kernel.forgotten_cpus());
        is_owed.then_some(Owed { thread, has })
    }

    /// A mask changed by another program stays.
    fn look(self, kernel: &mut impl MaskKernel, forgotten: &CpuSet) -> Option<Self> {
        let now = kernel.mask(self.thread.identity())?;
        if now != self.has {
            return None;
        }
        let lacks = self.thread.cpus.without(&now);
        if lacks.is_subset(forgotten) { Some(self) } else { Owed::give(kernel, self.thread) }
    }
}

/// Threads whose restored masks lack CPUs that were offline.
#[derive(Clone, Debug, Default)]
pub struct OwedMasks {
    owed: Vec<Owed>,
}

impl OwedMasks {
    /// Creates an empty list.
    pub const fn new() -> Self {
        OwedMasks { owed: Vec::new() }
    }

    /// Sets masks, and keeps the threads that lack CPUs afterwards.
    pub fn give(
        kernel: &mut impl MaskKernel,
        threads: impl IntoIterator<Item = ThreadMask>,
    ) -> Self {
        OwedMasks {
            owed: threads.into_iter().filter_map(|thread| Owed::give(kernel, thread)).collect(),
        }
    }

    /// Records a thread with a new mask that lacks CPUs that may return.
    pub fn note(&mut self, kernel: &impl MaskKernel, tid: Tid, cpus: &CpuSet) {
        self.owed.retain(|owed| owed.thread.tid != tid);
        // First: the only cost on kernels that keep offline CPUs.
        if cpus.meets(&kernel.forgotten_cpus()) {
            let thread = kernel.identity(tid).map(|thread| ThreadMask::of(thread, cpus.clone()));
            self.owed.extend(thread.and_then(|thread| Owed::of(kernel, thread)));
        }
    }

    /// The whole mask of a thread that still lacks some of it.
    pub fn of(&self, kernel: &impl MaskKernel, tid: Tid) -> Option<CpuSet> {
        let owed = self.owed.iter().find(|owed| owed.thread.tid == tid)?;
        let now = kernel.mask(owed.thread.identity())?;
        (now == owed.has).then(|| owed.thread.cpus.clone())
    }

    /// Whether no thread lacks CPUs that may return.
    pub fn is_empty(&self) -> bool {
        self.owed.is_empty()
    }

    /// Sets masks again for CPUs that have returned.
    pub fn look(&mut self, kernel: &mut impl MaskKernel) {
        let forgotten = kernel.forgotten_cpus();
        let owed = std::mem::take(&mut self.owed);
        self.owed = owed.into_iter().filter_map(|owed| owed.look(kernel, &forgotten)).collect();
    }

    /// Blocks until each thread has its mask, has exited, or has got another mask.
    pub fn wait(mut self) {
        if self.is_empty() {
            return;
        }
        // For days: another folder would keep its file system mounted.
        let _ = std::env::set_current_dir("/");
        while !self.is_empty() {
            std::thread::sleep(PAUSE);
            self.look(&mut RunningKernel);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set;
    use std::collections::BTreeMap;

    struct OldKernel {
        offline: CpuSet,
        threads: BTreeMap<Tid, (u64, CpuSet)>,
        calls: usize,
    }

    impl MaskKernel for OldKernel {
        fn forgotten_cpus(&self) -> CpuSet {
            self.offline.clone()
        }

        fn identity(&self, tid: Tid) -> Option<ThreadIdentity> {
            let (started_ticks, _) = self.threads.get(&tid)?;
            Some(ThreadIdentity { tid, started_ticks: *started_ticks })
        }

        fn mask(&self, thread: ThreadIdentity) -> Option<CpuSet> {
            let (_, mask) = self.threads.get(&thread.tid)?;
            (self.identity(thread.tid) == Some(thread)).then(|| mask.clone())
        }

        /// Like `__sched_setaffinity` of 6.1: only online CPUs.
        fn give(&mut self, tid: Tid, cpus: &CpuSet) -> io::Result<()> {
            self.calls += 1;
            let lasting = cpus.without(&self.offline);
            if lasting.is_empty() {
                return Err(io::Error::from_raw_os_error(libc::EINVAL));
            }
            let thread = self.threads.get_mut(&tid);
            thread.ok_or_else(|| io::Error::from_raw_os_error(libc::ESRCH))?.1 = lasting;
            Ok(())
        }
    }

    fn thread(tid: Tid) -> ThreadMask {
        ThreadMask { tid, started_ticks: 5, cpus: set("0-3") }
    }

    fn given(offline: &str) -> (OldKernel, OwedMasks) {
        let threads = [7, 8, 9].map(|tid| (tid, (5, set("0")))).into_iter().collect();
        let mut kernel = OldKernel { offline: set(offline), threads, calls: 0 };
        let owed = OwedMasks::give(&mut kernel, [7, 8, 9].map(thread));
        (kernel, owed)
    }

    fn masks(kernel: &OldKernel) -> Vec<String> {
        kernel.threads.values().map(|(_, mask)| mask.to_string()).collect()
    }

    #[test]
    fn masks_are_restored_as_cpus_return() {
        let (mut kernel, mut owed) = given("2,3");
        assert_eq!(masks(&kernel), ["0,1"; 3]);
        owed.look(&mut kernel);
        assert_eq!((kernel.calls, owed.owed.len()), (3, 3), "nothing has come");
        kernel.offline = set("3");
        owed.look(&mut kernel);
        assert_eq!((masks(&kernel), owed.is_empty()), (vec!["0-2".to_owned(); 3], false));
        kernel.offline = CpuSet::default();
        owed.look(&mut kernel);
        assert_eq!((masks(&kernel), owed.is_empty()), (vec!["0-3".to_owned(); 3], true));
    }

    #[test]
    fn nothing_is_owed_without_offline_cpus() {
        let (kernel, owed) = given("");
        assert_eq!((masks(&kernel), owed.is_empty()), (vec!["0-3".to_owned(); 3], true));
    }

    #[test]
    fn disallowed_cpu_is_not_awaited() {
        let mut kernel = given("2").0;
        let wider = ThreadMask { cpus: set("0-2"), ..thread(7) };
        kernel.threads.insert(7, (5, set("0-1")));
        let owed = Owed { thread: wider, has: set("0-1") };
        assert_eq!(owed.clone().look(&mut kernel, &set("2")), Some(owed), "it is away");
        let narrow = ThreadMask { cpus: set("0-1"), ..thread(8) };
        assert_eq!(Owed::give(&mut kernel, narrow), None);
    }

    #[test]
    fn ended_or_rebound_threads_are_left_alone() {
        let (mut kernel, mut owed) = given("3");
        kernel.threads.remove(&7);
        kernel.threads.insert(8, (6, set("0")));
        kernel.threads.insert(9, (5, set("1")));
        kernel.offline = CpuSet::default();
        owed.look(&mut kernel);
        assert!(owed.is_empty() && kernel.calls == 3, "{}", kernel.calls);
        assert_eq!(masks(&kernel), ["0", "1"]);
    }

    #[test]
    fn latest_mask_of_a_thread_is_owed() {
        let (mut kernel, mut owed) = given("2,3");
        assert_eq!(owed.of(&kernel, 7), Some(set("0-3")));
        kernel.give(7, &set("1,2")).unwrap();
        assert_eq!(owed.of(&kernel, 7), None, "somebody gave it another one");
        owed.note(&kernel, 7, &set("1,2"));
        kernel.give(8, &set("0,1")).unwrap();
        owed.note(&kernel, 8, &set("0,1"));
        owed.note(&kernel, 10, &set("2"));
        assert_eq!([7, 8, 10].map(|tid| owed.of(&kernel, tid)), [Some(set("1,2")), None, None]);
        kernel.offline = CpuSet::default();
        owed.look(&mut kernel);
        assert_eq!(masks(&kernel), ["1,2", "0,1", "0-3"]);
        owed.note(&kernel, 7, &set("1,2"));
        assert!(owed.is_empty());
    }

    #[test]
    fn owed_mask_reaches_a_live_thread() {
        let mut sleeper = std::process::Command::new("sleep").arg("1000").spawn().unwrap();
        let tid = sleeper.id() as Tid;
        let whole = affinity::to_put_back(tid).unwrap();
        let started_ticks = ThreadStat::of(tid).unwrap().started_ticks;
        CpuSet::single(CpuSet::of_thread(tid).unwrap().first().unwrap()).give(tid).unwrap();
        let mut other = ThreadMask { tid, started_ticks: started_ticks + 1, cpus: whole.clone() };
        OwedMasks::give(&mut RunningKernel, [other.clone()]).wait();
        assert_eq!(CpuSet::of_thread(tid).unwrap().len(), 1, "another thread of that number");
        other.started_ticks = started_ticks;
        let _ = OwedMasks::give(&mut RunningKernel, [other]);
        let now = affinity::has_mask(tid, &whole).unwrap();
        sleeper.kill().unwrap();
        sleeper.wait().unwrap();
        assert!(now);
    }

    #[test]
    fn thread_mask_round_trip_keeps_line() {
        let thread = ThreadMask { cpus: set("0-2,9"), ..thread(7) };
        assert_eq!(thread.to_string().parse(), Ok(thread));
        let nonsense = ["", "7", "7 8", "7 8 x", "nonsense", "-"];
        assert!(nonsense.iter().all(|text| text.parse::<ThreadMask>() == Err(NoThreadMask)));
    }
}
