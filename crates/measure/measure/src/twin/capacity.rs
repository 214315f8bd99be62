//! Estimates busy times from the loaded curve.
//!
//! A curve shows only how much longer round trips take as more run. So a single factor is fitted,
//! which scales all assumed busy times. Shared links matter too, so the twin runs the profile's
//! pairs.

use super::TwinError;
use crate::load;
use crate::plan::{Effort, SurveyPlan};
use crate::testbed_probe::TestbedProbe;
use crate::twin::fidelity;
use seatmap_data::machine::description::Basis;
use seatmap_data::machine::{LoadedPoint, Profile};
use seatmap_data::statistics::{Ordered, least, median, sorted};
use seatmap_sim::coherent::Hierarchy;
use seatmap_sim::{CoherentBed, CoherentModel};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Evenly spaced, including both ends. Every other one is held out of the fit.
const POINTS: usize = 9;
/// As powers of two, then ternary steps around the best.
const FACTORS: std::ops::RangeInclusive<i32> = -2..=8;
const CUTS: usize = 5;
/// Costs that differ by less, as shares of a distance, are equal.
const AS_GOOD: f64 = 1e-4;
/// The maximum error of unloaded distances, in percent of their median.
const MOST_LOST_PERCENT: f64 = 1.0;
/// Seeds for profiles without a recorded one. Pairs matter as much as capacities, so several draws
/// show the spread.
const ANY_DRAWS: [u64; 3] = [1, 2, 3];

/// The twin's match with the loaded curve.
#[derive(Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Followed {
    /// The factor on the assumed busy times.
    pub busy_factor: f64,
    /// The range of tried factors that fit equally well; wide if the curve does not determine the
    /// factor.
    pub busy_range: [f64; 2],
    /// Points of both curves, by simultaneous pairs.
    pub points: Vec<CapacityPoint>,
    /// The root mean square of the relative differences at the fitted points, in percent.
    pub rmse_percent: f64,
    /// The root mean square at the held-out points, in percent; null with a single point.
    pub held_out_percent: Option<f64>,
    /// Whether the twin ran the same pairs as the profile's measurement.
    pub same_pairs: bool,
}

/// One point of both curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CapacityPoint {
    /// The number of simultaneous pairs.
    pub pairs: u32,
    /// The profile's median round trip.
    pub measured_ns: f64,
    /// The twin's median round trip; the median over several draws if the profile's pairs are
    /// unknown.
    pub twin_ns: f64,
    /// The range over these draws; equal to `twin_ns` with one draw.
    pub twin_range_ns: [f64; 2],
    /// Whether the fit excluded this point.
    pub held_out: bool,
}

impl CapacityPoint {
    fn off(&self) -> f64 {
        self.twin_ns / self.measured_ns - 1.0
    }
}

/// Fits the busy times of a twin's links and directories to the profile's loaded curve.
///
/// # Errors
/// [`TwinError`] if the twin cannot be run.
pub fn follow(levels: &mut Hierarchy, profile: &Profile) -> Result<Followed, TwinError> {
    let chosen = chosen(profile);
    let fitted: Vec<LoadedPoint> = chosen.iter().step_by(2).copied().collect();
    let (busy_factor, busy_range) =
        cheapest(|power: f64| cost(&busier(levels, power.exp2()), profile, &fitted))?;
    *levels = busier(levels, busy_factor);
    let mut points = curve(&Arc::new(levels.clone().model(&levels.name)?), profile, &chosen)?;
    points.iter_mut().skip(1).step_by(2).for_each(|point| point.held_out = true);
    Ok(Followed {
        busy_factor,
        busy_range,
        rmse_percent: 100.0
            * rms(points.iter().filter(|point| !point.held_out).map(CapacityPoint::off))
                .unwrap_or(0.0),
        held_out_percent: rms(points.iter().filter(|point| point.held_out).map(CapacityPoint::off))
            .map(|rms| 100.0 * rms),
        same_pairs: profile.loaded_seed.is_some(),
        points,
    })
}

/// If the curve does not determine the factor, the assumption stays.
fn cheapest(cost: impl Fn(f64) -> Result<f64, TwinError>) -> Result<(f64, [f64; 2]), TwinError> {
    let mut tried = Vec::new();
    for power in FACTORS {
        tried.push((cost(power.into())?, f64::from(power)));
    }
    // Powers of two find the valley, a ternary search its bottom, because a simulation takes
    // seconds.
    let middle = least_changed(&tried).0;
    let mut low = middle - 1.0;
    let mut high = middle + 1.0;
    for _ in 0..CUTS {
        let third = (high - low) / 3.0;
        let near = (cost(low + third)?, low + third);
        let far = (cost(high - third)?, high - third);
        if near.0 <= far.0 {
            high = far.1
        } else {
            low = near.1
        }
        tried.extend([near, far]);
    }
    let (best, range) = least_changed(&tried);
    Ok((best.exp2(), range.map(f64::exp2)))
}

