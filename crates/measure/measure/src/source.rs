//! Sources of round trips.

use crate::journal::MachineIdentity;
use crate::survey::{self, SurveyRequest};
use crate::testbed_probe::TestbedProbe;
use seatmap_data::document::{Blame, content_hash};
use seatmap_data::machine::{Clock, Origin, OriginKind, Profile, Topology};
use seatmap_machines::host::topology::TopologyError;
use seatmap_machines::host::{HostError, HostTestbed, environment, topology};
use seatmap_os::CpuList;
use seatmap_os::state::{self, host_name};
use seatmap_os::trusted::{TrustError, TrustedFolder};
use seatmap_sim::{CoherentBed, CoherentModel, SimError};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A source of measurements.
#[derive(Clone, Debug)]
pub enum RoundTripSource {
    /// This computer.
    Host {
        /// All PUs available to this process.
        topology: Topology,
        /// PUs to measure.
        pus: Vec<u32>,
    },
    /// A model in virtual time.
    Simulated {
        /// Machine.
        model: Arc<CoherentModel>,
        /// PUs to measure.
        pus: Vec<u32>,
    },
    /// A profile on file.
    Replayed {
        /// Profile.
        profile: Box<Profile>,
        /// PUs to measure.
        pus: Vec<u32>,
    },
}

/// Why a machine cannot be measured on these CPUs.
#[derive(Debug, thiserror::Error)]
pub enum SourceError {
    /// A model lacks a CPU.
    #[error("{machine} has no CPU {cpu}; its CPUs are {present}")]
    Absent {
        /// Model.
        machine: String,
        /// CPU.
        cpu: u32,
        /// Model's CPUs.
        present: CpuList,
    },
    /// A profile lacks a CPU.
    #[error("{machine} has no distances from CPU {cpu}")]
    Unmeasured {
        /// Profile.
        machine: String,
        /// CPU.
        cpu: u32,
    },
    /// A distance needs two CPUs.
    #[error("need at least two CPUs; only CPU {0} was given (--cpus 0,1 measures a pair)")]
    TooFew(CpuList),
    /// This computer's topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
}

impl Blame for SourceError {
    fn is_input(&self) -> bool {
        !matches!(self, SourceError::Topology(_))
    }
}

impl RoundTripSource {
    /// These CPUs of this host.
    ///
    /// # Errors
    /// [`SourceError`].
    pub fn host(pus: Vec<u32>) -> Result<Self, SourceError> {
        RoundTripSource::Host { topology: topology::reachable()?, pus }.of_pairs()
    }

    /// These CPUs of a model, or all.
    ///
    /// # Errors
    /// [`SourceError`].
    pub fn simulated(
        model: Arc<CoherentModel>,
        cpus: Option<&CpuList>,
    ) -> Result<Self, SourceError> {
        let all: Vec<u32> = model.topology.os_indices().collect();
        match chosen(&all, cpus) {
            Ok(pus) => RoundTripSource::Simulated { model, pus }.of_pairs(),
            Err(cpu) => {
                let present = CpuList(all);
                Err(SourceError::Absent { machine: model.name.clone(), cpu, present })
            }
        }
    }

    /// These CPUs of a profile, or all with distances.
    ///
    /// # Errors
    /// [`SourceError`].
    pub fn replayed(profile: Profile, cpus: Option<&CpuList>) -> Result<Self, SourceError> {
        let measured = profile.core_distance.as_ref().map_or(&[][..], |distance| &distance.pus);
        match chosen(measured, cpus) {
            Ok(pus) => RoundTripSource::Replayed { profile: Box::new(profile), pus }.of_pairs(),
            Err(cpu) => Err(SourceError::Unmeasured { machine: profile.name, cpu }),
        }
    }

    fn of_pairs(self) -> Result<Self, SourceError> {
        match self.pus() {
            [_, _, ..] => Ok(self),
            pus => Err(SourceError::TooFew(CpuList(pus.to_vec()))),
        }
    }

    /// Whether it is this computer.
    pub fn is_host(&self) -> bool {
        matches!(self, RoundTripSource::Host { .. })
    }

    /// The journal: next to the output file or, for this host, in the state folder.
    ///
    /// # Errors
    ///
    /// [`TrustError`]: other users can write to the state folder.
    pub fn journal(&self, output: Option<&Path>) -> Result<Option<PathBuf>, TrustError> {
        let output = output.filter(|path| *path != Path::new("-"));
        if let Some(output) = output.filter(|path| !path.exists() || path.is_file()) {
            // Not next to a stream such as `/dev/stdout` or a pipe.
            return Ok(Some(output.with_added_extension("journal")));
        }
        let Some(folder) = state::folder().filter(|_| self.is_host()) else { return Ok(None) };
        let folder = TrustedFolder::create(&folder)?;
        Ok(Some(folder.path().join(format!("{}.journal", host_name()))))
    }

