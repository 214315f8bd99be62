//! Sets of CPUs of any size, in all notations of Linux and hwloc. `cpu_set_t` ends at 1024 CPUs.
//!
//! | notation | example | writer | reader |
//! |---|---|---|---|
//! | list | `0-3,8` | `Display` | [`CpuSet::of_list`] |
//! | kernel mask | `f0f,00000001` | [`CpuSet::to_mask`] | [`CpuSet::of_mask`] |
//! | affinity mask | an array of words | [`CpuSet::give`] | [`CpuSet::of_thread`] |

use crate::cpu_list::{CpuList, MAX_CPU};
use crate::{Tid, checked};
use std::collections::{BTreeMap, btree_map};
use std::fmt;
use std::io;
use std::iter::FlatMap;

type Word = libc::c_ulong;

const WORD_BITS: u32 = Word::BITS;

/// Bits between commas (`Documentation/core-api/printk-formats`, `%*pb`).
const GROUP_BITS: u32 = 32;

/// For [`MAX_CPU`] CPUs, beyond any `NR_CPUS`.
const MOST_WORDS: usize = (MAX_CPU / WORD_BITS) as usize;

/// 1024 CPUs, enough for most kernels.
const USUAL_WORDS: usize = (1024 / WORD_BITS) as usize;

/// A set of CPUs, iterated in ascending order.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CpuSet {
    /// No word is zero, so equal sets compare equal. In a map, a huge number from a damaged file
    /// costs one word.
    words: BTreeMap<u32, Word>,
}

/// A set in the kernel's format, for a process that must not allocate before exec.
#[derive(Debug)]
pub struct PreparedMask(Vec<Word>);

impl PreparedMask {
    /// Sets a thread's affinity mask; thread 0 is the caller. Allocates nothing.
    ///
    /// # Errors
    /// As [`CpuSet::give`].
    pub fn give(&self, tid: Tid) -> io::Result<()> {
        // SAFETY: the kernel reads `size_of_val` bytes from the words, which are that long.
        let status = unsafe {
            libc::syscall(libc::SYS_sched_setaffinity, tid, size_of_val(&*self.0), self.0.as_ptr())
        };
        checked(status).map(drop)
    }
}

impl CpuSet {
    /// The set of this CPU alone.
    pub fn single(cpu: u32) -> Self {
        [cpu].into_iter().collect()
    }

    /// Parses a list (`0-3,8`), which may be empty.
    pub fn of_list(text: &str) -> Option<Self> {
        match text.trim() {
            "" => Some(CpuSet::default()),
            text => text.parse::<CpuList>().ok().map(|list| list.0.into_iter().collect()),
        }
    }

    /// Parses a hexadecimal mask, with or without `0x` and commas, highest bits first. `None` if
    /// invalid or beyond [`MAX_CPU`].
    pub fn of_mask(text: &str) -> Option<Self> {
        let text = text.trim();
        let mut set = CpuSet::default();
        for (rank, group) in text.rsplit(',').enumerate() {
            let first = u32::try_from(rank).ok()?.checked_mul(GROUP_BITS)?;
            set.add_digits(group.trim_start_matches("0x"), first)?;
        }
        (!text.is_empty()).then_some(set)
    }

    /// The lowest bit is CPU `first`.
    fn add_digits(&mut self, digits: &str, first: u32) -> Option<()> {
        for (at, digit) in digits.bytes().rev().enumerate() {
            let bits = char::from(digit).to_digit(16)?;
            let lowest = first.checked_add(u32::try_from(at).ok()?.checked_mul(4)?)?;
            if bits != 0 && lowest > MAX_CPU {
                return None;
            }
            self.extend((0..4).filter(|bit| bits >> bit & 1 == 1).map(|bit| lowest + bit));
        }
        Some(())
    }

    /// The kernel's hexadecimal mask.
    pub fn to_mask(&self) -> String {
        let groups = self.last().map_or(1, |last| last / GROUP_BITS + 1);
        (0..groups)
            .rev()
            .map(|group| {
                format!(
                    "{:08x}",
                    (0..GROUP_BITS).fold(0, |bits, at| bits
                        | u32::from(self.contains(group * GROUP_BITS + at)) << at)
                )
            })
            .collect::<Vec<_>>()
            .join(",")
    }

