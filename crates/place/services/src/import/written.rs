//! The imported seats, as entries of `services.toml` and as a plan without a verdict.

use super::ImportedSeats;
use crate::file::SharedComputer;
use crate::plan::document::FORMAT;
use crate::plan::request;
use crate::plan::units::Units;
use crate::{PlannedService, ServicesFile, ServicesPlan, find};
use seatmap_data::document::{Failure, unfit};
use seatmap_data::machine::Profile;
use seatmap_data::statistics::words::counted;
use seatmap_os::CpuSet;

impl ImportedSeats {
    /// A `services.toml` with these services, or text to append to `known`; `None` if nothing is
    /// missing.
    pub fn text(&self, known: Option<&ServicesFile>) -> Option<String> {
        let entries = self.seats.iter().map(|seat| {
            let words = match (&seat.cpus, &seat.nodes) {
                (Some(cpus), Some(nodes)) => format!("CPUs {cpus}, nodes {nodes}"),
                (Some(cpus), None) => format!("CPUs {cpus}"),
                (None, Some(nodes)) => format!("nodes {nodes}"),
                (None, None) => "no CPUs".to_owned(),
            };
            (format!("{words} from {}", seat.sources.join(", ")), seat.service.clone())
        });
        find::with_entries(known, self.housekeeping.as_deref(), entries)
    }

    /// The plan of all services with CPUs.
    ///
    /// # Errors
    /// [`Failure`].
    pub fn plan(&self, profile: &Profile) -> Result<ServicesPlan, Failure> {
        let known: CpuSet = profile.topology.os_indices().collect();
        let mut services: Vec<PlannedService> = Vec::new();
        for seat in self.seats.iter().filter(|seat| seat.cpus.is_some()) {
            let set = seat.cpu_set();
            let cpus = set.without(&known);
            if !cpus.is_empty() {
                return unfit(format!(
                    "CPUs {cpus} of '{}' are not on {} (CPUs {known}); name the machine of the \
                     files with --on",
                    seat.service.name, profile.name
                ));
            }
            let alike = services.iter().find(|one| {
                let is_alone = one.service.is_alone() || seat.service.is_alone();
                !is_alone && one.cpu_set() == set
            });
            let pool = alike.map_or(services.len(), |one| one.pool);
            services.push(PlannedService {
                service: seat.service.clone(),
                cpus: set.to_string(),
                nodes: seat.nodes.clone().unwrap_or_default(),
                pool,
                ..PlannedService::default()
            });
        }
        if services.is_empty() {
            let services = counted(self.seats.len(), "service");
            return unfit(format!("the files name CPUs for none of {services}"));
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
