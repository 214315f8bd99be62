//! The candidates on one computer.

use crate::tune::tuned::{CandidateSeats, Entrant};
use seatmap_data::machine::{Matrix, Topology};
use seatmap_launch::sets::{self, ComputerCpus};
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
    others.insert(0, Entrant::new("default", CandidateSeats::Free));
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
            predicted: Some(candidate.cost),
            ..Entrant::new(candidate.name, CandidateSeats::Placement(candidate.placement))
        })
        .collect())
}

/// CPUs by what they are, and all others. The other hardware threads are as good as `no-smt`.
const WORDS: [&str; 5] =
    ["kind:performance", "not:kind:performance", "cache:biggest", "not:cache:biggest", "no-smt"];

/// The groups of CPUs that words name on this machine; `before` is added to the words.
fn by_words(topology: &Topology, cpus: &CpuSet, before: &str) -> impl Iterator<Item = Entrant> {
    let usable = cpus.clone();
    let computer = ComputerCpus { usable, ..ComputerCpus::of_machine(topology.clone(), None) };
    WORDS.into_iter().filter_map(move |word| {
        // A word that distinguishes nothing here is an error.
        let named = sets::all_of(word, &computer).ok()?;
        let words = Some(format!("{before}{word}"));
        is_part(&named, &computer.usable).then(|| Entrant { words, ..within(word, &named) })
    })
}

/// Whether threads can move in this part of the CPUs.
fn is_part(part: &CpuSet, cpus: &CpuSet) -> bool {
    part.len() > 1 && part.len() < cpus.len()
}

/// Whether waiting threads of OpenMP spin or sleep.
const WAIT_POLICY: &str = "OMP_WAIT_POLICY";

/// The wait policies besides the present one, if any.
pub fn wait_policies(present: Option<&str>) -> impl Iterator<Item = Entrant> {
    let others = ["passive", "active"].into_iter();
    let others =
        others.filter(move |policy| !present.is_some_and(|now| now.eq_ignore_ascii_case(policy)));
    others.map(|policy| Entrant {
        variables: vec![format!("{WAIT_POLICY}={policy}")],
        ..Entrant::new(format!("wait {policy}"), CandidateSeats::Free)
    })
}

/// The wait policy of this process, which its children inherit.
pub fn present_wait_policy() -> Option<String> {
    std::env::var(WAIT_POLICY).ok()
}

/// Memory policies besides the kernel's, which takes the node of the CPU that first touches a page.
/// Empty on one node.
pub fn memory_policies(nodes: &CpuSet) -> Vec<Entrant> {
    let Some(first) = nodes.first().filter(|_| nodes.len() > 1) else { return Vec::new() };
    ["interleave".to_owned(), format!("node:{first}")]
        .map(|policy| Entrant {
            memory: Some(policy.clone()),
            ..Entrant::new(format!("memory {policy}"), CandidateSeats::Free)
        })
        .into()
}

/// Candidates on these CPUs, which the user has chosen or not.
pub fn orders_and_groups(topology: &Topology, cpus: &CpuSet, is_chosen: bool) -> Vec<Entrant> {
    let pus: Vec<u32> = cpus.iter().collect();
    // Distances matter only for CPUs without topology.
    let nowhere = Matrix::from_fn(pus.len(), |_, _| 1.0);
    let mut entrants = vec![
        ordered("compact", orders::compact(topology, &pus, &nowhere)),
        ordered("scatter", orders::scatter(topology, &pus, &nowhere)),
    ];
    // Alone, a word would name CPUs besides the chosen ones.
    let before = format!("{}/", sets::among(cpus));
    entrants.extend(by_words(topology, cpus, if is_chosen { &before } else { "" }));
    entrants.extend(LEVELS.iter().filter_map(|(level, name)| group(topology, &pus, *level, name)));
    // CPU 0 has most of a system's work.
    entrants.extend(pus.last().map(|cpu| within("one CPU", &CpuSet::single(*cpu))));
    // If groups coincide, the word stays, else the name of the widest level.
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
    is_part(&members, &pus.iter().copied().collect())
        .then(|| within(&format!("one {name}"), &members))
}

