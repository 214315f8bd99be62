//! The samples of a process, taken together: how often memory passes between threads.
//!
//! A page is exposed for a while, and threads that access it meanwhile are noted with the address.
//! So a thread comes to a page at the rate of its samples over the time for which the page was
//! exposed. Memory passes from one thread to another as often as the first comes to write and the
//! second comes at all, the lesser of both, if they share a line.
//!
//! Whether they do is known where a word was watched that one of them reads: the other one writes
//! it. Where none was, both must have been seen in one block of the page: a line where there are
//! samples enough to tell lines apart, and more, up to the page, otherwise.

use super::record::Access;
use super::watcher::Watched;
use crate::Kind;
use crate::talk::{LINE_BYTES, Talk};
use seatmap_os::Tid;
use seatmap_os::watchpoints::WORD_BYTES;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::time::Duration;

/// The bits of an address within a page, within a line, and within blocks of each size, the
/// smallest first.
const PAGE_BITS: u32 = 12;
const LINE_BITS: u32 = 6;
const BLOCK_BITS: [u32; 4] = [LINE_BITS, 8, 10, PAGE_BITS];

/// Samples that a block has in the mean, where blocks of its size are told apart.
const ENOUGH: usize = 8;

/// Words of a page that wait to be watched.
const WORDS: usize = 4;

/// Turns after which a word that nobody wrote is given up; each is longer than the one before.
const TURNS: u32 = 4;
const FIRST_TURN: Duration = Duration::from_micros(500);
const LONGER: u32 = 4;

/// The share of a thread's accesses that must be to lines which another one writes; less is by
/// chance.
const LEAST_SHARE: f64 = 0.02;

/// Accesses of a thread to a word.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
struct Seen {
    /// While the page was away: reads and writes.
    reads: f64,
    writes: f64,
    /// Writes while the page was protected.
    changes: f64,
}

impl Seen {
    fn add(&mut self, other: Seen) {
        self.reads += other.reads;
        self.writes += other.writes;
        self.changes += other.changes;
    }

    fn samples(&self) -> f64 {
        self.reads + self.writes + self.changes
    }
}

/// A word that was watched.
#[derive(Clone, Debug, Default)]
struct Word {
    turns: u32,
    writers: BTreeSet<Tid>,
}

impl Word {
    fn is_known(&self) -> bool {
        self.turns >= TURNS || !self.writers.is_empty()
    }
}

/// A page.
#[derive(Clone, Debug, Default)]
struct Page {
    away_ns: f64,
    protected_ns: f64,
    /// By the place in the page, in bytes, and the thread.
    seen: BTreeMap<(u32, Tid), Seen>,
    /// By the place in the page.
    words: BTreeMap<u32, Word>,
}

/// All pages of a process.
#[derive(Clone, Debug, Default)]
pub(super) struct Shared(HashMap<u64, Page>);

impl Shared {
    /// Takes in a sample.
    pub(super) fn take(&mut self, access: Access, tid: Tid, address: u64, exposed_ns: u64) {
        let page = self.0.entry(address >> PAGE_BITS).or_default();
        match access {
            Access::Changed => page.protected_ns += exposed_ns as f64,
            Access::Read | Access::Written => page.away_ns += exposed_ns as f64,
        }
        // The time counts though nobody came to the page.
        if tid == 0 {
            return;
        }
        let seen = page.seen.entry((place(address), tid)).or_default();
        match access {
            Access::Read => seen.reads += 1.0,
            Access::Written => seen.writes += 1.0,
            Access::Changed => seen.changes += 1.0,
        }
    }

    /// Takes in a word that was watched.
    pub(super) fn take_watched(&mut self, watched: &Watched) {
        let page = self.0.entry(watched.word.address >> PAGE_BITS).or_default();
        let word = page.words.entry(place(watched.word.address)).or_default();
        word.turns += 1;
        word.writers.extend(&watched.writers);
    }

    /// Words to be watched: those at which threads were seen to read most, of pages that several
    /// access.
    pub(super) fn words_to_watch(&self) -> Vec<(u64, Duration)> {
        let mut words = Vec::new();
        for (number, page) in self.0.iter().filter(|(_, page)| page.is_shared()) {
            words.extend(
                page.words_to_watch()
                    .map(|(place, turn)| (number << PAGE_BITS | u64::from(place), turn)),
            );
        }
        words
    }

    /// The lines that passed between threads in this time.
    pub(super) fn talk(&self, time: Duration) -> Vec<Talk> {
        let mut sums: BTreeMap<(Tid, Tid), f64> = BTreeMap::new();
        self.0.values().filter(|page| page.is_shared()).for_each(|page| page.add_to(&mut sums));
        let time_ns = time.as_nanos() as f64;
        let talk = sums.into_iter().map(|((from, to), rate)| {
            let messages = rate * time_ns;
            Talk { from, to, kind: Kind::Line, messages, bytes: messages * LINE_BYTES }
        });
        talk.filter(|talk| talk.messages >= 1.0).collect()
    }
}

