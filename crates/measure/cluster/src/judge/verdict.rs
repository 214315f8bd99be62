//! The kind of each cause of an explanation, by its effects, and whether it is bad enough to be a
//! fault.

use super::effect::{Change, Effect};
use super::explain::{Cause, Explanation};
use super::figures::{Figure, LEAST_WAIT};
use super::part::Part;
use super::{Court, Fault, SLOW};
use seatmap_statistics::median;

/// The link of a node or of a switch is slow from this factor on: all of its ways say so.
const SLOW_PART: f64 = 1.42;

/// Of a slow part, the other direction is slow, too, from this factor on.
const OTHER_WAY: f64 = 1.25;

/// A way is jittery if its small messages scatter (from the tenth to the ninetieth percentile) so
/// many times as much as those of like pairs, and by at least this share of their usual median.
pub(super) const JITTER: f64 = 5.0;
const JITTER_SHARE: f64 = 2.0;

/// A process waits for a CPU for at least this share of the time, and so many times as long as
/// others.
const WAITS: f64 = 0.25;
const WAITS_FACTOR: f64 = 3.0;

/// A part loses packets if at least so many segments of round trips were sent again, and this share
/// of all, and so many times the usual share: busy computers send up to 0.15 % again without a
/// loss, as answers come late.
const FEWEST_RESENT: u64 = 5;
const LOST_SHARE: f64 = 0.003;
const LOST_FACTOR: f64 = 4.0;

/// The other direction loses packets, too, from this share of the losses of the first one.
const LOST_OTHER_WAY: f64 = 0.3;

/// A delay scatters less than this many times what nine of ten messages are late: hardly at all on
/// an idle computer. Two uniform delays, one each way, scatter 2.5 times as much, from the tenth to
/// the ninetieth percentile of a triangular distribution; 24 messages a pair through the relay of
/// `scripts/cluster` showed 1.1 to 1.9.
const STEADY: f64 = 1.2;

/// A delay makes streams slow, too, and a slow link makes messages late: it is a delay if messages
/// are worse than streams by this factor.
const LATER_THAN_SLOW: f64 = 2.0;

/// The segments of a way that went twice, of all.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Losses {
    pub resent: u64,
    pub sent: u64,
}

impl Losses {
    pub(super) fn percent(self) -> f64 {
        100.0 * self.share()
    }

    fn share(self) -> f64 {
        self.resent as f64 / self.sent.max(1) as f64
    }
}

/// A slow part: its best stream and that of its like, in Mbit/s, for each side that is slow.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Slow {
    pub factors: [Option<f64>; 2],
}

/// Late small messages, in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Late {
    /// By how much in the median.
    pub excess_ns: f64,
    /// By how much nine of ten messages are late at least.
    pub always_ns: f64,
    /// The usual time.
    pub usual_ns: f64,
}

impl Late {
    pub(super) fn factor(&self) -> f64 {
        (self.usual_ns + self.excess_ns) / self.usual_ns
    }
}

/// Small messages that scatter.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Jitter {
    /// How far, in nanoseconds, as it was measured.
    pub scatter_ns: f64,
    pub factor: f64,
    /// On how many pairs of how many.
    pub pairs: [usize; 2],
}

