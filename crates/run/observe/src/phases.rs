//! Finds the phases of a program.
//!
//! Adjacent windows are merged, the most similar first, while their patterns differ by less than
//! `MOST_APART`; then those shorter than `SHORTEST`. The distance of patterns depends on the angle
//! between their vectors of messages by pair, and so not on a window's length or activity.

use crate::Window;
use seatmap_data::pattern::{Edge, Pattern};
use std::collections::HashMap;

/// The distance that separates phases: 0 is the same pattern, 1 has no common pair.
const MOST_APART: f64 = 0.3;

/// A period of fewer windows is a transition.
const SHORTEST: usize = 3;

/// Windows with fewer are not significant.
const MESSAGES_PER_PAIR: f64 = 16.0;

/// A period with a constant pattern.
#[derive(Clone, Debug, PartialEq)]
pub struct Phase {
    /// The start, in seconds since the observation began.
    pub from_s: f64,
    /// The end, in the same seconds.
    pub to_s: f64,
    /// The messages by pair.
    pub edges: Vec<Edge>,
}

impl Phase {
    /// The messages of the whole phase.
    pub fn messages(&self) -> f64 {
        sum_of(&self.edges)
    }
}

pub fn sum_of<'a>(edges: impl IntoIterator<Item = &'a Edge>) -> f64 {
    edges.into_iter().fold(0.0, |sum, edge| sum + edge.messages)
}

#[derive(Clone)]
struct Stretch {
    from_s: f64,
    to_s: f64,
    windows: usize,
    pairs: HashMap<(usize, usize), Edge>,
}

impl Stretch {
    fn of(window: &Window) -> Self {
        let pairs = window.edges.iter().map(|edge| ((edge.from, edge.to), *edge)).collect();
        Stretch { from_s: window.from_s, to_s: window.to_s, windows: 1, pairs }
    }

    fn is_thin(&self) -> bool {
        sum_of(self.pairs.values()) < MESSAGES_PER_PAIR * self.pairs.len().max(1) as f64
    }

    fn join(&mut self, next: Stretch) {
        self.to_s = next.to_s;
        self.windows += next.windows;
        for (ends, edge) in next.pairs {
            let own = self.pairs.entry(ends).or_insert(Edge { bytes: 0.0, messages: 0.0, ..edge });
            own.bytes += edge.bytes;
            own.messages += edge.messages;
        }
    }

    /// 1 minus the cosine.
    fn distance(&self, other: &Stretch) -> f64 {
        // Pairs in only one of the vectors add nothing to the product.
        let (few, many) =
            if self.pairs.len() < other.pairs.len() { (self, other) } else { (other, self) };
        let lengths = (self.square() * other.square()).sqrt();
        let products = few.pairs.iter().map(|(ends, edge)| {
            many.pairs.get(ends).map_or(0.0, |other| edge.messages * other.messages)
        });
        if lengths > 0.0 { 1.0 - products.sum::<f64>() / lengths } else { 0.0 }
    }

    fn square(&self) -> f64 {
        self.pairs.values().map(|edge| edge.messages * edge.messages).sum()
    }
}

/// An observation's phases, in order; one if the pattern does not change.
pub fn phases(windows: &[Window]) -> Vec<Phase> {
    let mut stretches = thick(windows.iter().map(Stretch::of));
    // Only adjacent windows, because a phase is a period.
    while let Some(at) = nearest(&stretches) {
        let next = stretches.remove(at + 1);
        stretches[at].join(next);
    }
    let phases = stretches.into_iter().map(|Stretch { from_s, to_s, pairs, .. }| Phase {
        from_s,
        to_s,
        edges: Pattern::gathered("", 0, pairs.into_values()).edges,
    });
    phases.collect()
}

/// Joins windows with few messages to others.
fn thick(windows: impl Iterator<Item = Stretch>) -> Vec<Stretch> {
    let mut thick: Vec<Stretch> = Vec::new();
    for window in windows {
        match thick.last_mut().filter(|last| last.is_thin()) {
            Some(last) => last.join(window),
            None => thick.push(window),
        }
    }
    if let Some(last) = thick.pop_if(|last| last.is_thin()) {
        match thick.last_mut() {
            Some(before) => before.join(last),
            None => thick.push(last),
        }
    }
    thick
}

/// The first of the most similar neighbours, if alike or too short.
fn nearest(stretches: &[Stretch]) -> Option<usize> {
    let distances: Vec<(usize, f64)> =
        stretches.windows(2).map(|pair| pair[0].distance(&pair[1])).enumerate().collect();
    let least = |is_near: &dyn Fn(usize, f64) -> bool| {
        let near = distances.iter().filter(|(at, distance)| is_near(*at, *distance));
        near.min_by(|(_, a), (_, b)| a.total_cmp(b)).map(|(at, _)| *at)
    };
    // A short period joins a neighbour, however different.
    let is_short = |at: usize| stretches[at..at + 2].iter().any(|one| one.windows < SHORTEST);
    least(&|_, distance| distance < MOST_APART).or_else(|| least(&|at, _| is_short(at)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn window(at: usize, pairs: &[(usize, usize, f64)]) -> Window {
        Window {
            from_s: at as f64,
            to_s: at as f64 + 1.0,
            edges: pairs
                .iter()
                .map(|&(from, to, messages)| Edge { from, to, bytes: messages, messages })
                .collect(),
        }
    }

    fn spans(windows: &[Window]) -> Vec<(f64, f64)> {
        phases(windows).iter().map(|phase| (phase.from_s, phase.to_s)).collect()
    }

    #[test]
    fn changed_pattern_starts_new_phase() {
        let ring = [(0, 1, 100.0), (1, 2, 90.0), (2, 0, 110.0)];
        let star = [(0, 2, 100.0), (2, 1, 80.0), (1, 0, 100.0)];
        let windows: Vec<Window> = (0..11)
            .map(|at| window(at, if (3..7).contains(&at) { &star } else { &ring }))
            .collect();
        assert_eq!(spans(&windows), [(0.0, 3.0), (3.0, 7.0), (7.0, 11.0)]);
    }

    #[test]
    fn transition_window_is_no_phase() {
        let pairs = [(0, 1, 100.0), (1, 2, 90.0), (2, 0, 110.0)];
        let windows: Vec<Window> = (0..9)
            .map(|at| window(at, &[pairs[usize::from(at > 3) + usize::from(at > 4)]]))
            .collect();
        assert_eq!(spans(&windows), [(0.0, 5.0), (5.0, 9.0)]);
    }

    #[test]
    fn noise_and_silence_start_no_phase() {
        let mut windows: Vec<Window> = (0..20)
            .map(|at| window(at, &[(0, 1, 100.0 + 10.0 * (at % 3) as f64), (1, 0, 120.0)]))
            .collect();
        windows[4] = window(4, &[]);
        windows[9] = window(9, &[(3, 4, 2.0)]);
        windows[19] = window(19, &[(0, 2, 1.0)]);
        assert_eq!(spans(&windows), [(0.0, 20.0)]);
        assert_eq!(phases(&[]), []);
    }
}