/// The place of an address's word in its page, in bytes.
fn place(address: u64) -> u32 {
    ((address / WORD_BYTES * WORD_BYTES) & ((1 << PAGE_BITS) - 1)) as u32
}

/// The accesses of a thread to a page.
#[derive(Clone, Copy, Debug, Default)]
struct Activity {
    samples: Seen,
    /// Per nanosecond.
    writes: f64,
    accesses: f64,
}

impl Page {
    fn is_shared(&self) -> bool {
        let mut threads = self.seen.keys().map(|(_, tid)| tid);
        threads.next().is_some_and(|first| threads.any(|other| other != first))
    }

    fn words_to_watch(&self) -> impl Iterator<Item = (u32, Duration)> {
        let mut samples: BTreeMap<u32, f64> = BTreeMap::new();
        let read = self.seen.iter().filter(|(_, seen)| seen.reads > 0.0);
        read.for_each(|((place, _), seen)| *samples.entry(*place).or_default() += seen.reads);
        let mut open: Vec<(u32, f64)> = samples
            .into_iter()
            .filter(|(place, _)| !self.words.get(place).is_some_and(Word::is_known))
            .collect();
        open.sort_by(|a, b| b.1.total_cmp(&a.1));
        open.into_iter().take(WORDS).map(|(place, _)| {
            let turns = self.words.get(&place).map_or(0, |word| word.turns);
            (place, FIRST_TURN * LONGER.pow(turns))
        })
    }

    /// Adds the rates at which memory passes between threads, per nanosecond.
    fn add_to(&self, sums: &mut BTreeMap<(Tid, Tid), f64>) {
        let activities = self.activities();
        let lines = self.lines();
        let blocks = self.blocks();
        for (from, writer) in &activities {
            for (to, reader) in activities.iter().filter(|(to, _)| *to != from) {
                let watched =
                    [(from, to), (to, from)].map(|(from, to)| self.reads_from(&lines, *from, *to));
                // Either direction decides: a line that one of the two writes passes between both.
                let is_related = match watched {
                    [None, None] => share_a_block(&blocks, *from, *to),
                    known => known.contains(&Some(true)),
                };
                let passes = writer.writes.min(reader.accesses);
                if is_related && passes > 0.0 {
                    *sums.entry((*from, *to)).or_default() += passes;
                }
            }
        }
    }

    fn activities(&self) -> BTreeMap<Tid, Activity> {
        let mut activities: BTreeMap<Tid, Activity> = BTreeMap::new();
        self.seen
            .iter()
            .for_each(|((_, tid), seen)| activities.entry(*tid).or_default().samples.add(*seen));
        for activity in activities.values_mut() {
            let Seen { reads, writes, changes } = activity.samples;
            // Writes show while the page is away as well as while it is protected, reads only while
            // it is away.
            activity.writes = rate(writes + changes, self.away_ns + self.protected_ns);
            activity.accesses = activity.writes.max(rate(reads + writes, self.away_ns));
        }
        activities
    }

    /// The writers of each line of which a word was watched.
    fn lines(&self) -> BTreeMap<u32, BTreeSet<Tid>> {
        let mut lines: BTreeMap<u32, BTreeSet<Tid>> = BTreeMap::new();
        for (place, word) in &self.words {
            lines.entry(place >> LINE_BITS).or_default().extend(&word.writers);
        }
        lines
    }

    /// Whether a thread accesses lines that another one writes; `None` where no line of its
    /// accesses was watched.
    fn reads_from(&self, lines: &BTreeMap<u32, BTreeSet<Tid>>, from: Tid, to: Tid) -> Option<bool> {
        let own = self.seen.iter().filter(|((_, tid), _)| *tid == to);
        let mut all = 0.0;
        let mut written = 0.0;
        for (writers, seen) in
            own.filter_map(|((place, _), seen)| Some((lines.get(&(place >> LINE_BITS))?, seen)))
        {
            all += seen.samples();
            written += if writers.contains(&from) { seen.samples() } else { 0.0 };
        }
        (all > 0.0).then_some(written > all * LEAST_SHARE)
    }

    /// The threads seen in each block, of the smallest size of which each has enough samples.
    fn blocks(&self) -> BTreeMap<u32, BTreeMap<Tid, bool>> {
        let samples: f64 = self.seen.values().map(Seen::samples).sum();
        let mut sizes = BLOCK_BITS.into_iter().map(|bits| {
            let mut blocks: BTreeMap<u32, BTreeMap<Tid, bool>> = BTreeMap::new();
            for ((place, tid), seen) in &self.seen {
                *blocks.entry(place >> bits).or_default().entry(*tid).or_default() |=
                    seen.writes + seen.changes > 0.0;
            }
            blocks
        });
        sizes
            .find(|blocks| blocks.len() <= 1 || samples >= (blocks.len() * ENOUGH) as f64)
            .unwrap_or_default()
    }
}

