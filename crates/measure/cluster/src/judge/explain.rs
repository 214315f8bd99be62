//! One explanation for all figures at once: the fewest causes that leave the rest as usual.
//!
//! A cause is a bad part of the network with its effects on figures. Each costs as much as a few
//! figures that are far from what the model says, so that a cause pays where it explains more than
//! that. The best one is added, then the next; afterwards each is taken out again, and stays out
//! where the others explain the figures as well without it.

use super::effect::{Change, Effect, candidates, is_worse, misfit};
use super::figures::{Figure, Item};
use super::network::Network;
use super::part::{Direction, Part, Place};

/// The costs of causes, in the units of [`misfit`]. A pair's is below the most that one figure
/// costs.
const NODE: f64 = 4.0;
const PAIR: f64 = 3.5;
const UPLINK: f64 = 5.0;
const TIER: f64 = 2.0;

/// Two directions cost so much more than one, which is less than two causes.
const BOTH: f64 = 0.5;

/// A pair is worth a look as a cause of its own if one of its figures costs at least this.
const SUSPICIOUS: f64 = 1.5;

/// An effect lowers the cost by at least this.
const LEAST_GAIN: f64 = 0.5;

/// Nodes of which a node's ways lead to others: by one alone it cannot be told from a bad cable.
const FEWEST_OTHERS: usize = 2;

/// A bad part, with what it does.
#[derive(Clone, Debug)]
pub(super) struct Cause {
    pub place: Place,
    pub effects: Vec<Effect>,
}

/// The causes that explain the figures of a network.
pub(super) struct Explanation<'a> {
    pub network: Network<'a>,
    pub causes: Vec<Cause>,
    /// The figures that the causes give.
    pub model: Vec<f64>,
    /// The cost of the causes and of what they do not explain.
    pub cost: f64,
}

/// A place, the figures that come from it, each with its side, and how much it would explain.
struct Candidate {
    place: Place,
    covered: Vec<(usize, usize)>,
    gain: f64,
    effects: Vec<Effect>,
}

impl<'a> Explanation<'a> {
    pub(super) fn of(network: Network<'a>) -> Self {
        let model = network.usual.clone();
        let mut explanation = Explanation { network, causes: Vec::new(), model, cost: 0.0 };
        explanation.add_causes();
        explanation.take_out();
        explanation.cost = explanation.total();
        explanation
    }

    fn add_causes(&mut self) {
        let mut open = self.candidates();
        open.iter_mut().for_each(|candidate| self.fit(candidate));
        // Each place is a cause once, so that this ends in any case. The bound is for figures that
        // are all noise.
        let most = 2 * self.network.group.len() + 8;
        while self.causes.len() < most {
            let best = open.iter().max_by(|a, b| profit(a).total_cmp(&profit(b)));
            let Some(best) = best.filter(|best| profit(best) > 0.0) else { return };
            let cause = Cause { place: best.place, effects: best.effects.clone() };
            let changed: Vec<usize> = best.covered.iter().map(|(at, _)| *at).collect();
            self.causes.push(cause);
            self.model = self.modelled(&self.causes);
            let own = self.causes.iter().map(|cause| cause.place).collect::<Vec<Place>>();
            open.retain(|candidate| !own.contains(&candidate.place));
            // Only candidates that share figures with the new cause explain another amount now.
            for candidate in &mut open {
                if candidate.covered.iter().any(|(at, _)| changed.binary_search(at).is_ok()) {
                    self.fit(candidate);
                }
            }
        }
    }

    /// Takes out each cause without which the others explain the figures as well, the last one
    /// first.
    fn take_out(&mut self) {
        for at in (0..self.causes.len()).rev() {
            let before = self.total();
            let cause = self.causes.remove(at);
            self.model = self.modelled(&self.causes);
            // A cause that explains exactly as much as it costs stays out.
            if self.total() > before {
                self.causes.insert(at, cause);
                self.model = self.modelled(&self.causes);
            }
        }
    }

    /// The figures that some causes give: factors first, then limits, then what comes on top.
    fn modelled(&self, causes: &[Cause]) -> Vec<f64> {
        let mut model = self.network.usual.clone();
        for step in 0..3 {
            for cause in causes {
                let effects: Vec<&Effect> =
                    cause.effects.iter().filter(|effect| turn(effect.change) == step).collect();
                if effects.is_empty() {
                    continue;
                }
                for (value, item) in model.iter_mut().zip(self.network.items) {
                    let Some(side) = cause.place.side(&self.network.group, item) else { continue };
                    let own = effects
                        .iter()
                        .find(|effect| effect.figure == item.figure && effect.side == side);
                    *value = own.map_or(*value, |effect| effect.change.of(*value));
                }
            }
        }
        model
    }

    /// The figures without one of the causes.
    pub(super) fn without(&self, cause: &Cause) -> Vec<f64> {
        let others: Vec<Cause> =
            self.causes.iter().filter(|other| other.place != cause.place).cloned().collect();
        self.modelled(&others)
    }

    fn misfit(&self, at: usize, model: f64) -> f64 {
        let item = &self.network.items[at];
        misfit(item, self.network.value[at], model, self.network.sigma(item.figure))
    }

