//! Rules and seats for checks.

use crate::expected::{ExpectedSeat, ReportedProgram};
use crate::judge::Criteria;
use crate::{Expected, Rule, Seating, UnitBaselines};
use seatmap_os::{CpuSet, FileError, Root, Tid, task};
use std::collections::BTreeSet;

/// Rules and seats.
#[derive(Clone, Debug, Default)]
pub struct Standard {
    /// The named rules, or the default ones.
    pub rules: Vec<Rule>,
    /// The threads' seats.
    pub seats: ExpectedSource,
    /// Units' good states.
    pub baselines: Option<UnitBaselines>,
    /// Whether unread things fail the check.
    pub strict: bool,
}

/// The source of seats.
#[derive(Clone, Debug, Default)]
pub enum ExpectedSource {
    /// The launchers of programs under `seatmap run`.
    #[default]
    Launchers,
    /// A plan or an earlier seating.
    Given(Expected),
    /// A plan for a job's ranks. The seats depend on the processes found.
    Ranks(RankSeats),
}

/// The seats of a job's ranks here.
#[derive(Clone, Debug)]
pub struct RankSeats {
    /// The seat of each rank.
    pub seats: Vec<RankPlace>,
    /// A process's rank by its launcher's variables, if any.
    pub rank_of: fn(Tid) -> Option<usize>,
}

/// The place of a rank.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RankPlace {
    /// These CPUs of this computer.
    Here(CpuSet),
    /// The node with this name.
    Elsewhere(String),
}

impl RankSeats {
    /// Processes here with a rank.
    ///
    /// # Errors
    /// [`FileError`]: `/proc` cannot be read.
    pub fn living(&self) -> Result<Vec<Tid>, FileError> {
        let processes = task::processes(&Root::new("/"))?;
        Ok(processes.filter(|pid| (self.rank_of)(*pid).is_some()).collect())
    }

    pub(crate) fn expected(&self, seating: &Seating) -> Expected {
        let mut expected = Expected { needs_all: true, is_numbered: true, ..Expected::default() };
        let seat = |rank: usize, cpus: &CpuSet, thread| ExpectedSeat {
            label: format!("rank {rank}"),
            cpus: cpus.clone(),
            name: None,
            thread,
        };
        let mut found = BTreeSet::new();
        for pid in seating.processes.iter().map(|process| process.pid) {
            let Some(rank) = (self.rank_of)(pid) else { continue };
            found.insert(rank);
            match self.seats.get(rank) {
                Some(RankPlace::Here(cpus)) => {
                    let own = seating.threads.iter().filter(|thread| thread.pid == pid);
                    let own = own.map(|thread| seat(rank, cpus, Some((pid, thread.tid))));
                    expected.seats.extend(own);
                }
                Some(RankPlace::Elsewhere(node)) => {
                    // Plural: "runs" is a verb here.
                    let what = format!("rank {rank} runs here, but should run on {node}");
                    expected.misplaced.push((pid, what));
                }
                // A variable may claim a rank outside the plan.
                None => {}
            }
        }
        for (rank, place) in self.seats.iter().enumerate() {
            if let RankPlace::Here(cpus) = place
                && !found.contains(&rank)
            {
                expected.seats.push(seat(rank, cpus, None));
            }
        }
        expected
    }
}

impl Standard {
    /// The program of a seating on file, if that has the seats.
    pub fn reported(&self) -> Option<&ReportedProgram> {
        match &self.seats {
            ExpectedSource::Given(expected) => expected.program.as_ref(),
            _ => None,
        }
    }

    /// Whether seats were given.
    pub fn has_seats(&self) -> bool {
        !matches!(self.seats, ExpectedSource::Launchers)
    }

    /// The rules and seats for a seating here.
    ///
    /// # Errors
    /// [`FileError`]: a launcher's seats cannot be read.
    pub fn of(&self, seating: &Seating) -> Result<Criteria, FileError> {
        let expected = match &self.seats {
            ExpectedSource::Launchers if self.rules.is_empty() => {
                Expected::shown(&Root::new("/"), seating)?
            }
            ExpectedSource::Launchers => None,
            ExpectedSource::Given(expected) => Some(expected.clone()),
            ExpectedSource::Ranks(ranks) => Some(ranks.expected(seating)),
        };
        let expected = expected.map(Expected::here);
        Ok(Criteria { rules: self.rules.clone(), expected, strict: self.strict })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn ranks_on_wrong_node_are_misplaced() {
        let made = Made::new(4).with("7/7 on 0; 8/8 on 1");
        let ranks = RankSeats {
            seats: vec![
                RankPlace::Here(CpuSet::single(0)),
                RankPlace::Elsewhere("n1".to_owned()),
                RankPlace::Here(CpuSet::single(2)),
            ],
            rank_of: |pid| usize::try_from(pid - 7).ok(),
        };
        let standard = Standard { seats: ExpectedSource::Ranks(ranks), ..Standard::default() };
        assert!(standard.has_seats() && !Standard::default().has_seats());
        let expected = standard.of(&made.seating).unwrap().expected.unwrap();
        let seats: Vec<(&str, String)> = expected
            .seats
            .iter()
            .map(|seat| (seat.label.as_str(), seat.cpus.to_string()))
            .collect();
        assert_eq!(
            seats,
            [("rank 0", "0".to_owned()), ("rank 2", "2".to_owned())],
            "rank 2 is missing here, and should be"
        );
        assert_eq!(expected.misplaced, [(8, "rank 1 runs here, but should run on n1".to_owned())]);
    }
}
