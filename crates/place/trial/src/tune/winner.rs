//! The plan of a race's winner.

use crate::tune::tuned::{CandidateSeats, Entrant, Tuned};
use seatmap_data::plan::Plan;
use seatmap_os::CpuList;
use seatmap_place::ranks::RankPlan;

/// The origin of a plan.
#[derive(Clone, Debug)]
pub struct Provenance {
    /// The machine of the race.
    pub machine: String,
    /// The pattern, if one was given.
    pub pattern: Option<String>,
    /// The date, as `YYYY-MM-DD`.
    pub date: String,
    /// The program and its version.
    pub tool: String,
}

/// A finished race.
#[derive(Debug)]
pub struct RaceEnd {
    /// The race with its verdict.
    pub tuned: Tuned,
    /// The winner's plan, or why it has none.
    pub plan: Result<WinnersPlan, NoPlan>,
}

/// The plan of a winner.
#[derive(Clone, Debug)]
pub enum WinnersPlan {
    /// A CPU for each task of a program.
    Tasks(Box<Plan>),
    /// A node and CPUs for each rank of a job.
    Ranks(Box<RankPlan>),
}

impl WinnersPlan {
    /// The plan as JSON with a final newline.
    pub fn to_json(&self) -> String {
        match self {
            WinnersPlan::Tasks(plan) => plan.to_json(),
            WinnersPlan::Ranks(plan) => plan.to_json(),
        }
    }
}

/// Why a race gives no plan.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoPlan {
    /// The default won.
    #[error("no plan was written: no candidate was better than the default")]
    DefaultWon,
    /// Fresh runs did not show that the winner is as good as the default.
    #[error("no plan was written: the winner was not shown to be as good as the default")]
    NotShown,
    /// The winner lets the kernel choose among these CPUs.
    #[error("no plan was written: the winner is a mask; use 'taskset -c {0}'")]
    Mask(String),
    /// The winner is the kernel's placement with this switch changed.
    #[error("no plan was written: the winner is a kernel setting, {0}")]
    Switch(String),
}

pub(crate) fn method(winner: &Entrant) -> String {
    format!("raced: {}", winner.name)
}

/// # Errors
/// [`NoPlan`].
pub(crate) fn safe(tuned: &Tuned) -> Result<&Entrant, NoPlan> {
    let Some(verdict) = &tuned.verdict else { return Err(NoPlan::NotShown) };
    let winner = &tuned.candidates[verdict.winner];
    match winner.seats {
        _ if verdict.safe => Ok(winner),
        CandidateSeats::Free => Err(NoPlan::DefaultWon),
        _ => Err(NoPlan::NotShown),
    }
}

/// The plan of a winner on one machine.
///
/// # Errors
/// [`NoPlan`]: a plan cannot represent its seats.
pub(crate) fn plan(winner: &Entrant, provenance: &Provenance) -> Result<WinnersPlan, NoPlan> {
    let placement = match &winner.seats {
        CandidateSeats::Placement(placement) => placement.clone(),
        // In an order of CPUs, task k is on the k-th CPU.
        CandidateSeats::Order(list) => {
            list.parse::<CpuList>().map(|list| list.0).unwrap_or_default()
        }
        // A mask leaves the choice to the kernel.
        CandidateSeats::Within(list) => return Err(NoPlan::Mask(list.clone())),
        CandidateSeats::Kernel(setting) => return Err(NoPlan::Switch(setting.switch.clone())),
        CandidateSeats::Free | CandidateSeats::Ranks(_) => return Err(NoPlan::DefaultWon),
    };
    Ok(WinnersPlan::Tasks(Box::new(Plan {
        method: Some(method(winner)),
        pattern: provenance.pattern.clone(),
        date: Some(provenance.date.clone()),
        tool: Some(provenance.tool.clone()),
        ..Plan::new(provenance.machine.clone(), placement)
    })))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tune::metric::Better;
    use crate::tune::tuned::KernelSwitch;
    use crate::tune::tuned::tests::made;

    fn provenance() -> Provenance {
        Provenance {
            machine: "box".to_owned(),
            pattern: Some("ring:2".to_owned()),
            date: "2026-11-25".to_owned(),
            tool: "seatmap 0.1.0".to_owned(),
        }
    }

    #[test]
    fn safe_winner_becomes_plan_if_expressible() {
        let mut tuned = made(Better::Lower);
        let Ok(WinnersPlan::Tasks(plan_of_tasks)) = plan(safe(&tuned).unwrap(), &provenance())
        else {
            panic!("a placement is a plan")
        };
        assert_eq!(
            (plan_of_tasks.method.as_deref(), &plan_of_tasks.placement[..]),
            (Some("raced: best"), &[0, 1][..])
        );
        for (seats, why) in [
            (CandidateSeats::Within("0-3".to_owned()), "use 'taskset -c 0-3'"),
            (
                CandidateSeats::Kernel(KernelSwitch { switch: "sched-cache".to_owned(), on: true }),
                "a kernel setting, sched-cache",
            ),
        ] {
            tuned.candidates[1].seats = seats;
            let none = plan(safe(&tuned).unwrap(), &provenance()).unwrap_err();
            assert!(none.to_string().ends_with(why), "{none}");
        }
    }

    #[test]
    fn unsafe_or_default_winner_yields_no_plan() {
        let mut tuned = made(Better::Lower);
        let verdict = tuned.verdict.as_mut().unwrap();
        verdict.safe = false;
        assert_eq!(safe(&tuned).unwrap_err(), NoPlan::NotShown);
        tuned.verdict.as_mut().unwrap().winner = 0;
        assert_eq!(safe(&tuned).unwrap_err(), NoPlan::DefaultWon);
    }
}