fn ordered(name: &str, order: Vec<u32>) -> Entrant {
    Entrant::new(name, CandidateSeats::Order(CpuList(order).to_string()))
}

fn within(name: &str, cpus: &CpuSet) -> Entrant {
    Entrant::new(name, CandidateSeats::Within(cpus.list().to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{CoreKind, Pu};

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
        let found = orders_and_groups(&topology(), &cpus, false);
        let names: Vec<&str> = found.iter().map(|entrant| &*entrant.name).collect();
        assert_eq!(names, ["compact", "scatter", "no-smt", "one package", "one core", "one CPU"]);
        assert_eq!(
            found[3].seats,
            CandidateSeats::Within("0,1,4,5".to_owned()),
            "the package of the first CPU"
        );
        assert_eq!(found[5].seats, CandidateSeats::Within("7".to_owned()));
    }

    #[test]
    fn group_of_all_cpus_is_not_raced() {
        let cpus: CpuSet = [0, 4].into_iter().collect();
        let found = orders_and_groups(&topology(), &cpus, false);
        assert!(found.iter().all(|entrant| entrant.name != "one core"), "{found:?}");
    }

    fn raced_words(
        topology: &Topology,
        cpus: &CpuSet,
        is_chosen: bool,
    ) -> Vec<(String, CandidateSeats)> {
        let found = orders_and_groups(topology, cpus, is_chosen).into_iter();
        found.filter_map(|entrant| Some((entrant.words?, entrant.seats))).collect()
    }

    fn on(word: &str, cpus: &str) -> (String, CandidateSeats) {
        (word.to_owned(), CandidateSeats::Within(cpus.to_owned()))
    }

    #[test]
    fn words_and_their_opposites_race_where_they_differ() {
        // Two performance cores with two threads each, and four efficiency cores.
        let kind = |os| if os < 4 { CoreKind::Performance } else { CoreKind::Efficiency };
        let core = |os| if os < 4 { os / 2 } else { os };
        let hybrid = |os| Pu { os, core: Some(core(os)), kind: Some(kind(os)), ..Pu::default() };
        let hybrid = Topology { pus: (0..8).map(hybrid).collect() };
        let all: CpuSet = (0..8).collect();
        let by_kind = [on("kind:performance", "0-3"), on("not:kind:performance", "4-7")];
        let no_smt = on("no-smt", "0,2,4-7");
        assert_eq!(raced_words(&hybrid, &all, false), [&by_kind[..], &[no_smt]].concat());
        // With SMT as the only difference among these CPUs, one word is left.
        let performance: CpuSet = (0..4).collect();
        assert_eq!(raced_words(&hybrid, &performance, true), [on("cpus:0-3/no-smt", "0,2")]);
        let size = |os| if os < 4 { 96 << 20 } else { 32 << 20 };
        let stacked = |os| Pu { os, l3: Some(os / 4), l3_bytes: Some(size(os)), ..Pu::default() };
        let stacked = Topology { pus: (0..8).map(stacked).collect() };
        let by_cache = [on("cache:biggest", "0-3"), on("not:cache:biggest", "4-7")];
        assert_eq!(raced_words(&stacked, &all, false), by_cache);
        let names = orders_and_groups(&stacked, &all, false);
        assert!(names.iter().all(|entrant| entrant.name != "one L3 cache"), "the word stays");
        assert_eq!(raced_words(&topology(), &(0..4).collect(), false), []);
    }

    #[test]
    fn policies_besides_the_present_one_race() {
        let waits = |present| -> Vec<String> {
            wait_policies(present).flat_map(|entrant| entrant.variables).collect()
        };
        assert_eq!(waits(None), ["OMP_WAIT_POLICY=passive", "OMP_WAIT_POLICY=active"]);
        assert_eq!(waits(Some("PASSIVE")), ["OMP_WAIT_POLICY=active"]);
        let memory = |nodes: &str| -> Vec<String> {
            let nodes = CpuSet::of_list(nodes).unwrap();
            memory_policies(&nodes).into_iter().filter_map(|entrant| entrant.memory).collect()
        };
        assert_eq!(memory("1-2"), ["interleave", "node:1"]);
        assert!(memory("0").is_empty());
    }
}