    /// The model of a simulated source.
    pub fn model(&self) -> Option<&Arc<CoherentModel>> {
        match self {
            RoundTripSource::Simulated { model, .. } => Some(model),
            RoundTripSource::Host { .. } | RoundTripSource::Replayed { .. } => None,
        }
    }

    /// The PUs to measure.
    pub fn pus(&self) -> &[u32] {
        match self {
            RoundTripSource::Host { pus, .. }
            | RoundTripSource::Simulated { pus, .. }
            | RoundTripSource::Replayed { pus, .. } => pus,
        }
    }

    /// The known topology of the machine.
    pub fn topology(&self) -> &Topology {
        match self {
            RoundTripSource::Host { topology, .. } => topology,
            RoundTripSource::Simulated { model, .. } => &model.topology,
            RoundTripSource::Replayed { profile, .. } => &profile.topology,
        }
    }

    /// The machine, distinguished from others of its name.
    pub fn machine(&self) -> MachineIdentity {
        let mut machine = MachineIdentity { name: self.name(), ..MachineIdentity::default() };
        match self {
            RoundTripSource::Host { .. } => {
                machine.cpu_model = environment::cpu_model();
                machine.boot_id = environment::boot_id();
            }
            RoundTripSource::Simulated { model, .. } => {
                let figures = (&model.name, &model.topology, &model.figures);
                machine.figures = Some(content_hash(&figures));
            }
            RoundTripSource::Replayed { profile, .. } => {
                let figures = (&profile.core_distance, &profile.home_model, &profile.clock);
                machine.figures = Some(content_hash(&figures));
            }
        }
        machine
    }

    /// The machine's name.
    pub fn name(&self) -> String {
        match self {
            RoundTripSource::Host { .. } => host_name(),
            RoundTripSource::Simulated { model, .. } => model.name.clone(),
            RoundTripSource::Replayed { profile, .. } => profile.name.clone(),
        }
    }
}

/// The CPUs to measure of all these, or the first one that is not among them.
fn chosen(all: &[u32], cpus: Option<&CpuList>) -> Result<Vec<u32>, u32> {
    let chosen = cpus.map_or(all, |list| &list.0);
    chosen.iter().find(|os| !all.contains(os)).map_or(Ok(chosen.to_vec()), |os| Err(*os))
}

pub(crate) fn host_probe(
    topology: &Topology,
    request: &SurveyRequest,
) -> Result<TestbedProbe<HostTestbed>, HostError> {
    let lines = survey::lines_needed(request, topology);
    let shared = TestbedProbe::<HostTestbed>::shared_lines(lines, topology, &request.pus);
    TestbedProbe::new(HostTestbed::new(request.pus.clone(), shared)?, topology, lines)
}

pub(crate) fn model_probe(
    model: &Arc<CoherentModel>,
    request: &SurveyRequest,
) -> Result<TestbedProbe<CoherentBed>, SimError> {
    let lines = survey::lines_needed(request, &model.topology);
    TestbedProbe::new(CoherentBed::new(Arc::clone(model)), &model.topology, lines)
}

/// The measuring program and the day.
#[derive(Clone, Default)]
pub struct MeasuredBy {
    /// Program with its version.
    pub tool: String,
    /// Day, `YYYY-MM-DD`.
    pub date: String,
}

impl MeasuredBy {
    fn origin(&self, kind: OriginKind, source: String) -> Origin {
        Origin { kind, source, date: Some(self.date.clone()), tool: Some(self.tool.clone()) }
    }

    pub(crate) fn host_profile(&self, topology: &Topology, clock: Clock) -> Profile {
        let origin = self.origin(OriginKind::Measured, host_name());
        let mut profile = Profile::new(host_name(), origin, topology.clone());
        profile.environment = environment::read();
        profile.clock = clock;
        profile
    }

    pub(crate) fn model_profile(&self, model: &CoherentModel) -> Profile {
        let sources = model.sources.join("; ");
        let source = format!("the model {}, measured in virtual time ({sources})", model.name);
        let origin = self.origin(OriginKind::Model, source);
        let mut profile = Profile::new(model.name.clone(), origin, model.topology.clone());
        profile.clock.step_ns = Some(model.ns_per_tick());
        profile.clock.frequency_hz = Some(1e9 * model.frequency_ghz);
        profile
    }

    pub(crate) fn replayed_profile(&self, of: &Profile) -> Profile {
        let source = format!("the profile {}, replayed ({})", of.name, of.origin.source);
        let origin = self.origin(OriginKind::Model, source);
        let mut profile = Profile::new(of.name.clone(), origin, of.topology.clone());
        profile.environment = of.environment.clone();
        profile.clock = of.clock.clone();
        profile.speed = of.speed.clone();
        profile
    }
}
