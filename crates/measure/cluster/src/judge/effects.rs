//! How a part changes its paths' figures.

use super::explain::Cause;
use super::figures::PairMetric;
use super::network::HealthyNetwork;
use super::part::NetworkPart;
use super::{ClusterFault, Court, SLOW};
use crate::choice::{grouped, pair};
use crate::cluster::Trip;
use seatmap_data::statistics::{greatest, least, median};
use std::collections::{BTreeMap, BTreeSet};

/// The link of a node or switch is slow from this factor on; all of its paths confirm it.
const SLOW_PART: f64 = 1.42;

/// The factor from which other paths or the other direction of a slow part are slow as well.
const SLOW_TOO: f64 = 1.25;

/// A part with several pairs is blamed only if this many show it: a single pair may have a bad
/// route.
const FEWEST_PAIRS: usize = 2;

/// A path is jittery if its small messages scatter (tenth to ninetieth percentile) this many times
/// as much as those of like pairs, and by at least this share of their median.
pub const JITTER: f64 = 5.0;
const JITTER_SHARE: f64 = 2.0;

/// A process is starved if it waits for a CPU this share of the time, and this many times as long
/// as others.
const WAITS: f64 = 0.25;
const WAITS_FACTOR: f64 = 3.0;

/// A part is lossy if at least this many segments of round trips were retransmitted, this share of
/// all, and this many times the usual share. Busy computers retransmit up to 0.15 % without a loss,
/// because answers come late.
const FEWEST_RESENT: u64 = 5;
const LOST_SHARE: f64 = 0.003;
const LOST_FACTOR: f64 = 4.0;

/// The other direction is lossy too from this share of the first one's losses.
const LOST_OTHER_WAY: f64 = 0.3;

/// A delay is steady if its scatter is below this many times the least delay of nine in ten
/// messages. Two uniform delays, one each way, scatter 2.5 times as much (triangular distribution);
/// 24 messages per pair through the relay of `scripts/cluster` showed 1.1 to 1.9.
const STEADY: f64 = 1.2;

/// A delay also slows streams, and a slow link delays messages: it is a delay if messages are worse
/// by this factor.
const LATER_THAN_SLOW: f64 = 2.0;

#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Losses {
    pub resent: u64,
    pub sent: u64,
}

impl Losses {
    pub fn percent(self) -> f64 {
        100.0 * self.share()
    }

