//! A lower bound on the cost of any plan.
//!
//! A service waits least alone on the whole machine. Talk costs at least the distance of the
//! nearest two units. The other terms may be 0.

use super::cost::{Pricing, SetFacts};
use super::places;
use seatmap_data::statistics::least;

/// The least cost of any plan.
pub fn lower_bound(pricing: &Pricing) -> f64 {
    let whole: Vec<usize> = (0..pricing.units.all.len()).collect();
    let set = SetFacts::without_distance(pricing.units, &whole);
    let everybody = pricing.demand.everybody();
    let waiting: f64 =
        places(everybody).map(|at| pricing.alone(1 << at, &set).waiting_percent).sum();
    let rows = pricing.units.distance_ns.iter();
    let nearest_ns = least(rows.flatten());
    let nearest_ns = if nearest_ns.is_finite() { nearest_ns } else { 0.0 };
    let mut talk = 0.0;
    for a in places(everybody) {
        for b in places(everybody).filter(|b| *b >= a) {
            talk += pricing.talk(a, b, nearest_ns);
        }
    }
    waiting + talk
}
