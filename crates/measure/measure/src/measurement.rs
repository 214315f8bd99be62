//! A whole measurement.

use crate::bandwidth::HostBandwidth;
use crate::homes;
use crate::journal::{Journal, JournalError};
use crate::plan::{Effort, SurveyPlan};
use crate::probe::Probe;
use crate::replay::{Replay, ReplayError};
use crate::samples::Samples;
use crate::source::{self, MeasuredBy, RoundTripSource};
use crate::survey::{self, Survey, SurveyOutcome, SurveyProgress, SurveyRequest, Warning};
use crate::{speed, wakeups};
use seatmap_data::document::Blame;
use seatmap_data::machine::{Profile, SeatSpeed, Topology, Wakeups};
use seatmap_data::statistics::words::counted;
use seatmap_machines::host::{HostWakeups, HostWork};
use seatmap_os::claim::ComputerClaim;
use seatmap_os::quota::QuotaWatch;
use seatmap_os::steal::CpuTime;
use seatmap_os::trusted::{self, Open, TrustError};
use seatmap_sim::CoherentModel;
use std::error::Error;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

const QUICK_ROUNDS: u32 = 9;
const THOROUGH_ROUNDS: u32 = 101;

/// Passes of a wakeup measurement: quick, usual, thorough.
const WAKEUP_PASSES: [u32; 3] = [3, 9, 31];

/// A measurement request.
#[derive(Clone)]
pub struct MeasurementRequest {
    /// Machine and its CPUs.
    pub source: RoundTripSource,
    /// Thoroughness.
    pub effort: Effort,
    /// Visits to each pair, if given.
    pub passes: Option<u32>,
    /// Seed of random orders.
    pub seed: u64,
    /// Measure pairs of different cache groups simultaneously, if that does not change the figures.
    pub parallel: bool,
    /// Candidate lines to sort by home; below 2, none are sorted.
    pub homes: u32,
    /// Share of a model's PUs, in percent, that communicate in random pairs meanwhile.
    pub utilisation_percent: u32,
    /// Measure the loaded curve.
    pub loaded: bool,
    /// Time work on each CPU of this host.
    pub speed: bool,
    /// Pairs per distance for wakeups between sleeping threads on this host.
    pub wakeup_pairs: u32,
    /// Measure the memory bandwidth of this host by number of threads.
    pub bandwidth: bool,
    /// Journal of finished pairs, if any.
    pub journal: Option<PathBuf>,
    /// Whether to resume an interrupted run.
    pub resume: bool,
    /// Program and the day, for the profile.
    pub by: MeasuredBy,
}

/// Progress of a measurement.
pub enum MeasureNews<'a> {
    /// Another process, if known, measures this host. Reported once.
    Waits(Option<u32>),
    /// The run resumes after this many visits of its journal.
    Resumes(usize, &'a Path),
    /// The survey begins.
    Begins {
        /// Measured PUs.
        pus: &'a [u32],
        /// Smallest visible difference, in nanoseconds per round trip.
        resolution_ns: f64,
    },
    /// The survey has progressed.
    Step(&'a SurveyProgress<'a>),
    /// The survey has ended.
    Ends,
    /// The wait, or the measurement of speeds and wakeups, continues.
    GoesOn,
    /// Of the visits for the memory bandwidth, so many are finished and planned.
    Streams(usize, usize),
}

impl MeasureNews<'_> {
    /// A sentence for the user, if any.
    pub fn sentence(&self) -> Option<String> {
        match self {
            MeasureNews::Waits(process) => {
                let who = process.map_or(String::new(), |process| format!(" (process {process})"));
                Some(format!(
                    "waiting for another measurement of this host{who} to end: two at once would \
                     disturb each other"
                ))
            }
            MeasureNews::Resumes(visits, path) => Some(format!(
                "resuming after {} kept in {}",
                counted(*visits, "visit"),
                path.display()
            )),
            _ => None,
        }
    }
}

