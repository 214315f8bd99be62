//! Decodes samples of memory accesses: perf_event_open(2), "MMAP layout".

use seatmap_os::{i32_at, u32_at, u64_at};

/// The bits of `sample_type`.
const IP: u64 = 1 << 0;
const THREAD: u64 = 1 << 1;
const TIME: u64 = 1 << 2;
const ADDRESS: u64 = 1 << 3;
const READ: u64 = 1 << 4;
const CALLCHAIN: u64 = 1 << 5;
const NUMBER: u64 = 1 << 6;
const CPU: u64 = 1 << 7;
const PERIOD: u64 = 1 << 8;
const STREAM: u64 = 1 << 9;
const RAW: u64 = 1 << 10;
const BRANCHES: u64 = 1 << 11;
const USER_REGISTERS: u64 = 1 << 12;
const USER_STACK: u64 = 1 << 13;
const WEIGHT: u64 = 1 << 14 | 1 << 24;
const SOURCE: u64 = 1 << 15;
const IDENTIFIER: u64 = 1 << 16;

/// The bits of `read_format`.
const READ_TIMES: [u64; 2] = [1 << 0, 1 << 1];
const READ_NUMBER: u64 = 1 << 2;
const READ_GROUP: u64 = 1 << 3;
const READ_LOST: u64 = 1 << 4;

/// Flags: the kernel chooses the event's period; sample fields are at the end of other records.
const HAS_FREQUENCY: u64 = 1 << 10;
const ENDS_ALL: u64 = 1 << 18;
/// Branch sample types that add a word, and a word per branch (Linux 6.8).
const BRANCH_INDEX: u64 = 1 << 17;
const BRANCH_COUNTERS: u64 = 1 << 19;

/// The mode in a record's flags (`PERF_RECORD_MISC_CPUMODE_MASK`), and the kernel's
/// (`PERF_RECORD_MISC_KERNEL`).
const MODES: u16 = 7;
const KERNEL_MODE: u16 = 1;

/// Bits of `union perf_mem_data_src`: the access, and the answer of other caches.
const IS_LOAD: u64 = 0x02;
const IS_STORE: u64 = 0x04;
/// Another cache held the line modified, or (Arm) supplied it.
const SNOOP_MODIFIED: u64 = 0x10 << 19;
const SNOOP_PEER: u64 = 0x02 << 38;

/// A sample for more accesses would come once in minutes.
const MOST_WEIGHT: u64 = 1 << 30;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct AccessSample {
    pub pid: i32,
    pub tid: i32,
    /// The time, in nanoseconds of perf's clock.
    pub time_ns: u64,
    pub address: u64,
    pub is_store: bool,
    pub is_load: bool,
    pub is_transfer: bool,
    pub weight: f64,
    pub is_kernel: bool,
}

#[derive(Clone, Copy, Debug)]
pub struct SampleLayout {
    parts: u64,
    read: u64,
    period: u64,
    branches: u64,
    user_registers: u64,
    /// Other records also end with a thread, a time and numbers.
    ends_all: bool,
}

struct Cursor<'a> {
    body: &'a [u8],
    at: usize,
}

impl Cursor<'_> {
    fn word(&mut self) -> Option<u64> {
        let value = u64_at(self.body, self.at)?;
        self.at += 8;
        Some(value)
    }

    fn skip(&mut self, count: u64, each: u64) -> Option<()> {
        let bytes = usize::try_from(count.checked_mul(each)?).ok()?;
        self.at = self.at.checked_add(bytes).filter(|at| *at <= self.body.len())?;
        Some(())
    }
}

impl SampleLayout {
    pub fn read(bytes: &[u8]) -> Option<Self> {
        let period = u64_at(bytes, 16)?;
        let parts = u64_at(bytes, 24)?;
        let read = u64_at(bytes, 32)?;
        let flags = u64_at(bytes, 40)?;
        // Later versions are longer; fields missing from an older file are zero.
        let size = u32_at(bytes, 4)? as usize;
        let [branches, user_registers] = [72, 80]
            .map(|at| if size >= at + 8 { u64_at(bytes, at).unwrap_or_default() } else { 0 });
        // The period's field may hold the frequency, which does not count accesses.
        let period = if flags & HAS_FREQUENCY == 0 { period.max(1) } else { 1 };
        let ends_all = flags & ENDS_ALL != 0;
        Some(SampleLayout { parts, read, period, branches, user_registers, ends_all })
    }

    pub fn tells_address(&self) -> bool {
        self.has(ADDRESS) && self.has(THREAD) && self.has(SOURCE)
    }

    fn has(&self, part: u64) -> bool {
        self.parts & part != 0
    }

    /// The same for all events of a recording.
    pub fn number_place(&self) -> Option<usize> {
        if self.has(IDENTIFIER) {
            return Some(0);
        }
        let before = [IP, THREAD, TIME, ADDRESS].iter().filter(|part| self.has(**part)).count();
        self.has(NUMBER).then_some(before * 8)
    }

    /// In nanoseconds.
    pub fn time_of_other(&self, body: &[u8]) -> Option<u64> {
        let behind =
            [NUMBER, STREAM, CPU, IDENTIFIER].iter().filter(|part| self.has(**part)).count();
        let place = body.len().checked_sub(8 * (behind + 1))?;
        (self.ends_all && self.has(TIME)).then(|| u64_at(body, place)).flatten()
    }

