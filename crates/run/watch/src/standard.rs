//! Rules and seats for checks.

use crate::expected::ReportedProgram;
use crate::judge::Criteria;
use crate::{Expected, Rule, Seating, UnitBaselines};
use seatmap_os::root::{FileError, Root};
use seatmap_os::{CpuSet, Tid, task};

/// Rules and seats.
#[derive(Clone, Debug, Default)]
pub struct Standard {
    /// The named rules; by default, the default ones.
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

/// The seats of a job's ranks on this computer.
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

    fn expected(&self, seating: &Seating) -> Expected {
        let here: Vec<usize> = self
            .seats
            .iter()
            .enumerate()
            .filter(|(_, place)| matches!(place, RankPlace::Here(_)))
            .map(|(rank, _)| rank)
            .collect();
        Expected::of_ranks(
            seating,
            &here,
            // A process's variable may claim a rank that is not in the plan.
            |pid| (self.rank_of)(pid).filter(|rank| *rank < self.seats.len()),
            |rank| match &self.seats[rank] {
                RankPlace::Here(cpus) => Ok(cpus.clone()),
                RankPlace::Elsewhere(node) => Err(node.clone()),
            },
        )
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
        let criteria = Criteria { rules: self.rules.clone(), expected: None, strict: self.strict };
        let expected = match &self.seats {
            ExpectedSource::Launchers => return criteria.of(&Root::new("/"), seating),
            ExpectedSource::Given(expected) => expected.clone(),
            ExpectedSource::Ranks(ranks) => ranks.expected(seating),
        };
        Ok(Criteria { expected: Some(expected), ..criteria })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::judge::made::Made;

    #[test]
    fn ranks_on_wrong_node_are_misplaced() {
        let made = Made::new(4).thread(7, 7, "0").thread(8, 8, "1");
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
