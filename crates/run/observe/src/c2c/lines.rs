//! Combines samples by cache line.
//!
//! The samples do not show which writer a line came from. The transfer is shared among the other
//! threads with sampled writes of it, in proportion (as perf-c2c(1) lists them below each line), or
//! else among the other threads that used it.

use super::sample::AccessSample;
use std::collections::{BTreeMap, HashMap};

pub const LINE_BYTES: u64 = 64;
/// The first kernel address, on all 64-bit processors of Linux.
const KERNEL: u64 = 1 << 63;

#[derive(Clone, Copy, Debug, Default)]
struct Use {
    accesses: f64,
    stores: f64,
    transfers: f64,
    /// The written and accessed words of eight bytes, one bit each.
    written: u8,
    accessed: u8,
}

pub type ThreadKey = (i32, i32);

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LineTransfer {
    pub line: u64,
    pub from: ThreadKey,
    pub to: ThreadKey,
    pub messages: f64,
    /// The words that one thread writes and the other accesses, one bit each.
    pub written: u8,
    pub accessed: u8,
}

#[derive(Debug, Default)]
pub struct SampledLines {
    /// The uses by process and line; a process is an address space.
    uses: HashMap<(i32, u64), BTreeMap<i32, Use>>,
    pub samples: u64,
    pub transfers: u64,
    pub kernel: u64,
}

impl SampledLines {
    pub fn add(&mut self, sample: &AccessSample) {
        if sample.address == 0 || !(sample.is_load || sample.is_store) {
            return;
        }
        if sample.address >= KERNEL || sample.is_kernel {
            self.kernel += 1;
            return;
        }
        self.samples += 1;
        self.transfers += u64::from(sample.is_transfer);
        let line = sample.address / LINE_BYTES;
        // A line of 64 bytes has eight words.
        let word = 1 << (sample.address % LINE_BYTES / 8);
        let of_line = self.uses.entry((sample.pid, line)).or_default();
        let one = of_line.entry(sample.tid).or_default();
        one.accesses += sample.weight;
        one.accessed |= word;
        if sample.is_store {
            one.stores += sample.weight;
            one.written |= word;
        }
        if sample.is_transfer {
            one.transfers += sample.weight;
        }
    }

    pub fn transfers(&self) -> Vec<LineTransfer> {
        // A line with only one observed thread does not move; `orphans` counts its transfers.
        let mut lines: Vec<_> = self.uses.iter().filter(|(_, threads)| threads.len() > 1).collect();
        lines.sort_by_key(|(place, _)| **place);
        lines.into_iter().flat_map(|((pid, line), threads)| of_line(*pid, *line, threads)).collect()
    }

    /// The transfers of lines that no other thread was seen to use.
    pub fn orphans(&self) -> f64 {
        let alone = self.uses.values().filter(|threads| threads.len() == 1);
        alone.flat_map(BTreeMap::values).fold(0.0, |sum, one| sum + one.transfers)
    }
}

fn of_line(pid: i32, line: u64, threads: &BTreeMap<i32, Use>) -> Vec<LineTransfer> {
    let mut found = Vec::new();
    for (to, reader) in threads.iter().filter(|(_, reader)| reader.transfers > 0.0) {
        let others = threads.iter().filter(|(tid, _)| *tid != to);
        let stores: f64 = others.clone().fold(0.0, |sum, (_, other)| sum + other.stores);
        let shares = others.map(|(tid, other)| {
            let by_stores = (*tid, other.stores, other.written);
            if stores > 0.0 { by_stores } else { (*tid, other.accesses, other.accessed) }
        });
        let all: f64 = shares.clone().fold(0.0, |sum, (_, share, _)| sum + share);
        found.extend(shares.filter(|(_, share, _)| *share > 0.0).map(|(from, share, written)| {
            LineTransfer {
                line,
                from: (pid, from),
                to: (pid, *to),
                messages: reader.transfers * share / all,
                written,
                accessed: reader.accessed,
            }
        }));
    }
    found
}
