//! From the look to the advice.

use crate::Advice;
use crate::conclusion::{Reason, at_first_sight};
use crate::evidence::{Evidence, NoTrial};
use crate::gain::MostGain;
use crate::look::{ProgramEvidence, fill_failure, look};
use crate::memory::MemoryThreads;
use crate::scope::Scope;
use crate::trial::SeatTrial;
use crate::work::WorkMeter;
use seatmap_data::document::Failure;
use seatmap_data::machine::{Profile, Topology};
use seatmap_launch::sets::ComputerCpus;
use seatmap_observe::{Observation, command};
use seatmap_os::guardian::{Guardian, GuardianCommand};
use seatmap_os::{CpuSet, Root, Tid, rights};
use seatmap_trial::live::WorkMetric;
use seatmap_trial::live::candidates::Ground;
use seatmap_trial::live::masks::Masks;
use seatmap_watch::ProcessChoice;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// The time of the look.
pub const LOOK: Duration = Duration::from_secs(6);

/// At most 40 s in all, with the looks, a search, the start of observations and the repetition.
pub const TRIAL: Duration = Duration::from_secs(16);

/// The time of a trial that proves an advice.
pub const PROOF: Duration = Duration::from_secs(60);

const UNPLACED: &str = "cannot compute a placement";
/// The time of the second look, at the program with its partners.
const LOOK_TOGETHER: Duration = Duration::from_secs(3);

/// The source of the distances.
#[derive(Clone, Debug)]
pub enum AdviceDistances {
    /// Those of another machine, on which seats cannot be tried.
    Elsewhere(Box<Profile>),
    /// Finds or measures this computer's distances. Called only if they decide, because a
    /// measurement takes time.
    Here(fn(&Topology) -> Option<Profile>),
}

/// A request for advice on one program.
#[derive(Debug)]
pub struct AdviceRequest {
    /// The program.
    pub scope: Scope,
    /// The most time for the trial.
    pub trial: Duration,
    /// Tries seats even if the look shows that they cannot matter.
    pub proves: bool,
    /// The metric of work; by default the bytes that the program transfers.
    pub metric: Option<WorkMetric>,
    /// The CPUs of this computer.
    pub topology: Topology,
    /// The distances of the machine in question.
    pub distances: AdviceDistances,
    /// The profile with the bandwidth of its memory, if known.
    pub memory: Option<Profile>,
    /// Starts the guardian, which restores masks if this process is killed.
    pub guardian: GuardianCommand,
    /// This computer's name.
    pub machine: String,
    /// The start time, as `2026-01-31T12:00:00Z`.
    pub begun: String,
}

/// The next step, as progress for the user.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum AdviceProgress<'a> {
    /// The look starts.
    Looking,
    /// The trial runs; its progress in percent.
    Trying(usize),
    /// The trial failed, and a mask is not restored.
    LeftChanged(&'a str),
}

/// The advice and its started command.
#[derive(Debug)]
pub struct AdviceRun {
    /// The advice.
    pub advice: Advice,
    child: Option<Child>,
}

impl AdviceRun {
    /// Whether the started command still runs.
    pub fn runs_on(&mut self) -> bool {
        self.child.as_mut().is_some_and(|child| matches!(child.try_wait(), Ok(None)))
    }

    /// Waits for the end of the started command, if there is one.
    ///
    /// # Errors
    /// The system cannot wait for it.
    pub fn wait(self, stop: &dyn Fn() -> bool) -> std::io::Result<Option<ExitStatus>> {
        self.child.map(|child| command::attend(child, false, stop)).transpose()
    }
}

