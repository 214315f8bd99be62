//! A good plan for many services, by simulated annealing.
//!
//! The state is the pools in order, then unused units. With required nodes or CPUs, there are also
//! gaps without services.

use super::cost::Pricing;
use super::demand::Demand;
use super::spans::UnitSpans;
use super::{Members, Pool, places};
use seatmap_data::statistics::Xoshiro;

/// A pool on a run of neighbouring units.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PoolSpan {
    /// The services.
    pub members: Members,
    /// The first unit.
    pub start: usize,
    /// The unit after the last one.
    pub end: usize,
}

/// The pools with lists of units.
pub fn pools(spans: &[PoolSpan]) -> Vec<Pool> {
    let pools = spans
        .iter()
        .map(|span| Pool { members: span.members, units: (span.start..span.end).collect() });
    pools.collect()
}

pub fn span_price(pricing: &Pricing, spans: &UnitSpans, a: &PoolSpan, b: &PoolSpan) -> f64 {
    let ns = spans.mean_ns([a.start, a.end], [b.start, b.end]);
    let common = spans.facts(a.start, a.end).common_caches(spans.facts(b.start, b.end));
    pricing.between(a.members, b.members, ns, common).total()
}

/// A pool without its position; a gap if it has no members.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    members: Members,
    units: usize,
}

impl Part {
    fn is_gap(&self) -> bool {
        self.members == 0
    }

    fn spare(&self) -> usize {
        self.units.saturating_sub(usize::from(!self.is_gap()))
    }
}

/// Kinds of cores and caches are a few runs of units.
const MOST_BOUND_GAPS: usize = 4;

struct Annealing<'a> {
    pricing: &'a Pricing<'a>,
    spans: &'a UnitSpans,
    random: Xoshiro,
}

/// The best plan from several starts; `None` if none keeps the limits.
pub fn search(pricing: &Pricing, spans: &UnitSpans, moves: usize) -> Option<Vec<PoolSpan>> {
    let mut annealing = Annealing { pricing, spans, random: Xoshiro::new(1) };
    let starts = [start_apart(pricing, spans), start_together(pricing, spans)];
    let services = &pricing.demand.services;
    let has_nodes = services.iter().any(|one| one.memory_nodes.is_some());
    let of_nodes = if has_nodes { pricing.demand.node_memory.nodes.len() } else { 0 };
    let bounded = services.iter().filter(|one| one.bound.is_some()).count();
    let gaps = of_nodes + bounded.min(MOST_BOUND_GAPS);
    let found = starts.map(|mut start| {
        start.resize(start.len() + gaps, Part { members: 0, units: 0 });
        annealing.run(start, moves)
    });
    let (cost, parts) = found.into_iter().min_by(|(a, _), (b, _)| a.total_cmp(b))?;
    (cost < BROKEN).then(|| placed(&parts))
}

/// The penalty for each CPU by which a limit is broken: above all costs.
const BROKEN: f64 = 1e9;

fn start_together(pricing: &Pricing, spans: &UnitSpans) -> Vec<Part> {
    let demand = pricing.demand;
    let alone = places(demand.everybody()).filter(|at| demand.services[*at].is_alone);
    let mut groups: Vec<Members> = alone.map(|at| 1 << at).collect();
    let shared = demand.everybody() & !groups.iter().fold(0, |all, one| all | one);
    groups.extend(Some(shared).filter(|members| *members > 0));
    shared_out(pricing, spans, &groups)
}

fn start_apart(pricing: &Pricing, spans: &UnitSpans) -> Vec<Part> {
    let count = pricing.demand.services.len();
    if count > spans.count {
        return start_together(pricing, spans);
    }
    let groups: Vec<Members> = (0..count).map(|at| 1 << at).collect();
    shared_out(pricing, spans, &groups)
}

fn shared_out(pricing: &Pricing, spans: &UnitSpans, groups: &[Members]) -> Vec<Part> {
    let loads: Vec<f64> = groups
        .iter()
        .map(|members| places(*members).map(|at| pricing.demand.services[at].mean_cpus).sum())
        .collect();
    let sum = loads.iter().sum::<f64>().max(1e-9);
    let spare = spans.count.saturating_sub(groups.len()) as f64;
    let parts = groups.iter().zip(&loads).map(|(members, load)| Part {
        members: *members,
        units: 1 + (spare * load / sum).floor() as usize,
    });
    parts.collect()
}

