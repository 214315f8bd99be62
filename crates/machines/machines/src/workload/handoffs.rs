//! Messages along a communication pattern, over cache lines.

use crate::workload::lines_up_to;
use crate::workload::spin_channel::SpinChannel;
use seatmap_data::pattern::Pattern;
use seatmap_data::port::{Addr, Port, Stamp, Workload};
use seatmap_data::statistics::greatest;

/// Messages of the heaviest edge in a round.
pub const MOST_MESSAGES: u32 = 8;

/// The share of the heaviest edge's bytes below which an edge sends nothing in a round. Each other
/// edge sends at least one message, an eighth of the heaviest edge's, so a wakeup at a program's
/// start would otherwise count as much as traffic.
pub const LEAST_SHARE: f64 = 0.01;

/// A channel between two tasks over one line.
#[derive(Clone, Copy, Debug)]
pub struct Handoff {
    /// Task that sends.
    pub from: usize,
    /// Task that receives.
    pub to: usize,
    /// Messages in a round.
    pub messages: u32,
    /// Line of the channel, which no other channel uses.
    pub line: Addr,
}

/// Tasks that exchange messages along a pattern, round after round, to measure its traffic on a
/// coherent machine. In a round, a task first sends, then receives. Each channel holds one message;
/// edges with several all send their first ones first.
#[derive(Clone, Debug)]
pub struct Handoffs {
    /// Tasks.
    pub tasks: usize,
    /// Channels.
    pub handoffs: Vec<Handoff>,
    /// Rounds.
    pub rounds: u32,
}

/// The result of one task.
#[derive(Clone, Copy, Debug, Default)]
pub struct Exchanged {
    /// Clock before the first message.
    pub began: Stamp,
    /// Clock after the last message.
    pub ended: Stamp,
    /// Sum of all received messages.
    pub sum: u64,
}

impl Handoffs {
    /// The edges of a pattern. The heaviest edge sends [`MOST_MESSAGES`] messages in a round;
    /// others send their share, and at least one; those below `LEAST_SHARE` of it send none. Lines
    /// are assigned one after the other, from `first` on.
    pub fn along(pattern: &Pattern, first: u32, rounds: u32) -> Self {
        let heaviest = greatest(pattern.edges.iter().map(|edge| edge.bytes));
        let counted = pattern.edges.iter().filter(|edge| edge.bytes >= LEAST_SHARE * heaviest);
        let sizes = counted.clone().map(|edge| edge.bytes);
        let lightest = sizes.filter(|bytes| *bytes > 0.0).fold(heaviest, f64::min);
        let unit = if heaviest > lightest { heaviest / f64::from(MOST_MESSAGES) } else { heaviest };
        Handoffs {
            tasks: pattern.tasks,
            handoffs: (0..)
                .zip(counted)
                .map(|(at, edge)| Handoff {
                    from: edge.from,
                    to: edge.to,
                    // Edges without bytes still send one message in a round.
                    messages: if unit > 0.0 {
                        (edge.bytes / unit).round().max(1.0) as u32
                    } else {
                        1
                    },
                    line: Addr::line(first + at),
                })
                .collect(),
            rounds,
        }
    }

    /// The same handoffs over other lines, a quarter more than channels. Each channel in turn, the
    /// busiest first, takes the line whose home is nearest to both its ends (Liu et al. 2015,
    /// algorithm 4 and footnote 3). `away` is a PU's distance from a line's home.
    pub fn near(&self, placement: &[u32], away: impl Fn(u32, u32) -> Option<u64>) -> Self {
        let first =
            self.handoffs.iter().map(|handoff| handoff.line.line_index()).min().unwrap_or(0);
        let mut free: Vec<u32> =
            (first..first + (self.handoffs.len() * 5).div_ceil(4) as u32).collect();
        let mut order: Vec<usize> = (0..self.handoffs.len()).collect();
        order.sort_by_key(|at| std::cmp::Reverse(self.handoffs[*at].messages));
        let mut near = self.clone();
        for at in order {
            let handoff = &mut near.handoffs[at];
            let ends = [placement[handoff.from], placement[handoff.to]];
            let best = (0..free.len()).min_by_key(|at| {
                let [from, to] = ends.map(|pu| away(pu, free[*at]));
                from.zip(to).map_or(0, |(from, to)| from + to)
            });
            if let Some(best) = best {
                handoff.line = Addr::line(free.remove(best));
            }
        }
        near
    }

    fn channels<'p, P: Port>(
        &self,
        port: &'p P,
        is_mine: impl Fn(&Handoff) -> bool,
    ) -> Vec<(u32, SpinChannel<'p, P>)> {
        let mine = self.handoffs.iter().filter(|handoff| is_mine(handoff));
        mine.map(|handoff| (handoff.messages, SpinChannel::new(port, handoff.line))).collect()
    }

    fn most_messages(&self) -> u32 {
        self.handoffs.iter().map(|handoff| handoff.messages).max().unwrap_or(0)
    }
}

impl Workload for Handoffs {
    type Output = Exchanged;

    fn tasks(&self) -> usize {
        self.tasks
    }

    fn lines(&self) -> u32 {
        lines_up_to(self.handoffs.iter().map(|handoff| &handoff.line))
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Exchanged {
        let out = self.channels(port, |handoff| handoff.from == rank);
        let into = self.channels(port, |handoff| handoff.to == rank);
        let mut exchanged = Exchanged { began: port.stamp(), ..Exchanged::default() };
        for round in 0..self.rounds {
            for turn in 0..self.most_messages() {
                let is_on = |(messages, _): &&(u32, SpinChannel<P>)| *messages > turn;
                // All send before any receives, so no task waits for a waiting task.
                out.iter()
                    .filter(is_on)
                    .for_each(|(_, channel)| channel.put(&[u64::from(round) + rank as u64]));
                for (_, channel) in into.iter().filter(is_on) {
                    let mut message = [0];
                    channel.take(&mut message);
                    exchanged.sum += message[0];
                }
            }
        }
        exchanged.ended = port.stamp();
        exchanged
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::pattern::Edge;

    #[test]
    fn rare_start_up_messages_are_dropped_from_rounds() {
        let edge = |from, to, bytes| Edge { from, to, bytes, messages: 1.0 };
        let edges = [edge(0, 1, 64.0), edge(1, 2, 64_000.0), edge(2, 1, 6_400.0)];
        let handoffs = Handoffs::along(&Pattern::gathered("x", 3, edges), 4, 1).handoffs;
        let told: Vec<_> =
            handoffs.iter().map(|handoff| (handoff.from, handoff.to, handoff.messages)).collect();
        assert_eq!(told, [(1, 2, MOST_MESSAGES), (2, 1, 1)]);
        assert_eq!(handoffs[0].line, Addr::line(4), "lines are given out without gaps");
        let silent = Pattern::gathered("x", 2, [edge(0, 1, 0.0)]);
        assert_eq!(
            Handoffs::along(&silent, 0, 1).handoffs.len(),
            1,
            "a pattern without bytes keeps its edges"
        );
    }
}
