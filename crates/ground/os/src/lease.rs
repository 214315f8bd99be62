//! CPUs with threads seated by runs, visible to all runs on this computer.
//!
//! A lease is a lock (fcntl_locking(2), `F_OFD_SETLK`) on bytes of a sysfs folder that every
//! process may open and none can write. So all users' runs see each other, except in containers
//! with their own sysfs, and the kernel releases the locks of ended processes.
//!
//! Read-only folders allow only read locks, which do not exclude each other. So each CPU has
//! `PLACES` bytes, one per run, locked under flock(2) on the folder.

use crate::{CpuSet, Root, checked};
use std::collections::HashMap;
use std::fs::{File, TryLockError};
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd;
use std::time::{Duration, Instant};

/// Not the folder of [`crate::claim`], which a measurement locks for long.
pub const FOLDER: &str = "/sys/devices/system";

/// Runs counted per CPU; further ones are ignored.
const PLACES: i64 = 64;

/// Runs lock the folder for microseconds.
const PATIENCE: Duration = Duration::from_secs(1);
const PAUSE: Duration = Duration::from_millis(1);

/// The leases of this process, until dropped.
#[derive(Debug)]
pub struct CpuLeases {
    /// `None` without such locks: other runs are then invisible.
    folder: Option<File>,
    /// Byte and number of threads.
    held: HashMap<u32, Held>,
    is_blocked: bool,
}

/// The set of CPUs that the fewest other runs lease.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Freest {
    /// Its index.
    pub at: usize,
    /// Other runs on its busiest CPU.
    pub runs: usize,
}

#[derive(Debug)]
struct Held {
    byte: Option<i64>,
    threads: usize,
}

impl CpuLeases {
    /// Starts without leases.
    pub fn new(root: &Root) -> Self {
        let folder = File::open(root.path(FOLDER)).ok();
        CpuLeases { folder, held: HashMap::new(), is_blocked: false }
    }

    /// Whether another process blocks the view of other runs.
    pub fn is_blocked(&self) -> bool {
        self.is_blocked
    }

    /// Leases the first of these sets that no other run has, or else one with the fewest runs.
    pub fn take_freest<'a>(
        &mut self,
        sets: impl IntoIterator<Item = &'a CpuSet>,
    ) -> Option<Freest> {
        let folder = self.folder.take();
        let guard = folder.as_ref().and_then(|folder| self.enter(folder));
        let mut freest: Option<(Freest, &CpuSet)> = None;
        for (at, cpus) in sets.into_iter().enumerate() {
            let runs = guard.as_ref().map_or(0, |guard| guard.runs_on(cpus));
            if freest.is_none_or(|(fewest, _)| runs < fewest.runs) {
                freest = Some((Freest { at, runs }, cpus));
            }
            if runs == 0 {
                break;
            }
        }
        if let Some((_, cpus)) = freest {
            self.note(cpus, guard.as_ref());
        }
        drop(guard);
        self.folder = folder;
        freest.map(|(freest, _)| freest)
    }

    /// The CPUs among these that other runs lease.
    pub fn of_others(&self, cpus: &CpuSet) -> CpuSet {
        let Some(folder) = &self.folder else { return CpuSet::default() };
        // Changes only if a run starts or ends.
        cpus.iter().filter(|cpu| lock_within(folder, &bytes(*cpu)).is_some()).collect()
    }

    /// Releases the lease of one thread.
    pub fn give_back(&mut self, cpus: &CpuSet) {
        for cpu in cpus {
            let Some(held) = self.held.get_mut(&cpu) else { continue };
            held.threads -= 1;
            if held.threads > 0 {
                continue;
            }
            let byte = self.held.remove(&cpu).and_then(|held| held.byte);
            if let (Some(folder), Some(byte)) = (&self.folder, byte) {
                let _ = set(folder, libc::F_UNLCK, byte);
            }
        }
    }

    fn note(&mut self, cpus: &CpuSet, guard: Option<&Guard<'_>>) {
        for cpu in cpus {
            let taken = self.held.entry(cpu).or_insert_with(|| Held {
                byte: guard.and_then(|guard| guard.take(cpu)),
                threads: 0,
            });
            taken.threads += 1;
        }
    }

    /// Waits for other runs; after a timeout, never again.
    fn enter<'a>(&mut self, folder: &'a File) -> Option<Guard<'a>> {
        let begun = Instant::now();
        while !self.is_blocked {
            match folder.try_lock() {
                Ok(()) => return Some(Guard(folder)),
                Err(TryLockError::WouldBlock) if begun.elapsed() < PATIENCE => {
                    std::thread::sleep(PAUSE);
                }
                Err(TryLockError::WouldBlock) => self.is_blocked = true,
                Err(TryLockError::Error(_)) => return None,
            }
        }
        None
    }
}

#[derive(Debug)]
struct Guard<'a>(&'a File);

impl Drop for Guard<'_> {
    fn drop(&mut self) {
        // Closing the folder unlocks it too.
        let _ = self.0.unlock();
    }
}

impl Guard<'_> {
    fn runs_on(&self, cpus: &CpuSet) -> usize {
        cpus.iter().map(|cpu| self.bytes_of_others(cpu).len()).max().unwrap_or(0)
    }

    fn take(&self, cpu: u32) -> Option<i64> {
        let taken = self.bytes_of_others(cpu);
        let byte = bytes(cpu).find(|byte| !taken.contains(byte))?;
        set(self.0, libc::F_RDLCK, byte).ok().map(|()| byte)
    }

    fn bytes_of_others(&self, cpu: u32) -> Vec<i64> {
        let mut found = Vec::new();
        let mut unseen = vec![bytes(cpu)];
        // The kernel reports one lock of a range, not always the first.
        while let Some(range) = unseen.pop() {
            let Some(lock) = lock_within(self.0, &range) else { continue };
            let lock = lock.start.max(range.start)..lock.end.min(range.end);
            unseen.extend([range.start..lock.start, lock.end..range.end]);
            found.extend(lock);
        }
        found
    }
}