    pub fn sample(&self, flags: u16, body: &[u8]) -> Option<AccessSample> {
        let mut cursor = Cursor { body, at: 0 };
        let mut sample = AccessSample {
            weight: self.period.min(MOST_WEIGHT) as f64,
            is_kernel: flags & MODES == KERNEL_MODE,
            ..AccessSample::default()
        };
        cursor.skip(u64::from(self.has(IDENTIFIER)) + u64::from(self.has(IP)), 8)?;
        if self.has(THREAD) {
            (sample.pid, sample.tid) = (i32_at(body, cursor.at)?, i32_at(body, cursor.at + 4)?);
            cursor.skip(1, 8)?;
        }
        for (part, field) in [(TIME, &mut sample.time_ns), (ADDRESS, &mut sample.address)] {
            if self.has(part) {
                *field = cursor.word()?;
            }
        }
        let plain = [NUMBER, STREAM, CPU].iter().filter(|part| self.has(**part)).count();
        cursor.skip(plain as u64, 8)?;
        if self.has(PERIOD) {
            sample.weight = cursor.word()?.min(MOST_WEIGHT) as f64;
        }
        if self.has(SOURCE) {
            self.skip_to_source(&mut cursor)?;
            let source = cursor.word()?;
            (sample.is_load, sample.is_store) = (source & IS_LOAD != 0, source & IS_STORE != 0);
            sample.is_transfer = sample.is_load && source & (SNOOP_MODIFIED | SNOOP_PEER) != 0;
        }
        Some(sample)
    }

    fn skip_to_source(&self, cursor: &mut Cursor) -> Option<()> {
        if self.has(READ) {
            self.skip_read(cursor)?;
        }
        if self.has(CALLCHAIN) {
            let count = cursor.word()?;
            cursor.skip(count, 8)?;
        }
        if self.has(RAW) {
            // The length (four bytes) and the data together fill whole words.
            let bytes = u32_at(cursor.body, cursor.at)?;
            cursor.skip(1, u64::from(bytes) + 4)?;
        }
        if self.has(BRANCHES) {
            let count = cursor.word()?;
            cursor.skip(u64::from(self.branches & BRANCH_INDEX != 0), 8)?;
            // A branch has 24 bytes: source, target, and flags.
            cursor.skip(count, 24)?;
            // The counters of all branches follow the last branch.
            let counters = if self.branches & BRANCH_COUNTERS == 0 { 0 } else { count };
            cursor.skip(counters, 8)?;
        }
        if self.has(USER_REGISTERS) {
            // An ABI of 0 means no registers.
            let is_there = cursor.word()? != 0;
            cursor.skip(if is_there { self.user_registers.count_ones().into() } else { 0 }, 8)?;
        }
        if self.has(USER_STACK) {
            let bytes = cursor.word()?;
            cursor.skip(1, bytes)?;
            // The stack is followed by its used size.
            cursor.skip(u64::from(bytes > 0), 8)?;
        }
        cursor.skip(u64::from(self.has(WEIGHT)), 8)
    }

    fn skip_read(&self, cursor: &mut Cursor) -> Option<()> {
        let times: u64 = READ_TIMES.map(|part| u64::from(self.read & part != 0)).iter().sum();
        let each =
            1 + u64::from(self.read & READ_NUMBER != 0) + u64::from(self.read & READ_LOST != 0);
        match self.read & READ_GROUP {
            0 => cursor.skip(each + times, 8),
            _ => {
                let count = cursor.word()?;
                cursor.skip(times, 8)?;
                cursor.skip(count, each * 8)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn layout(parts: u64, branches: u64) -> SampleLayout {
        let mut words = [0_u64; 16];
        // `struct perf_event_attr`: the size is the upper half of the first word.
        words[0] = 128 << 32;
        words[3] = parts;
        words[9] = branches;
        SampleLayout::read(&bytes(&words)).unwrap()
    }

    fn bytes(words: &[u64]) -> Vec<u8> {
        words.iter().flat_map(|word| word.to_ne_bytes()).collect()
    }

    fn sample(layout: &SampleLayout, flags: u16, words: &[u64]) -> Option<AccessSample> {
        layout.sample(flags, &bytes(words))
    }

    /// `PERF_SAMPLE_BRANCH_ANY` with each part that changes the length (linux/perf_event.h).
    #[test]
    fn sample_decoder_skips_branch_records() {
        // The address, the number of branches, two branches, and the data source.
        let head = [0x4000, 2];
        let branches = [1, 2, 3, 4, 5, 6];
        for (kinds, index, counters) in [
            (1 << 3, &[][..], &[][..]),
            (1 << 3 | BRANCH_INDEX, &[9][..], &[][..]),
            (1 << 3 | BRANCH_COUNTERS, &[][..], &[7, 8][..]),
            (1 << 3 | BRANCH_INDEX | BRANCH_COUNTERS, &[9][..], &[7, 8][..]),
        ] {
            let layout = layout(ADDRESS | BRANCHES | SOURCE, kinds);
            let words = [&head[..1], &head[1..], index, &branches, counters, &[IS_STORE]].concat();
            let sample = sample(&layout, 2, &words).unwrap();
            assert!(sample.address == 0x4000 && sample.is_store, "{kinds:#x}: {sample:?}");
        }
    }

    #[test]
    fn kernel_mode_is_read_from_low_flag_bits() {
        let layout = layout(ADDRESS, 0);
        let is_kernel = |flags| sample(&layout, flags, &[0x4000]).unwrap().is_kernel;
        // `PERF_RECORD_MISC_EXACT_IP` is bit 14; 2 is a program's mode.
        assert!(is_kernel(1 << 14 | KERNEL_MODE) && !is_kernel(1 << 14 | 2) && !is_kernel(1 << 8));
    }
}