impl AdviceRequest {
    /// Looks, tries seats if they could matter, and concludes. Restores all changes.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn run(
        mut self,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(AdviceProgress),
    ) -> Result<AdviceRun, Failure> {
        tell(AdviceProgress::Looking);
        let mut examined = self.examine(&self.scope, LOOK, stop)?;
        if let Some(pids) = with_partners(&mut examined.evidence) {
            tell(AdviceProgress::Looking);
            examined = self.examine_together(examined, pids, stop)?;
        }
        let ProgramEvidence { mut evidence, observation, mut child, profile } = examined;
        if at_first_sight(&evidence).is_none() || self.proves {
            match &observation {
                Some(seen) => {
                    self.try_seats(&mut evidence, profile.as_ref(), seen, stop, tell)?;
                }
                None => evidence.no_trial = Some(NoTrial::Ended),
            }
            if let Some(child) = &mut child {
                fill_failure(&mut evidence, child);
            }
        }
        evidence.memory_threads = self.memory_threads(&evidence);
        let computer = ComputerCpus::of_machine(self.topology.clone(), Some(Root::new("/")));
        let advice = Advice::of(&self.machine, &self.begun, evidence).worded(&computer);
        Ok(AdviceRun { advice, child })
    }

    fn memory_threads(&self, evidence: &Evidence) -> Option<MemoryThreads> {
        let cpus = CpuSet::of_list(&evidence.cpus).unwrap_or_default();
        // On another machine, the program would have all CPUs.
        let cpus = (!evidence.is_elsewhere).then_some(&cpus);
        MemoryThreads::of(self.memory.as_ref()?, cpus, evidence.ready_threads())
    }

    /// Weighs the messages if the look does not decide.
    fn examine(
        &self,
        scope: &Scope,
        time: Duration,
        stop: &dyn Fn() -> bool,
    ) -> Result<ProgramEvidence, Failure> {
        let mut program = look(scope, time, &self.topology, stop)?;
        let evidence = &mut program.evidence;
        evidence.is_elsewhere = matches!(self.distances, AdviceDistances::Elsewhere(_));
        program.profile = self.profile_for(evidence);
        if let Some((profile, seen)) = program.profile.as_ref().zip(program.observation.as_ref()) {
            let pattern = seen.pattern(&evidence.name);
            let is_known = !evidence.is_elsewhere && evidence.cpu_count > 0;
            let cpus = CpuSet::of_list(&evidence.cpus).filter(|_| is_known);
            let cpus = cpus.map(|cpus| cpus.iter().collect());
            let most_gain = MostGain::of(profile, &pattern, cpus);
            evidence.most_gain = most_gain.map_err(Failure::work_at(UNPLACED))?;
        }
        Ok(program)
    }

    /// Looks at the program with its partners. Keeps the first look if the second one decides
    /// without a trial.
    fn examine_together(
        &self,
        first: ProgramEvidence,
        pids: Vec<Tid>,
        stop: &dyn Fn() -> bool,
    ) -> Result<ProgramEvidence, Failure> {
        let choice = ProcessChoice::Processes { pids, with_children: true };
        let both = match self.examine(&Scope::Running(choice), LOOK_TOGETHER, stop) {
            Ok(both) => both,
            Err(error) if stop() => return Err(error),
            Err(_) => return Ok(first),
        };
        if at_first_sight(&both.evidence).is_some() {
            return Ok(first);
        }
        let mut together = first.evidence.partners();
        together.retain(|client| !first.evidence.forbidden_clients.contains(client));
        let evidence = Evidence {
            together,
            forbidden_clients: first.evidence.forbidden_clients,
            name: first.evidence.name,
            command: first.evidence.command,
            looked_s: first.evidence.looked_s + both.evidence.looked_s,
            ..both.evidence
        };
        Ok(ProgramEvidence { evidence, child: first.child, ..both })
    }

    /// Distances are needed only if the look does not decide.
    fn profile_for(&self, evidence: &Evidence) -> Option<Profile> {
        match &self.distances {
            AdviceDistances::Elsewhere(profile) => Some(Profile::clone(profile)),
            AdviceDistances::Here(known) => {
                let conclusion = at_first_sight(evidence).map(|conclusion| conclusion.reason);
                let is_open = matches!(conclusion, None | Some(Reason::NotMeasured));
                (is_open || self.proves).then(|| known(&self.topology)).flatten()
            }
        }
    }

    fn try_seats(
        &mut self,
        evidence: &mut Evidence,
        profile: Option<&Profile>,
        seen: &Observation,
        stop: &dyn Fn() -> bool,
        tell: &dyn Fn(AdviceProgress),
    ) -> Result<(), Failure> {
        evidence.no_trial = no_trial(evidence);
        if evidence.no_trial.is_some() {
            return Ok(());
        }
        let pattern = seen.pattern(&evidence.name);
        let cpus = CpuSet::of_list(&evidence.cpus).unwrap_or_default();
        let topology = &self.topology;
        let ground = Ground { topology, profile, allowed: &cpus, soft: false };
        let candidates = if evidence.has_goroutines {
            // They run on any thread.
            ground.on_one_cpu(pattern.tasks).into_iter().collect()
        } else {
            ground.candidates(&pattern).map_err(Failure::work_at(UNPLACED))?
        };
        if candidates.is_empty() {
            evidence.no_trial = Some(NoTrial::NoSeats);
            return Ok(());
        }
        let mut pids = evidence.pids.clone();
        // The bytes of the local clients are part of the program's work.
        pids.extend(evidence.frequent_clients().iter().map(|client| client.pid));
        let Some(work) = WorkMeter::begin(&pids, self.metric.take(), stop)? else {
            evidence.no_trial = Some(NoTrial::NoWork);
            return Ok(());
        };
        // The guardian must run before the first mask changes.
        let guardian = Guardian::post(&mut self.guardian.command()?)?;
        let trial = SeatTrial {
            candidates: &candidates,
            tids: &seen.tasks.iter().map(|task| task.tid).collect::<Vec<Tid>>(),
            pids: &evidence.pids,
            cpus: &cpus,
            time: self.trial,
            stop,
            tell: &|share| tell(AdviceProgress::Trying((100.0 * share) as usize)),
            work,
            masks: Masks::guarded_by(guardian),
        };
        let (end, left) = trial.run();
        evidence.left_changed = left.sentences().collect();
        if end.is_err() {
            // Without an advice, nothing else reports this.
            evidence.left_changed.iter().for_each(|mask| tell(AdviceProgress::LeftChanged(mask)));
        }
        match end? {
            Ok(result) => evidence.trial = Some(result),
            Err(why) => evidence.no_trial = Some(why),
        }
        Ok(())
    }
}

