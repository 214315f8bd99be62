//! The order in which memory moved, where the kernel tells of it in another one.
//!
//! A thread changes the program's memory, and only then waits to tell of it. Threads that do so at
//! the same time may tell in any order: memory may be said to arrive at an address before it is
//! said that other memory has left there. The kernel gives no address twice, so whatever arrives at
//! an address of known memory came after that had left. The next word of a departure from there is
//! the old memory's.
//!
//! mremap(2) tells twice: of the move, and then that there is no memory at the old address.
//! Something else may have arrived there in between.

/// Ranges that are kept of each kind: one for each thread that changes memory at the same moment.
const MOST: usize = 128;

/// A range, from its first address to its end.
pub type Range = (usize, usize);

/// Words that the kernel still owes.
pub struct Moves {
    /// Old addresses of moved memory.
    moved_from: Ranges,
    /// New addresses at which other memory was known.
    arrived_over: Ranges,
}

impl Moves {
    /// Nothing is owed.
    pub fn new() -> Self {
        Moves { moved_from: Ranges::new(), arrived_over: Ranges::new() }
    }

    /// Memory moved from here: the kernel will say that there is none.
    pub fn leave(&mut self, from: Range) {
        self.moved_from.add(from);
    }

    /// Memory moved to an address at which other memory was known.
    pub fn arrive_over(&mut self, to: Range) {
        self.arrived_over.add(to);
    }

    /// Whether the word that there is no memory belongs to a move that is known.
    pub fn is_of_move(&mut self, range: Range) -> bool {
        self.moved_from.remove(range)
    }

    /// Takes in that the oldest memory has left; gives the parts at which newer memory is.
    pub fn settle(&mut self, left: Range, mut give: impl FnMut(Range)) {
        let overs = self.arrived_over.clone();
        let mut settled = Ranges::new();
        for over in overs.ranges[..overs.count].iter().copied() {
            let part = (over.0.max(left.0), over.1.min(left.1));
            if part.0 >= part.1 || settled.overlapping(part).next().is_some() {
                continue;
            }
            settled.add(part);
            self.arrived_over.remove(over);
            let rests = [(over.0, part.0), (part.1, over.1)];
            rests
                .into_iter()
                .filter(|rest| rest.0 < rest.1)
                .for_each(|rest| self.arrived_over.add(rest));
            give(part);
        }
    }

    /// How many departures from this address are owed.
    pub fn owed(&self, address: usize) -> usize {
        self.arrived_over.overlapping((address, address + 1)).count()
    }

    /// Whether nothing is owed.
    pub fn is_settled(&self) -> bool {
        self.moved_from.count == 0 && self.arrived_over.count == 0
    }

    /// The kernel has told everything.
    pub fn clear(&mut self) {
        *self = Moves::new();
    }
}

#[derive(Clone)]
struct Ranges {
    ranges: [Range; MOST],
    count: usize,
}

impl Ranges {
    fn new() -> Self {
        Ranges { ranges: [(0, 0); MOST], count: 0 }
    }

    /// A full list forgets its oldest.
    fn add(&mut self, range: Range) {
        if self.count == MOST {
            self.ranges.rotate_left(1);
            self.count -= 1;
        }
        self.ranges[self.count] = range;
        self.count += 1;
    }

    fn remove(&mut self, range: Range) -> bool {
        let place = self.ranges[..self.count].iter().position(|known| *known == range);
        if let Some(place) = place {
            self.ranges[place..self.count].rotate_left(1);
            self.count -= 1;
        }
        place.is_some()
    }

    fn overlapping(&self, range: Range) -> impl Iterator<Item = Range> {
        self.ranges[..self.count]
            .iter()
            .copied()
            .filter(move |known| known.0 < range.1 && range.0 < known.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_of_a_move_is_told_from_an_unmapping() {
        let mut moves = Moves::new();
        moves.leave((10, 20));
        assert!(!moves.is_of_move((10, 15)));
        assert!(moves.is_of_move((10, 20)));
        assert!(!moves.is_of_move((10, 20)));
        assert!(moves.is_settled());
    }

    #[test]
    fn old_memory_leaves_before_new_memory() {
        let mut moves = Moves::new();
        moves.arrive_over((10, 40));
        assert_eq!([moves.owed(39), moves.owed(40)], [1, 0]);
        let mut kept = Vec::new();
        moves.settle((20, 30), |range| kept.push(range));
        assert_eq!(kept, [(20, 30)]);
        assert_eq!([19, 20, 30].map(|at| moves.owed(at)), [1, 0, 1]);
        moves.settle((0, 99), |range| kept.push(range));
        assert_eq!(kept, [(20, 30), (10, 20), (30, 40)]);
        assert!(moves.is_settled());
        (0..2).for_each(|_| moves.arrive_over((10, 40)));
        moves.settle((0, 99), |_| ());
        assert_eq!(moves.owed(10), 1);
    }

    #[test]
    fn a_full_list_forgets_its_oldest() {
        let mut moves = Moves::new();
        (0..=MOST).for_each(|at| moves.leave((at * 10, at * 10 + 5)));
        assert!(!moves.is_of_move((0, 5)));
        assert!(moves.is_of_move((10, 15)) && moves.is_of_move((MOST * 10, MOST * 10 + 5)));
        moves.clear();
        assert!(moves.is_settled());
    }
}
