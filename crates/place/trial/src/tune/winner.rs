//! The plan of a race's winner.

use crate::tune::tuned::{CandidateSeats, Entrant, Tuned};
use seatmap_data::plan::Plan;
use seatmap_os::CpuList;

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
    /// The winner's plan as JSON, or why it has none.
    pub plan: Result<String, String>,
}

fn no_plan<T>(why: &str) -> Result<T, String> {
    Err(format!("no plan was written: {why}"))
}

pub(crate) fn method(winner: &Entrant) -> String {
    format!("raced: {}", winner.name)
}

/// # Errors
/// Why a race gives no plan.
pub(crate) fn safe(tuned: &Tuned) -> Result<&Entrant, String> {
    const NOT_SHOWN: &str = "the winner was not shown to be as good as the default";
    let Some(verdict) = &tuned.verdict else { return no_plan(NOT_SHOWN) };
    let winner = &tuned.candidates[verdict.winner];
    match winner.seats {
        _ if verdict.safe => Ok(winner),
        CandidateSeats::Free => no_plan("no candidate was better than the default"),
        _ => no_plan(NOT_SHOWN),
    }
}

/// The plan of a winner on one machine.
///
/// # Errors
/// A sentence: a plan cannot represent its seats.
pub(crate) fn plan(winner: &Entrant, provenance: &Provenance) -> Result<String, String> {
    let mut seats = Vec::new();
    let mut within = None;
    let placement = match &winner.seats {
        CandidateSeats::Placement(placement) => placement.clone(),
        // In an order of CPUs, task k is on the k-th CPU.
        CandidateSeats::Order(list) => listed(list),
        // All threads share one seat, on which the kernel decides.
        CandidateSeats::Within(list) => {
            seats.push(listed(list));
            within = Some(list.clone());
            listed(list).into_iter().take(1).collect()
        }
        CandidateSeats::Kernel(setting) => {
            return no_plan(&format!("the winner is a kernel setting, {}", setting.switch));
        }
        CandidateSeats::Free if is_started_otherwise(winner) => {
            return no_plan(&format!(
                "the winner has no seats, but other settings: {}",
                winner.name
            ));
        }
        CandidateSeats::Free | CandidateSeats::Ranks(_) => {
            return no_plan("no candidate was better than the default");
        }
    };
    let plan = Plan {
        seats,
        words: winner.words.clone(),
        within: winner.words.as_ref().and(within),
        method: Some(method(winner)),
        pattern: provenance.pattern.clone(),
        date: Some(provenance.date.clone()),
        tool: Some(provenance.tool.clone()),
        ..Plan::new(provenance.machine.clone(), placement)
    };
    Ok(plan.to_json())
}

fn listed(cpus: &str) -> Vec<u32> {
    cpus.parse::<CpuList>().map(|list| list.0).unwrap_or_default()
}

fn is_started_otherwise(winner: &Entrant) -> bool {
    winner.count.is_some() || winner.memory.is_some() || !winner.variables.is_empty()
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
        let written = plan(safe(&tuned).unwrap(), &provenance()).unwrap();
        let written = Plan::from_json(&written).unwrap();
        assert_eq!(
            (written.method.unwrap().as_str(), written.placement),
            ("raced: best", vec![0, 1])
        );
        tuned.candidates[1] = Entrant {
            words: Some("kind:performance".to_owned()),
            ..Entrant::new("best", CandidateSeats::Within("0-3".to_owned()))
        };
        let written = plan(safe(&tuned).unwrap(), &provenance()).unwrap();
        let written = Plan::from_json(&written).unwrap();
        assert_eq!(
            (written.words.as_deref(), written.within.as_deref(), written.seat(0)),
            (Some("kind:performance"), Some("0-3"), &[0, 1, 2, 3][..])
        );
        let kernel = KernelSwitch { switch: "sched-cache".to_owned(), on: true };
        let free = Entrant::new("4 threads", CandidateSeats::Free);
        for (winner, why) in [
            (Entrant::new("x", CandidateSeats::Kernel(kernel)), "a kernel setting, sched-cache"),
            (Entrant { count: Some(4), ..free }, "but other settings: 4 threads"),
        ] {
            tuned.candidates[1] = winner;
            let none = plan(safe(&tuned).unwrap(), &provenance()).unwrap_err();
            assert!(none.to_string().ends_with(why), "{none}");
        }
    }

    #[test]
    fn unsafe_or_default_winner_yields_no_plan() {
        let mut tuned = made(Better::Lower);
        let verdict = tuned.verdict.as_mut().unwrap();
        verdict.safe = false;
        let why = |tuned: &Tuned| safe(tuned).unwrap_err().to_string();
        assert!(why(&tuned).ends_with("was not shown to be as good as the default"));
        tuned.verdict.as_mut().unwrap().winner = 0;
        assert!(why(&tuned).ends_with("no candidate was better than the default"));
    }
}