    /// Online CPUs allowed for a thread; thread 0 is the caller. Masks to restore need
    /// [`crate::affinity::to_put_back`].
    ///
    /// # Errors
    /// The kernel's: `ESRCH` if the thread has exited.
    pub fn of_thread(tid: Tid) -> io::Result<Self> {
        let mut words: Vec<Word> = vec![0; USUAL_WORDS];
        loop {
            // SAFETY: the kernel writes at most `size_of_val` bytes to `words`, which is that long
            // and writable.
            let written = unsafe {
                libc::syscall(
                    libc::SYS_sched_getaffinity,
                    tid,
                    size_of_val(&*words),
                    words.as_mut_ptr(),
                )
            };
            let error = io::Error::last_os_error();
            match written {
                0.. => return Ok(CpuSet::of_words(words)),
                // The kernel's mask exceeds the buffer.
                _ if error.raw_os_error() == Some(libc::EINVAL) && words.len() < MOST_WORDS => {
                    words = vec![0; words.len() * 2];
                }
                _ => return Err(error),
            }
        }
    }

    /// Sets a thread's affinity mask; thread 0 is the caller. The kernel silently drops CPUs
    /// outside the cpuset; [`crate::affinity::pin`] detects that.
    ///
    /// # Errors
    /// The kernel's: `ESRCH` if the thread has exited, `EPERM` for another user's thread, `EINVAL`
    /// if its cpuset has none of these CPUs.
    pub fn give(&self, tid: Tid) -> io::Result<()> {
        self.prepared()?.give(tid)
    }

    /// The set in the kernel's format.
    ///
    /// # Errors
    /// `EINVAL` for CPUs beyond any kernel's.
    pub fn prepared(&self) -> io::Result<PreparedMask> {
        if self.last().is_some_and(|last| (last / WORD_BITS) as usize >= MOST_WORDS) {
            return Err(io::Error::from_raw_os_error(libc::EINVAL));
        }
        Ok(PreparedMask(self.to_words()))
    }

    /// The words of the kernel's masks of CPUs or nodes.
    pub(crate) fn to_words(&self) -> Vec<Word> {
        let length = self.last().map_or(0, |last| last / WORD_BITS + 1);
        (0..length).map(|at| self.word(at)).collect()
    }

