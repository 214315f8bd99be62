//! Races ways to seat a pattern's tasks on a simulated machine.
//!
//! Each candidate has the same number of runs, made in parallel on this computer or by MPI ranks,
//! with results identical to the byte.

use crate::tune::on_model::{OnModel, SimulatedRun, drawn, skew};
use crate::tune::program_race::candidates::{placements, with_default};
use crate::tune::race::{RacePhase, RaceTurn};
use crate::tune::tuned::{CandidateSeats, Entrant, RaceRun, SimulatedMessages, Tuned};
use crate::tune::winner::{self, Provenance, RaceEnd};
use crate::tune::{Fingerprint, factorial};
use seatmap_data::document::{Failure, rounded_ns};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::statistics::words::counted;
use seatmap_place::PlaceRequest;
use seatmap_place::search::SearchLimit;
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::atomic::AtomicBool;

/// Half choose the winner, half confirm it.
const RUNS_EACH: usize = 20;

/// A search limited by kicks has the same result everywhere.
const KICKS: u64 = 2000;

/// Runs between reports of progress.
const AT_ONCE: usize = 64;

/// A run and its index among all.
pub type NumberedJob = (usize, SimulatedRun);

/// Receives some runs' times, in nanoseconds; whether to continue.
pub type TakeTimes<'a> = dyn FnMut(&[NumberedJob], &[f64]) -> ControlFlow<()> + 'a;

