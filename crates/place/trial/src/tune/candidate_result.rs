//! The result of each candidate of a race, from one kind of runs.
//!
//! The race's figures favour its winner, so fresh runs judge it and the candidates compared with
//! it.

use crate::tune::metric::Better;
use crate::tune::race::{DEFAULT, RacePhase};
use crate::tune::tuned::{ConfirmedDifference, TuneVerdict, Tuned};

/// The result of a candidate.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum CandidateEnd {
    /// The winner, shown to be better than all candidates compared with it.
    Best,
    /// The winner, but not shown to be better.
    BestInRace,
    /// Shown to be worse than the winner.
    ShownWorse,
    /// Shown to be better than the winner: the race was wrong.
    ShownBetter,
    /// Fresh runs show no difference from the winner.
    NoDifference,
    /// There are too few fresh runs for an interval.
    TooFewRuns,
    /// Dropped before the end of the race, which claims nothing.
    LeftEarly,
    /// In the race until its end.
    NotRejected,
}

/// A candidate at the end of a race.
#[derive(Clone, Debug, PartialEq)]
pub struct CandidateResult {
    /// The runs that judge it: the race's, or the groups of four after it.
    pub judged_by: RacePhase,
    /// Their readings.
    pub values: Vec<f64>,
    /// The difference from the winner's reading in the same blocks or groups, in percent of it.
    pub above_winner_percent: f64,
    /// Its result.
    pub end: CandidateEnd,
}

impl Tuned {
    /// The result of a candidate.
    pub fn result_of(&self, verdict: &TuneVerdict, candidate: usize) -> CandidateResult {
        let compared = verdict.confirmed.iter().find(|found| found.with == candidate);
        if let Some(found) = compared {
            return CandidateResult {
                judged_by: RacePhase::Confirm,
                values: self.values(candidate, RacePhase::Confirm),
                above_winner_percent: other_way_round(found.percent),
                end: self.end_of_compared(found),
            };
        }
        let is_winner = candidate == verdict.winner && !verdict.confirmed.is_empty();
        let judged_by = if is_winner { RacePhase::Confirm } else { RacePhase::Race };
        CandidateResult {
            judged_by,
            values: self.values(candidate, judged_by),
            above_winner_percent: verdict.above_winner_percent[candidate],
            end: self.end_by_race(verdict, candidate),
        }
    }

    /// Whether fresh runs show that the winner is better than the default.
    pub fn shows_gain(&self, verdict: &TuneVerdict) -> bool {
        let with_default = verdict.confirmed.iter().find(|found| found.with == DEFAULT);
        with_default.is_some_and(|found| self.end_of_compared(found) == CandidateEnd::ShownWorse)
    }

    fn end_of_compared(&self, found: &ConfirmedDifference) -> CandidateEnd {
        if found.interval_percent.is_none() {
            CandidateEnd::TooFewRuns
        } else if !found.shows_direction() {
            CandidateEnd::NoDifference
        } else if (found.percent < 0.0) == (self.better == Better::Lower) {
            CandidateEnd::ShownWorse
        } else {
            CandidateEnd::ShownBetter
        }
    }

    fn end_by_race(&self, verdict: &TuneVerdict, candidate: usize) -> CandidateEnd {
        if candidate == verdict.winner {
            let mut ends = verdict.confirmed.iter().map(|found| self.end_of_compared(found));
            return if ends.all(|end| end == CandidateEnd::ShownWorse) {
                CandidateEnd::Best
            } else {
                CandidateEnd::BestInRace
            };
        }
        // This case comes first, because rejected candidates also lack later blocks.
        if verdict.rejected.contains(&candidate) {
            CandidateEnd::ShownWorse
        } else if self.values(candidate, RacePhase::Race).len() < verdict.blocks {
            CandidateEnd::LeftEarly
        } else {
            CandidateEnd::NotRejected
        }
    }

    fn values(&self, candidate: usize, phase: RacePhase) -> Vec<f64> {
        let runs = self.runs.iter().filter(|run| {
            let turn = run.turn;
            turn.candidate == candidate && turn.phase == phase
        });
        runs.map(|run| run.value).collect()
    }
}

impl ConfirmedDifference {
    /// Whether its interval excludes 0.
    pub fn shows_direction(&self) -> bool {
        self.interval_percent.is_some_and(|[low, high]| low > 0.0 || high < 0.0)
    }
}

/// From a difference of a in percent of b to one of b in percent of a.
fn other_way_round(percent: f64) -> f64 {
    100.0 * ((1.0 + percent / 100.0).recip() - 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::tuned::tests::made;

    #[test]
    fn fresh_runs_judge_compared_candidates_and_race_others() {
        for better in [Better::Lower, Better::Higher] {
            let tuned = made(better);
            let verdict = tuned.verdict.as_ref().unwrap();
            let [default, best, compact, bad] = [0, 1, 2, 3].map(|at| tuned.result_of(verdict, at));
            assert_eq!(
                (best.judged_by, best.end, best.above_winner_percent),
                (RacePhase::Confirm, CandidateEnd::Best, 0.0)
            );
            for compared in [&default, &compact] {
                assert_eq!(
                    (compared.judged_by, compared.end),
                    (RacePhase::Confirm, CandidateEnd::ShownWorse)
                );
                assert!(!compared.values.is_empty());
            }
            assert_eq!((bad.judged_by, bad.end), (RacePhase::Race, CandidateEnd::ShownWorse));
            // 10.5 % more time, or a rate lower by 9.5 %.
            let above = if better == Better::Lower { 10.5 } else { -9.5 };
            assert!((default.above_winner_percent - above).abs() < 1.0, "{default:?}");
            assert!(tuned.shows_gain(verdict));
        }
    }

    #[test]
    fn unconfirmed_difference_claims_no_gain() {
        let mut tuned = made(Better::Lower);
        let mut verdict = tuned.verdict.take().unwrap();
        verdict.rejected.push(DEFAULT);
        verdict.confirmed[0].percent = -0.2;
        verdict.confirmed[0].interval_percent = Some([-0.9, 0.4]);
        let default = tuned.result_of(&verdict, DEFAULT);
        assert_eq!(default.end, CandidateEnd::NoDifference);
        assert!((default.above_winner_percent - 0.2).abs() < 0.01, "{default:?}");
        assert_eq!(tuned.result_of(&verdict, verdict.winner).end, CandidateEnd::BestInRace);
        assert!(verdict.safe && !tuned.shows_gain(&verdict));
        verdict.confirmed[0].percent = 3.0;
        verdict.confirmed[0].interval_percent = Some([2.0, 4.0]);
        assert_eq!(tuned.result_of(&verdict, DEFAULT).end, CandidateEnd::ShownBetter);
        verdict.confirmed[0].interval_percent = None;
        assert_eq!(tuned.result_of(&verdict, DEFAULT).end, CandidateEnd::TooFewRuns);
        assert!(!tuned.shows_gain(&verdict));
    }
}
