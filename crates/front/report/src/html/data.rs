//! The data for the page's script: the profile in a compact form that is quick to draw.
//!
//! Distances are whole hundredths of a nanosecond, the upper triangle row by row; all but the
//! medians are differences from the medians. 512 PUs with every matrix take about three megabytes
//! instead of twenty.

use crate::grid::{groups, positions};
use crate::palette::{Rgb, VIRIDIS};
use crate::predicted::predicted;
use crate::{Digits, GridOrder, Scale};
use seatmap_data::machine::{CoreDistance, CoreKind, HomeModel, Matrix, PairStatus, Profile, Pu};
use serde::Serialize;
use serde_json::{Value, json};

/// Hundredths of a nanosecond; `None` if unknown.
type Hundredths = Vec<Option<i64>>;

/// Homes included in the scale; with hundreds, a page would take seconds.
const HOMES_FOR_SCALE: usize = 8;

#[derive(Serialize)]
struct Data {
    pus: Vec<u32>,
    places: Vec<Value>,
    by_group: Vec<usize>,
    by_os: Vec<usize>,
    group: Vec<Option<usize>>,
    median: Hundredths,
    p10: Option<Hundredths>,
    mad: Option<Hundredths>,
    low: Option<Hundredths>,
    high: Option<Hundredths>,
    /// One character for each pair, or a single one for all.
    status: String,
    regimes: Vec<Regimes>,
    model: Option<Model>,
    scale: Option<Scale>,
    ramp: [Rgb; 10],
    decimals: i32,
}

#[derive(Serialize)]
struct Regimes {
    pus: [u32; 2],
    /// Hundredths of a nanosecond, share of the samples.
    levels: Vec<(Option<i64>, f64)>,
}

#[derive(Serialize)]
struct Model {
    group: Vec<Option<usize>>,
    between: Vec<Hundredths>,
    /// A row for each home; empty if `between` applies to all.
    inside: Vec<Hundredths>,
    /// A row for each home.
    offset: Vec<Hundredths>,
    smt: Option<i64>,
}

/// `null` without distances.
pub fn text(profile: &Profile, scale: Option<Scale>) -> String {
    let data = profile.core_distance.as_ref().map(|distance| data(profile, distance, scale));
    // Plain structs with string keys cannot fail.
    serde_json::to_string(&data).unwrap_or_else(|_| "null".to_owned())
}

/// Includes the predictions, so one legend serves all homes.
pub fn scale(profile: &Profile) -> Option<Scale> {
    let distance = profile.core_distance.as_ref()?;
    let homes = profile.home_model.as_ref().map_or(0, HomeModel::homes);
    let step = homes.div_ceil(HOMES_FOR_SCALE).max(1);
    // With one home, the prediction is for the measured lines.
    let several = (0..homes).step_by(step).filter(|_| homes > 1);
    let predictions = Vec::from_iter(several.filter_map(|home| predicted(profile, home)));
    let all = predictions.iter().chain([&distance.median_ns]).flat_map(Matrix::pairs);
    Scale::of(all.map(|(_, _, value)| *value))
}

fn data(profile: &Profile, distance: &CoreDistance, scale: Option<Scale>) -> Data {
    let against = |matrix: &Option<Matrix>| {
        matrix.as_ref().map(|matrix| differences(matrix, &distance.median_ns))
    };
    Data {
        pus: distance.pus.clone(),
        places: places(profile, distance),
        by_group: positions(profile, GridOrder::Group),
        by_os: positions(profile, GridOrder::Os),
        // usize::MAX (no group) is too large for JavaScript; null means the same.
        group: groups(profile)
            .into_iter()
            .map(|group| (group != usize::MAX).then_some(group))
            .collect(),
        median: all(&distance.median_ns),
        p10: against(&distance.p10_ns),
        mad: distance.mad_ns.as_ref().map(all),
        low: against(&distance.ci95_low_ns),
        high: against(&distance.ci95_high_ns),
        status: statuses(distance),
        regimes: regimes(distance),
        model: profile
            .home_model
            .as_ref()
            .filter(|model| model.homes() > 1)
            .map(|model| of_model(model, distance)),
        scale,
        ramp: VIRIDIS,
        decimals: Digits::of(profile).decimals(),
    }
}

fn hundredths(value_ns: f64) -> Option<i64> {
    value_ns.is_finite().then_some((value_ns * 100.0).round() as i64)
}