    /// The CPUs, ascending.
    pub fn iter(&self) -> Iter<'_> {
        self.words.iter().flat_map(|(at, left)| Bits { first: at * WORD_BITS, left: *left })
    }

    /// Whether the set contains a CPU.
    pub fn contains(&self, cpu: u32) -> bool {
        self.word(cpu / WORD_BITS) >> (cpu % WORD_BITS) & 1 == 1
    }

    /// The number of CPUs.
    pub fn len(&self) -> usize {
        self.words.values().map(|word| word.count_ones() as usize).sum()
    }

    /// Whether the set is empty.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// The lowest CPU.
    pub fn first(&self) -> Option<u32> {
        self.iter().next()
    }

    /// The highest CPU.
    pub fn last(&self) -> Option<u32> {
        self.iter().next_back()
    }

    /// The only CPU of a set of one.
    pub fn only(&self) -> Option<u32> {
        let mut cpus = self.iter();
        cpus.next().filter(|_| cpus.next().is_none())
    }

    /// The set for a sentence: `CPU 3`, `CPUs 0-2,8`.
    pub fn named(&self) -> String {
        self.list().named()
    }

    /// Adds a CPU.
    pub fn insert(&mut self, cpu: u32) {
        *self.words.entry(cpu / WORD_BITS).or_default() |= 1 << (cpu % WORD_BITS);
    }

    /// The set as a list, ascending.
    pub fn list(&self) -> CpuList {
        CpuList(self.iter().collect())
    }

    /// The CPUs that the other set lacks.
    pub fn without(&self, other: &CpuSet) -> CpuSet {
        CpuSet::of_numbered(self.words.iter().map(|(at, word)| (*at, word & !other.word(*at))))
    }

    /// This set without a cell, or `rest` if nothing remains.
    pub fn outside(&self, cell: &CpuSet, rest: &CpuSet) -> CpuSet {
        let left = self.without(cell);
        if left.is_empty() { rest.clone() } else { left }
    }

    /// The CPUs of either set.
    pub fn with(&self, other: &CpuSet) -> CpuSet {
        let all = self.words.keys().chain(other.words.keys());
        CpuSet::of_numbered(all.map(|at| (*at, self.word(*at) | other.word(*at))))
    }

    /// The CPUs of both sets.
    pub fn within(&self, other: &CpuSet) -> CpuSet {
        CpuSet::of_numbered(self.words.iter().map(|(at, word)| (*at, word & other.word(*at))))
    }

    /// Whether the sets share a CPU.
    pub fn meets(&self, other: &CpuSet) -> bool {
        self.words.iter().any(|(at, word)| word & other.word(*at) != 0)
    }

    /// Whether the other set contains this one.
    pub fn is_subset(&self, other: &CpuSet) -> bool {
        self.words.iter().all(|(at, word)| word & !other.word(*at) == 0)
    }

    fn word(&self, at: u32) -> Word {
        self.words.get(&at).copied().unwrap_or(0)
    }

    pub(crate) fn of_words(words: impl IntoIterator<Item = Word>) -> Self {
        CpuSet::of_numbered((0..).zip(words))
    }

    fn of_numbered(words: impl Iterator<Item = (u32, Word)>) -> Self {
        CpuSet { words: words.filter(|(_, word)| *word != 0).collect() }
    }
}

/// The CPUs of a [`CpuSet`], ascending.
pub type Iter<'a> = FlatMap<btree_map::Iter<'a, u32, Word>, Bits, fn((&'a u32, &'a Word)) -> Bits>;

/// The CPUs of one word.
#[derive(Clone, Debug)]
pub struct Bits {
    first: u32,
    left: Word,
}

impl Iterator for Bits {
    type Item = u32;

    fn next(&mut self) -> Option<u32> {
        let bit = (self.left != 0).then(|| self.left.trailing_zeros())?;
        self.left &= self.left - 1;
        Some(self.first + bit)
    }
}

impl DoubleEndedIterator for Bits {
    fn next_back(&mut self) -> Option<u32> {
        let bit = self.left.checked_ilog2()?;
        self.left &= !(1 << bit);
        Some(self.first + bit)
    }
}

impl<'a> IntoIterator for &'a CpuSet {
    type Item = u32;
    type IntoIter = Iter<'a>;

    fn into_iter(self) -> Iter<'a> {
        self.iter()
    }
}

impl IntoIterator for CpuSet {
    type Item = u32;
    type IntoIter = std::vec::IntoIter<u32>;

    fn into_iter(self) -> Self::IntoIter {
        self.iter().collect::<Vec<_>>().into_iter()
    }
}

impl Extend<u32> for CpuSet {
    fn extend<I: IntoIterator<Item = u32>>(&mut self, cpus: I) {
        cpus.into_iter().for_each(|cpu| self.insert(cpu));
    }
}

impl FromIterator<u32> for CpuSet {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut set = CpuSet::default();
        set.extend(cpus);
        set
    }
}

impl From<&CpuList> for CpuSet {
    fn from(list: &CpuList) -> Self {
        list.0.iter().copied().collect()
    }
}

impl fmt::Display for CpuSet {
    /// As a list.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.list().fmt(out)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    pub(crate) fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    #[test]
    fn thread_receives_the_given_mask() {
        let cpu = CpuSet::of_thread(0).unwrap().last().unwrap();
        let seated = std::thread::scope(|scope| {
            scope
                .spawn(|| CpuSet::single(cpu).give(0).and_then(|()| CpuSet::of_thread(0)).unwrap())
                .join()
                .unwrap()
        });
        assert_eq!((seated.only(), seated), (Some(cpu), CpuSet::single(cpu)));
    }

