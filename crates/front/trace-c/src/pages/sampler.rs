//! Which pages are next, and how many: within a share of the program's CPU time.

use super::areas::Areas;
use super::book::Book;

/// The share of the program's CPU time that sampling may take.
const SHARE: f64 = 0.15;

/// CPU time that may be saved up, in nanoseconds: a program that begins to work is sampled at once.
const MOST_NS: f64 = 5e6;

/// CPU time of the first samples, in nanoseconds, until it is known: two moves of a page, a fault
/// and a switch.
const FIRST_NS: f64 = 15e3;

/// Pages that are taken at once, at most.
const MOST: f64 = 128.0;

/// Of 8 pages, those that are taken from pages which several threads access.
const OF_SHARED: u64 = 4;

/// Of 8 pages that seem to be one thread's own, those that are sampled all the same.
const OF_PRIVATE: u64 = 1;

/// Attempts to find a page that is worth it.
const ATTEMPTS: usize = 4;

/// The CPU time that was used so far, in nanoseconds.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Used {
    /// By the program, without what sampling takes.
    pub program_ns: f64,
    /// By sampling.
    pub sampling_ns: f64,
    /// Pages taken away or protected.
    pub samples: u64,
}

/// Chooses pages.
#[derive(Debug)]
pub struct Sampler {
    random: u64,
    saved_ns: f64,
    before: Used,
}

/// A page that is next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Next {
    /// Its address.
    pub page: usize,
    /// Whether it is to be taken away; protected otherwise.
    pub is_away: bool,
}

impl Sampler {
    /// Begins with this seed.
    pub fn new(seed: u64) -> Self {
        Sampler { random: seed | 1, saved_ns: MOST_NS, before: Used::default() }
    }

    /// How many pages may be taken now.
    pub fn allowed(&mut self, used: Used) -> usize {
        let earned = (used.program_ns - self.before.program_ns).max(0.0) * SHARE;
        let spent = (used.sampling_ns - self.before.sampling_ns).max(0.0);
        self.saved_ns = (self.saved_ns + earned - spent).min(MOST_NS);
        self.before = used;
        let each =
            if used.samples > 64 { used.sampling_ns / used.samples as f64 } else { FIRST_NS };
        (self.saved_ns / each.max(1.0)).clamp(0.0, MOST) as usize
    }

    /// A page to take; `None` where none was found that is worth it.
    pub fn next(&mut self, areas: &Areas, book: &mut Book) -> Option<Next> {
        if !book.shared().is_empty() && self.below(8) < OF_SHARED {
            let at = self.below(book.shared().len() as u64) as usize;
            return Some(Next { page: book.shared()[at], is_away: self.below(2) == 0 });
        }
        (0..ATTEMPTS).find_map(|_| {
            let page = self.any(areas)?;
            let is_worth = !book.is_private(page) || self.below(8) < OF_PRIVATE;
            is_worth.then_some(Next { page, is_away: self.below(2) == 0 })
        })
    }

    fn any(&mut self, areas: &Areas) -> Option<usize> {
        let pages = areas.pages();
        pages.get(self.below(pages.len() as u64) as usize).copied()
    }

    /// A number below this one (Marsaglia's xorshift).
    fn below(&mut self, end: u64) -> u64 {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        (self.random >> 11) % end.max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sampling_stays_within_its_share() {
        let mut sampler = Sampler::new(7);
        let mut used = Used::default();
        for _ in 0..10_000 {
            used.program_ns += 1e6;
            let count = sampler.allowed(used) as u64;
            used.samples += count;
            used.sampling_ns += count as f64 * 40e3;
        }
        let share = used.sampling_ns / used.program_ns;
        assert!((SHARE * 0.9..SHARE * 1.1).contains(&share), "{share}");
        // A program that does nothing is left alone.
        for _ in 0..1000 {
            sampler.allowed(used);
        }
        used.sampling_ns += 1e9;
        assert_eq!(sampler.allowed(used), 0);
    }
}