fn all(matrix: &Matrix) -> Hundredths {
    matrix.pairs().map(|(_, _, value)| hundredths(*value)).collect()
}

fn differences(matrix: &Matrix, median_ns: &Matrix) -> Hundredths {
    // Rounded first, so the script's sums are exact.
    matrix
        .pairs()
        .map(|(i, j, value)| Some(hundredths(*value)? - hundredths(median_ns[(i, j)])?))
        .collect()
}

fn statuses(distance: &CoreDistance) -> String {
    let letter = |status: &Option<PairStatus>| match status {
        Some(PairStatus::Stable) => 's',
        Some(PairStatus::Drifting) => 'd',
        Some(PairStatus::MultiRegime) => 'm',
        Some(PairStatus::Unsteady) => 'u',
        Some(PairStatus::Stacked) => 'k',
        Some(PairStatus::Imported) => 'i',
        None => '-',
    };
    let all: String = distance.status.pairs().map(|(_, _, status)| letter(status)).collect();
    // Often all pairs have the same status, as in imported files.
    match all.chars().next() {
        Some(first) if all.chars().all(|letter| letter == first) => first.to_string(),
        _ => all,
    }
}

fn regimes(distance: &CoreDistance) -> Vec<Regimes> {
    distance
        .regimes
        .iter()
        .map(|pair| Regimes {
            pus: pair.pus,
            levels: pair
                .regimes
                .iter()
                .map(|regime| (hundredths(regime.median_ns), regime.share))
                .collect(),
        })
        .collect()
}

fn places(profile: &Profile, distance: &CoreDistance) -> Vec<Value> {
    let unknown = Pu::default();
    let pus = distance.pus.iter().map(|os| profile.topology.pu(*os).unwrap_or(&unknown));
    let places = pus.map(|pu| {
        let kind = pu.kind.map(CoreKind::letters);
        json!({
            "core": pu.core, "smt": pu.smt, "l2": pu.l2, "l3": pu.l3, "die": pu.die,
            "numa": pu.numa, "package": pu.package, "kind": kind,
        })
    });
    places.collect()
}

fn of_model(model: &HomeModel, distance: &CoreDistance) -> Model {
    let home =
        |home: usize| model.offset_ns.iter().map(|offsets| hundredths(offsets[home])).collect();
    let homes_inside = if model.inside_ns.is_some() { model.homes() } else { 0 };
    Model {
        inside: (0..homes_inside)
            .map(|home| {
                (0..model.groups.len())
                    .map(|group| hundredths(model.base_ns(group, group, home)))
                    .collect()
            })
            .collect(),
        group: model.group_of(&distance.pus),
        between: (0..model.between_ns.n())
            .map(|i| model.between_ns.row(i).iter().map(|value| hundredths(*value)).collect())
            .collect(),
        offset: (0..model.homes()).map(home).collect(),
        smt: model.smt_ns.and_then(hundredths),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;

    fn parsed(profile: &Profile) -> Value {
        serde_json::from_str(&text(profile, scale(profile))).unwrap()
    }

    #[test]
    fn distances_are_encoded_as_hundredths_and_differences() {
        let data = parsed(&two_groups());
        assert_eq!(data["median"].as_array().unwrap().len(), 28);
        assert_eq!(
            (&data["median"][0], &data["p10"][0], &data["mad"][0]),
            (&4100.into(), &(-125).into(), &75.into())
        );
        assert_eq!((&data["low"][27], &data["high"][27]), (&(-50).into(), &50.into()));
        assert_eq!(data["status"].as_str().unwrap().matches('m').count(), 1);
        assert_eq!(
            data["model"]["offset"][1],
            serde_json::json!([700, 600, 500, 400, 300, 200, 100, 0])
        );
    }

    #[test]
    fn unknown_distance_is_null_and_equal_statuses_merge() {
        let mut profile = two_groups();
        let distance = profile.core_distance.as_mut().unwrap();
        distance.median_ns.set_both(0, 1, f64::NAN);
        distance.status = seatmap_data::machine::Square::filled(8, Some(PairStatus::Imported));
        let data = parsed(&profile);
        assert_eq!((&data["median"][0], &data["p10"][0]), (&Value::Null, &Value::Null));
        assert_eq!(data["status"], "i");
        profile.core_distance = None;
        assert_eq!(parsed(&profile), Value::Null);
    }

    #[test]
    fn the_scale_covers_the_predictions() {
        let profile = two_groups();
        assert_eq!(scale(&profile).unwrap().high_ns, 110.0);
    }
}
