//! The pages of which something is known: who accessed them, and whether they are away now.

use super::{PAGE, fence};

/// Pages that are known: 512 MiB. Others are sampled as well, and forgotten.
const MOST: usize = 1 << 17;
/// Places at which a page is looked for.
const PROBES: usize = 8;
/// Pages that several threads access, which are sampled most.
const MOST_SHARED: usize = 1 << 14;
/// Samples of each kind, of one thread alone, after which a page is taken for its own. A page that
/// one thread reads all the time, and another one writes now and then, shows the first only while
/// it is away.
const ENOUGH: u8 = 3;

/// A page.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct Page {
    /// Its address; 0 in an unused entry.
    pub address: usize,
    /// The thread that accessed it first.
    tid: i32,
    /// Times for which it was away or protected, before a second thread came.
    away: u8,
    protected: u8,
    is_shared: bool,
}

/// All known pages.
pub struct Book {
    pages: &'static mut [Page],
    shared: &'static mut [usize],
    shared_count: usize,
}

impl Book {
    /// An empty book; `None` if there is no memory.
    pub fn new() -> Option<Self> {
        Some(Book {
            pages: fence::table(MOST)?,
            shared: fence::table(MOST_SHARED)?,
            shared_count: 0,
        })
    }

    /// Takes in that a page was away or protected until a thread accessed it, or until nobody did
    /// for a while (0).
    pub fn was_exposed(&mut self, page: usize, is_away: bool, tid: i32) {
        let Some(known) = self.find(page) else { return };
        let count = if is_away { &mut known.away } else { &mut known.protected };
        *count = count.saturating_add(1);
        if known.tid == 0 {
            known.tid = tid;
        }
        let is_new = tid != 0 && known.tid != tid && !std::mem::replace(&mut known.is_shared, true);
        if is_new && self.shared_count < MOST_SHARED {
            self.shared[self.shared_count] = page;
            self.shared_count += 1;
        }
    }

    /// Whether a page seems to be one thread's own.
    pub fn is_private(&mut self, page: usize) -> bool {
        self.find(page)
            .is_some_and(|known| !known.is_shared && known.away.min(known.protected) >= ENOUGH)
    }

    /// The pages that several threads access.
    pub fn shared(&self) -> &[usize] {
        &self.shared[..self.shared_count]
    }

    /// Forgets pages of memory that is no longer there.
    pub fn forget(&mut self, start: usize, end: usize) {
        let mut at = 0;
        while at < self.shared_count {
            let page = self.shared[at];
            if (start..end).contains(&page) {
                self.shared_count -= 1;
                self.shared[at] = self.shared[self.shared_count];
                if let Some(known) = self.find(page) {
                    *known = Page { address: page, ..Page::default() };
                }
            } else {
                at += 1;
            }
        }
    }

    /// The entry of a page; a new one replaces none, so that a full book knows no new pages.
    fn find(&mut self, page: usize) -> Option<&mut Page> {
        let start = (page / PAGE).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        let at = (0..PROBES).map(|probe| (start + probe) % MOST).find(|at| {
            self.pages.get(*at).is_some_and(|known| [0, page].contains(&known.address))
        })?;
        let known = self.pages.get_mut(at)?;
        known.address = page;
        Some(known)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_thread_makes_a_page_shared() {
        assert!(fence::begin());
        let mut book = Book::new().unwrap();
        let [one, two] = [0x7000_0000, 0x7000_1000];
        (0..3).for_each(|_| book.was_exposed(one, true, 5));
        (0..9).for_each(|_| book.was_exposed(two, true, 5));
        assert!(!book.is_private(one));
        (0..3).for_each(|_| book.was_exposed(one, false, 0));
        assert!(book.is_private(one) && !book.is_private(two) && book.shared().is_empty());
        book.was_exposed(one, false, 6);
        book.was_exposed(one, true, 5);
        assert_eq!(book.shared(), [one]);
        assert!(!book.is_private(one));
        book.forget(one, two);
        assert!(book.shared().is_empty());
        book.was_exposed(one, true, 6);
        assert!(book.shared().is_empty());
    }
}
