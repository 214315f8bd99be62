//! Findings about a profile, as values.
//!
//! A finding depends only on the profile, so a file measured elsewhere gets the same findings.

mod bands;
mod blocks;
mod far_home;
mod levels;
mod passes;
mod sentence;
mod siblings;

use crate::classes::{PairInterval, Relations, are_apart};
use crate::fit;
use seatmap_data::machine::{CoreDistance, HomeModel, OriginKind, Profile};
use serde::Serialize;

/// A finding about a profile. `Display` writes the observation, the reason and the remedy.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProfileFinding {
    /// The clock's step is too coarse for the values.
    ClockQuantised {
        /// The step, in round-trip nanoseconds.
        step_ns: Option<f64>,
    },
    /// Pairs flip between levels.
    MultiRegime {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
        /// The pair with the widest levels, if recorded.
        widest: Option<Flip>,
    },
    /// Distances moved one way during the measurement.
    Drifting {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
    },
    /// The 95 % intervals are too wide for one distance, and the passes show no levels.
    Unsteady {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
        /// The pair with the widest interval, if recorded.
        widest: Option<Wide>,
    },
    /// The host runs both vCPUs of a pair on one CPU, in turn.
    Stacked {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
        /// One of the pairs, by OS indices.
        example: [u32; 2],
        /// Its median, in round-trip nanoseconds.
        median_ns: f64,
    },
    /// Pairs of one kind are nearer or farther than on any published machine.
    Implausible {
        /// The kind of pairs.
        pairs: String,
        /// Their median.
        median_ns: f64,
        /// The lowest usual value.
        low_ns: f64,
        /// The highest usual value.
        high_ns: f64,
    },
    /// All PUs form pairs as near as hardware threads of one core, but the topology calls each a
    /// core.
    HiddenSiblings {
        /// The number of such pairs.
        pairs: usize,
        /// One of the pairs, by OS indices.
        example: [u32; 2],
        /// Their median, in round-trip nanoseconds.
        near_ns: f64,
        /// The median of all other pairs.
        far_ns: f64,
    },
    /// The groups in the distances match no level of the topology.
    GroupsDisagree {
        /// The number of groups.
        groups: usize,
        /// The number of parts of each known level, from the finest.
        levels: Vec<(String, usize)>,
    },
    /// Part of the machine looks slow because the line's home is in another part.
    FarHome {
        /// The PUs that look slow.
        pus: Vec<u32>,
        /// The median distance between groups of the other part.
        near_ns: f64,
        /// The median distance between groups of the slow-looking part.
        far_ns: f64,
    },
    /// The star a_i + a_j explains the pairs inside the groups: the matrix shows only which PUs are
    /// near the line's home.
    PairViewEmpty {
        /// The share of the variance that the star explains.
        star_r2: f64,
    },
    /// Pairs of groups with the same relation have different distances.
    AsymmetricBlocks {
        /// Their relation, as in the distance classes.
        class: String,
        /// The nearest two groups, each by its first PU.
        nearest: [u32; 2],
        /// Their distance.
        nearest_ns: f64,
        /// The farthest two groups.
        farthest: [u32; 2],
        /// Their distance.
        farthest_ns: f64,
    },
    /// All distances are for one cache line.
    SingleHome,
    /// The homes of several lines could not be distinguished.
    HomesNotResolvable {
        /// The number of lines.
        lines: usize,
        /// The number of PUs.
        pus: usize,
    },
}

/// Two levels of a pair.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Flip {
    /// The two OS indices.
    pub pus: [u32; 2],
    /// The fast level.
    pub fast_ns: f64,
    /// The slow level.
    pub slow_ns: f64,
    /// The share of samples above the fast level, in percent.
    pub slow_percent: f64,
}

/// A pair's median and 95 % interval, round-trip nanoseconds.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wide {
    /// The two OS indices.
    pub pus: [u32; 2],
    /// The median.
    pub median_ns: f64,
    /// The lower end of the interval.
    pub low_ns: f64,
    /// The upper end of the interval.
    pub high_ns: f64,
}

struct View<'a> {
    profile: &'a Profile,
    distance: &'a CoreDistance,
    model: &'a HomeModel,
    relations: &'a Relations,
}

impl View<'_> {
    fn are_apart(
        &self,
        is_near: impl Fn(usize, usize) -> bool,
        is_far: impl Fn(usize, usize) -> bool,
    ) -> bool {
        let known = self.distance.median_ns.pairs().filter(|(_, _, value)| value.is_finite());
        let known: Vec<(usize, usize)> = known.map(|(i, j, _)| (i, j)).collect();
        let [near, far]: [Vec<PairInterval>; 2] =
            [&is_near as &dyn Fn(usize, usize) -> bool, &is_far].map(|is_member| {
                let members = known.iter().filter(|(i, j)| is_member(*i, *j));
                members.map(|(i, j)| PairInterval::of(self.distance, *i, *j)).collect()
            });
        are_apart(&near, &far)
    }
}

/// All findings: those that cast doubt on the figures, then those about hidden structure.
pub fn findings(profile: &Profile) -> Vec<ProfileFinding> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let Some(model) = fit::model_of(profile) else { return Vec::new() };
    let relations = Relations::of(profile, distance);
    let view = View { profile, distance, model: &model, relations: &relations };
    let far_home = far_home::find(&view);
    let hidden = siblings::hidden(&view);
    [
        clock_quantised(profile),
        passes::stacked(distance),
        passes::multi_regime(distance),
        passes::unsteady(distance),
        passes::drifting(distance),
        bands::implausible(&view),
        // Hidden siblings also match no level.
        levels::disagree(&view).filter(|_| hidden.is_none()),
        hidden,
        pair_view_empty(&model),
        // A far home explains unequal blocks.
        blocks::asymmetric(&view, far_home.is_some()),
        far_home,
        single_home(profile, &model),
        not_resolvable(&model),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn clock_quantised(profile: &Profile) -> Option<ProfileFinding> {
    profile
        .clock
        .quantised
        .then_some(ProfileFinding::ClockQuantised { step_ns: profile.clock.step_ns })
}

fn pair_view_empty(model: &HomeModel) -> Option<ProfileFinding> {
    Some(ProfileFinding::PairViewEmpty {
        star_r2: model.star_r2.filter(|_| model.pair_view_empty)?,
    })
}

/// Not for simulated models, whose lines are not measured.
fn single_home(profile: &Profile, model: &HomeModel) -> Option<ProfileFinding> {
    let measured = profile.origin.kind != OriginKind::Model;
    (measured && model.homes() == 1 && model.offset_ns.len() > 2 && model.lines.is_none())
        .then_some(ProfileFinding::SingleHome)
}

fn not_resolvable(model: &HomeModel) -> Option<ProfileFinding> {
    let lines = model.lines.as_ref().filter(|lines| !lines.resolvable)?;
    Some(ProfileFinding::HomesNotResolvable {
        lines: lines.home_of_line.len(),
        pus: model.offset_ns.len(),
    })
}

#[cfg(test)]
mod tests;