/// Breaking ends the measurement.
type Listener<'a> = dyn FnMut(MeasureNews<'_>) -> ControlFlow<()> + 'a;

/// The result of a measurement.
#[derive(Debug)]
pub struct Measurement {
    /// Profile.
    pub profile: Profile,
    /// Requests that the survey could not meet.
    pub warnings: Vec<Warning>,
    /// CPU quotas that were used up meanwhile and distort the figures.
    pub used_up: Option<String>,
    journal: Option<Journal>,
}

/// Why there is no profile.
#[derive(Debug, thiserror::Error)]
pub enum MeasurementError {
    /// The journal cannot be resumed or written.
    #[error(transparent)]
    Journal(#[from] JournalError),
    /// The journal's file cannot be trusted.
    #[error(transparent)]
    Untrusted(#[from] TrustError),
    /// The profile cannot be replayed.
    #[error(transparent)]
    Replay(#[from] ReplayError),
    /// The machine or the survey failed.
    #[error(transparent)]
    Failed(Box<dyn Error + Send + Sync>),
    /// The user ended the wait for another measurement.
    #[error("interrupted; nothing was measured")]
    NotBegun,
    /// The user ended the survey.
    #[error("{}", farewell(*.visits, .journal.as_deref()))]
    Early {
        /// Finished visits.
        visits: u64,
        /// Journal with these visits.
        journal: Option<PathBuf>,
    },
    /// The user ended the measurement of speeds, wakeups or memory bandwidth.
    #[error(
        "interrupted while measuring {0}; repeat the command with --resume to keep the distances"
    )]
    Further(&'static str),
}

fn farewell(visits: u64, journal: Option<&Path>) -> String {
    match journal {
        Some(path) => format!(
            "interrupted; {visits} to pairs kept in {}: repeat the command with --resume to \
             continue",
            path.display(),
            visits = counted(visits, "visit")
        ),
        None => "interrupted; nothing was kept, because no -o FILE was given".to_owned(),
    }
}

impl MeasurementError {
    fn failed(error: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        MeasurementError::Failed(error.into())
    }
}

impl Blame for MeasurementError {
    fn is_input(&self) -> bool {
        match self {
            MeasurementError::Journal(error) => error.is_input(),
            error => matches!(error, MeasurementError::Replay(_)),
        }
    }
}

impl Measurement {
    /// Deletes the journal, once the profile is saved.
    ///
    /// # Errors
    /// [`JournalError::Io`].
    pub fn forget_journal(self) -> Result<(), JournalError> {
        self.journal.map_or(Ok(()), Journal::remove)
    }

    fn of((survey, journal): (Survey, Option<Journal>), mut profile: Profile) -> Self {
        profile.core_distance = Some(survey.core_distance);
        profile.home_model = survey.home_model;
        profile.loaded = survey.loaded;
        profile.loaded_seed = survey.loaded_seed;
        Measurement { profile, warnings: survey.warnings, used_up: None, journal }
    }
}

impl MeasurementRequest {
    /// `hear` runs between measurements and ends them by breaking; the journal then has the
    /// finished pairs.
    ///
    /// # Errors
    ///
    /// [`MeasurementError`].
    pub fn run(&self, hear: &mut Listener<'_>) -> Result<Measurement, MeasurementError> {
        match &self.source {
            RoundTripSource::Host { topology, pus, .. } => self.on_host(topology, pus, hear),
            RoundTripSource::Simulated { model, pus } => self.on_model(model, pus, hear),
            RoundTripSource::Replayed { profile, .. } => {
                let probe = Replay::new(profile, self.seed)?;
                let surveyed = self.survey(probe, hear)?;
                Ok(Measurement::of(surveyed, self.by.replayed_profile(profile)))
            }
        }
    }

    fn on_host(
        &self,
        topology: &Topology,
        pus: &[u32],
        hear: &mut Listener<'_>,
    ) -> Result<Measurement, MeasurementError> {
        // Held until the end: simultaneous measurements would disturb each other.
        let mut has_said = false;
        let claim = ComputerClaim::wait(&mut |process| {
            let is_known = std::mem::replace(&mut has_said, true);
            hear(if is_known { MeasureNews::GoesOn } else { MeasureNews::Waits(process) })
        });
        let _claim = claim.ok_or(MeasurementError::NotBegun)?;
        let before = CpuTime::now();
        let quotas = QuotaWatch::begin();
        let streams =
            self.bandwidth.then(|| HostBandwidth::new(topology, pus, self.effort, self.seed));
        let streams = streams.transpose().map_err(MeasurementError::failed)?;
        let probe =
            source::host_probe(topology, &self.request(1.0)).map_err(MeasurementError::failed)?;
        let clock = probe.testbed().clock().describe();
        // Before the survey, whose own threads are a load.
        let profile = self.by.host_profile(topology, clock);
        let surveyed = self.survey(probe, hear)?;
        let mut measurement = Measurement::of(surveyed, profile);
        if self.speed {
            measurement.profile.speed = Some(self.speeds(pus, hear)?);
        }
        measurement.profile.wakeups = self.wakeups(topology, pus, hear)?;
        if let Some(streams) = streams {
            let bandwidth = streams.measure(&mut measurement.warnings, |done, all| {
                hear(MeasureNews::Streams(done, all))
            });
            let bandwidth = bandwidth.map_err(MeasurementError::failed)?;
            let bandwidth = bandwidth.ok_or(MeasurementError::Further("memory bandwidth"))?;
            measurement.profile.bandwidth = Some(bandwidth);
        }
        measurement.used_up = quotas.used_up().map(|quotas| quotas.to_string());
        measurement.profile.environment.steal_percent =
            before.and_then(|before| CpuTime::now()?.stolen_percent_since(before));
        Ok(measurement)
    }

    fn on_model(
        &self,
        model: &Arc<CoherentModel>,
        pus: &[u32],
        hear: &mut Listener<'_>,
    ) -> Result<Measurement, MeasurementError> {
        let probe =
            source::model_probe(model, &self.request(1.0)).map_err(MeasurementError::failed)?;
        let candidates = probe.spread(self.homes);
        let surveyed = self.survey(probe, hear)?;
        let mut measurement = Measurement::of(surveyed, self.by.model_profile(model));
        let homes = measurement.profile.home_model.as_mut();
        if let Some(lines) = homes.and_then(|homes| homes.lines.as_mut()) {
            lines.checked = Some(homes::checked(lines, model, &candidates, pus));
        }
        Ok(measurement)
    }

    fn survey<P: Probe>(
        &self,
        mut probe: P,
        hear: &mut Listener<'_>,
    ) -> Result<(Survey, Option<Journal>), MeasurementError> {
        let request = self.request(probe.clock_step_ns());
        let resolution_ns = request.plan.resolution_ns(probe.clock_step_ns());
        let (mut journal, samples) = self.open_journal(&request, resolution_ns, hear)?;
        let _ = hear(MeasureNews::Begins { pus: &request.pus, resolution_ns });
        let ended = survey::survey(
            &mut probe,
            self.source.topology(),
            &request,
            journal.as_mut(),
            samples,
            &mut |step| hear(MeasureNews::Step(step)),
        );
        let _ = hear(MeasureNews::Ends);
        match ended.map_err(MeasurementError::failed)? {
            SurveyOutcome::Whole(survey) => Ok((*survey, journal)),
            SurveyOutcome::Early(visits) => {
                Err(MeasurementError::Early { visits, journal: self.journal.clone() })
            }
        }
    }

    fn open_journal(
        &self,
        request: &SurveyRequest,
        resolution_ns: f64,
        hear: &mut Listener<'_>,
    ) -> Result<(Option<Journal>, Samples), MeasurementError> {
        let mut samples = Samples::new(request.pus.clone());
        let Some(path) = &self.journal else { return Ok((None, samples)) };
        let header = request.header(self.source.machine());
        let file = trusted::open(path, Open::Keep)?;
        if !self.resume {
            let journal = Journal::create(path, file, &header);
            return Ok((Some(journal.map_err(MeasurementError::failed)?), samples));
        }
        let (journal, records) = Journal::resume(path, file, &header, resolution_ns)?;
        for record in &records {
            samples.add(record.i, record.j, record.pass, record.batches());
        }
        let _ = hear(MeasureNews::Resumes(records.len(), path));
        Ok((Some(journal), samples))
    }

    /// Simulation has no noise, replay no clock.
    fn request(&self, clock_step_ns: f64) -> SurveyRequest {
        let plan = SurveyPlan { seed: self.seed, ..SurveyPlan::new(self.effort, clock_step_ns) };
        let plan = match &self.source {
            RoundTripSource::Host { .. } => plan,
            RoundTripSource::Simulated { .. } => plan.without_noise(),
            RoundTripSource::Replayed { .. } => plan.without_clock(),
        };
        let plan = match self.passes {
            Some(passes) => plan.with_passes(passes),
            None => plan,
        };
        SurveyRequest {
            pus: self.source.pus().to_vec(),
            plan,
            parallel: self.parallel,
            homes: self.homes,
            utilisation_percent: self.utilisation_percent,
            loaded: self.loaded,
        }
    }

    fn speeds(&self, pus: &[u32], hear: &mut Listener<'_>) -> Result<SeatSpeed, MeasurementError> {
        let rounds = match self.effort {
            Effort::Quick => QUICK_ROUNDS,
            Effort::Usual => speed::rounds(pus.len()),
            Effort::Thorough => THOROUGH_ROUNDS,
        };
        let first = pus.first().copied().unwrap_or_default();
        let mut work = HostWork::sized_on(first).map_err(MeasurementError::failed)?;
        let speeds = speed::speeds(
            |pus| work.time_ns(pus),
            pus,
            rounds,
            self.seed,
            || hear(MeasureNews::GoesOn),
        );
        speeds.map_err(MeasurementError::failed)?.ok_or(MeasurementError::Further("speeds"))
    }

    fn wakeups(
        &self,
        topology: &Topology,
        pus: &[u32],
        hear: &mut Listener<'_>,
    ) -> Result<Option<Wakeups>, MeasurementError> {
        let pairs = wakeups::pairs(topology, pus, self.wakeup_pairs, self.seed);
        if pairs.is_empty() {
            return Ok(None);
        }
        let host = HostWakeups::default();
        let wakeups = wakeups::wakeups(
            |pus, batches, round_trips| host.round_trips_ns(pus, batches, round_trips),
            &pairs,
            WAKEUP_PASSES[self.effort as usize],
            self.seed,
            || hear(MeasureNews::GoesOn),
        );
        let wakeups = wakeups.map_err(MeasurementError::failed)?;
        wakeups.map(Some).ok_or(MeasurementError::Further("wakeups"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::profiles_for_tests::measured;

    fn request(cpus: u32) -> MeasurementRequest {
        let mut profile = measured(Topology::unknown(0..cpus), |_, _| 80.0);
        profile.name = "four".to_owned();
        MeasurementRequest {
            source: RoundTripSource::replayed(profile, None).unwrap(),
            effort: Effort::Quick,
            passes: Some(1),
            seed: 1,
            parallel: false,
            homes: 1,
            utilisation_percent: 0,
            loaded: false,
            speed: false,
            wakeup_pairs: 0,
            bandwidth: false,
            journal: None,
            resume: false,
            by: MeasuredBy { tool: "test".to_owned(), date: "2026-11-25".to_owned() },
        }
    }

    #[test]
    fn wait_message_names_the_process_if_known() {
        let sentence = MeasureNews::Waits(Some(7)).sentence().unwrap();
        assert!(
            sentence.starts_with("waiting for another measurement of this host (process 7) to end")
        );
        let sentence = MeasureNews::Waits(None).sentence().unwrap();
        assert!(sentence.starts_with("waiting for another measurement of this host to end"));
        assert_eq!(MeasureNews::GoesOn.sentence(), None);
    }

    #[test]
    fn journal_is_next_to_the_profile_file() {
        let source = request(4).source;
        let journal = |output: &str| source.journal(Some(Path::new(output))).unwrap();
        assert_eq!(journal("none.json"), Some("none.json.journal".into()));
        assert_eq!(journal("-"), None);
        assert_eq!(journal("/dev/null"), None, "no file belongs beside a stream");
        assert_eq!(source.journal(None).unwrap(), None, "nothing is remembered of a replay");
    }

    #[test]
    fn profile_is_replayed_and_says_so() {
        let mut steps = 0;
        let measured = request(4).run(&mut |news| {
            steps += usize::from(matches!(news, MeasureNews::Step(_)));
            ControlFlow::Continue(())
        });
        let measurement = measured.unwrap();
        let profile = &measurement.profile;
        assert_eq!(profile.core_distance.as_ref().map(|distance| distance.pus.len()), Some(4));
        assert_eq!(profile.origin.source, "the profile four, replayed (test)");
        assert!(steps > 0 && measurement.used_up.is_none());
        measurement.forget_journal().unwrap();
    }

    #[test]
    fn interrupted_run_resumes_at_its_end() {
        let folder = tempfile::tempdir().unwrap();
        let journal = folder.path().join("four.journal");
        let request = MeasurementRequest { journal: Some(journal.clone()), ..request(4) };
        let ended = request.run(&mut |news| match news {
            MeasureNews::Step(_) => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        });
        let sentence = ended.unwrap_err().to_string();
        assert!(
            sentence.starts_with("interrupted; ") && sentence.contains("--resume"),
            "{sentence}"
        );
        let mut known = 0;
        let resumed = MeasurementRequest { resume: true, ..request.clone() };
        let measurement = resumed.run(&mut |news| {
            if let MeasureNews::Resumes(visits, _) = news {
                known = visits;
            }
            ControlFlow::Continue(())
        });
        measurement.unwrap().forget_journal().unwrap();
        assert!(known > 0 && !journal.exists());
        let other = MeasurementRequest { resume: true, seed: 2, ..request };
        assert!(
            other.run(&mut |_| ControlFlow::Continue(())).is_ok(),
            "an empty file is a new one"
        );
    }

    fn claim_now() -> Option<ComputerClaim> {
        ComputerClaim::wait(&mut |_| ControlFlow::Break(()))
    }

    #[test]
    fn host_claim_covers_speeds_and_wakeups() {
        let cpus = seatmap_os::affinity::current().unwrap();
        if cpus.len() < 2 {
            return seatmap_needs::skipped!("one CPU");
        }
        let source = RoundTripSource::host(cpus[..2].to_vec()).unwrap();
        let request = MeasurementRequest { source, speed: true, wakeup_pairs: 1, ..request(4) };
        let mut further = 0;
        let measurement = request.run(&mut |news| {
            if matches!(news, MeasureNews::GoesOn) {
                further += 1;
                assert!(claim_now().is_none(), "another process could measure now");
            }
            ControlFlow::Continue(())
        });
        let profile = measurement.unwrap().profile;
        assert!(further > 0 && profile.speed.is_some() && profile.wakeups.is_some());
    }

    #[test]
    fn distance_needs_two_known_cpus() {
        let RoundTripSource::Replayed { profile, .. } = request(4).source else { return };
        let refused = |cpus: &[u32]| {
            let error = RoundTripSource::replayed(
                (*profile).clone(),
                Some(&seatmap_os::CpuList(cpus.to_vec())),
            );
            let error = error.unwrap_err();
            assert!(error.is_input());
            error.to_string()
        };
        assert_eq!(refused(&[0, 9]), "four has no distances from CPU 9");
        assert_eq!(
            refused(&[0]),
            "need at least two CPUs; only CPU 0 was given (--cpus 0,1 measures a pair)"
        );
    }
}