fn bytes(cpu: u32) -> Range<i64> {
    let first = i64::from(cpu) * PLACES;
    first..first + PLACES
}

fn flock(kind: i32, range: &Range<i64>) -> libc::flock {
    libc::flock {
        l_type: kind as libc::c_short,
        l_whence: libc::SEEK_SET as libc::c_short,
        l_start: range.start,
        l_len: range.end - range.start,
        l_pid: 0,
    }
}

/// The bytes of another process's lock in this range.
fn lock_within(folder: &File, range: &Range<i64>) -> Option<Range<i64>> {
    // A length of 0 would mean all bytes to the end.
    if range.is_empty() {
        return None;
    }
    let mut lock = flock(libc::F_WRLCK, range);
    // SAFETY: the structure is complete, and the kernel writes only into it.
    let status = unsafe { libc::fcntl(folder.as_raw_fd(), libc::F_OFD_GETLK, &raw mut lock) };
    if status != 0 || i32::from(lock.l_type) == libc::F_UNLCK {
        return None;
    }
    let end = if lock.l_len == 0 { i64::MAX } else { lock.l_start + lock.l_len };
    Some(lock.l_start..end)
}

fn set(folder: &File, kind: i32, byte: i64) -> io::Result<()> {
    let lock = flock(kind, &(byte..byte + 1));
    // SAFETY: the structure is complete, and the kernel only reads it.
    let status = unsafe { libc::fcntl(folder.as_raw_fd(), libc::F_OFD_SETLK, &raw const lock) };
    checked(status).map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set;

    fn computer() -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        std::fs::create_dir_all(root.path(FOLDER)).unwrap();
        (folder, root)
    }

    fn sets(lists: &[&str]) -> Vec<CpuSet> {
        lists.iter().copied().map(set).collect()
    }

    fn take(run: &mut CpuLeases, sets: &[CpuSet]) -> usize {
        run.take_freest(sets).unwrap().at
    }

    #[test]
    fn first_free_set_is_leased_then_least_used() {
        let (_folder, root) = computer();
        let seats = sets(&["0", "1", "2"]);
        let mut runs: Vec<CpuLeases> = (0..7).map(|_| CpuLeases::new(&root)).collect();
        let mut taken = Vec::new();
        for run in &mut runs {
            taken.push(take(run, &seats));
        }
        assert_eq!(taken, [0, 1, 2, 0, 1, 2, 0]);
        // The byte freed here must not hide the bytes after it.
        runs.remove(0);
        assert_eq!(
            take(&mut runs[0], &sets(&["1", "0", "2"])),
            0,
            "a run does not count its own lease"
        );
        let mut last = CpuLeases::new(&root);
        assert_eq!(take(&mut last, &seats), 0, "each has two now");
        runs.clear();
        assert_eq!(take(&mut CpuLeases::new(&root), &sets(&["2", "0"])), 0);
        assert_eq!(last.take_freest([]), None);
    }

    #[test]
    fn set_is_free_only_if_all_cpus_are() {
        let (_folder, root) = computer();
        let mut first = CpuLeases::new(&root);
        let mut second = CpuLeases::new(&root);
        assert_eq!(take(&mut first, &sets(&["0-3"])), 0);
        assert_eq!(take(&mut second, &sets(&["2-5", "3", "4-7"])), 2);
        take(&mut first, &sets(&["3"]));
        first.give_back(&set("0-3"));
        let all = set("0-9");
        assert_eq!(second.of_others(&all).to_string(), "3");
        let mut third = CpuLeases::new(&root);
        assert_eq!(third.of_others(&all).to_string(), "3-7");
        let places = ["3", "5", "2-3", "2"];
        assert_eq!(take(&mut third, &sets(&places)), 3, "one thread still has CPU 3");
    }

    #[test]
    fn lease_ignores_a_folder_locked_by_others() {
        let (_folder, root) = computer();
        let held = File::open(root.path(FOLDER)).unwrap();
        held.lock().unwrap();
        let mut leases = CpuLeases::new(&root);
        assert_eq!(take(&mut leases, &sets(&["0", "1"])), 0);
        assert!(leases.is_blocked());
        leases.give_back(&CpuSet::single(0));
        let mut nowhere = CpuLeases::new(&Root::new("/nowhere/at/all"));
        assert_eq!(take(&mut nowhere, &sets(&["0", "1"])), 0);
        assert!(!nowhere.is_blocked());
    }

    #[test]
    fn simultaneous_leases_do_not_collide() {
        let (_folder, root) = computer();
        let seats = sets(&["0", "1", "2", "3", "4", "5", "6", "7"]);
        for _ in 0..20 {
            let take = || {
                let mut leases = CpuLeases::new(&root);
                let at = take(&mut leases, &seats);
                (at, leases)
            };
            let taken = std::thread::scope(|scope| {
                let threads: Vec<_> = (0..8).map(|_| scope.spawn(take)).collect();
                let taken = threads.into_iter().map(|thread| thread.join().unwrap());
                taken.collect::<Vec<_>>()
            });
            let mut places: Vec<_> = taken.iter().map(|(at, _)| *at).collect();
            places.sort_unstable();
            assert_eq!(places, [0, 1, 2, 3, 4, 5, 6, 7]);
        }
    }
}
