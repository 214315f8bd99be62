//! The sources of round trips: this host, a model in virtual time, or the figures of a profile.

use crate::args::Measure;
use seatmap_catalog::{Answers, Capability, Machine as Opened};
use seatmap_console::error::CliError;
use seatmap_console::{here, input};
use seatmap_document::content_hash;
use seatmap_host::{HostTestbed, environment, topology};
use seatmap_machine::{Clock, Origin, OriginKind, Profile, Topology};
use seatmap_measure::journal::Machine;
use seatmap_measure::replay::Replay;
use seatmap_measure::survey;
use seatmap_measure::testbed_probe::TestbedProbe;
use seatmap_sim::{CoherentBed, CoherentModel};
use std::sync::Arc;

/// A source of measurements.
pub enum Source {
    /// This computer.
    Host {
        /// All PUs that this process may use.
        topology: Topology,
        /// The PUs to be measured.
        pus: Vec<u32>,
    },
    /// A model, in virtual time.
    Simulated {
        /// The machine.
        model: Arc<CoherentModel>,
        /// The PUs to be measured.
        pus: Vec<u32>,
    },
    /// The figures of a profile on file.
    Replayed {
        /// The figures.
        profile: Box<Profile>,
        /// The kind of file that holds the figures, with its article: a profile, a description.
        kind: &'static str,
        /// The PUs to be measured.
        pus: Vec<u32>,
    },
}

impl Source {
    /// The source that the command line names, checked.
    ///
    /// # Errors
    /// A machine, or CPUs of it, that are not there; fewer than two.
    pub fn find(typed: &Measure) -> Result<Self, CliError> {
        let machine = input::machine(&typed.on)?;
        let source = match machine.answers() {
            Answers::Measured => Self::host(typed)?,
            Answers::Simulated(model) => {
                if typed.homes > 1 {
                    machine.require(Capability::Homes).map_err(CliError::input)?;
                }
                Self::simulated(model, typed)?
            }
            Answers::Replayed => Self::replayed(&machine, typed)?,
        };
        if typed.utilisation.is_some() && !matches!(source, Source::Simulated { .. }) {
            return Err(CliError::input(format!(
                "--utilisation {}: {} is {}; only a model can keep its other CPUs busy",
                typed.utilisation.unwrap_or(0),
                typed.on,
                machine.kind()
            )));
        }
        match source.pus() {
            [_, _, ..] => Ok(source),
            pus => Err(CliError::input(format!(
                "need at least two CPUs; only CPU {} was given (--cpus 0,1 measures a pair)",
                seatmap_os::CpuList(pus.to_vec())
            ))),
        }
    }

    fn host(typed: &Measure) -> Result<Self, CliError> {
        let topology = topology::reachable().map_err(CliError::work)?;
        Ok(Source::Host { topology, pus: here::cpus_to_measure(typed.cpus.as_ref())? })
    }

    fn simulated(model: Arc<CoherentModel>, typed: &Measure) -> Result<Self, CliError> {
        let all: Vec<u32> = model.topology.os_indices().collect();
        let pus = typed.cpus.as_ref().map_or_else(|| all.clone(), |list| list.0.clone());
        match pus.iter().find(|os| !all.contains(os)) {
            Some(os) => {
                let there = seatmap_os::CpuList(all);
                Err(CliError::input(format!(
                    "{} has no CPU {os}; its CPUs are {there}",
                    model.name
                )))
            }
            None => Ok(Source::Simulated { model, pus }),
        }
    }

    fn replayed(machine: &Opened, typed: &Measure) -> Result<Self, CliError> {
        machine.require(Capability::Distances).map_err(CliError::input)?;
        if typed.homes > 1 {
            machine.require(Capability::Homes).map_err(CliError::input)?;
        }
        let profile = input::profile_of(machine)?;
        let Some(distance) = &profile.core_distance else {
            return Err(CliError::input(machine.lacks(Capability::Distances)));
        };
        let pus = typed.cpus.as_ref().map_or_else(|| distance.pus.clone(), |list| list.0.clone());
        match pus.iter().find(|os| distance.index_of(**os).is_none()) {
            Some(os) => {
                Err(CliError::input(format!("{} has no distances from CPU {os}", profile.name)))
            }
            None => Ok(Source::Replayed { profile: Box::new(profile), kind: machine.kind(), pus }),
        }
    }

    /// Refuses `--speed` where no work can be timed.
    ///
    /// # Errors
    /// The machine is not this computer.
    pub fn check_speed(&self, is_wanted: bool) -> Result<(), CliError> {
        match (is_wanted, self) {
            (false, _) | (_, Source::Host { .. }) => Ok(()),
            _ => Err(CliError::input(format!(
                "--speed times work on this host, and {} is not it; its file says how fast its CPUs are ([speed])",
                self.name()
            ))),
        }
    }

