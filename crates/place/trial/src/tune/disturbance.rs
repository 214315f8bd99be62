//! Disturbances of a run: other programs on its CPUs, a hypervisor, a quota, CPUs taken away.
//!
//! A run is disturbed if one of these took clearly more of its CPUs' time than of a quiet run's: by
//! [`DISTURBED_PERCENT`] and the kernel's counting error. The quiet run is the lower quartile of a
//! command's runs, because some programs always have a neighbour, such as their server. Blocks with
//! a disturbed run are excluded, if the rest is a quarter of all and enough for an interval.
//! Otherwise the result holds only next to these neighbours.

use crate::tune::blocks::BlockRun;
use seatmap_data::statistics::{greatest, median, quantile};
use seatmap_os::busy::BusyCount;
use seatmap_os::quota::Quotas;
use seatmap_os::usage::ResourceUsage;
use seatmap_os::{CpuSet, Root};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// A run is disturbed if more of its CPUs' time than this was taken beyond the usual, in percent:
/// as for a quiet CPU ([`crate::tune::activity::QUIET_PERCENT`]).
pub const DISTURBED_PERCENT: f64 = crate::tune::activity::QUIET_PERCENT;

/// The largest counting error, in percent of a run's time.
const MOST_UNSURE_PERCENT: f64 = 50.0;

/// The least quiet share of the runs, and of the blocks.
const QUIET_SHARE: f64 = 0.25;

/// The CPU time taken from a run, in percent of the time of its allowed CPUs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Disturbance {
    /// The share of other programs: the CPUs' busy time minus that of the run's own processes. A
    /// server that the run did not start counts. Absent if the run was too short for the kernel's
    /// count.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub foreign_percent: Option<f64>,
    /// The hypervisor's share; absent as above.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steal_percent: Option<f64>,
    /// The counting error of both.
    #[serde(default, skip_serializing_if = "is_default")]
    pub unsure_percent: f64,
    /// The share of quotas. All groups up to the root add up, so this may exceed 100.
    #[serde(default, skip_serializing_if = "is_default")]
    pub throttled_percent: f64,
    /// How often the run was repeated because CPUs were taken away.
    #[serde(default, skip_serializing_if = "is_default")]
    pub void_tries: u32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Disturbance {
    fn shares(&self) -> [f64; 3] {
        let counted = [self.foreign_percent, self.steal_percent];
        let [foreign, steal] = counted.map(|percent| percent.unwrap_or(0.0));
        [foreign, steal, self.throttled_percent]
    }

    /// The largest of the three, in percent.
    pub fn most_percent(&self) -> f64 {
        greatest(self.shares())
    }

    /// Whether more was taken than usual.
    pub fn exceeds(&self, usual: &Usual) -> bool {
        let unsure = [self.unsure_percent, self.unsure_percent, 0.0];
        let limits = usual.0.iter().zip(unsure).map(|(usual, off)| usual + DISTURBED_PERCENT + off);
        self.shares().iter().zip(limits).any(|(share, limit)| *share > limit)
    }
}

/// The shares of a quiet run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Usual([f64; 3]);

impl Usual {
    /// The lower quartile of these runs.
    pub fn of<'a>(runs: impl Iterator<Item = &'a Disturbance>) -> Self {
        let all: Vec<[f64; 3]> = runs.map(Disturbance::shares).collect();
        Usual(std::array::from_fn(|at| {
            let of_kind: Vec<f64> = all.iter().map(|shares| shares[at]).collect();
            quantile(&of_kind, QUIET_SHARE).unwrap_or(0.0)
        }))
    }
}

/// The disturbed runs of a session.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DisturbedRuns {
    /// The number of such runs.
    pub runs: usize,
    /// The blocks that contain one.
    pub blocks: usize,
    /// Whether those blocks are excluded from all figures. If not, there are too few others.
    pub left_out: bool,
    /// The median shares of such runs.
    pub during: Disturbance,
    /// The median shares of the other runs; absent if none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub otherwise: Option<Disturbance>,
}

/// Finds the disturbed runs, and marks excluded ones. An interval needs the `fewest` blocks.
pub(crate) fn judge(
    runs: &mut [BlockRun],
    commands: usize,
    fewest: usize,
) -> Option<DisturbedRuns> {
    let usual = (0..commands).map(|command| {
        let own = runs.iter().filter(|run| run.command == command);
        Usual::of(own.filter_map(|run| run.disturbance.as_ref()))
    });
    let usual: Vec<Usual> = usual.collect();
    let is_disturbed = |run: &BlockRun| {
        let usual = usual.get(run.command);
        run.disturbance.zip(usual).is_some_and(|(disturbance, usual)| disturbance.exceeds(usual))
    };
    let (disturbed, others): (Vec<&BlockRun>, Vec<&BlockRun>) =
        runs.iter().partition(|run| is_disturbed(run));
    let blocks: BTreeSet<usize> = runs.iter().map(|run| run.block).collect();
    let bad: BTreeSet<usize> = disturbed.iter().map(|run| run.block).collect();
    let quiet = blocks.len() - bad.len();
    let left_out = quiet >= fewest && quiet as f64 >= QUIET_SHARE * blocks.len() as f64;
    let found = (!disturbed.is_empty()).then(|| DisturbedRuns {
        runs: disturbed.len(),
        blocks: bad.len(),
        left_out,
        during: middle(&disturbed).unwrap_or_default(),
        otherwise: middle(&others),
    });
    for run in runs {
        run.left_out = left_out && bad.contains(&run.block);
    }
    found
}

