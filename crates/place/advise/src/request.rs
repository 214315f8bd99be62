//! From the first look to the advice.

use crate::conclusion::at_first_sight;
use crate::evidence::{Evidence, NoTrial};
use crate::gain::MostGain;
use crate::look::{Look, look};
use crate::scope::Scope;
use crate::trial::Trial;
use crate::work::Work;
use crate::{Advice, AdviseError};
use seatmap_live::Metric;
use seatmap_live::candidates::{Candidate, Ground};
use seatmap_live::guard::Guard;
use seatmap_machine::{Profile, Topology};
use seatmap_observe::{Observation, ObserveError, command};
use seatmap_os::{CpuSet, Tid};
use seatmap_pattern::Pattern;
use std::process::{Child, Command, ExitStatus};
use std::time::Duration;

/// How long a program is looked at, where nobody says.
pub const LOOK: Duration = Duration::from_secs(6);

/// How long seats are tried, where nobody says: half a minute in all, with the look, a search and
/// the start of observations.
pub const TRIAL: Duration = Duration::from_secs(18);

/// How long seats are tried to prove an advice.
pub const PROOF: Duration = Duration::from_secs(60);

/// Clients that send at least this share of all wakeups from outside belong to the picture.
const CLIENT_SHARE: f64 = 0.1;

/// A request for advice on one program.
#[derive(Debug)]
pub struct AdviceRequest {
    /// The program.
    pub scope: Scope,
    /// How long it is looked at.
    pub look: Duration,
    /// How long seats are tried at most.
    pub trial: Duration,
    /// Whether seats are tried though the look shows that they cannot matter.
    pub proves: bool,
    /// The work by which seats are judged; the bytes that the program passes where nothing is said.
    pub metric: Option<Metric>,
    /// The CPUs of this computer.
    pub topology: Topology,
    /// The distances of the machine in question: of this computer, or of another one.
    pub profile: Option<Profile>,
    /// Whether the machine in question is another one, where nothing can be tried.
    pub is_elsewhere: bool,
    /// The command that becomes the guard, which gives masks back if this process is killed.
    pub guard: Command,
    /// This computer's name.
    pub machine: String,
    /// When it begins, as `2026-01-31T12:00:00Z`.
    pub begun: String,
}

/// The next thing that is done, for people who wait.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Step {
    /// The program is looked at.
    Looking,
    /// Seats are tried; the share that is done, from 0 to 1.
    Trying(f64),
}

/// The advice, and the command that was started for it.
#[derive(Debug)]
pub struct AdviceRun {
    /// The advice.
    pub advice: Advice,
    child: Option<Child>,
}

impl AdviceRun {
    /// Waits for the end of the command that was started; `None` where there was none.
    ///
    /// # Errors
    /// The system cannot wait for it.
    pub fn wait(self, stop: &dyn Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
        self.child.map(|child| command::attend(child, false, stop)).transpose()
    }
}

impl AdviceRequest {
    /// Looks, tries seats where they could matter, and concludes. Nothing is left changed.
    ///
    /// # Errors
    /// [`AdviseError`].
    pub fn run(
        mut self,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(Step),
    ) -> Result<AdviceRun, AdviseError> {
        tell(Step::Looking);
        let Look { mut evidence, observation, child } =
            look(&self.scope, self.look, &self.topology, stop)?;
        if let Some(seen) = &observation {
            self.weigh(&mut evidence, seen)?;
        }
        if at_first_sight(&evidence).is_none() || self.proves {
            match &observation {
                Some(seen) => self.try_seats(&mut evidence, seen, stop, tell)?,
                None => evidence.no_trial = Some(NoTrial::Ended),
            }
        }
        Ok(AdviceRun { advice: Advice::of(&self.machine, &self.begun, evidence), child })
    }

    /// Computes how much seats could matter.
    fn weigh(&self, evidence: &mut Evidence, seen: &Observation) -> Result<(), AdviseError> {
        let Some(profile) = &self.profile else { return Ok(()) };
        let pattern = seen.pattern(&evidence.name);
        let cpus = CpuSet::of_list(&evidence.cpus).filter(|_| !self.is_elsewhere);
        let cpus = cpus.map(|cpus| cpus.iter().collect());
        evidence.most_gain = MostGain::of(profile, &pattern, cpus)?;
        Ok(())
    }

    fn try_seats(
        &mut self,
        evidence: &mut Evidence,
        seen: &Observation,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(Step),
    ) -> Result<(), AdviseError> {
        if self.is_elsewhere || evidence.has_ended || evidence.pids.is_empty() {
            let why = if self.is_elsewhere { NoTrial::Elsewhere } else { NoTrial::Ended };
            evidence.no_trial = Some(why);
            return Ok(());
        }
        if evidence.has_goroutines {
            evidence.no_trial = Some(NoTrial::Goroutines);
            return Ok(());
        }
        let pattern = seen.pattern(&evidence.name);
        let cpus = CpuSet::of_list(&evidence.cpus).unwrap_or_default();
        let candidates = self.candidates(&pattern, &cpus)?;
        if candidates.is_empty() {
            evidence.no_trial = Some(NoTrial::NoSeats);
            return Ok(());
        }
        let mut pids = evidence.pids.clone();
        pids.extend(partners(evidence));
        let work = match Work::begin(&pids, self.metric.take()) {
            // Bytes cannot be counted here.
            Err(AdviseError::Observe(
                ObserveError::Forbidden { .. } | ObserveError::Unavailable { .. },
            )) => {
                evidence.no_trial = Some(NoTrial::NoWork);
                return Ok(());
            }
            work => work?,
        };
        let trial = Trial {
            candidates: &candidates,
            tids: &seen.tasks.iter().map(|task| task.tid).collect::<Vec<Tid>>(),
            pids: &evidence.pids,
            cpus: &cpus,
            time: self.trial,
            seed: 0,
            stop,
            tell: &|share| tell(Step::Trying(share)),
        };
        // The guard stands by before the first mask is changed.
        let guard = Guard::begin(&mut self.guard)?;
        match trial.run(work, guard)? {
            Some(result) => evidence.trial = Some(result),
            None => evidence.no_trial = Some(NoTrial::NoWork),
        }
        Ok(())
    }

    fn candidates(
        &self,
        pattern: &Pattern,
        allowed: &CpuSet,
    ) -> Result<Vec<Candidate>, AdviseError> {
        let ground = Ground {
            topology: &self.topology,
            profile: self.profile.as_ref(),
            allowed,
            soft: None,
        };
        Ok(ground.candidates(pattern)?)
    }
}

/// The clients on this computer, whose bytes are work of the program.
fn partners(evidence: &Evidence) -> Vec<Tid> {
    let Some(talk) = &evidence.talk else { return Vec::new() };
    let least = CLIENT_SHARE * talk.outside_per_s;
    let clients = talk.clients.iter().filter(|client| client.per_s >= least);
    clients.map(|client| client.pid).collect()
}