    /// Refuses to measure wakeups where no kernel runs that could wake anything.
    ///
    /// # Errors
    /// The machine is not this computer.
    pub fn check_wakeups(&self, pairs: Option<u32>) -> Result<(), CliError> {
        match (pairs, self) {
            (None, _) | (_, Source::Host { .. }) => Ok(()),
            _ => Err(CliError::input(format!(
                "--wakeups times threads that sleep on this host, and {} is not it; leave --wakeups out",
                self.name()
            ))),
        }
    }

    /// The CPUs to be measured.
    pub fn pus(&self) -> &[u32] {
        match self {
            Source::Host { pus, .. }
            | Source::Simulated { pus, .. }
            | Source::Replayed { pus, .. } => pus,
        }
    }

    /// The machine's topology, as far as it is known.
    pub fn topology(&self) -> &Topology {
        match self {
            Source::Host { topology, .. } => topology,
            Source::Simulated { model, .. } => &model.topology,
            Source::Replayed { profile, .. } => &profile.topology,
        }
    }

    /// The machine, with everything that distinguishes it from others of its name.
    pub fn machine(&self) -> Machine {
        let named = Machine { name: self.name(), ..Machine::default() };
        match self {
            Source::Host { .. } => Machine {
                cpu_model: environment::cpu_model(),
                boot_id: environment::boot_id(),
                ..named
            },
            Source::Simulated { model, .. } => {
                let figures = content_hash(&(&model.name, &model.topology, &model.figures));
                Machine { figures: Some(figures), ..named }
            }
            Source::Replayed { profile, .. } => {
                let figures =
                    content_hash(&(&profile.core_distance, &profile.home_model, &profile.clock));
                Machine { figures: Some(figures), ..named }
            }
        }
    }

    /// The machine's name.
    pub fn name(&self) -> String {
        match self {
            Source::Host { .. } => here::host_name(),
            Source::Simulated { model, .. } => model.name.clone(),
            Source::Replayed { profile, .. } => profile.name.clone(),
        }
    }
}

/// The host as a source of round trips.
pub fn host(
    topology: &Topology,
    pus: &[u32],
    typed: &Measure,
) -> Result<TestbedProbe<HostTestbed>, CliError> {
    // The clock's step does not bear on how many lines are needed.
    let request = super::request(typed, pus, 1.0);
    let lines = survey::lines_needed(&request, topology);
    let shared = TestbedProbe::<HostTestbed>::shared_lines(lines, topology, pus);
    let testbed = HostTestbed::new(pus.to_vec(), shared).map_err(CliError::work)?;
    TestbedProbe::new(testbed, topology, lines).map_err(CliError::work)
}

/// A model as a source of round trips.
pub fn simulated(
    model: &Arc<CoherentModel>,
    pus: &[u32],
    typed: &Measure,
) -> Result<TestbedProbe<CoherentBed>, CliError> {
    let lines = survey::lines_needed(&super::request(typed, pus, 1.0), &model.topology);
    TestbedProbe::new(CoherentBed::new(Arc::clone(model)), &model.topology, lines)
        .map_err(CliError::work)
}

/// A profile as a source of round trips.
pub fn replay(profile: &Profile, seed: u64) -> Result<Replay, CliError> {
    Replay::new(profile, seed).map_err(CliError::input)
}

/// The host's profile without distances.
pub fn host_profile(topology: &Topology, clock: Clock, steal_percent: Option<f64>) -> Profile {
    let mut profile = Profile::new(
        here::host_name(),
        origin(OriginKind::Measured, here::host_name()),
        topology.clone(),
    );
    profile.environment = environment::read();
    profile.environment.steal_percent = steal_percent;
    profile.clock = clock;
    profile
}

/// A model's profile without distances.
pub fn simulated_profile(model: &CoherentModel) -> Profile {
    let source = format!(
        "the model {}, measured in virtual time ({})",
        model.name,
        model.sources.join("; ")
    );
    let mut profile =
        Profile::new(model.name.clone(), origin(OriginKind::Model, source), model.topology.clone());
    profile.clock.step_ns = Some(model.ns_per_tick());
    profile.clock.frequency_hz = Some(1e9 * model.frequency_ghz);
    profile
}

/// A replayed machine's profile without distances.
pub fn replayed_profile(of: &Profile) -> Profile {
    let source = format!("the profile {}, replayed ({})", of.name, of.origin.source);
    let mut profile =
        Profile::new(of.name.clone(), origin(OriginKind::Model, source), of.topology.clone());
    profile.environment = of.environment.clone();
    profile.clock = of.clock.clone();
    profile.speed = of.speed.clone();
    profile
}

fn origin(kind: OriginKind, source: String) -> Origin {
    Origin { kind, source, date: Some(here::today()), tool: Some(here::tool()) }
}
