//! The child of a fork, before it runs alone: it gets copies of the pages that were away.
//!
//! The child runs while its pages come. Whatever it does to its memory meanwhile waits until it is
//! read here, and the kernel takes no page before. So its words are read, and the pages follow its
//! memory.

use super::events::Event;
use super::kernel::{Faults, MESSAGES};
use super::stash::SLOTS;

/// Children of children that get their pages, in a row: as many as the stack holds the lists of.
/// Each has to fork while the pages of its parent come.
const DEEPEST: usize = 8;

/// A page's address in the child, 0 for none, and where its content is.
type Away = (usize, usize);

/// Gives a child its pages.
pub fn fill(child: &Faults, pages: &mut [Away]) {
    fill_at(child, pages, 0);
}

fn fill_at(child: &Faults, pages: &mut [Away], depth: usize) {
    for at in 0..pages.len() {
        while pages[at].0 != 0 && child.copy(pages[at].0, pages[at].1) == Err(libc::EAGAIN) {
            listen(child, pages, depth);
            std::thread::yield_now();
        }
    }
}

/// Takes in what the child does. Its threads that wait for pages get them, or zeros at the end.
fn listen(child: &Faults, pages: &mut [Away], depth: usize) {
    let mut events = [None; MESSAGES];
    let mut count = 0;
    child.events(|event| {
        if let Some(place) = events.get_mut(count) {
            *place = Some(event);
            count += 1;
        }
    });
    for event in events.into_iter().flatten() {
        match event {
            Event::Fork(grandchild) => fill_grandchild(&Faults::from(grandchild), pages, depth + 1),
            Event::Moved { from, to, bytes } => {
                within(pages, from, from.saturating_add(bytes))
                    .for_each(|page| *page = *page - from + to);
            }
            Event::Dropped { start, end } | Event::Unmapped { start, end } => {
                within(pages, start, end).for_each(|page| *page = 0);
            }
            Event::Fault { .. } => {}
        }
    }
}

/// Pages that the child has already are its child's as well, and are refused.
#[inline(never)]
fn fill_grandchild(grandchild: &Faults, pages: &[Away], depth: usize) {
    let mut own = [(0, 0); SLOTS];
    own[..pages.len()].copy_from_slice(pages);
    if depth < DEEPEST {
        fill_at(grandchild, &mut own[..pages.len()], depth);
    }
}

fn within(pages: &mut [Away], start: usize, end: usize) -> impl Iterator<Item = &mut usize> {
    pages.iter_mut().map(|page| &mut page.0).filter(move |page| (start..end).contains(*page))
}
