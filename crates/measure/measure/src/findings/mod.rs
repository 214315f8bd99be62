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
use seatmap_data::statistics::words::{counted, joined};
use seatmap_os::CpuList;
use sentence::{subject, why_alike};
use serde::Serialize;

/// A finding about a profile. `Display` writes the observation, the reason and the remedy.
#[derive(Debug, PartialEq, Serialize, thiserror::Error)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProfileFinding {
    /// The clock's step is too coarse for the values.
    #[error(
        "The clock is too coarse: all values are multiples of {}, so smaller differences mean \
         nothing. Measure again with more round trips per batch.",
        .step_ns.map_or_else(|| "its step".to_owned(), |ns| format!("{ns:.1} ns"))
    )]
    ClockQuantised {
        /// The step, in round-trip nanoseconds.
        step_ns: Option<f64>,
    },
    /// Pairs flip between levels.
    #[error(
        "{} between several distances{}. In a virtual machine the cause is the host, which moves \
         the vCPUs; one median describes neither position. Pin the vCPUs on the host, or measure \
         on bare metal.",
        subject(*.pairs, *.percent, "flips", "flip"),
        .widest.as_ref().map_or_else(String::new, |flip| flip.example(*.pairs))
    )]
    MultiRegime {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
        /// The pair with the widest levels, if recorded.
        widest: Option<Flip>,
    },
    /// Distances moved one way during the measurement.
    #[error(
        "{} from pass to pass. Frequency, temperature or load changed during the measurement: set \
         the governor to a fixed frequency, let the machine settle, and measure again.",
        subject(*.pairs, *.percent, "drifts", "drift")
    )]
    Drifting {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
    },
    /// The 95 % intervals are too wide for one distance, and the passes show no levels.
    #[error(
        "{} no steady distance{}. The passes disagree and show no levels: something else ran, or a \
         hypervisor moved the vCPUs. Run 'seatmap doctor', then measure again with --thorough.",
        subject(*.pairs, *.percent, "has", "have"),
        .widest.as_ref().map_or_else(String::new, |wide| wide.example(*.pairs))
    )]
    Unsteady {
        /// The number of such pairs.
        pairs: usize,
        /// Their share of the measured pairs, in percent.
        percent: f64,
        /// The pair with the widest interval, if recorded.
        widest: Option<Wide>,
    },
    /// The host runs both vCPUs of a pair on one CPU, in turn.
    #[error(
        "{} stacked: the host runs both vCPUs on one CPU, in turn. A round trip between PUs {} and \
         {} takes {:.1} us, as long as the host's scheduler runs one of them. Do not put \
         communicating threads on both: request vCPUs pinned to separate CPUs, or use fewer vCPUs.",
        subject(*.pairs, *.percent, "is", "are"),
        .example[0],
        .example[1],
        .median_ns / 1e3
    )]
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
    #[error(
        "{pairs} are {median_ns:.0} ns apart; on published machines, {low_ns:.0} to {high_ns:.0} \
         ns. Either the topology is not the real one (common in virtual machines), or the machine \
         was busy or throttled. Run 'seatmap doctor', then measure again."
    )]
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
    #[error(
        "The topology lists each PU as a core, but the distances show {} with two hardware threads \
         each: PUs {} and {} are {near_ns:.0} ns apart, PUs of different cores {far_ns:.0} ns. Two \
         busy threads on such a pair share one core: use only one PU of each pair, or let the host \
         expose its hardware threads to the guest.",
        counted(*.pairs, "core"),
        .example[0],
        .example[1]
    )]
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
    #[error(
        "The distances show {}, which match no level of the topology ({}). Either the topology is \
         not the hardware's (common in virtual machines), or it omits what connects the cores. \
         Trust the distances.",
        counted(*.groups, "group"),
        joined(.levels.iter().map(|(name, parts)| format!("{name}: {parts}")), ", ")
    )]
    GroupsDisagree {
        /// The number of groups.
        groups: usize,
        /// The number of parts of each known level, from the finest.
        levels: Vec<(String, usize)>,
    },
    /// Part of the machine looks slow because the line's home is in another part.
    #[error(
        "PUs {} look {:.1} times slower among themselves ({far_ns:.0} ns against {near_ns:.0} ns \
         between groups), but the hardware is the same. The socket is fine: the home of the \
         measured cache line is near the other PUs. Measure with --homes before placing threads by \
         these distances.",
        CpuList(.pus.clone()),
        .far_ns / .near_ns
    )]
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
    #[error(
        "Inside the groups each distance is the sum of two figures, one per PU: this explains \
         {:.1} % of the variance. The matrix shows how far each PU is from this line's home, and \
         nothing about pairs. Place by group, and use --homes to choose lines near their threads.",
        100.0 * .star_r2
    )]
    PairViewEmpty {
        /// The share of the variance that the star explains.
        star_r2: f64,
    },
    /// Pairs of groups with the same relation have different distances.
    #[error(
        "Distances in the class '{class}' differ: the groups of PUs {} and {} are {nearest_ns:.0} \
         ns apart, the groups of PUs {} and {} {farthest_ns:.0} ns. Place by the matrix, not by \
         the class.",
        .nearest[0],
        .nearest[1],
        .farthest[0],
        .farthest[1]
    )]
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
    #[error(
        "All distances were measured over one cache line, whose home is unknown. Other lines may \
         give other distances: --homes 64 measures the difference."
    )]
    SingleHome,
    /// The homes of several lines could not be distinguished.
    #[error(
        "The homes of {lines} cache lines cannot be distinguished with {}: {}",
        counted(*.pus, "PU"),
        why_alike(*.pus)
    )]
    HomesNotResolvable {
        /// The number of lines.
        lines: usize,
        /// The number of PUs.
        pus: usize,
    },
}

/// Two levels of a pair.
#[derive(Debug, PartialEq, Serialize)]
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
#[derive(Debug, PartialEq, Serialize)]
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
        let members = |is_member: &dyn Fn(usize, usize) -> bool| -> Vec<PairInterval> {
            let pairs = self.distance.median_ns.pairs();
            pairs
                .filter(|(i, j, ns)| ns.is_finite() && is_member(*i, *j))
                .map(|(i, j, _)| PairInterval::of(self.distance, i, j))
                .collect()
        };
        are_apart(&members(&is_near), &members(&is_far))
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