/// The processes of the program and of the clients that work in turns with it, unless something
/// other than seats decides. Notes clients that this process may not seat.
fn with_partners(evidence: &mut Evidence) -> Option<Vec<Tid>> {
    if no_trial(evidence).is_some() {
        return None;
    }
    let alone = at_first_sight(evidence).map(|conclusion| conclusion.reason);
    let is_open = matches!(
        alone,
        None | Some(
            Reason::OneThread | Reason::LittleTalk | Reason::HardlyRuns | Reason::ClientAtLimit
        )
    );
    let partners = evidence.partners();
    if !is_open || partners.is_empty() {
        return None;
    }
    let (own, others): (Vec<_>, Vec<_>) =
        partners.into_iter().partition(|client| rights::may_seat(client.pid));
    evidence.forbidden_clients = others;
    let clients = own.iter().map(|client| client.pid);
    let pids: Vec<Tid> = evidence.pids.iter().copied().chain(clients).collect();
    (!own.is_empty()).then_some(pids)
}

fn no_trial(evidence: &Evidence) -> Option<NoTrial> {
    match () {
        () if evidence.is_elsewhere => Some(NoTrial::Elsewhere),
        () if evidence.has_ended || evidence.pids.is_empty() => Some(NoTrial::Ended),
        () if !evidence.bound_threads().is_empty() => Some(NoTrial::Bound),
        () => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evidence::{BusyThread, Client, ProgramTalk};

    fn woken_by(rates: &[f64]) -> Evidence {
        let pid = std::process::id() as Tid;
        let clients =
            rates.iter().map(|per_s| Client { pid, per_s: *per_s, ..Client::default() }).collect();
        let outside_per_s = rates.iter().sum();
        Evidence {
            pids: vec![1],
            cpus: "0,1".to_owned(),
            cpu_count: 2,
            used_percent: 60.0,
            busy: vec![BusyThread { percent: 60.0, ..BusyThread::default() }],
            talk: Some(ProgramTalk { clients, outside_per_s, ..ProgramTalk::default() }),
            ..Evidence::default()
        }
    }

    #[test]
    fn clients_that_work_in_turns_join_the_trial() {
        let own = std::process::id() as Tid;
        assert_eq!(with_partners(&mut woken_by(&[8000.0])), Some(vec![1, own]));
        assert_eq!(with_partners(&mut woken_by(&[700.0; 2])), Some(vec![1, own, own]));
        assert_eq!(with_partners(&mut woken_by(&[900.0])), None);
        assert_eq!(with_partners(&mut woken_by(&[])), None);
    }
}