fn placed(parts: &[Part]) -> Vec<PoolSpan> {
    let mut end = 0;
    let spans = parts.iter().map(|part| {
        let start = end;
        end += part.units;
        PoolSpan { members: part.members, start, end }
    });
    spans.filter(|span| span.members != 0).collect()
}

impl Annealing<'_> {
    fn run(&mut self, start: Vec<Part>, moves: usize) -> (f64, Vec<Part>) {
        let mut now = start;
        let mut cost = self.cost(&now);
        let mut best = (cost, now.clone());
        for step in 0..moves {
            let Some(next) = self.moved(&now) else { continue };
            let next_cost = self.cost(&next);
            // Accepts much worse plans only at the beginning.
            let left = 1.0 - step as f64 / moves as f64;
            let heat = 0.1 * best.0.min(1e6) * left * left + 1e-12;
            let is_taken =
                next_cost <= cost || self.random.unit() < ((cost - next_cost) / heat).exp();
            if is_taken {
                now = next;
                cost = next_cost;
            }
            if cost < best.0 {
                best = (cost, now.clone());
            }
        }
        best
    }

    fn cost(&self, parts: &[Part]) -> f64 {
        let placed = placed(parts);
        if placed.last().is_some_and(|last| last.end > self.spans.count) {
            return f64::INFINITY;
        }
        let sets = placed.iter();
        let sets = sets.map(|span| (span.members, self.spans.facts(span.start, span.end)));
        let lacking_bytes = self.pricing.lacking_bytes(sets);
        let mut sum = BROKEN * Demand::broken_by_bytes(lacking_bytes);
        for (at, span) in placed.iter().enumerate() {
            let facts = self.spans.facts(span.start, span.end);
            sum += self.pricing.alone(span.members, facts).total();
            sum += BROKEN * self.pricing.broken_by(span.members, facts);
            for other in &placed[at + 1..] {
                sum += span_price(self.pricing, self.spans, span, other);
            }
        }
        sum
    }

    /// `None` if the drawn move is impossible.
    fn moved(&mut self, parts: &[Part]) -> Option<Vec<Part>> {
        let mut next = parts.to_vec();
        let a = self.random.below(next.len());
        let b = self.random.below(next.len());
        match self.random.below(8) {
            0 | 1 => self.shift(&mut next, a, b)?,
            2 => self.grow_or_shrink(&mut next, a)?,
            3 if a != b => next.swap(a, b),
            4 | 5 | 7 if a == b || next[a].is_gap() || next[b].is_gap() => return None,
            4 | 5 => self.move_service(&mut next, a, b),
            6 => self.split(&mut next, a)?,
            7 => {
                next[a].members |= next[b].members;
                next[a].units += next[b].units;
                next.remove(b);
            }
            _ => return None,
        }
        Some(next)
    }

    fn shift(&mut self, next: &mut [Part], a: usize, b: usize) -> Option<()> {
        let spare = next[a].spare();
        if a == b || spare == 0 {
            return None;
        }
        let most = if self.random.below(4) == 0 { spare } else { 1 };
        let units = 1 + self.random.below(most);
        next[a].units -= units;
        next[b].units += units;
        Some(())
    }

    fn grow_or_shrink(&mut self, next: &mut [Part], a: usize) -> Option<()> {
        let used: usize = next.iter().map(|part| part.units).sum();
        if self.random.below(2) == 0 && used < self.spans.count {
            next[a].units += 1;
        } else if next[a].spare() > 0 {
            next[a].units -= 1;
        } else {
            return None;
        }
        Some(())
    }

    /// An empty pool gives its units away too.
    fn move_service(&mut self, next: &mut Vec<Part>, a: usize, b: usize) {
        let at = self.random.below(next[a].members.count_ones() as usize);
        let service: Members = places(next[a].members).nth(at).map_or(0, |at| 1 << at);
        next[a].members &= !service;
        next[b].members |= service;
        if next[a].members == 0 {
            next[b].units += next[a].units;
            next.remove(a);
        }
    }

    /// Several at once: services that talk lose if only one moves.
    fn split(&mut self, next: &mut Vec<Part>, a: usize) -> Option<()> {
        let Part { members, units } = next[a];
        let leaving = members & self.random.bits();
        if leaving == 0 || leaving == members || units < 2 {
            return None;
        }
        let taken = 1 + self.random.below(units - 1);
        next[a] = Part { members: members & !leaving, units: units - taken };
        next.insert(a + 1, Part { members: leaving, units: taken });
        Some(())
    }
}
