//! The best plan for up to [`MOST`] services, by branch and bound.
//!
//! A table has the least cost of each set of services from each unit on. The search adds pools from
//! the first unit to the last, cheapest first, and drops a branch whose cost plus the table's rest
//! reaches the best plan.

use super::cost::Pricing;
use super::search::{PoolSpan, pools, span_price};
use super::spans::UnitSpans;
use super::{Members, places};

/// More services than this are annealed instead.
pub const MOST: usize = 5;

/// A plan within this share of the best counts as the best: records are not more precise.
pub const NEAR: f64 = 0.01;

/// Then the search returns the best plan so far; the table's first entry is still a bound.
const MOST_BRANCHES: usize = 2_000_000;

/// The result of the search.
#[derive(Clone, Debug, PartialEq)]
pub struct ExactAnswer {
    /// The best plan, as runs of units.
    pub best: Vec<PoolSpan>,
    /// A lower bound on the cost of any such plan.
    pub bound: f64,
    /// Whether every branch was visited or shown to be worse.
    pub is_proven: bool,
}

struct Search<'a> {
    pricing: &'a Pricing<'a>,
    spans: &'a UnitSpans,
    /// Infinite if a limit forbids it.
    alone: Vec<Vec<f64>>,
    /// The least cost of each set of services from each unit on.
    rest: Vec<Vec<f64>>,
    best: Option<(f64, Vec<PoolSpan>)>,
    branches: usize,
}

struct Branch {
    span: PoolSpan,
    cost: f64,
    bound: f64,
}

/// The best plan; `None` if no plan keeps the limits. A known plan makes the search faster.
pub fn solve(
    pricing: &Pricing,
    spans: &UnitSpans,
    known: Option<Vec<PoolSpan>>,
) -> Option<ExactAnswer> {
    let everybody = pricing.demand.everybody();
    let mut search = Search {
        pricing,
        spans,
        alone: Vec::new(),
        rest: Vec::new(),
        best: known.map(|plan| (pricing.price(&pools(&plan)).total(), plan)),
        branches: 0,
    };
    search.fill_alone(everybody);
    search.fill_rest(everybody);
    let root = search.rest[everybody as usize][0];
    if !root.is_finite() {
        return None;
    }
    search.descend(everybody, 0, 0.0, &mut Vec::new());
    let is_proven = search.branches < MOST_BRANCHES;
    let (cost, best) = search.best?;
    let bound = if is_proven { root.max(cost * (1.0 - NEAR)) } else { root };
    Some(ExactAnswer { best, bound: bound.min(cost), is_proven })
}

impl Search<'_> {
    fn fill_alone(&mut self, everybody: Members) {
        let count = self.spans.count;
        for members in 0..=everybody {
            let mut row = vec![f64::INFINITY; self.spans.runs()];
            for start in (0..count).filter(|_| members > 0) {
                for end in start + 1..=count {
                    let facts = self.spans.facts(start, end);
                    if self.pricing.is_allowed(members, facts) {
                        row[self.spans.place(start, end)] =
                            self.pricing.alone(members, facts).total();
                    }
                }
            }
            self.alone.push(row);
        }
    }

    fn fill_rest(&mut self, everybody: Members) {
        let count = self.spans.count;
        for members in 0..=everybody {
            let mut row = vec![if members == 0 { 0.0 } else { f64::INFINITY }; count + 1];
            for start in (0..count).rev().filter(|_| members > 0) {
                row[start] = row[start + 1];
                for pool in subsets(members) {
                    let apart = self.least_apart(pool, members & !pool);
                    for end in start + 1..=count {
                        let after = match members & !pool {
                            0 => 0.0,
                            left => self.rest[left as usize][end],
                        };
                        let alone = self.alone[pool as usize][self.spans.place(start, end)];
                        row[start] = row[start].min(alone + apart + after);
                    }
                }
            }
            self.rest.push(row);
        }
    }

    fn least_apart(&self, pool: Members, others: Members) -> f64 {
        let mut sum = 0.0;
        for a in places(pool) {
            for b in places(others) {
                sum += self.pricing.talk(a, b, self.spans.least_ns);
            }
        }
        sum
    }

    fn limit(&self) -> f64 {
        self.best.as_ref().map_or(f64::INFINITY, |(cost, _)| cost * (1.0 - NEAR))
    }

    fn descend(&mut self, left: Members, from: usize, cost: f64, seated: &mut Vec<PoolSpan>) {
        if left == 0 {
            if self.best.as_ref().is_none_or(|(best, _)| cost < *best) {
                self.best = Some((cost, seated.clone()));
            }
            return;
        }
        let mut branches = self.branches_of(left, from, cost, seated);
        branches.sort_by(|a, b| a.bound.total_cmp(&b.bound));
        for branch in branches {
            if branch.bound >= self.limit() || self.branches >= MOST_BRANCHES {
                return;
            }
            seated.push(branch.span);
            self.descend(left & !branch.span.members, branch.span.end, branch.cost, seated);
            seated.pop();
        }
    }

    /// A further pool only needs more memory.
    fn has_memory(&self, seated: &[PoolSpan], next: PoolSpan) -> bool {
        let sets = seated.iter().chain(std::iter::once(&next));
        let sets = sets.map(|span| (span.members, self.spans.facts(span.start, span.end)));
        self.pricing.lacking_bytes(sets) == 0
    }

    fn branches_of(
        &mut self,
        left: Members,
        from: usize,
        cost: f64,
        seated: &[PoolSpan],
    ) -> Vec<Branch> {
        let count = self.spans.count;
        let mut found = Vec::new();
        let limit = self.limit();
        let everybody = self.pricing.demand.everybody();
        for members in subsets(left) {
            let rest = left & !members;
            let apart = self.least_apart(everybody & !rest, rest);
            for start in from..count {
                for end in start + 1..=count {
                    let after = self.rest[rest as usize][end];
                    let alone = self.alone[members as usize][self.spans.place(start, end)];
                    let bound = cost + alone + apart + after;
                    if bound >= limit || !bound.is_finite() {
                        continue;
                    }
                    let span = PoolSpan { members, start, end };
                    let beside: f64 = seated
                        .iter()
                        .map(|other| span_price(self.pricing, self.spans, other, &span))
                        .sum();
                    self.branches += 1;
                    let bound = bound + beside;
                    if bound < limit && self.has_memory(seated, span) {
                        found.push(Branch { span, cost: cost + alone + beside, bound });
                    }
                }
            }
        }
        found
    }
}

fn subsets(of: Members) -> impl Iterator<Item = Members> {
    (1..=of).filter(move |members| members & !of == 0)
}
