//! `seatmap-mappings/1`: the mappings of a study, ranked by their mean time, with statistics.

use super::figures::{
    BestSet, Correlation, MappingRun, Named, Quantiles, RankedMapping, decimals, notation, ratio,
};
use super::mcb::{self, may_be_best};
use super::{MappingTimes, MappingTrial, RankingError, Setup, Shard, named::named};
use seatmap_data::document;
use seatmap_data::statistics::sorted;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The value of the `format` key.
pub const FORMAT: &str = "seatmap-mappings/1";

/// The former name, which rankings of machines have as well.
const FORMER_FORMAT: &str = "seatmap-ranking/1";

/// All mappings of a ring's tasks to workers, or some of them, timed and ranked. Readers recompute
/// the figures from the setup and the times; they ignore unknown keys and refuse unknown versions.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Ranking {
    /// Name and version of the format.
    pub format: String,
    /// The setup of the study.
    #[serde(flatten)]
    pub setup: Setup,
    /// The part of the study, if this is not all of it.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub shard: Option<Shard>,
    /// The number of mappings.
    pub mappings: usize,
    /// The mapping with the smallest mean.
    pub best: String,
    /// The mean of the best mapping.
    pub best_mean_ns: f64,
    /// The mapping with the largest mean.
    pub worst: String,
    /// The mean of the worst mapping.
    pub worst_mean_ns: f64,
    /// The largest mean over the smallest; null if that is zero.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub best_to_worst: f64,
    /// The mean over all mappings: the expected time of a mapping drawn at random.
    pub mean_ns: f64,
    /// The mean over all mappings, divided by the best mean: the cost of choosing at random.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub mean_to_best: f64,
    /// The median over all mappings.
    pub median_ns: f64,
    /// The median over the mean; near 1 if the curve over the ranks is straight.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub median_to_mean: f64,
    /// Mappings in the faster half of the range from best to worst, in per cent; near 50 if the
    /// curve is straight.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub below_mid_range_percent: f64,
    /// Quantiles of the means.
    pub quantiles_ns: Quantiles,
    /// The ranks of well-known mappings, by name, without those that were not run.
    pub rank_of: BTreeMap<String, usize>,
    /// The results of well-known mappings.
    pub named: Vec<Named>,
    /// The figures of each run.
    pub by_run: Vec<MappingRun>,
    /// How well runs agree; null for one run.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub rank_correlation: Option<Correlation>,
    /// The mappings that may be the best; null for one run.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub may_be_best: Option<BestSet>,
    /// All mappings, the best first.
    #[cfg_attr(feature = "schema", schemars(length(min = 1)))]
    pub ranking: Vec<RankedMapping>,
}

impl Ranking {
    /// Ranks a complete set of times; otherwise `None`.
    pub fn new(setup: Setup, shard: Option<Shard>, times: &MappingTimes) -> Option<Self> {
        if times.known() < times.total() || times.total() == 0 {
            return None;
        }
        let found = may_be_best(times);
        let (order, ranking) =
            rows(setup.tasks, times, found.as_ref().map(|found| &found.flags[..]));
        let first = ranking.first()?;
        let last = ranking.last()?;
        let means: Vec<f64> = ranking.iter().map(|row| row.mean_ns).collect();
        let mean_ns = decimals(means.iter().sum::<f64>() / means.len() as f64);
        let quantiles_ns = Quantiles::of(&means);
        // The middle of the range shows in which direction the curve of means bends.
        let middle = 0.5 * (first.mean_ns + last.mean_ns);
        let below = means.iter().filter(|mean| **mean < middle).count();
        let named = names(&setup, &ranking);
        Some(Ranking {
            format: FORMAT.to_owned(),
            shard,
            mappings: ranking.len(),
            best: first.mapping.clone(),
            best_mean_ns: first.mean_ns,
            worst: last.mapping.clone(),
            worst_mean_ns: last.mean_ns,
            best_to_worst: ratio(last.mean_ns, first.mean_ns),
            mean_ns,
            mean_to_best: ratio(mean_ns, first.mean_ns),
            median_ns: quantiles_ns.p50,
            median_to_mean: ratio(quantiles_ns.p50, mean_ns),
            below_mid_range_percent: decimals(100.0 * below as f64 / means.len() as f64),
            quantiles_ns,
            rank_of: named.iter().map(|named| (named.name.clone(), named.rank)).collect(),
            named,
            by_run: (0..times.runs())
                .map(|run| {
                    MappingRun::of(times, run, order[0], |row| {
                        notation(setup.tasks, times.indices()[row])
                    })
                })
                .collect(),
            rank_correlation: Correlation::of(times),
            may_be_best: found.map(|found| BestSet {
                confidence: mcb::CONFIDENCE,
                mappings: found.flags.iter().filter(|flag| **flag).count(),
                margin_percent: decimals(100.0 * (found.margin - 1.0)),
            }),
            ranking,
            setup,
        })
    }