    fn total(&self) -> f64 {
        let unexplained: f64 =
            (0..self.model.len()).map(|at| self.misfit(at, self.model[at])).sum();
        unexplained + self.causes.iter().map(|cause| price(cause.place)).sum::<f64>()
    }

    /// The effects of a candidate that explain most of the figures, given the causes so far.
    fn fit(&self, candidate: &mut Candidate) {
        candidate.gain = 0.0;
        candidate.effects.clear();
        for figure in Figure::ALL {
            for side in 0..2 {
                let covered: Vec<usize> = candidate
                    .covered
                    .iter()
                    .filter(|(at, own)| *own == side && self.network.items[*at].figure == figure)
                    .map(|(at, _)| *at)
                    .collect();
                if let Some((change, gain)) = self.best_change(figure, &covered) {
                    candidate.effects.push(Effect { figure, side, change });
                    candidate.gain += gain;
                }
            }
        }
    }

    fn best_change(&self, figure: Figure, covered: &[usize]) -> Option<(Change, f64)> {
        let now: f64 = covered.iter().map(|at| self.misfit(*at, self.model[*at])).sum();
        if now < LEAST_GAIN {
            return None;
        }
        let items: Vec<(&Item, f64, f64)> = covered
            .iter()
            .map(|at| (&self.network.items[*at], self.network.value[*at], self.model[*at]))
            .collect();
        let changes = candidates(figure, &items).into_iter().filter(|change| is_worse(*change));
        let gains = changes.map(|change| {
            let then: f64 =
                covered.iter().map(|at| self.misfit(*at, change.of(self.model[*at]))).sum();
            (change, now - then)
        });
        gains.max_by(|a, b| a.1.total_cmp(&b.1)).filter(|(_, gain)| *gain >= LEAST_GAIN)
    }

    /// All places that may be bad.
    fn candidates(&self) -> Vec<Candidate> {
        let group = &self.network.group;
        let mut parts: Vec<Part> =
            (0..group.len()).filter(|node| self.has_others(*node)).map(Part::Node).collect();
        let mut groups: Vec<usize> = group.clone();
        groups.sort_unstable();
        groups.dedup();
        // The uplink and the links of a group of one are those of its node.
        let several: Vec<usize> =
            groups.iter().copied().filter(|group| self.network.members(*group).len() > 1).collect();
        if groups.len() > 1 {
            // Of two groups, the way out of one is the way into the other.
            let uplinks =
                if groups.len() == 2 { &several[..several.len().min(1)] } else { &several[..] };
            parts.extend(uplinks.iter().map(|group| Part::Uplink(*group)));
            parts.extend(several.iter().map(|group| Part::Switch(*group)));
        }
        // Two groups have one distance, which is the usual one between groups.
        if groups.len() > 2 {
            let tiers = several
                .iter()
                .flat_map(|g| several.iter().filter(move |h| g < h).map(move |h| [*g, *h]));
            parts.extend(tiers.map(Part::Tier));
        }
        parts.extend(self.suspicious_pairs().into_iter().map(Part::Pair));
        let places = parts.into_iter().flat_map(|part| {
            directions(part).iter().map(move |direction| Place { part, direction: *direction })
        });
        places.map(|place| self.candidate(place)).collect()
    }

    fn candidate(&self, place: Place) -> Candidate {
        let covered = self
            .network
            .items
            .iter()
            .enumerate()
            .filter_map(|(at, item)| Some((at, place.side(&self.network.group, item)?)))
            .collect();
        Candidate { place, covered, gain: 0.0, effects: Vec::new() }
    }

    fn has_others(&self, node: usize) -> bool {
        let mut others: Vec<usize> = self
            .network
            .items
            .iter()
            .filter_map(|item| match (item.from, item.to) {
                (from, to) if from == node => Some(to),
                (from, to) if to == node => Some(from),
                _ => None,
            })
            .collect();
        others.sort_unstable();
        others.dedup();
        others.len() >= FEWEST_OTHERS
    }

    fn suspicious_pairs(&self) -> Vec<[usize; 2]> {
        let mut pairs: Vec<[usize; 2]> = (0..self.model.len())
            .filter(|at| self.misfit(*at, self.model[*at]) >= SUSPICIOUS)
            .map(|at| {
                let item = &self.network.items[at];
                [item.from.min(item.to), item.from.max(item.to)]
            })
            .collect();
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }
}

fn directions(part: Part) -> &'static [Direction] {
    match part {
        Part::Switch(_) | Part::Tier(_) => &[Direction::Both],
        _ => &[Direction::From, Direction::To, Direction::Both],
    }
}

fn price(place: Place) -> f64 {
    let part = match place.part {
        Part::Node(_) => NODE,
        Part::Pair(_) => PAIR,
        Part::Uplink(_) | Part::Switch(_) => UPLINK,
        Part::Tier(_) => TIER,
    };
    if place.direction == Direction::Both { part + BOTH } else { part }
}

/// The step of a model in which a change acts: a limit holds for what is already slower by a
/// factor, and a delay comes on top of both.
fn turn(change: Change) -> usize {
    match change {
        Change::Factor(_) => 0,
        Change::Limit(_) => 1,
        Change::More(_) => 2,
    }
}

fn profit(candidate: &Candidate) -> f64 {
    candidate.gain - price(candidate.place)
}
