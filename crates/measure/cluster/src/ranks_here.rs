//! Planned seats of a job's ranks on this computer.

use crate::launcher::{LauncherError, Rank};
use seatmap_data::statistics::words::counted;
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid, host_names, task};
use seatmap_place::ranks::RankPlan;
use seatmap_watch::{RankPlace, RankSeats};

/// Why a plan has no seat for this process.
#[derive(Debug, thiserror::Error)]
pub enum OwnSeatError {
    /// No launcher gave this process a rank.
    #[error(transparent)]
    Launcher(#[from] LauncherError),
    /// The plan is for another number of ranks.
    #[error(
        "the plan is for {}, but {started} were started",
        counted(.planned, "rank")
    )]
    Size {
        /// Ranks in the plan.
        planned: usize,
        /// Started ranks.
        started: usize,
    },
    /// The plan has this rank on another node.
    #[error(
        "the plan has rank {rank} on {node}, but this is {here}: \
         start the job in the order that 'seatmap export' writes"
    )]
    Elsewhere {
        /// Rank.
        rank: usize,
        /// Its node.
        node: String,
        /// This computer.
        here: String,
    },
}

/// A process's rank, from its launcher's variables. Seatmap's own processes are not ranks.
pub fn rank_of(pid: Tid) -> Option<usize> {
    let root = Root::new("/");
    let environment = task::environment(&root, pid);
    let rank = Rank::find(|name| {
        environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    });
    let rank = rank.ok()?.rank;
    // A computer that simulates several nodes gives each its own host name.
    (task::shares_host_name(&root, pid) && !task::runs_this_program(&root, pid)).then_some(rank)
}

/// The planned seats, seen from `here`; with `any_machine`, all are here.
pub fn seats(plan: &RankPlan, here: &str, any_machine: bool) -> RankSeats {
    let own = host_names::node_of(here, &plan.nodes);
    let seats = plan
        .cpus_of_rank
        .iter()
        .enumerate()
        .map(|(rank, cpus)| {
            if any_machine || Some(plan.node_of_rank[rank]) == own {
                RankPlace::Here(cpus.iter().copied().collect())
            } else {
                RankPlace::Elsewhere(plan.node(rank).to_owned())
            }
        })
        .collect();
    RankSeats { seats, rank_of }
}

/// The planned CPUs of this process's rank on the computer `here`. `variable` looks up a launcher's
/// variable.
///
/// # Errors
/// [`OwnSeatError`].
pub fn own_cpus(
    plan: &RankPlan,
    here: &str,
    any_machine: bool,
    variable: impl Fn(&str) -> Option<String>,
) -> Result<CpuSet, OwnSeatError> {
    let Rank { rank, size, .. } = Rank::find(variable)?;
    let planned = plan.node_of_rank.len();
    if size != planned {
        return Err(OwnSeatError::Size { planned, started: size });
    }
    let is_here = host_names::node_of(here, &plan.nodes) == Some(plan.node_of_rank[rank]);
    if !is_here && !any_machine {
        let node = plan.node(rank).to_owned();
        return Err(OwnSeatError::Elsewhere { rank, node, here: here.to_owned() });
    }
    Ok(plan.cpus_of_rank[rank].iter().copied().collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::Square;
    use seatmap_data::pattern::generate;
    use seatmap_place::ranks::{ClusterNodes, RankNode, RankRequest};

    fn plan() -> RankPlan {
        let node = |name: &str| RankNode { name: name.to_owned(), cpus: 2, profile: None };
        let nodes = ClusterNodes {
            nodes: vec![node("n0"), node("n1")],
            distance_ns: Square::from_fn(2, |i, j| if i == j { 100.0 } else { 9000.0 }),
            message_bytes: 8,
            by_mpi: false,
            group: vec![0, 0],
        };
        let pattern = generate("ring:4").unwrap();
        let mut request = RankRequest::new(&nodes, &pattern);
        request.limit = seatmap_place::search::SearchLimit::kicks(10);
        request.place().unwrap()
    }

    fn started(rank: usize, size: usize) -> impl Fn(&str) -> Option<String> {
        move |name| match name {
            "RANK" => Some(rank.to_string()),
            "WORLD_SIZE" => Some(size.to_string()),
            _ => None,
        }
    }

    #[test]
    fn rank_has_its_cpus_only_on_its_node() {
        let plan = plan();
        let rank = (0..4).find(|rank| plan.node(*rank) == "n1").unwrap();
        let cpus: CpuSet = plan.cpus_of_rank[rank].iter().copied().collect();
        assert_eq!(own_cpus(&plan, "n1", false, started(rank, 4)).unwrap(), cpus);
        assert_eq!(own_cpus(&plan, "n1.example.org", false, started(rank, 4)).unwrap(), cpus);
        assert_eq!(own_cpus(&plan, "n0", true, started(rank, 4)).unwrap(), cpus);
        let error = own_cpus(&plan, "n0", false, started(rank, 4)).unwrap_err().to_string();
        assert!(error.ends_with("in the order that 'seatmap export' writes"), "{error}");
        let error = own_cpus(&plan, "n1", false, started(0, 8)).unwrap_err().to_string();
        assert_eq!(error, "the plan is for 4 ranks, but 8 were started");
        assert!(matches!(
            own_cpus(&plan, "n1", false, |_| None).unwrap_err(),
            OwnSeatError::Launcher(_)
        ));
    }

    #[test]
    fn ranks_of_other_nodes_are_elsewhere() {
        let plan = plan();
        let elsewhere = |any_machine: bool| {
            let seats = seats(&plan, "n0", any_machine).seats;
            seats.iter().filter(|place| matches!(place, RankPlace::Elsewhere(_))).count()
        };
        assert_eq!((elsewhere(false), elsewhere(true)), (2, 0));
        let long = seats(&plan, "n0.example.org", false).seats;
        assert_eq!(long.iter().filter(|place| matches!(place, RankPlace::Here(_))).count(), 2);
    }

    #[test]
    fn test_process_is_not_a_rank() {
        assert_eq!(rank_of(std::process::id() as Tid), None);
    }
}