pub(crate) fn middle(runs: &[&BlockRun]) -> Option<Disturbance> {
    let known: Vec<Disturbance> = runs.iter().filter_map(|run| run.disturbance).collect();
    let of = |part: fn(&Disturbance) -> Option<f64>| median(known.iter().filter_map(part));
    (!known.is_empty()).then(|| Disturbance {
        foreign_percent: of(|run| run.foreign_percent),
        steal_percent: of(|run| run.steal_percent),
        throttled_percent: of(|run| Some(run.throttled_percent)).unwrap_or(0.0),
        ..Disturbance::default()
    })
}

pub(crate) struct DisturbanceWatch<'a> {
    quotas: &'a Quotas,
    stopped_ns: u64,
    own_s: f64,
    count: BusyCount,
}

impl<'a> DisturbanceWatch<'a> {
    pub(crate) fn begin(quotas: &'a Quotas) -> Self {
        let stopped_ns = quotas.stopped_ns(&Root::new("/"));
        DisturbanceWatch { quotas, stopped_ns, own_s: own_s(), count: BusyCount::now() }
    }

    /// The run's processes must have been reaped.
    pub(crate) fn end(self, cpus: &CpuSet) -> Disturbance {
        let count = BusyCount::now();
        let own_s = own_s() - self.own_s;
        let stopped_ns = self.quotas.stopped_ns(&Root::new("/")).saturating_sub(self.stopped_ns);
        let Some(time) = count.since(&self.count, cpus) else { return Disturbance::default() };
        let percent = |seconds: f64| rounded(100.0 * seconds / time.all_s);
        let unsure_percent = percent(time.unsure_s);
        let is_known = unsure_percent <= MOST_UNSURE_PERCENT;
        let foreign_s = (time.busy_s - own_s).max(0.0);
        Disturbance {
            foreign_percent: is_known.then(|| percent(foreign_s)),
            steal_percent: is_known.then(|| percent(time.stolen_s)),
            unsure_percent: if is_known { unsure_percent } else { 0.0 },
            throttled_percent: percent(stopped_ns as f64 / 1e9),
            void_tries: 0,
        }
    }
}

/// The CPU time of this process and its exited helpers, in seconds.
pub(crate) fn own_s() -> f64 {
    let mut own = ResourceUsage::of_children();
    own += ResourceUsage::of_process();
    (own.user + own.kernel).as_secs_f64()
}

/// Rounds to 0.01 %, less than any counting error.
fn rounded(percent: f64) -> f64 {
    (100.0 * percent).round() / 100.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(block: usize, command: usize, foreign_percent: f64) -> BlockRun {
        let disturbance = Disturbance {
            foreign_percent: Some(foreign_percent),
            unsure_percent: 2.0,
            ..Disturbance::default()
        };
        BlockRun { disturbance: Some(disturbance), ..BlockRun::new(block, command, 1.0) }
    }

    /// The second command always has a server next to it.
    fn session(blocks: usize, loud: &[usize]) -> Vec<BlockRun> {
        (0..blocks)
            .flat_map(|block| {
                let more = if loud.contains(&block) { 40.0 } else { 0.0 };
                [run(block, 0, 1.0 + more), run(block, 1, 50.0)]
            })
            .collect()
    }

    #[test]
    fn blocks_with_a_disturbed_run_are_left_out() {
        let mut runs = session(12, &[3, 7]);
        let found = judge(&mut runs, 2, 6).unwrap();
        assert_eq!((found.runs, found.blocks, found.left_out), (2, 2, true));
        assert_eq!(found.during.foreign_percent, Some(41.0));
        let left: Vec<usize> =
            runs.iter().filter(|run| run.left_out).map(|run| run.block).collect();
        assert_eq!(left, [3, 3, 7, 7]);
        assert_eq!(judge(&mut session(12, &[]), 2, 6), None, "a server disturbs nobody");
    }

    #[test]
    fn mostly_disturbed_session_leaves_nothing_out() {
        let loud: Vec<usize> = (0..7).collect();
        let mut runs = session(12, &loud);
        let found = judge(&mut runs, 2, 6).unwrap();
        assert!(!found.left_out && runs.iter().all(|run| !run.left_out), "{found:?}");
        assert!(judge(&mut session(12, &loud), 2, 5).unwrap().left_out);
        assert_eq!(judge(&mut session(12, &(0..12).collect::<Vec<_>>()), 2, 6), None);
    }

    #[test]
    fn uncertain_foreign_share_is_no_disturbance() {
        let usual = Usual([10.0, 0.0, 0.0]);
        let shares = |foreign: f64, unsure_percent| Disturbance {
            foreign_percent: Some(foreign),
            unsure_percent,
            ..Disturbance::default()
        };
        assert!(shares(20.0, 2.0).exceeds(&usual) && !shares(20.0, 6.0).exceeds(&usual));
        assert!(!Disturbance::default().exceeds(&usual));
        let stopped = Disturbance { throttled_percent: 6.0, ..Disturbance::default() };
        assert!(stopped.exceeds(&usual));
    }
}
