//! Extracts a profile's parts for a twin.

use super::TwinError;
use crate::classes::Relations;
use crate::findings::{ProfileFinding, findings};
use crate::fit::{self, linkage, siblings};
use seatmap_data::machine::description::Basis;
use seatmap_data::machine::{CoreDistance, HomeModel, Profile};
use seatmap_data::statistics::mean;
use seatmap_sim::coherent::homes::hashed;
use seatmap_sim::coherent::{DistanceParts, HierarchyHomes, MEASURED_LINE};
use seatmap_sim::figure::ModelFigure;

/// Distances are accurate to 0.05 ns.
const TICKS_PER_NS: f64 = 10.0;
const USUAL_GHZ: f64 = 3.0;

/// The parts of a profile.
///
/// # Errors
/// The profile has no distances.
pub fn parts(profile: &Profile) -> Result<DistanceParts, TwinError> {
    let unfit = || TwinError::unfit(profile, "has no known distance; measure it again");
    let distance = profile.core_distance.as_ref().ok_or_else(unfit)?;
    let model = fit::model_of(profile).ok_or_else(unfit)?;
    let core_of = siblings::cores(distance, &profile.topology);
    let cores = linkage::count(&core_of);
    let homes = homes(profile);
    let frequency_ghz = clock(profile);
    Ok(DistanceParts {
        group_of: groups(profile, distance, &model, &core_of, cores),
        package_of: packages(profile, distance, &core_of, cores),
        offset_ns: offsets(
            &model,
            &core_of,
            cores,
            homes.as_ref().map_or(1, |(homes, _)| homes.count as usize),
        ),
        core_of,
        homes,
        ticks_per_cycle: (TICKS_PER_NS / frequency_ghz.value).ceil() as u32,
        frequency_ghz,
    })
}

/// The homes and that of the distances' line; `None` with a single home.
pub fn homes(profile: &Profile) -> Option<(HierarchyHomes, usize)> {
    let model = profile.home_model.as_ref().filter(|model| model.homes() > 1)?;
    let count = model.homes();
    let first = model
        .lines
        .as_ref()
        .and_then(|lines| lines.home_of_line.first())
        .map_or(0, |home| *home as usize);
    // The model hashes lines to homes: find a seed that gives the measured line its home.
    let seed = (1..1 << 20).find(|seed| hashed(MEASURED_LINE, *seed, count) == first)?;
    let settled_in_groups = model.inside_ns.is_some();
    Some((HierarchyHomes { count: count as u32, hash_seed: seed as u32, settled_in_groups }, first))
}

/// Groups in the distances, split by L3 cache.
fn groups(
    profile: &Profile,
    distance: &CoreDistance,
    model: &HomeModel,
    core_of: &[usize],
    cores: usize,
) -> Vec<u32> {
    let found = model.group_of(&distance.pus);
    let mut group_of = vec![None; cores];
    for (row, os) in distance.pus.iter().enumerate() {
        let l3 = profile.topology.pu(*os).and_then(|pu| pu.l3);
        group_of[core_of[row]] = Some((found[row], l3));
    }
    linkage::renumbered(&group_of).into_iter().map(|group| group as u32).collect()
}

fn packages(
    profile: &Profile,
    distance: &CoreDistance,
    core_of: &[usize],
    cores: usize,
) -> Vec<Option<u32>> {
    // A far home makes one half look like several packages.
    let far = findings(profile).into_iter().find_map(|finding| match finding {
        ProfileFinding::FarHome { pus, .. } => Some(pus),
        _ => None,
    });
    let mut package_of = vec![None; cores];
    for (row, sphere) in Relations::of(profile, distance).sphere.iter().enumerate() {
        let package =
            far.as_ref().map_or(*sphere, |far| usize::from(far.contains(&distance.pus[row])));
        package_of[core_of[row]] = Some(package as u32);
    }
    package_of
}

fn offsets(model: &HomeModel, core_of: &[usize], cores: usize, homes: usize) -> Vec<Vec<f64>> {
    (0..cores)
        .map(|core| (0..homes).map(|home| mean_offset_ns(model, core_of, core, home)).collect())
        .collect()
}

/// In 0.01 ns; a core's threads are averaged.
fn mean_offset_ns(model: &HomeModel, core_of: &[usize], core: usize, home: usize) -> f64 {
    let all: Vec<f64> = core_of
        .iter()
        .zip(&model.offset_ns)
        .filter(|(of, _)| **of == core)
        .filter_map(|(_, row)| row.get(home).copied())
        .filter(|ns| ns.is_finite())
        .collect();
    if all.is_empty() {
        return 0.0;
    }
    (100.0 * mean(&all)).round() / 100.0
}

fn clock(profile: &Profile) -> ModelFigure {
    let ghz = profile.clock.frequency_hz.map(|hz| (hz / 1e7).round() / 100.0);
    // Arm's counter has a separate rate, tens of MHz to 1 GHz.
    let is_core_clock = profile.clock.source.as_deref() != Some("cntvct");
    match ghz.filter(|ghz| is_core_clock && (0.5..=10.0).contains(ghz)) {
        Some(value) => ModelFigure {
            value,
            kind: Basis::Calibration,
            source: "the rate of the profile's clock, near the nominal frequency".to_owned(),
        },
        None => ModelFigure {
            value: USUAL_GHZ,
            kind: Basis::Assumption,
            source: "not in the profile; affects computation between messages, but no distance"
                .to_owned(),
        },
    }
}