/// Whether both threads were seen in a block to which one of them wrote.
fn share_a_block(blocks: &BTreeMap<u32, BTreeMap<Tid, bool>>, from: Tid, to: Tid) -> bool {
    blocks.values().any(|threads| {
        let writes = [from, to].map(|tid| threads.get(&tid));
        writes.iter().all(Option::is_some) && writes.contains(&Some(&true))
    })
}

/// Samples per nanosecond; those of a page that was exposed for no time to speak of are those of
/// one nanosecond.
fn rate(samples: f64, exposed_ns: f64) -> f64 {
    samples / exposed_ns.max(1.0)
}

#[cfg(test)]
mod tests {
    use super::super::watcher;
    use super::*;

    const PAGE: u64 = 0x7000_0000;

    fn pairs(shared: &Shared) -> Vec<(Tid, Tid, f64)> {
        let talk = shared.talk(Duration::from_secs(1));
        talk.iter().map(|talk| (talk.from, talk.to, talk.messages.round())).collect()
    }

    fn ends(shared: &Shared) -> Vec<(Tid, Tid)> {
        pairs(shared).into_iter().map(|(from, to, _)| (from, to)).collect()
    }

    fn watch(shared: &mut Shared, address: u64, writers: &[Tid]) {
        let word = watcher::Word { pid: 1, address, length: FIRST_TURN };
        shared.take_watched(&Watched { word, writers: writers.iter().copied().collect() });
    }

    #[test]
    fn a_line_passes_as_often_as_it_is_written_and_read() {
        let mut shared = Shared::default();
        for _ in 0..10 {
            // Thread 1 writes once in 100 us, and thread 2 reads once in 10 us.
            shared.take(Access::Changed, 1, PAGE, 100_000);
            shared.take(Access::Read, 2, PAGE + 8, 10_000);
        }
        // 10 writes in 1.1 ms: 9091 a second.
        assert_eq!(pairs(&shared), [(1, 2, 9091.0)]);
        // Thread 3 reads once in 200 us only.
        (0..10).for_each(|_| shared.take(Access::Read, 3, PAGE, 200_000));
        let to_third = pairs(&shared).iter().find(|(_, to, _)| *to == 3).unwrap().2;
        assert!((3_000.0..5_000.0).contains(&to_third), "{to_third}");
    }

    #[test]
    fn lines_of_a_page_are_told_apart_where_samples_allow_it() {
        let mut shared = Shared::default();
        let samples = |shared: &mut Shared, count: usize| {
            for _ in 0..count {
                shared.take(Access::Changed, 1, PAGE, 1000);
                shared.take(Access::Read, 2, PAGE, 1000);
                shared.take(Access::Changed, 3, PAGE + 2048, 1000);
                shared.take(Access::Read, 4, PAGE + 2048, 1000);
            }
        };
        samples(&mut shared, 1);
        // With four samples the page is one block.
        assert_eq!(pairs(&shared).len(), 6);
        samples(&mut shared, 9);
        assert_eq!(ends(&shared), [(1, 2), (3, 4)]);
    }

    #[test]
    fn watched_words_tell_threads_apart_that_were_seen_elsewhere() {
        let mut shared = Shared::default();
        for _ in 0..20 {
            // Thread 1 fills a message before it sets the flag that thread 2 reads.
            shared.take(Access::Changed, 1, PAGE + 128, 1000);
            shared.take(Access::Read, 2, PAGE, 1000);
            shared.take(Access::Changed, 3, PAGE + 2048, 1000);
            shared.take(Access::Read, 4, PAGE + 1024, 1000);
            shared.take(Access::Read, 4, PAGE + 3072, 1000);
        }
        assert_eq!(ends(&shared), []);
        let mut words = shared.words_to_watch();
        words.sort_unstable();
        assert_eq!(words, [PAGE, PAGE + 1024, PAGE + 3072].map(|address| (address, FIRST_TURN)));
        watch(&mut shared, PAGE, &[1]);
        watch(&mut shared, PAGE + 1024, &[3]);
        watch(&mut shared, PAGE + 3072, &[]);
        assert_eq!(ends(&shared), [(1, 2), (3, 4)]);
        // A word that nobody wrote is watched again, for longer.
        assert_eq!(shared.words_to_watch(), [(PAGE + 3072, FIRST_TURN * LONGER)]);
    }

    #[test]
    fn a_time_without_an_access_makes_the_rates_smaller() {
        let mut shared = Shared::default();
        shared.take(Access::Changed, 1, PAGE, 1_000_000);
        shared.take(Access::Read, 2, PAGE, 1_000_000);
        let before = pairs(&shared)[0].2;
        shared.take(Access::Read, 0, PAGE, 8_000_000);
        shared.take(Access::Changed, 0, PAGE, 8_000_000);
        assert!(pairs(&shared)[0].2 < before / 4.0);
        assert_eq!(Shared::default().talk(Duration::from_secs(1)), []);
    }
}
