//! A twin: a simulated machine fitted to the measurements of a real one.
//!
//! Without other load its distances are the profile's. Under load it follows the profile's loaded
//! curve or, without one, stated assumptions.
//!
//! | module | does |
//! |---|---|
//! | `explain` | the parts of a profile |
//! | [`fidelity`] | the error of distances |
//! | [`capacity`] | busy times from the loaded curve |

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

/// Name and version of the format of [`TwinReport`].
pub const FORMAT: &str = "seatmap-fit/1";

/// A twin and how similar it is to its original.
#[derive(Debug)]
pub struct Twin {
    /// Machine description, for a file.
    pub levels: Hierarchy,
    /// Model from that file.
    pub model: CoherentModel,
    /// Comparison with the profile.
    pub report: TwinReport,
}

/// A comparison of a twin with its original: the output of `seatmap model fit --json`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TwinReport {
    /// Name and version of the format.
    pub format: &'static str,
    /// The name of the twin.
    pub name: String,
    /// The name of the original machine; missing in older documents.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub machine: String,
    /// The number of cores.
    pub cores: usize,
    /// The number of hardware threads.
    pub pus: usize,
    /// The number of groups of cores that exchange lines directly.
    pub groups: usize,
    /// The number of homes; 1 if the profile has one line.
    pub homes: usize,
    /// Whether residuals of groups and offsets are stored per pair.
    pub has_rest: bool,
    /// The length of a tick, in nanoseconds.
    pub tick_ns: f64,
    /// All unloaded distances.
    pub all: Fidelity,
    /// Unloaded distances without the residuals of single pairs: how much the structure explains.
    pub structure: Fidelity,
    /// Unloaded distances by distance class, nearest first.
    pub by_class: Vec<Fidelity>,
    /// Distances for lines of every home; null with one home.
    pub by_home: Option<Fidelity>,
    /// The match with the loaded curve; null if the profile has none.
    pub loaded: Option<Followed>,
}

/// Why a profile has no twin.
#[derive(Debug, thiserror::Error)]
pub enum TwinError {
    /// The profile lacks suitable distances.
    #[error("{name} {problem}")]
    Unfit {
        /// Name of the profile.
        name: String,
        /// Missing data.
        problem: &'static str,
    },
    /// The fitted model is invalid.
    #[error(transparent)]
    Model(#[from] ModelError),
    /// The twin failed under load.
    #[error(transparent)]
    Load(#[from] MeasureError<SimError>),
}

impl Blame for TwinError {
    fn is_input(&self) -> bool {
        // Another profile may help, another run does not.
        !matches!(self, TwinError::Load(_))
    }
}

impl TwinError {
    pub(crate) fn unfit(profile: &Profile, problem: &'static str) -> Self {
        TwinError::Unfit { name: profile.name.clone(), problem }
    }
}

/// Requirements for a twin.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Needs {
    /// Homes of lines.
    pub homes: bool,
    /// Behaviour under load.
    pub loaded: bool,
}

/// Fits a twin.
///
/// # Errors
/// [`TwinError`]: the profile lacks distances between two cores, or other required data.
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
            "has no core distances to fit a twin to; 'seatmap measure' measures them",
        ));
    };
    if distance.pus.len() < 2 {
        return Err(TwinError::unfit(profile, "has only one PU; a twin needs two cores"));
    }
    if needs.homes && explain::homes(profile).is_none() {
        return Err(TwinError::unfit(
            profile,
            "has distances for lines of one home only; 'seatmap measure --homes N' measures more",
        ));
    }
    if needs.loaded && capacity::chosen(profile).is_empty() {
        return Err(TwinError::unfit(
            profile,
            "has no loaded curve; 'seatmap measure --loaded' measures it",
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests;
