//! How long links and directories are busy, from the loaded curve.
//!
//! A curve tells one thing: how much longer round trips take as more of them run. So one number is fitted, by which all
//! that is assumed to be busy with a message is so for longer or shorter.

use super::TwinError;
use crate::load;
use crate::plan::{Effort, Plan};
use crate::testbed_probe::TestbedProbe;
use crate::twin::fidelity;
use seatmap_machine::description::Basis;
use seatmap_machine::{Loaded, Profile};
use seatmap_sim::coherent::Levels;
use seatmap_sim::{CoherentBed, CoherentModel};
use serde::Serialize;
use std::ops::ControlFlow;
use std::sync::Arc;

/// Points of the curve that are followed, spread evenly, the ends included.
const POINTS: usize = 5;
/// Factors that are tried, as powers of two, and how often their range is cut in three.
const FACTORS: [f64; 2] = [-2.0, 8.0];
const CUTS: usize = 7;
/// What unloaded distances may lose by it, in percent of their median.
const MOST_LOST_PERCENT: f64 = 1.0;

/// How the twin follows the loaded curve.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Followed {
    /// By how much the assumptions on what is busy were multiplied.
    pub busy_factor: f64,
    /// Pairs at once, the profile's median, and the twin's.
    pub points: Vec<Point>,
    /// The root mean square of the relative differences, in percent.
    pub rmse_percent: f64,
}

/// One point of both curves.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Point {
    /// Pairs at once.
    pub pairs: u32,
    /// The profile's median round trip.
    pub measured_ns: f64,
    /// The twin's.
    pub twin_ns: f64,
}

/// Fits how long links and directories of a twin are busy, so that it follows the profile's loaded curve.
///
/// # Errors
/// [`TwinError`], where the twin cannot be run.
pub fn follow(levels: &mut Levels, profile: &Profile) -> Result<Followed, TwinError> {
    let chosen = chosen(&profile.loaded, profile.core_distance.as_ref().map_or(0, |distance| distance.pus.len()));
    let try_one = |power: f64| -> Result<(f64, Followed, Levels), TwinError> {
        let levels = busier(levels, power.exp2());
        let (cost, followed) = tried(&levels, profile, &chosen, power.exp2())?;
        Ok((cost, followed, levels))
    };
    let [mut low, mut high] = FACTORS;
    let mut best = try_one(0.0)?;
    for _ in 0..CUTS {
        let third = (high - low) / 3.0;
        let (near, far) = (try_one(low + third)?, try_one(high - third)?);
        if near.0 <= far.0 {
            high -= third
        } else {
            low += third
        }
        for tried in [near, far] {
            if tried.0 < best.0 {
                best = tried;
            }
        }
    }
    *levels = best.2;
    Ok(best.1)
}

/// The points to follow.
fn chosen(curve: &[Loaded], pus: usize) -> Vec<Loaded> {
    let possible: Vec<Loaded> =
        curve.iter().filter(|point| (1..=pus / 2).contains(&(point.pairs as usize))).copied().collect();
    let count = possible.len().min(POINTS);
    let at = |index: usize| possible[index * (possible.len() - 1) / (count - 1).max(1)];
    (0..count).map(at).collect()
}

/// What is busy, multiplied; cycles of a tick at least.
pub(super) fn busier(levels: &Levels, factor: f64) -> Levels {
    let mut levels = levels.clone();
    let tick = 1.0 / f64::from(levels.ticks_per_cycle);
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
        figure.source = format!("fitted to the profile's loaded curve: {factor:.2} times what is assumed of others");
    }
    levels
        .fabric
        .package_busy_cycles
        .iter_mut()
        .for_each(|cycles| *cycles = (f64::from(*cycles) * factor).round().max(1.0) as u32);
    levels.fabric.basis = Basis::Calibration;
    levels.fabric.source = format!("fitted to the profile's loaded curve: {factor:.2} times what is assumed of others");
    levels
}

/// How far a machine is from the curve, in percent; infinitely, where its distances suffer.
fn tried(levels: &Levels, profile: &Profile, chosen: &[Loaded], factor: f64) -> Result<(f64, Followed), TwinError> {
    let model = Arc::new(levels.clone().model(&levels.name)?);
    let lost = fidelity::all(profile, &model).rmse_percent > MOST_LOST_PERCENT;
    let points = curve(&model, profile, chosen)?;
    let squares: f64 = points.iter().map(|point| (point.twin_ns / point.measured_ns - 1.0).powi(2)).sum();
    let rmse_percent = 100.0 * (squares / points.len().max(1) as f64).sqrt();
    let cost = if lost { f64::INFINITY } else { rmse_percent };
    Ok((cost, Followed { busy_factor: factor, points, rmse_percent }))
}

/// The twin's own curve at these points, by the protocol that measures everybody's.
fn curve(model: &Arc<CoherentModel>, profile: &Profile, chosen: &[Loaded]) -> Result<Vec<Point>, TwinError> {
    let pus = profile.core_distance.as_ref().map_or(&[][..], |distance| &distance.pus);
    let plan = Plan::new(Effort::Quick, model.ns_per_tick()).without_noise();
    let bed = CoherentBed::new(Arc::clone(model));
    let mut probe =
        TestbedProbe::new(bed, &model.topology, load::lines_needed(pus.len())).map_err(crate::MeasureError::Machine)?;
    let pairs: Vec<usize> = chosen.iter().map(|point| point.pairs as usize).collect();
    let simulated = load::curve_at(&mut probe, pus, &pairs, &plan, &mut |_, _| ControlFlow::Continue(()))?;
    let both = chosen.iter().zip(simulated);
    let point = |(measured, twin): (&Loaded, Loaded)| Point {
        pairs: measured.pairs,
        measured_ns: measured.median_ns,
        twin_ns: twin.median_ns,
    };
    Ok(both.map(point).collect())
}