    /// Reads a ranking. Only its setup and times are taken from the file; the figures are
    /// recomputed.
    ///
    /// # Errors
    /// [`RankingError`]: the text is not a ranking, has another version, or has times that do not
    /// fit its setup.
    pub fn from_json(text: &str) -> Result<Self, RankingError> {
        let read: Ranking = document::read(text, FORMAT)
            .or_else(|error| document::read(text, FORMER_FORMAT).map_err(|_| error))?;
        // A file cannot contradict itself.
        let mut times = MappingTimes::new(read.setup.indices(read.shard)?, read.setup.runs);
        read.fill(&mut times)?;
        Ranking::new(read.setup, read.shard, &times).ok_or(RankingError::Incomplete)
    }

    pub(super) fn fill(&self, times: &mut MappingTimes) -> Result<(), RankingError> {
        for row in &self.ranking {
            let fits = row.runs_ns.len() == times.runs();
            let mut jobs =
                (0..).map(|run| MappingTrial { index: row.index, run }).zip(&row.runs_ns);
            if !fits || !jobs.all(|(job, ns)| times.set(job, *ns)) {
                return Err(RankingError::Row(row.mapping.clone()));
            }
        }
        Ok(())
    }

    /// The ranking as JSON with a final newline.
    pub fn to_json(&self) -> String {
        seatmap_data::document::written(self)
    }
}

/// The order of the times' rows by their means, and the mappings in that order.
fn rows(
    tasks: usize,
    times: &MappingTimes,
    flags: Option<&[bool]>,
) -> (Vec<usize>, Vec<RankedMapping>) {
    let rows: Vec<&[f64]> = times.rows().collect();
    let means: Vec<f64> =
        rows.iter().map(|row| decimals(row.iter().sum::<f64>() / row.len() as f64)).collect();
    let runs: Vec<Vec<f64>> = (0..times.runs()).map(|run| sorted(times.of_run(run))).collect();
    let mut order: Vec<usize> = (0..rows.len()).collect();
    // Stable: equal means stay in the order of indices.
    order.sort_by(|a, b| means[*a].total_cmp(&means[*b]));
    let ranked = order
        .iter()
        .enumerate()
        .map(|(at, row)| RankedMapping {
            rank: at + 1,
            mapping: notation(tasks, times.indices()[*row]),
            index: times.indices()[*row],
            mean_ns: means[*row],
            runs_ns: rows[*row].to_vec(),
            run_ranks: runs
                .iter()
                .zip(rows[*row])
                .map(|(run, ns)| run.partition_point(|other| other < ns) + 1)
                .collect(),
            may_be_best: flags.map(|flags| flags[*row]),
        })
        .collect();
    (order, ranked)
}

/// The mirror image's rank counts if only that was run.
fn names(setup: &Setup, ranking: &[RankedMapping]) -> Vec<Named> {
    let row_of: BTreeMap<u64, &RankedMapping> =
        ranking.iter().map(|row| (row.index, row)).collect();
    named(setup.tasks)
        .into_iter()
        .filter_map(|(name, mapping)| {
            let row = row_of.get(&mapping.index()).or_else(|| {
                setup
                    .choice
                    .is_reduced_by_symmetry
                    .then(|| row_of.get(&mapping.mirrored().index()))
                    .flatten()
            })?;
            let to_best = ratio(row.mean_ns, ranking[0].mean_ns);
            Some(Named {
                name: name.to_owned(),
                mapping: mapping.to_string(),
                rank: row.rank,
                to_best,
            })
        })
        .collect()
}

#[cfg(test)]
pub(crate) mod tests;
