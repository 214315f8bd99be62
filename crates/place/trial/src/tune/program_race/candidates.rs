//! The candidates on one computer.

use crate::tune::tuned::{CandidateSeats, Entrant};
use seatmap_data::machine::{Matrix, Topology};
use seatmap_os::{CpuList, CpuSet};
use seatmap_place::{Level, PlaceError, PlaceRequest, orders};

/// The levels of shared hardware, the widest first.
const LEVELS: [(Level, &str); 4] = [
    (Level::Package, "package"),
    (Level::Numa, "NUMA node"),
    (Level::L3, "L3 cache"),
    (Level::Core, "core"),
];

/// These candidates after the default.
pub fn with_default(mut others: Vec<Entrant>) -> Vec<Entrant> {
    let seats = CandidateSeats::Free;
    others.insert(0, Entrant { name: "default".to_owned(), seats, predicted: None });
    others
}

/// At most `most` placements, with a core for each task if there are enough.
///
/// # Errors
/// The request cannot be met on its machine.
pub fn placements(mut request: PlaceRequest<'_>, most: usize) -> Result<Vec<Entrant>, PlaceError> {
    let has_room = request.smt_cores().is_some_and(|cores| request.pattern.tasks <= cores);
    request.one_per = has_room.then_some(Level::Core);
    let found = request.candidates(most)?;
    Ok(found
        .into_iter()
        .map(|candidate| Entrant {
            name: candidate.name,
            seats: CandidateSeats::Placement(candidate.placement),
            predicted: Some(candidate.cost),
        })
        .collect())
}

pub fn orders_and_groups(topology: &Topology, cpus: &CpuSet) -> Vec<Entrant> {
    let pus: Vec<u32> = cpus.iter().collect();
    // Distances matter only for CPUs without topology.
    let nowhere = Matrix::from_fn(pus.len(), |_, _| 1.0);
    let mut entrants = vec![
        ordered("compact", orders::compact(topology, &pus, &nowhere)),
        ordered("scatter", orders::scatter(topology, &pus, &nowhere)),
    ];
    entrants.extend(LEVELS.iter().filter_map(|(level, name)| group(topology, &pus, *level, name)));
    // CPU 0 has most of a system's work.
    entrants.extend(pus.last().map(|cpu| within("one CPU", &CpuSet::single(*cpu))));
    // If levels coincide, the name of the widest stays.
    let mut kept: Vec<Entrant> = Vec::new();
    for entrant in entrants {
        if !kept.iter().any(|other| other.seats == entrant.seats) {
            kept.push(entrant);
        }
    }
    kept
}

fn group(topology: &Topology, pus: &[u32], level: Level, name: &str) -> Option<Entrant> {
    let group_of = level.groups(topology, pus)?;
    let first = group_of.first()?;
    let members: CpuSet =
        pus.iter().zip(&group_of).filter(|(_, group)| *group == first).map(|(pu, _)| *pu).collect();
    let is_part = members.len() > 1 && members.len() < pus.len();
    is_part.then(|| within(&format!("one {name}"), &members))
}

fn ordered(name: &str, order: Vec<u32>) -> Entrant {
    let seats = CandidateSeats::Order(CpuList(order).to_string());
    Entrant { name: name.to_owned(), seats, predicted: None }
}

fn within(name: &str, cpus: &CpuSet) -> Entrant {
    let seats = CandidateSeats::Within(cpus.list().to_string());
    Entrant { name: name.to_owned(), seats, predicted: None }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::Pu;

    /// Two threads a core.
    fn topology() -> Topology {
        Topology {
            pus: (0..8)
                .map(|os| Pu { os, core: Some(os % 4), package: Some(os % 4 / 2), ..Pu::default() })
                .collect(),
        }
    }

    #[test]
    fn orders_and_groups_are_all_different() {
        let cpus: CpuSet = (0..8).collect();
        let found = orders_and_groups(&topology(), &cpus);
        let names: Vec<&str> = found.iter().map(|entrant| &*entrant.name).collect();
        assert_eq!(names, ["compact", "scatter", "one package", "one core", "one CPU"]);
        assert_eq!(
            found[2].seats,
            CandidateSeats::Within("0,1,4,5".to_owned()),
            "the package of the first CPU"
        );
        assert_eq!(found[4].seats, CandidateSeats::Within("7".to_owned()));
    }

    #[test]
    fn group_of_all_cpus_is_not_raced() {
        let cpus: CpuSet = [0, 4].into_iter().collect();
        let found = orders_and_groups(&topology(), &cpus);
        assert!(found.iter().all(|entrant| entrant.name != "one core"), "{found:?}");
    }
}