fn least_changed(tried: &[(f64, f64)]) -> (f64, [f64; 2]) {
    let least = least(tried.iter().map(|(cost, _)| cost));
    let as_good: Vec<f64> = tried
        .iter()
        .filter(|(cost, _)| *cost <= least + AS_GOOD)
        .map(|(_, power)| *power)
        .collect();
    let nearest = as_good.iter().copied().min_by_key(|it| Ordered(it.abs())).unwrap_or(0.0);
    let range = as_good
        .iter()
        .fold([f64::INFINITY, f64::NEG_INFINITY], |[low, high], at| [low.min(*at), high.max(*at)]);
    (nearest, range)
}

pub(super) fn chosen(profile: &Profile) -> Vec<LoadedPoint> {
    let pus = profile.core_distance.as_ref().map_or(0, |distance| distance.pus.len());
    let possible: Vec<LoadedPoint> = profile
        .loaded
        .iter()
        .filter(|point| (1..=pus / 2).contains(&(point.pairs as usize)))
        .filter(|point| point.median_ns > 0.0)
        .copied()
        .collect();
    let count = possible.len().min(POINTS);
    (0..count).map(|index| possible[index * (possible.len() - 1) / (count - 1).max(1)]).collect()
}

/// Each stays at least one tick and half a cycle.
pub(super) fn busier(levels: &Hierarchy, factor: f64) -> Hierarchy {
    let mut levels = levels.clone();
    let tick = 1.0 / f64::from(levels.ticks_per_cycle);
    let source =
        format!("fitted to the profile's loaded curve: {factor:.2} times the default assumption");
    let figures = &mut levels.figures;
    let busy = [
        &mut figures.address_busy_cycles,
        &mut figures.data_busy_cycles,
        &mut figures.acknowledge_busy_cycles,
        &mut figures.directory_busy_cycles,
    ];
    for figure in busy {
        figure.value = (100.0 * (figure.value * factor).max(tick).max(0.5)).round() / 100.0;
        figure.kind = Basis::Calibration;
        figure.source.clone_from(&source);
    }
    levels
        .fabric
        .package_busy_cycles
        .iter_mut()
        .for_each(|cycles| *cycles = (f64::from(*cycles) * factor).round().max(1.0) as u32);
    levels.fabric.basis = Basis::Calibration;
    levels.fabric.source = source;
    levels
}

fn cost(levels: &Hierarchy, profile: &Profile, points: &[LoadedPoint]) -> Result<f64, TwinError> {
    let model = Arc::new(levels.clone().model(&levels.name)?);
    // Unloaded round trips are known better than the curve.
    if fidelity::all(profile, &model).rmse_percent > MOST_LOST_PERCENT {
        return Ok(f64::INFINITY);
    }
    Ok(rms(curve(&model, profile, points)?.iter().map(CapacityPoint::off)).unwrap_or(0.0))
}

/// The curve is measured like the profile's, with its pairs.
fn curve(
    model: &Arc<CoherentModel>,
    profile: &Profile,
    points: &[LoadedPoint],
) -> Result<Vec<CapacityPoint>, TwinError> {
    let seeds = profile.loaded_seed.map_or(ANY_DRAWS.to_vec(), |seed| vec![seed]);
    let curves = seeds
        .iter()
        .map(|seed| drawn(model, profile, points, *seed))
        .collect::<Result<Vec<_>, _>>()?;
    Ok(points
        .iter()
        .enumerate()
        .map(|(at, measured)| {
            let medians = sorted(curves.iter().filter_map(|curve| Some(curve.get(at)?.median_ns)));
            let ends = [medians.first(), medians.last()];
            CapacityPoint {
                pairs: measured.pairs,
                measured_ns: measured.median_ns,
                twin_ns: median(&medians).unwrap_or(f64::NAN),
                twin_range_ns: ends.map(|end| end.copied().unwrap_or(f64::NAN)),
                held_out: false,
            }
        })
        .collect())
}

fn drawn(
    model: &Arc<CoherentModel>,
    profile: &Profile,
    points: &[LoadedPoint],
    seed: u64,
) -> Result<Vec<LoadedPoint>, TwinError> {
    let pus = profile.core_distance.as_ref().map_or(&[][..], |distance| &distance.pus);
    let plan =
        SurveyPlan { seed, ..SurveyPlan::new(Effort::Quick, model.ns_per_tick()).without_noise() };
    let bed = CoherentBed::new(Arc::clone(model));
    let mut probe = TestbedProbe::new(bed, &model.topology, load::lines_needed(pus.len()))
        .map_err(crate::MeasureError::Machine)?;
    let pairs: Vec<usize> = points.iter().map(|point| point.pairs as usize).collect();
    Ok(load::curve_at(&mut probe, pus, &pairs, &plan, &mut |_, _| ControlFlow::Continue(()))?)
}

fn rms(values: impl Iterator<Item = f64>) -> Option<f64> {
    let (squares, count) =
        values.fold((0.0, 0.0), |(squares, count), value| (squares + value * value, count + 1.0));
    (count > 0.0).then(|| f64::sqrt(squares / count))
}
