//! Compares distances with published machines.

use super::{ProfileFinding, View};
use seatmap_data::machine::{OriginKind, PairStatus, Pu};
use seatmap_data::statistics::{Ordered, median};

/// Round trips in ns: core-to-core-latency results from Haswell to Sapphire Rapids and Zen to Zen
/// 4, Graviton and Kunpeng, each band widened by half.
const BANDS: [(&str, Shares, f64, f64); 3] = [
    ("SMT siblings", |a, b| a.core.is_some() && a.core == b.core, 5.0, 40.0),
    ("PUs under one L3", |a, b| a.core != b.core && a.l3.is_some() && a.l3 == b.l3, 20.0, 180.0),
    (
        "PUs of two packages",
        |a, b| a.package.is_some() && b.package.is_some() && a.package != b.package,
        130.0,
        1020.0,
    ),
];

type Shares = fn(&Pu, &Pu) -> bool;

/// The class farthest outside its band. Simulated models may have any distances.
pub fn implausible(view: &View) -> Option<ProfileFinding> {
    if view.profile.origin.kind == OriginKind::Model {
        return None;
    }
    let worst = BANDS
        .into_iter()
        .filter_map(|(pairs, shares, low_ns, high_ns)| {
            let median_ns = class_median_ns(view, shares)?;
            let factor = (low_ns / median_ns).max(median_ns / high_ns);
            let finding =
                ProfileFinding::Implausible { pairs: pairs.to_owned(), median_ns, low_ns, high_ns };
            (factor > 1.0).then_some((factor, finding))
        })
        .max_by_key(|it| Ordered(it.0));
    worst.map(|(_, finding)| finding)
}

fn class_median_ns(view: &View, shares: Shares) -> Option<f64> {
    let topology = &view.profile.topology;
    let pus: Option<Vec<&Pu>> = view.distance.pus.iter().map(|os| topology.pu(*os)).collect();
    let pus = pus?;

    let shared = view
        .distance
        .median_ns
        .pairs()
        .filter(|(i, j, _)| shares(pus[*i], pus[*j]))
        .filter(|(i, j, _)| view.distance.status[(*i, *j)] != Some(PairStatus::Stacked));
    median(shared.map(|(_, _, value)| *value))
}
