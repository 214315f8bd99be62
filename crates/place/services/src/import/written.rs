//! The imported seats, as entries of `services.toml` and as a plan without a verdict.

use super::ImportedSeats;
use crate::file::{ServicesFile, SharedComputer};
use crate::find;
use crate::plan::document::FORMAT;
use crate::plan::units::Units;
use crate::plan::{PlannedService, ServicesPlan, request};
use seatmap_data::document::Blame;
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;
use seatmap_os::CpuSet;

/// The seats do not make a plan.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum WrittenPlanError {
    /// No service has CPUs.
    #[error("the files name CPUs for none of {}", counted(.services, "service"))]
    NoCpus {
        /// The number of services.
        services: usize,
    },
    /// The machine does not have the CPUs.
    #[error(
        "CPUs {cpus} of '{service}' are not on {machine} (CPUs {known}); name the machine of the \
         files with --on"
    )]
    NotOnMachine {
        /// The service.
        service: String,
        /// Its CPUs missing on the machine.
        cpus: CpuSet,
        /// The machine.
        machine: String,
        /// Its CPUs.
        known: CpuSet,
    },
}

impl Blame for WrittenPlanError {}

impl ImportedSeats {
    /// The text of a `services.toml` with these services, or text to append to `known`; `None` if
    /// nothing is missing.
    pub fn text(&self, known: Option<&ServicesFile>) -> Option<String> {
        let entries = self.seats.iter().map(|seat| {
            let cpus = seat.cpus.as_ref().map(|cpus| format!("CPUs {cpus}"));
            let nodes = seat.nodes.as_ref().map(|nodes| format!("nodes {nodes}"));
            let words: Vec<String> = cpus.into_iter().chain(nodes).collect();
            let words = if words.is_empty() { "no CPUs".to_owned() } else { words.join(", ") };
            (format!("{words} from {}", seat.sources.join(", ")), seat.service.clone())
        });
        find::with_entries(known, self.housekeeping.as_deref(), entries)
    }

    /// The plan of all services with CPUs.
    ///
    /// # Errors
    /// [`WrittenPlanError`].
    pub fn plan(&self, profile: &Profile) -> Result<ServicesPlan, WrittenPlanError> {
        let known: CpuSet = profile.topology.os_indices().collect();
        let mut services: Vec<PlannedService> = Vec::new();
        for seat in self.seats.iter().filter(|seat| seat.cpus.is_some()) {
            let set = seat.cpu_set();
            let cpus = set.without(&known);
            if !cpus.is_empty() {
                let service = seat.service.name.clone();
                let machine = profile.name.clone();
                return Err(WrittenPlanError::NotOnMachine { service, cpus, machine, known });
            }
            let alike = services
                .iter()
                .find(|one| one.cpu_set() == set && !one.service.is_alone())
                .filter(|_| !seat.service.is_alone());
            let pool = alike.map_or(services.len(), |one| one.pool);
            services.push(PlannedService {
                service: seat.service.clone(),
                cpus: set.to_string(),
                within: None,
                nodes: seat.nodes.clone().unwrap_or_default(),
                pool,
                ..PlannedService::default()
            });
        }
        if services.is_empty() {
            return Err(WrittenPlanError::NoCpus { services: self.seats.len() });
        }
        let computer =
            SharedComputer { housekeeping: self.housekeeping.clone(), ..SharedComputer::default() };
        let units = Units::of(profile, None, &computer.housekeeping_cpus());
        Ok(ServicesPlan {
            format: FORMAT.to_owned(),
            machine: profile.name.clone(),
            computer,
            services,
            caches: request::caches(&units),
            distances_are_assumed: units.distances_are_assumed,
            ..ServicesPlan::default()
        })
    }
}
