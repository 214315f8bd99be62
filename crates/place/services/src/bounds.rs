//! The CPUs that words allow to services: `cpus = "kind:efficiency"` in `services.toml`.

use crate::Service;
use crate::file::IfAlike;
use seatmap_data::document::Failure;
use seatmap_launch::sets::{self, AcceptedWords, ComputerCpus, SetError};
use seatmap_os::CpuSet;
use std::collections::BTreeMap;

/// The CPUs that services' sets must be within.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ServiceBounds {
    /// The CPUs, by the service's name; services without words are absent.
    pub cpus: BTreeMap<String, CpuSet>,
    /// A sentence for each word that distinguishes no CPUs.
    pub remarks: Vec<String>,
}

impl ServiceBounds {
    /// The bounds of services on a machine.
    ///
    /// # Errors
    /// [`Failure`] for the first wrong word.
    pub fn of<'a>(
        services: impl IntoIterator<Item = &'a Service>,
        computer: &ComputerCpus,
    ) -> Result<Self, Failure> {
        let mut bounds = ServiceBounds::default();
        for service in services {
            let Some(words) = &service.cpus else { continue };
            let name = service.name.clone();
            let accepted = accepted(words, service.if_alike, computer);
            let found = accepted.and_then(|accepted| {
                bounds.remarks.extend(accepted.remarks);
                sets::all_of(&accepted.words, computer)
            });
            let cpus = found.map_err(Failure::input_at(format!("cpus of service '{name}'")))?;
            bounds.cpus.insert(name, cpus);
        }
        Ok(bounds)
    }
}

fn accepted(
    words: &str,
    if_alike: Option<IfAlike>,
    computer: &ComputerCpus,
) -> Result<AcceptedWords, SetError> {
    match if_alike {
        Some(IfAlike::All) => sets::or_all(words, &|| Ok(computer.clone())),
        None => Ok(AcceptedWords { words: words.to_owned(), remarks: Vec::new() }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::document::Blame;
    use seatmap_data::machine::Topology;

    #[test]
    fn words_bound_services_or_allow_all_cpus() {
        let computer = ComputerCpus::of_machine(Topology::unknown(0..4), None);
        let service = |cpus: &str, if_alike| Service {
            name: "db".to_owned(),
            cpus: Some(cpus.to_owned()),
            if_alike,
            ..Service::default()
        };
        let of = |service: Service| ServiceBounds::of([&service], &computer);
        let bounds = of(service("not:0/first:2", None)).unwrap();
        assert_eq!(bounds.cpus["db"].to_string(), "1,2");
        let small = "kind:efficiency";
        let error = of(service(small, None)).unwrap_err();
        assert!(Blame::is_input(&error) && error.to_string() == "cpus of service 'db'");
        let bounds = of(service(small, Some(IfAlike::All))).unwrap();
        assert_eq!((bounds.cpus["db"].len(), bounds.remarks.len()), (4, 1));
        assert_eq!(of(Service::default()).unwrap(), ServiceBounds::default());
    }
}