    fn share(self) -> f64 {
        self.resent as f64 / self.sent.max(1) as f64
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Late {
    pub excess_ns: f64,
    /// The least excess of nine in ten messages.
    pub always_ns: f64,
    pub usual_ns: f64,
}

impl Late {
    pub fn factor(&self) -> f64 {
        (self.usual_ns + self.excess_ns) / self.usual_ns
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Jitter {
    pub scatter_ns: f64,
    pub factor: f64,
    /// Jittery pairs, out of all.
    pub pairs: [usize; 2],
}

#[derive(Clone, Debug, Default)]
pub struct Effects {
    /// The waiting shares of its process and of the others.
    pub waits: Option<[f64; 2]>,
    pub losses: [Option<Losses>; 2],
    /// The slowdown of streams on each side.
    pub slow: Option<[Option<f64>; 2]>,
    pub late: Option<Late>,
    pub jitter: Option<Jitter>,
    pub ways: usize,
    /// The values that it explains, by index in the items.
    pub model: Vec<(usize, f64)>,
}

pub struct Covered {
    pub part: NetworkPart,
    at: BTreeMap<(PairMetric, usize), Vec<usize>>,
}

impl Covered {
    pub fn of(network: &HealthyNetwork<'_>, part: NetworkPart) -> Self {
        let places = network.items.iter().enumerate().filter_map(|(place, item)| {
            Some(((item.figure, part.side_of(&network.group, item)?), place))
        });
        Covered { part, at: grouped(places) }
    }
}

struct Side<'a> {
    court: &'a Court<'a>,
    part: NetworkPart,
    at: &'a [usize],
    /// All figures without the part's effect.
    without: &'a [f64],
}

impl Side<'_> {
    fn value(&self, at: usize) -> f64 {
        self.court.network.value[at]
    }

    fn trip(&self, at: usize) -> Option<&Trip> {
        self.court.trip(&self.court.network.items[at])
    }

    /// Whether looks confirm this factor on some path. Paths of a larger part confirm each other.
    fn is_shown(&self, least: f64) -> bool {
        let shown = &self.court.network.shown;
        !matches!(self.part, NetworkPart::Pair(_))
            || self.at.iter().any(|at| shown[*at] >= least * self.without[*at])
    }

    fn is_enough(&self, ways: &[usize]) -> bool {
        let items = &self.court.network.items;
        let pairs: BTreeSet<[usize; 2]> =
            ways.iter().map(|at| pair(items[*at].from, items[*at].to)).collect();
        matches!(self.part, NetworkPart::Pair(_)) || pairs.len() >= FEWEST_PAIRS
    }

    fn above(&self, factor: f64) -> Vec<usize> {
        self.at.iter().copied().filter(|at| self.value(*at) >= factor * self.without[*at]).collect()
    }

    fn least(&self, value: impl Fn(usize) -> f64) -> f64 {
        least(self.at.iter().map(|at| value(*at)))
    }

    fn middle(&self, value: impl Fn(usize) -> Option<f64>) -> Option<f64> {
        median(self.at.iter().filter_map(|at| value(*at)))
    }
}

impl Effects {
    fn explain(&mut self, figures: impl Iterator<Item = (usize, f64)>, ways: usize) {
        self.model.extend(figures);
        self.ways += ways;
    }

    fn wait(&mut self, side: &Side<'_>) {
        let Some(own) = side.middle(|at| Some(side.value(at))) else { return };
        let usual = side.least(|at| side.without[at]);
        if own >= WAITS && own >= WAITS_FACTOR * usual {
            self.waits = Some([own, usual]);
            self.explain(side.at.iter().map(|at| (*at, own)), side.at.len());
        }
    }

    fn lose(&mut self, sides: &[Side<'_>; 2]) {
        let both = sides.each_ref().map(losses);
        let most = greatest(both.into_iter().flatten().map(Losses::share));
        // Lost acknowledgements make the other end retransmit now and then.
        self.losses = both.map(|one| one.filter(|one| one.share() >= LOST_OTHER_WAY * most));
        for (side, losses) in sides.iter().zip(self.losses) {
            let Some(share) = losses.map(Losses::share) else { continue };
            let figures = side.at.iter().map(|at| (*at, share.max(side.without[*at])));
            self.explain(figures, side.above(LOST_FACTOR).len());
        }
    }

    /// A stream is as fast as the slowest part of its path, and a part as fast as its best stream.
    fn slow_down(&mut self, sides: &[Side<'_>; 2]) {
        let limits = sides.each_ref().map(|side| side.least(|at| side.value(at)));
        let mut factors = [None; 2];
        let mut is_bad = false;
        for ((side, limit), factor) in sides.iter().zip(limits).zip(&mut factors) {
            let own = limit / side.least(|at| side.without[at]);
            if side.at.is_empty() || own < SLOW_TOO || !side.is_enough(&side.above(SLOW_TOO)) {
                continue;
            }
            *factor = Some(own);
            let bad = if matches!(side.part, NetworkPart::Pair(_)) { SLOW } else { SLOW_PART };
            is_bad |= own >= bad && side.is_shown(SLOW);
        }
        if !is_bad {
            return;
        }
        self.slow = Some(factors);
        for ((side, limit), factor) in sides.iter().zip(limits).zip(factors) {
            if factor.is_some() {
                let figures = side.at.iter().map(|at| (*at, limit.max(side.without[*at])));
                self.explain(figures, side.above(SLOW_TOO).len());
            }
        }
    }

    fn delay(&mut self, side: &Side<'_>) {
        let usual_ns = side.least(|at| side.without[at]);
        let more_ns = side.least(|at| side.value(at) - side.without[at]);
        let is_late = more_ns >= (SLOW - 1.0) * usual_ns && side.is_shown(SLOW);
        if !is_late || !side.is_enough(side.at) {
            return;
        }
        let excess_ns = side.middle(|at| Some(side.trip(at)?.median_ns - side.without[at]));
        let always_ns = side.middle(|at| Some(side.trip(at)?.p10_ns - side.without[at]));
        self.late = excess_ns.zip(always_ns).map(|(excess_ns, always_ns)| Late {
            excess_ns,
            always_ns,
            usual_ns,
        });
        self.explain(side.at.iter().map(|at| (*at, side.without[*at] + more_ns)), side.at.len());
    }

    fn scatter(&mut self, side: &Side<'_>) {
        let mut wide = side.above(JITTER);
        wide.retain(|at| side.value(*at) >= JITTER_SHARE * side.court.usual_time_ns(*at));
        // If most pairs of a part are steady, it is not the cause of the scatter.
        if 2 * wide.len() <= side.at.len() || !side.is_enough(&wide) || !side.is_shown(JITTER) {
            return;
        }
        let scatters = wide
            .iter()
            .map(|at| side.trip(*at).map_or(side.value(*at), |trip| trip.p90_ns - trip.p10_ns));
        let factors = wide.iter().map(|at| side.value(*at) / side.without[*at]);
        self.jitter = median(scatters).zip(median(factors)).map(|(scatter_ns, factor)| Jitter {
            scatter_ns,
            factor,
            pairs: [wide.len(), side.at.len()],
        });
        self.explain(wide.iter().map(|at| (*at, side.value(*at))), wide.len());
    }
}

/// `None` unless they are bad and most of its paths have some.
fn losses(side: &Side<'_>) -> Option<Losses> {
    let items = &side.court.network.items;
    let all = side.at.iter().fold(Losses::default(), |sum, at| Losses {
        resent: sum.resent.saturating_add((side.value(*at) * items[*at].segments).round() as u64),
        sent: sum.sent.saturating_add(items[*at].segments as u64),
    });
    let usual = side.least(|at| side.without[at]);
    let lossy = side.above(LOST_FACTOR);
    let is_bad = all.resent >= FEWEST_RESENT && all.share() >= LOST_SHARE.max(LOST_FACTOR * usual);
    (is_bad && 2 * lossy.len() > side.at.len() && side.is_enough(&lossy)).then_some(all)
}

impl Court<'_> {
    pub fn effects(&self, covered: &Covered, without: &[f64]) -> Effects {
        let mut effects = Effects::default();
        effects.slow_down(&self.sides(PairMetric::Slowness, covered, without));
        effects.lose(&self.sides(PairMetric::Lost, covered, without));
        effects.wait(&self.sides(PairMetric::Wait, covered, without)[0]);
        effects.delay(&self.sides(PairMetric::Time, covered, without)[0]);
        effects.scatter(&self.sides(PairMetric::Scatter, covered, without)[0]);
        effects
    }

    fn sides<'a>(
        &'a self,
        figure: PairMetric,
        covered: &'a Covered,
        without: &'a [f64],
    ) -> [Side<'a>; 2] {
        [0, 1].map(|side| Side {
            court: self,
            part: covered.part,
            at: covered.at.get(&(figure, side)).map_or(&[], Vec::as_slice),
            without,
        })
    }

    pub fn fault_of(&self, cause: &Cause) -> Option<ClusterFault> {
        let Effects { waits, losses, slow, late, jitter, .. } = &cause.effects;
        // A process without a CPU is slow and late on all paths, and losses slow streams.
        if let Some([own, others]) = *waits {
            return Some(self.starved_fault(cause, own, others));
        }
        if losses.iter().any(Option::is_some) {
            return Some(self.lossy_fault(cause, *losses));
        }
        let slow_factor =
            slow.map_or(1.0, |factors| factors.into_iter().flatten().fold(1.0, f64::max));
        let scatter_ns = jitter.map_or(0.0, |jitter| jitter.scatter_ns);
        // Messages that scatter by more than their delay are jittery.
        let late = late.filter(|late| STEADY * late.always_ns > scatter_ns);
        match (slow, late.filter(|late| late.factor() >= LATER_THAN_SLOW * slow_factor), jitter) {
            (_, Some(late), _) => Some(self.late_fault(cause, &late, scatter_ns)),
            (Some(factors), None, _) => Some(self.slow_fault(cause, *factors)),
            (None, None, Some(jitter)) => Some(self.jitter_fault(cause, jitter)),
            (None, None, None) => None,
        }
    }

    /// An unmeasured time is infinite.
    fn usual_time_ns(&self, at: usize) -> f64 {
        let item = &self.network.items[at];
        let time = self.network.items.iter().position(|other| {
            other.figure == PairMetric::Time && (other.from, other.to) == (item.from, item.to)
        });
        time.map_or(f64::INFINITY, |time| self.network.usual[time])
    }
}
