//! Messages by windows of time.

use crate::TalkKind;
use crate::talk::ThreadMessages;
use seatmap_data::invariant;
use std::collections::HashMap;
use std::time::Duration;

/// At this many windows, pairs of them are joined.
const MOST: usize = 512;

const STRETCHES: &str = "stretches of time";

#[derive(Clone, Copy, Default)]
pub struct PairSum {
    pub messages: f64,
    pub bytes: f64,
}

impl PairSum {
    fn add(&mut self, other: PairSum) {
        self.messages += other.messages;
        self.bytes += other.bytes;
    }
}

#[derive(Clone, Default)]
pub struct Stretch {
    pub to: Duration,
    pub pairs: HashMap<(usize, usize), PairSum>,
}

#[derive(Default)]
pub struct Stretches {
    pub all: Vec<Stretch>,
    looks: usize,
    /// Looks in the last window.
    taken: usize,
    pub kinds: HashMap<(usize, usize), [f64; TalkKind::ALL.len()]>,
}

impl Stretches {
    /// Adds the messages of a look that ends at this time, by index.
    pub fn take(
        &mut self,
        to: Duration,
        talk: impl IntoIterator<Item = (usize, usize, ThreadMessages)>,
    ) {
        let before = self.all.last().map_or(Duration::ZERO, |last| last.to);
        invariant!(
            to >= before && self.taken <= self.looks,
            STRETCHES,
            "a look ends at {to:?} after one at {before:?}, the last stretch has {} looks of {}",
            self.taken,
            self.looks
        );
        self.looks = self.looks.max(1);
        if self.all.is_empty() || self.taken == self.looks {
            self.thin();
            self.all.push(Stretch::default());
            self.taken = 0;
        }
        self.taken += 1;
        let Some(last) = self.all.last_mut() else { return };
        last.to = to;
        for (from, to, talk) in talk.into_iter().filter(|(from, to, _)| from != to) {
            check(&talk);
            let sum = PairSum { messages: talk.messages, bytes: talk.bytes };
            last.pairs.entry((from, to)).or_default().add(sum);
            self.kinds.entry((from, to)).or_default()[talk.kind as usize] += talk.messages;
        }
    }

    fn thin(&mut self) {
        if self.all.len() < MOST {
            return;
        }
        let halves = self.all.chunks(2).map(|pair| {
            let mut joined = pair[0].clone();
            for next in &pair[1..] {
                joined.to = next.to;
                for (ends, sum) in &next.pairs {
                    joined.pairs.entry(*ends).or_default().add(*sum);
                }
            }
            joined
        });
        self.all = halves.collect();
        self.looks *= 2;
    }
}

/// A sum with NaN or infinity is useless.
fn check(talk: &ThreadMessages) {
    let is_counted =
        [talk.messages, talk.bytes].iter().all(|figure| figure.is_finite() && *figure >= 0.0);
    invariant!(is_counted, STRETCHES, "{talk:?} is added");
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[should_panic(
        expected = "broke an invariant: stretches of time: a look ends at 1s after one at 2s"
    )]
    fn decreasing_time_panics() {
        let mut stretches = Stretches::default();
        [2, 1].into_iter().for_each(|at| stretches.take(Duration::from_secs(at), []));
    }

    fn talk(messages: f64) -> ThreadMessages {
        ThreadMessages { from: 1, to: 2, kind: TalkKind::Pipe, messages, bytes: 1.0 }
    }

    #[test]
    #[should_panic(expected = "messages: NaN")]
    fn invalid_message_count_panics() {
        Stretches::default().take(Duration::ZERO, [(0, 1, talk(f64::NAN))]);
    }

    #[test]
    fn merged_stretches_keep_all_messages() {
        let mut stretches = Stretches::default();
        let talk = talk(1.0);
        for at in 1..=5_000 {
            stretches.take(Duration::from_millis(at), [(0, 1, talk), (1, 1, talk)]);
        }
        let total: f64 = stretches.all.iter().map(|stretch| stretch.pairs[&(0, 1)].messages).sum();
        assert!(
            stretches.all.len() <= MOST && stretches.all.is_sorted_by_key(|stretch| stretch.to)
        );
        assert_eq!((total, stretches.kinds[&(0, 1)][TalkKind::Pipe as usize]), (5_000.0, 5_000.0));
        assert_eq!(stretches.all.last().unwrap().to, Duration::from_millis(5_000));
        assert!(stretches.all.iter().all(|stretch| stretch.pairs.len() == 1));
    }
}
