//! A twin: a machine that the simulator runs, fitted to the measurements of a real one.
//!
//! With no other load its distances are the profile's. Its behaviour under load follows the
//! profile's loaded curve, where there is one, and stated assumptions where there is none.
//!
//! | module | does |
//! |---|---|
//! | `explain` | cores, groups, offsets and homes of a profile |
//! | [`fidelity`] | how far the twin's distances are from the profile's |
//! | [`capacity`] | how long links and directories are busy, from the loaded curve |

pub mod capacity;
mod explain;
pub mod fidelity;

use crate::error::MeasureError;
use capacity::Followed;
use fidelity::Fidelity;
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_sim::coherent::Hierarchy;
use seatmap_sim::{CoherentModel, ModelError, SimError};
use serde::Serialize;

/// The name and version of the format of [`TwinReport`] on file.
pub const FORMAT: &str = "seatmap-fit/1";

/// A twin, and how like its original it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Twin {
    /// The machine, to be written on file.
    pub levels: Hierarchy,
    /// The model that reading that file gives.
    pub model: CoherentModel,
    /// The comparison with the profile.
    pub report: TwinReport,
}

/// A comparison of a twin with its original: the output of `seatmap model fit --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwinReport {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = FORMAT)))]
    pub format: &'static str,
    /// The name of the twin.
    pub name: String,
    /// The name of the machine that it is a twin of; older documents do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub machine: String,
    /// Cores.
    pub cores: usize,
    /// Hardware threads.
    pub pus: usize,
    /// Groups of cores that settle lines among themselves.
    pub groups: usize,
    /// Homes of lines; 1 where the profile knows one line only.
    pub homes: usize,
    /// Whether single pairs carry the residuals of groups and offsets.
    pub has_rest: bool,
    /// The length of a tick, in nanoseconds.
    pub tick_ns: f64,
    /// Unloaded distances, all of them.
    pub all: Fidelity,
    /// Unloaded distances of a twin without the residuals of single pairs: how much the structure
    /// explains.
    pub structure: Fidelity,
    /// Unloaded distances by distance class, nearest first.
    pub by_class: Vec<Fidelity>,
    /// Distances for lines of every home; null where there is one.
    pub by_home: Option<Fidelity>,
    /// The twin's match with the loaded curve; null where the profile has none.
    pub loaded: Option<Followed>,
}

/// Why a profile has no twin.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// The profile holds no distances, or the wrong ones.
    #[error("{name} {problem}")]
    Unfit {
        /// The profile.
        name: String,
        /// The data that it lacks.
        problem: &'static str,
    },
    /// The model made of it cannot be run.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The twin failed under load.
    #[error(transparent)]
    Load(#[from] MeasureError<SimError>),
}

impl Blame for TwinError {
    fn is_input(&self) -> bool {
        // The profile lacks what a twin needs: another file helps, and another run does not.
        !matches!(self, TwinError::Load(_))
    }
}

impl TwinError {
    pub(crate) fn unfit(profile: &Profile, problem: &'static str) -> Self {
        TwinError::Unfit { name: profile.name.clone(), problem }
    }
}

/// The abilities that a twin must have.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Homes of lines.
    pub homes: bool,
    /// Behaviour under load.
    pub loaded: bool,
}

/// Fits a twin.
///
/// # Errors
/// [`TwinError`]: a profile without distances between two cores, or without other data that a twin
/// needs.
pub fn fit(profile: &Profile, needs: Needs) -> Result<Twin, TwinError> {
    check(profile, needs)?;
    let mut levels = explain::parts(profile)?.levels(profile)?;
    levels.name = format!("{}-twin", profile.name);
    levels.summary = format!("A twin of {}: {}", profile.name, levels.summary);
    let loaded = if capacity::chosen(profile).is_empty() {
        None
    } else {
        Some(capacity::follow(&mut levels, profile)?)
    };
    // The report judges the twin as it is on file, to the last digit.
    let model = CoherentModel::from_toml(&levels.name, &levels.to_toml())?;
    let report = TwinReport {
        format: FORMAT,
        name: levels.name.clone(),
        machine: profile.name.clone(),
        cores: levels.cores.len(),
        pus: model.topology.pus.len(),
        groups: levels.distances.between_ns.len(),
        homes: levels.home_count(),
        has_rest: !levels.distances.rest_ns.is_empty(),
        tick_ns: model.ns_per_tick(),
        all: fidelity::all(profile, &model),
        structure: structure(&levels, profile)?,
        by_class: fidelity::by_class(profile, &model),
        by_home: fidelity::by_home(profile, &model),
        loaded,
    };
    Ok(Twin { levels, model, report })
}

/// How far the distances are from groups and offsets alone.
fn structure(levels: &Hierarchy, profile: &Profile) -> Result<Fidelity, TwinError> {
    let mut bare = levels.clone();
    bare.distances.rest_ns.clear();
    let fidelity = fidelity::all(profile, &bare.model(&levels.name)?);
    Ok(Fidelity { name: "by groups and offsets alone".to_owned(), ..fidelity })
}

fn check(profile: &Profile, needs: Needs) -> Result<(), TwinError> {
    let Some(distance) = &profile.core_distance else {
        return Err(TwinError::unfit(
            profile,
            "holds no core distances, which a twin is made of; 'seatmap measure' finds them",
        ));
    };
    if distance.pus.len() < 2 {
        return Err(TwinError::unfit(profile, "knows one PU only; a twin takes two cores"));
    }
    if needs.homes && explain::homes(profile).is_none() {
        return Err(TwinError::unfit(
            profile,
            "knows the distances for lines of one home only; 'seatmap measure --homes N' finds \
             more",
        ));
    }
    if needs.loaded && capacity::chosen(profile).is_empty() {
        return Err(TwinError::unfit(
            profile,
            "has no loaded curve; 'seatmap measure --loaded' finds it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
