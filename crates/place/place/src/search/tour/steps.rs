//! Steps from one tour to another.

use super::{NOWHERE, Tour};

/// The longest piece to move, as in Or (1976).
const LONGEST_PIECE: usize = 3;

impl Tour<'_> {
    /// Reverses `length` slots, or the rest of the tour if shorter: the same tour.
    pub(super) fn turn(&mut self, from: usize, length: usize) {
        let n = self.tour.len();
        let (from, length) =
            if 2 * length > n { (from + length, n - length) } else { (from, length) };
        self.turn_exactly(from, length);
        for place in [from + n - 1, from, from + length + n - 1, from + length] {
            self.touch(self.at(place));
        }
    }

    fn turning(&self, from: usize, length: usize) -> f64 {
        let n = self.tour.len();
        let before = self.at(from + n - 1);
        let first = self.at(from);
        let last = self.at(from + length + n - 1);
        let after = self.at(from + length);
        self.apart(before, last) + self.apart(first, after)
            - self.apart(before, first)
            - self.apart(last, after)
    }

    fn does(&mut self, change: f64) -> bool {
        let helps = self.weight * change < -self.least;
        if helps {
            self.cost += self.weight * change;
        }
        helps
    }

    /// Makes two slots neighbours.
    pub(super) fn try_turns(&mut self, place: usize, other: usize) -> bool {
        let n = self.tour.len();
        let length = (other + n - place) % n;
        for from in [place + 1, place] {
            if length > 0 && self.does(self.turning(from, length)) {
                self.turn(from, length);
                return true;
            }
        }
        false
    }

    /// Moves a piece that starts or ends at `place` to one side of `other`.
    pub(super) fn try_pieces(&mut self, place: usize, other: usize) -> bool {
        let n = self.tour.len();
        for length in 1..=LONGEST_PIECE.min(n / 3) {
            for start in [place, place + n + 1 - length] {
                let gap = (other + n - start % n) % n;
                for to in [gap, (gap + n - 1) % n] {
                    if to >= length && to + 1 < n && self.try_piece(start, length, to) {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// Moves it after the slot `to` positions on, straight or reversed.
    fn try_piece(&mut self, start: usize, length: usize, to: usize) -> bool {
        let n = self.tour.len();
        let before = self.at(start + n - 1);
        let first = self.at(start);
        let last = self.at(start + length - 1);
        let after = self.at(start + length);
        let left = self.at(start + to);
        let right = self.at(start + to + 1);
        let out = self.apart(before, after)
            - self.apart(before, first)
            - self.apart(last, after)
            - self.apart(left, right);
        let straight = self.apart(left, first) + self.apart(last, right);
        let turned = self.apart(left, last) + self.apart(first, right);
        if !self.does(out + straight.min(turned)) {
            return false;
        }
        let rest = to + 1 - length;
        self.turn_exactly(start, to + 1);
        self.turn_exactly(start, rest);
        if straight <= turned {
            self.turn_exactly(start + rest, length);
        }
        [before, first, last, after, left, right].into_iter().for_each(|slot| self.touch(slot));
        true
    }

    /// Unlike `turn`, this keeps all other positions.
    pub(super) fn turn_exactly(&mut self, from: usize, length: usize) {
        for step in 0..length / 2 {
            let left = from + step;
            let right = from + length - 1 - step;
            let a = self.at(left);
            let b = self.at(right);
            self.put(left, b);
            self.put(right, a);
        }
    }

    /// Replaces a neighbour of a position.
    pub(super) fn try_unused(&mut self, place: usize, unused: u32) -> bool {
        let n = self.tour.len();
        for at in [place + 1, place + n - 1] {
            let before = self.at(at + n - 1);
            let old = self.at(at);
            let after = self.at(at + 1);
            let change = self.apart(before, unused) + self.apart(unused, after)
                - self.apart(before, old)
                - self.apart(old, after);
            // Without the jump, a pipeline would be a ring.
            if old != NOWHERE && self.does(change) {
                self.place[old as usize] = NOWHERE;
                self.put(at, unused);
                [before, unused, after].into_iter().for_each(|slot| self.touch(slot));
                return true;
            }
        }
        false
    }
}