    #[test]
    fn missing_thread_or_impossible_cpu_is_an_error() {
        assert_eq!(
            CpuSet::of_thread(libc::pid_t::MAX).unwrap_err().raw_os_error(),
            Some(libc::ESRCH)
        );
        assert_eq!(CpuSet::single(u32::MAX).last(), Some(u32::MAX));
        assert!([500_000, u32::MAX].iter().all(|cpu| CpuSet::single(*cpu).give(0).is_err()));
        assert!(CpuSet::default().give(0).is_err());
    }

    #[test]
    fn kernel_mask_formats_are_read() {
        assert_eq!(CpuSet::of_mask("3"), CpuSet::of_list("0-1"));
        assert_eq!(CpuSet::of_mask("1,00000005\n"), CpuSet::of_list("0,2,32"));
        assert_eq!((CpuSet::of_mask("x"), CpuSet::of_mask("")), (None, None));
        assert_eq!(CpuSet::default().to_mask(), "00000000");
        assert_eq!(CpuSet::of_mask("0x1,0x00000005"), CpuSet::of_list("0,2,32"));
        assert_eq!(CpuSet::of_mask("100000005"), CpuSet::of_list("0,2,32"), "longer than a group");
        assert_eq!(CpuSet::of_mask(&format!("1{}", "0".repeat(1 << 19))), None);
    }

    #[test]
    fn empty_set_has_one_representation() {
        assert_eq!(CpuSet::of_words(vec![0, 0]), CpuSet::default());
        assert_eq!(set("3,70").without(&set("70")), set("3"));
        assert_eq!(
            (CpuSet::default().last(), CpuSet::default().only(), set("").to_string()),
            (None, None, String::new())
        );
    }

    #[test]
    fn outside_falls_back_to_everything_else() {
        assert_eq!(set("0-3").outside(&set("2-3"), &set("0-1,4")), set("0-1"));
        assert_eq!(set("2").outside(&set("2-3"), &set("0-1,4")), set("0-1,4"));
    }

    fn cpus() -> impl Strategy<Value = BTreeSet<u32>> {
        prop::collection::btree_set(0u32..300, 0..40)
    }

    proptest! {
        #[test]
        fn round_trip_keeps_set(cpus in cpus()) {
            let set: CpuSet = cpus.iter().copied().collect();
            prop_assert_eq!(CpuSet::of_mask(&set.to_mask()), Some(set.clone()));
            prop_assert_eq!(CpuSet::of_list(&set.to_string()), Some(set.clone()));
            prop_assert_eq!(CpuSet::from(&set.list()), set);
        }

        #[test]
        fn operations_match_btree_sets(a in cpus(), b in cpus()) {
            let (left, right): (CpuSet, CpuSet) = (a.iter().copied().collect(), b.iter().copied().collect());
            let list = |cpus: BTreeSet<u32>| cpus.into_iter().collect::<CpuSet>();
            prop_assert_eq!(left.without(&right), list(&a - &b));
            prop_assert_eq!(left.with(&right), list(&a | &b));
            prop_assert_eq!(left.within(&right), list(&a & &b));
            prop_assert_eq!(left.meets(&right), !a.is_disjoint(&b));
            prop_assert_eq!(left.is_subset(&right), a.is_subset(&b));
            prop_assert_eq!((left.len(), left.is_empty()), (a.len(), a.is_empty()));
            prop_assert_eq!((left.first(), left.last()), (a.first().copied(), a.last().copied()));
            prop_assert_eq!(left.iter().collect::<Vec<_>>(), a.iter().copied().collect::<Vec<_>>());
            prop_assert_eq!(left.iter().rev().collect::<Vec<_>>(), a.iter().rev().copied().collect::<Vec<_>>());
            let mut both = left.iter();
            let first = both.next();
            let last = both.next_back();
            prop_assert_eq!((first, last), (a.first().copied(), a.iter().skip(1).last().copied()));
            prop_assert!((0..310).all(|cpu| left.contains(cpu) == a.contains(&cpu)));
        }
    }
}