impl Court<'_> {
    /// The fault that a cause is; `None` where it is not bad enough to be one.
    pub(super) fn fault_of(&self, cause: &Cause) -> Option<Fault> {
        // Groups that are farther apart than others are built so.
        if matches!(cause.place.part, Part::Tier(_)) {
            return None;
        }
        // A process without a CPU is slow and late on all ways, and losses slow streams down: a
        // cause is told before its effects.
        if let Some([own, others]) = self.waits(cause) {
            return Some(self.starved_fault(cause, own, others));
        }
        let losses = self.losses(cause);
        if losses.iter().any(Option::is_some) {
            return Some(self.lossy_fault(cause, losses));
        }
        let slow = self.slow(cause);
        let late = self.late(cause);
        let jitter = self.jitter(cause);
        let slow_factor =
            slow.map_or(1.0, |slow| slow.factors.into_iter().flatten().fold(1.0, f64::max));
        let scatter_ns = jitter.map_or(0.0, |jitter| jitter.scatter_ns);
        // Messages that scatter by more than they are late are jittery.
        let late = late.filter(|late| STEADY * late.always_ns > scatter_ns);
        match (slow, late.filter(|late| late.factor() >= LATER_THAN_SLOW * slow_factor), jitter) {
            (_, Some(late), _) => Some(self.late_fault(cause, &late, scatter_ns)),
            (Some(slow), None, _) => Some(self.slow_fault(cause, slow)),
            (None, None, Some(jitter)) => Some(self.jitter_fault(cause, &jitter)),
            (None, None, None) => None,
        }
    }

    fn effects<'c>(&self, cause: &'c Cause, figure: Figure) -> impl Iterator<Item = &'c Effect> {
        cause.effects.iter().filter(move |effect| effect.figure == figure)
    }

    /// The share of the time that a node waits for a CPU, and that of the others.
    fn waits(&self, cause: &Cause) -> Option<[f64; 2]> {
        let effect = self.effects(cause, Figure::Wait).next()?;
        // Of waiting, a cause is always a limit (`effect::candidates`).
        let Change::Limit(own) = effect.change else { return None };
        let usual =
            self.covered(cause, effect).into_iter().next().map(|at| self.network().usual[at])?;
        let is_bad = own - LEAST_WAIT >= WAITS && own >= WAITS_FACTOR * usual;
        is_bad.then_some([own - LEAST_WAIT, usual - LEAST_WAIT])
    }

    /// The indices of the figures that an effect changes.
    fn covered(&self, cause: &Cause, effect: &Effect) -> Vec<usize> {
        let network = self.network();
        (0..network.items.len())
            .filter(|at| {
                let item = &network.items[*at];
                item.figure == effect.figure
                    && cause.place.side(&network.group, item) == Some(effect.side)
            })
            .collect()
    }

    fn losses(&self, cause: &Cause) -> [Option<Losses>; 2] {
        let both = [0, 1].map(|side| self.losses_on(cause, side));
        let most = both.into_iter().flatten().map(Losses::share).fold(0.0, f64::max);
        // Lost acknowledgements make the other end send again as well, now and then.
        both.map(|losses| losses.filter(|losses| losses.share() >= LOST_OTHER_WAY * most))
    }

    /// The losses of the ways on one side of a part, where they are bad.
    fn losses_on(&self, cause: &Cause, side: usize) -> Option<Losses> {
        let effect = self.effects(cause, Figure::Lost).find(|effect| effect.side == side)?;
        let covered = self.covered(cause, effect);
        let items = covered.iter().map(|at| &self.network().items[*at]);
        let all = items.fold(Losses::default(), |sum, item| Losses {
            resent: sum.resent.saturating_add(item.value as u64),
            sent: sum.sent.saturating_add(item.segments as u64),
        });
        let usual = covered.first().map(|at| self.network().usual[*at])?;
        let is_bad =
            all.resent >= FEWEST_RESENT && all.share() >= LOST_SHARE.max(LOST_FACTOR * usual);
        is_bad.then_some(all)
    }

    fn slow(&self, cause: &Cause) -> Option<Slow> {
        let without = self.explanation.without(cause);
        let both = [0, 1].map(|side| self.slowness(cause, &without, side));
        let is_bad = both.iter().flatten().any(|(_, is_bad)| *is_bad);
        let factors =
            both.map(|one| one.map(|(factor, _)| factor).filter(|factor| *factor >= OTHER_WAY));
        is_bad.then_some(Slow { factors })
    }

    /// How slow the ways on one side of a part are, and whether that is bad. `without` has the
    /// figures that there would be without the cause.
    fn slowness(&self, cause: &Cause, without: &[f64], side: usize) -> Option<(f64, bool)> {
        let effect = self.effects(cause, Figure::Slowness).find(|effect| effect.side == side)?;
        let covered = self.covered(cause, effect);
        let value = &self.network().value;
        // The best stream that was measured, over the best one that there would be without the
        // cause.
        let factor = match effect.change {
            Change::Limit(_) => {
                least(covered.iter().map(|at| value[*at]))
                    / least(covered.iter().map(|at| without[*at]))
            }
            _ => least(covered.iter().map(|at| value[*at] / without[*at])),
        };
        let shown =
            covered.iter().map(|at| self.network().shown[*at] / without[*at]).fold(0.0, f64::max);
        // The ways of a larger part confirm each other; a pair has its own looks only.
        let is_bad = match cause.place.part {
            Part::Pair(_) => factor >= SLOW && shown >= SLOW,
            _ => factor >= SLOW_PART,
        };
        Some((factor, is_bad))
    }

    /// The pairs whose small messages a cause changes: the figure, and the usual one without it.
    fn pairs_of(&self, cause: &Cause, figure: Figure) -> Vec<(usize, f64)> {
        let Some(effect) = self.effects(cause, figure).next() else { return Vec::new() };
        let without = self.explanation.without(cause);
        self.covered(cause, effect).into_iter().map(|at| (at, without[at])).collect()
    }

    fn late(&self, cause: &Cause) -> Option<Late> {
        let all = self.pairs_of(cause, Figure::Time);
        let is_pair = matches!(cause.place.part, Part::Pair(_));
        let mut medians_ns = Vec::new();
        let mut tenths_ns = Vec::new();
        for (at, usual) in &all {
            if let Some(trip) = self.trip(&self.network().items[*at]) {
                medians_ns.push(trip.median_ns - usual);
                tenths_ns.push(trip.p10_ns - usual);
            }
        }
        let excess_ns = median(&medians_ns)?;
        let always_ns = median(&tenths_ns)?;
        let usual_ns = all.iter().map(|(_, usual)| *usual).fold(f64::INFINITY, f64::min);
        let shown =
            all.iter().map(|(at, usual)| self.network().shown[*at] / usual).fold(0.0, f64::max);
        let modelled_ns = median(
            &all.iter().map(|(at, usual)| self.explanation.model[*at] - usual).collect::<Vec<_>>(),
        )?;
        let is_bad = usual_ns + modelled_ns >= SLOW * usual_ns && (!is_pair || shown >= SLOW);
        is_bad.then_some(Late { excess_ns, always_ns, usual_ns })
    }

    fn jitter(&self, cause: &Cause) -> Option<Jitter> {
        let all = self.pairs_of(cause, Figure::Scatter);
        let is_pair = matches!(cause.place.part, Part::Pair(_));
        let value = &self.network().value;
        let wide: Vec<&(usize, f64)> = all
            .iter()
            .filter(|(at, usual)| {
                let shown = self.network().shown[*at];
                value[*at] >= JITTER * usual
                    && value[*at] >= JITTER_SHARE * self.usual_time_ns(*at)
                    && (!is_pair || shown >= JITTER * usual)
            })
            .collect();
        let scatters = wide.iter().map(|(at, _)| {
            let trip = self.trip(&self.network().items[*at]);
            trip.map_or(value[*at], |trip| trip.p90_ns - trip.p10_ns)
        });
        let scatter_ns = median(&scatters.collect::<Vec<f64>>())?;
        let factor =
            median(&wide.iter().map(|(at, usual)| value[*at] / usual).collect::<Vec<f64>>())?;
        // Where most of a part's pairs are steady, the part is not what makes the others scatter.
        (2 * wide.len() > all.len()).then_some(Jitter {
            scatter_ns,
            factor,
            pairs: [wide.len(), all.len()],
        })
    }

    /// The usual time of small messages on the way of an item; infinite where none was measured.
    fn usual_time_ns(&self, at: usize) -> f64 {
        let item = &self.network().items[at];
        let time = self.network().items.iter().position(|other| {
            other.figure == Figure::Time && (other.from, other.to) == (item.from, item.to)
        });
        time.map_or(f64::INFINITY, |time| self.network().usual[time])
    }

    pub(super) fn network(&self) -> &super::network::Network<'_> {
        &self.explanation.network
    }
}

fn least(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(f64::INFINITY, f64::min)
}

/// Whether an explanation is there for its own sake.
impl std::fmt::Debug for Explanation<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("Explanation")
            .field("causes", &self.causes)
            .field("cost", &self.cost)
            .finish_non_exhaustive()
    }
}
