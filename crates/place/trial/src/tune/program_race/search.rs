//! Finds the number of threads that races.

use super::{Cut, RaceEvent, Racing, keep, settle};
use crate::tune::RunReading;
use crate::tune::count_search::{CountSearch, CountTurn, first_runs};
use crate::tune::race::{Budget, fewest_runs};
use crate::tune::tried_counts::CountRun;
use seatmap_data::document::Failure;

impl Racing<'_> {
    /// Finds the number of threads that races, if it is not yet known.
    pub(super) fn search(&mut self) -> Result<(), Cut> {
        let sought = self.tuned.counts.as_ref().filter(|counts| counts.best.is_none());
        let Some(counts) = sought else { return Ok(()) };
        let second = counts.second.as_ref().map(|second| second.better);
        let mut search = CountSearch::new(&counts.counts, self.most_searched(), self.tuned.seed);
        while let Some(turn) = search.next_turn() {
            let run = match self.searched.next() {
                Some(run) if run.turn == turn => run,
                _ => self.count_run(turn)?,
            };
            let second = second.zip(run.second_value);
            let costs = [Some((self.tuned.better, run.value)), second];
            let logs = costs.iter().flatten().map(|(better, value)| better.log_cost(*value));
            search.take(turn, logs.collect(), run.seconds);
            self.keep_counted(run)?;
        }
        self.found(&search)
    }

    /// Without the runs of the shortest race, or half of the time.
    fn most_searched(&self) -> Option<Budget> {
        let request = self.field.request;
        let race = fewest_runs(self.field.most_candidates(), request.confidence);
        match (request.runs, request.time) {
            (Some(runs), _) => Some(Budget::Runs(runs.saturating_sub(race))),
            (None, Some(time)) => Some(Budget::Seconds(0.5 * time.as_secs_f64())),
            (None, None) => None,
        }
    }

    fn keep_counted(&mut self, run: CountRun) -> Result<(), Cut> {
        let Some(counts) = &mut self.tuned.counts else { return Ok(()) };
        counts.runs.push(run);
        let runs = counts.runs.len();
        let no_effect = counts.no_effect().filter(|_| runs == first_runs(&counts.counts));
        (self.hear)(RaceEvent::RunMade { runs, of: self.tuned.budget_runs.unwrap_or(0).max(runs) });
        keep(self.field.request, &self.tuned).map_err(Cut::Unkept)?;
        match no_effect {
            Some(why) => Err(Cut::Failed(Failure::input(why))),
            None => Ok(()),
        }
    }

    fn found(&mut self, search: &CountSearch) -> Result<(), Cut> {
        let Some(counts) = &mut self.tuned.counts else { return Ok(()) };
        let best = search.best(0);
        counts.best = Some(best);
        if let Some(second) = &mut counts.second {
            second.best = Some(search.best(1));
        }
        let setting = counts.axis().with(best);
        let event =
            RaceEvent::CountFound { setting, tried: counts.tried(), runs: counts.runs.len() };
        (self.hear)(event);
        self.field.race_at(best);
        settle(&self.field, &mut self.tuned);
        keep(self.field.request, &self.tuned).map_err(Cut::Unkept)
    }

    fn count_run(&mut self, turn: CountTurn) -> Result<CountRun, Cut> {
        let second = self.field.request.second.as_ref().map(|(metric, _)| metric.clone());
        let reading = self.reading(&|racing| {
            let Some(contestant) = racing.field.at_count(turn.count) else { return Ok(None) };
            let mut runner = racing.runner.clone();
            runner.second.clone_from(&second);
            Ok(runner.run(&contestant, racing.stop)?)
        })?;
        let RunReading { value, second_value, seconds, cpus_used, threads, disturbance } = reading;
        let disturbance = Some(disturbance);
        Ok(CountRun { turn, value, second_value, seconds, threads, cpus_used, disturbance })
    }
}
