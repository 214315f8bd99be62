//! How far a twin's distances are from the profile's.

use crate::classes::Relations;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::{Ordered, greatest, median};
use seatmap_sim::CoherentModel;
use seatmap_sim::coherent::MEASURED_LINE;
use serde::Serialize;
use std::collections::BTreeMap;

/// The difference between two sets of distances.
#[derive(Debug, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Fidelity {
    /// The relation of the pairs.
    pub name: String,
    /// The number of compared pairs.
    pub pairs: usize,
    /// The profile's median round trip.
    pub median_ns: f64,
    /// The root mean square of the differences.
    pub rmse_ns: f64,
    /// The root mean square in percent of the median.
    pub rmse_percent: f64,
    /// The largest difference.
    pub worst_ns: f64,
}

type Both = (f64, f64);

fn fidelity(name: &str, both: &[Both]) -> Option<Fidelity> {
    let median_ns = median(both.iter().map(|(ns, _)| *ns))?;
    let squares: f64 = both.iter().map(|(a, b)| (a - b).powi(2)).sum();
    let rmse_ns = (squares / both.len() as f64).sqrt();
    Some(Fidelity {
        name: name.to_owned(),
        pairs: both.len(),
        median_ns,
        rmse_ns,
        rmse_percent: 100.0 * rmse_ns / median_ns.max(f64::MIN_POSITIVE),
        worst_ns: greatest(both.iter().map(|(a, b)| (a - b).abs())),
    })
}

fn compared(profile: &Profile, model: &CoherentModel) -> Vec<(usize, usize, Both)> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let known = distance.median_ns.pairs().filter(|(_, _, ns)| ns.is_finite());
    known
        .filter_map(|(i, j, ns)| {
            let ticks = model.round_trip_ticks(distance.pus[i], distance.pus[j], MEASURED_LINE)?;
            Some((i, j, (*ns, ticks as f64 * model.ns_per_tick())))
        })
        .collect()
}

/// Compares all pairs.
pub fn all(profile: &Profile, model: &CoherentModel) -> Fidelity {
    let both: Vec<Both> = compared(profile, model).into_iter().map(|(_, _, both)| both).collect();
    fidelity("all pairs", &both).unwrap_or_default()
}

/// Compares each distance class, nearest first.
pub fn by_class(profile: &Profile, model: &CoherentModel) -> Vec<Fidelity> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let relations = Relations::of(profile, distance);
    let mut classes = BTreeMap::<String, Vec<Both>>::new();
    for (i, j, both) in compared(profile, model) {
        classes.entry(relations.name(i, j)).or_default().push(both);
    }
    let mut classes: Vec<Fidelity> =
        classes.iter().filter_map(|(name, both)| fidelity(name, both)).collect();
    classes.sort_by_key(|it| Ordered(it.median_ns));
    classes
}

/// Compares every pair of cores for lines of every home with the profile's fit; `None` with one
/// home.
pub fn by_home(profile: &Profile, model: &CoherentModel) -> Option<Fidelity> {
    let homes = profile.home_model.as_ref().filter(|_| model.homes() > 1)?;
    let pus = &profile.core_distance.as_ref()?.pus;
    let mut both = Vec::new();
    for home in 0..homes.homes() {
        let line = (MEASURED_LINE..).find(|line| model.home_of(*line) == Some(home as u32))?;
        for (i, j) in (0..pus.len()).flat_map(|i| (0..i).map(move |j| (i, j))) {
            let [one, other] = [i, j].map(|at| model.topology.pu(pus[at]).and_then(|pu| pu.core));
            let predicted = homes.round_trip_ns(pus, i, j, home).filter(|_| one != other);
            let ticks = model.round_trip_ticks(pus[i], pus[j], line);
            both.extend(
                predicted.zip(ticks).map(|(ns, ticks)| (ns, ticks as f64 * model.ns_per_tick())),
            );
        }
    }
    fidelity("lines of every home", &both)
}