/// Makes all runs and passes on their times, in any order.
pub type JobExecutor<'a> =
    dyn FnMut(&[NumberedJob], &mut TakeTimes<'_>) -> Result<(), Box<dyn Error>> + 'a;

/// A race on a model.
#[derive(Debug)]
pub struct ModelRace {
    /// The pattern of the tasks.
    pub pattern: Pattern,
    /// Its messages on the model.
    pub messages: OnModel,
    /// The distances on the model, for the search of candidates.
    pub profile: Profile,
    /// How often all messages are sent.
    pub rounds: u32,
    /// The most candidates, including the default.
    pub candidates: usize,
    /// The most runs; by default what the confidence needs, at least 20 for each candidate.
    pub runs: Option<usize>,
    /// The confidence of all tests and intervals, 0 to 1.
    pub confidence: f64,
    /// The seed of all random choices.
    pub seed: u64,
    /// The origin recorded in a plan of the winner.
    pub provenance: Provenance,
}

impl ModelRace {
    /// Runs the race, by `elsewhere` or here. `stop` ends it; `show` receives the numbers of
    /// finished and all runs.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(
        &self,
        elsewhere: Option<&mut JobExecutor<'_>>,
        stop: &dyn Fn() -> bool,
        show: &mut dyn FnMut(usize, usize),
    ) -> Result<RaceEnd, Failure> {
        let entrants = self.entrants()?;
        let runs = self.runs_each(entrants.len())?;
        let jobs = self.jobs(&entrants, runs);
        let mut times_ns = vec![0.0; jobs.len()];
        let mut known = 0;
        let mut take = |part: &[NumberedJob], ns: &[f64]| {
            // Rounded as in a file, so that the verdict agrees with it.
            part.iter().zip(ns).for_each(|((at, _), ns)| times_ns[*at] = rounded_ns(*ns));
            known += part.len();
            show(known, jobs.len());
            if stop() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        match elsewhere {
            Some(elsewhere) => {
                elsewhere(&jobs, &mut take).map_err(Failure::Work)?;
            }
            None => self.here(&jobs, &mut take)?,
        }
        assert!(known <= jobs.len(), "{known} times of {} runs", jobs.len());
        if known < jobs.len() {
            let of = counted(jobs.len(), "run");
            return Err(Failure::work(format!("interrupted after {known} of {of}")));
        }
        let tuned = self.judged(entrants, runs, &times_ns);
        let plan = winner::safe(&tuned).and_then(|won| winner::plan(won, &self.provenance));
        Ok(RaceEnd { tuned, plan })
    }

    fn entrants(&self) -> Result<Vec<Entrant>, Failure> {
        let request = PlaceRequest {
            limit: SearchLimit::kicks(KICKS),
            threads: 1,
            seed: self.seed,
            ..PlaceRequest::new(&self.profile, &self.pattern)
        };
        Ok(with_default(placements(request, self.candidates.saturating_sub(1))?))
    }

    fn runs_each(&self, candidates: usize) -> Result<usize, Failure> {
        let fewest = factorial::fewest_runs(self.confidence);
        match self.runs.map(|runs| runs / candidates) {
            None => Ok(RUNS_EACH.max(fewest)),
            Some(each) if each < fewest => Err(Failure::input(format!(
                "{} need {}, {fewest} each; raise --budget, or lower --candidates",
                counted(candidates, "candidate"),
                counted(candidates * fewest, "run")
            ))),
            Some(each) => Ok(each),
        }
    }

    /// Candidate by candidate; runs of one index have the same skew.
    fn jobs(&self, entrants: &[Entrant], runs: usize) -> Vec<NumberedJob> {
        let pus: Vec<u32> = self.profile.topology.os_indices().collect();
        let mut jobs = Vec::with_capacity(entrants.len() * runs);
        for entrant in entrants {
            for run in 0..runs {
                let skew = skew(self.seed, run);
                let seats = match &entrant.seats {
                    CandidateSeats::Placement(placement) => placement.clone(),
                    // Without a plan the kernel may put threads anywhere.
                    _ => drawn(&pus, self.pattern.tasks, skew),
                };
                jobs.push((jobs.len(), SimulatedRun { seats, skew }));
            }
        }
        jobs
    }

    fn here(&self, jobs: &[NumberedJob], take: &mut TakeTimes<'_>) -> Result<(), Failure> {
        // After each part, Ctrl-C and progress are handled.
        for part in jobs.chunks(AT_ONCE) {
            let times = self.messages.numbered_times_ns(part, &AtomicBool::new(false));
            if take(part, &times.map_err(Failure::work)?).is_break() {
                break;
            }
        }
        Ok(())
    }

    fn judged(&self, candidates: Vec<Entrant>, runs: usize, times_ns: &[f64]) -> Tuned {
        let all = candidates.len();
        // An odd run goes to the confirmation, which makes the claim.
        let choosing = runs / 2;
        let mut made = Vec::with_capacity(all * runs);
        for number in 0..runs {
            for candidate in 0..all {
                let seconds = times_ns[candidate * runs + number] * 1e-9;
                let turn = turn(number, choosing, candidate);
                made.push(RaceRun { turn, value: seconds, seconds, disturbance: None });
            }
        }
        let machine = &self.provenance.machine;
        let fingerprint = Fingerprint {
            machine: machine.clone(),
            seats: counted(all, "candidate"),
            quiet: "nobody".to_owned(),
            ..Fingerprint::default()
        };
        let mut tuned = Tuned {
            simulated: Some(SimulatedMessages {
                machine: machine.clone(),
                pattern: self.pattern.name.clone(),
                packet_bytes: None,
                rounds: self.rounds,
            }),
            confidence: self.confidence,
            seed: self.seed,
            budget_runs: Some(all * runs),
            runs: made,
            ..Tuned::before(candidates, fingerprint)
        };
        let costs: Vec<Vec<f64>> =
            times_ns.chunks(runs).map(|own| own.iter().map(|ns| ns.ln()).collect()).collect();
        tuned.judge(&factorial::judge(&costs, choosing, self.confidence));
        tuned
    }
}

fn turn(number: usize, choosing: usize, candidate: usize) -> RaceTurn {
    if number < choosing {
        RaceTurn { phase: RacePhase::Race, block: number, candidate }
    } else {
        RaceTurn { phase: RacePhase::Confirm, block: number - choosing, candidate }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::document::Blame;
    use seatmap_data::pattern::generate;
    use seatmap_sim::{catalog, coherent};

    fn race(runs: Option<usize>) -> ModelRace {
        let model = catalog::load("scc-48").unwrap().unwrap();
        let pattern = generate("ring:4").unwrap();
        ModelRace {
            messages: OnModel::new(&model, &pattern, 2).unwrap(),
            profile: coherent::profile(&model).unwrap(),
            pattern,
            rounds: 2,
            candidates: 3,
            runs,
            confidence: 0.95,
            seed: 1,
            provenance: Provenance {
                machine: "scc-48".to_owned(),
                pattern: Some("ring:4".to_owned()),
                date: "2026-11-25".to_owned(),
                tool: "seatmap 0.1.0".to_owned(),
            },
        }
    }

    #[test]
    fn race_result_is_independent_of_run_location() {
        let race = race(Some(36));
        let mut shown = 0;
        let here = race.run(None, &|| false, &mut |known, of| shown = of - known).unwrap();
        assert_eq!((here.tuned.runs.len(), shown), (36, 0));
        let verdict = here.tuned.verdict.as_ref().unwrap();
        assert_eq!(verdict.blocks, 6, "half of the runs choose");
        let mut elsewhere = |jobs: &[NumberedJob], take: &mut TakeTimes<'_>| {
            for job in jobs.iter().rev() {
                let ns = race.messages.time_ns(&job.1).unwrap();
                if take(std::slice::from_ref(job), &[ns]).is_break() {
                    break;
                }
            }
            Ok(())
        };
        let there = race.run(Some(&mut elsewhere), &|| false, &mut |_, _| {}).unwrap();
        assert_eq!(there.tuned, here.tuned);
    }

    #[test]
    fn race_rejects_small_budget_and_reports_interruption() {
        let few = race(Some(35)).run(None, &|| false, &mut |_, _| {}).unwrap_err();
        assert!(few.is_input());
        assert_eq!(
            few.to_string(),
            "3 candidates need 36 runs, 12 each; raise --budget, or lower --candidates"
        );
        let mut elsewhere = |jobs: &[NumberedJob], take: &mut TakeTimes<'_>| {
            assert!(take(&jobs[..5], &[1.0; 5]).is_break());
            Ok(())
        };
        let stopped = race(None).run(Some(&mut elsewhere), &|| true, &mut |_, _| {}).unwrap_err();
        assert!(!stopped.is_input());
        assert_eq!(stopped.to_string(), "interrupted after 5 of 60 runs");
    }
}
