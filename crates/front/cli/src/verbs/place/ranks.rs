//! `seatmap place --on CLUSTER`.

use crate::args::{OnCluster, Place};
use seatmap_cluster::Cluster;
use seatmap_cluster::choice::SIZE_BYTES;
use seatmap_console::error::{AtFile, CliError};
use seatmap_console::output::{self, Destination};
use seatmap_console::waiting::Waiting;
use seatmap_console::{here, input, pattern_input};
use seatmap_os::root::Root;
use seatmap_os::{CpuSet, Tid, task};
use seatmap_pattern::Pattern;
use seatmap_place::search::Limit;
use seatmap_ranks::{Nodes, RankPlan, RankRequest};
use seatmap_report::ranks;
use seatmap_statistics::words::counted;
use seatmap_watch::{Expected, Seating};
use std::path::Path;
use std::time::Instant;

/// Says on which nodes and CPUs the ranks of a pattern should run.
pub fn run(typed: &Place, cluster: &Cluster) -> Result<(), CliError> {
    if let Some(option) = typed.of_one_machine() {
        return Err(CliError::input(format!(
            "{option} is for one machine, and {} is a cluster; leave it out",
            typed.on
        )));
    }
    let destination = typed.output.as_deref().map(Destination::new).transpose()?;
    if typed.json && destination == Some(Destination::Stdout) {
        return Err(CliError::input("only one of --json and -o - can have stdout"));
    }
    let pattern = pattern(typed.pattern.as_deref().unwrap_or_default(), &typed.on_cluster)?;
    let nodes = places(&typed.on, cluster, &typed.on_cluster, &pattern)?;
    let began = Instant::now();
    let waiting = Waiting::new("searching", typed.kicks.is_none().then_some(typed.seconds));
    let request = RankRequest {
        limit: typed.kicks.map_or_else(|| Limit::seconds(typed.seconds), Limit::kicks),
        threads: typed.threads(),
        seed: typed.seed,
        ..request(&typed.on_cluster, &nodes, &pattern)
    };
    let plan = request.place().map_err(CliError::input)?;
    drop(waiting);
    let plan = RankPlan {
        seconds: Some(began.elapsed().as_secs_f64()),
        date: Some(here::today()),
        tool: Some(here::tool()),
        ..plan
    };
    if let Some(destination) = &destination {
        destination.write(&plan.to_json())?;
    }
    if typed.json {
        output::print(&plan.to_json())
    } else if destination == Some(Destination::Stdout) {
        Ok(())
    } else {
        show(&plan, false)
    }
}

fn at(name: &str, error: impl Into<Box<dyn std::error::Error>>) -> CliError {
    CliError::input(AtFile::new(Path::new(name), error))
}

/// A pattern with those that count as well.
pub fn pattern(text: &str, wishes: &OnCluster) -> Result<Pattern, CliError> {
    let first = pattern_input::pattern(text)?;
    if wishes.also.is_empty() {
        return Ok(first);
    }
    let others =
        wishes.also.iter().map(|(weight, text)| Ok((*weight, pattern_input::pattern(text)?)));
    let others = others.collect::<Result<Vec<_>, CliError>>()?;
    first.with(&others).map_err(CliError::input)
}

/// The nodes of a cluster as places for a pattern's ranks.
pub fn places(
    name: &str,
    cluster: &Cluster,
    wishes: &OnCluster,
    pattern: &Pattern,
) -> Result<Nodes, CliError> {
    cluster.places(message_bytes(wishes, pattern)).map_err(|error| at(name, error))
}

/// The request that these wishes make; its time is not said.
pub fn request<'a>(wishes: &OnCluster, nodes: &'a Nodes, pattern: &'a Pattern) -> RankRequest<'a> {
    RankRequest {
        cpus_per_rank: wishes.cpus_per_rank.map_or(1, usize::from),
        ranks_per_node: wishes.ranks_per_node.map(|ranks| ranks as usize),
        in_blocks: wishes.blocks,
        fixed: wishes.fix_node.clone(),
        without: wishes.without.clone(),
        ..RankRequest::new(nodes, pattern)
    }
}

/// The mean size of the pattern's messages, unless one was typed. A generated pattern has messages
/// of one byte, which stand for no size: then that which tells near nodes from far ones best.
fn message_bytes(wishes: &OnCluster, pattern: &Pattern) -> f64 {
    let sum = |of: fn(&seatmap_pattern::Edge) -> f64| pattern.edges.iter().map(of).sum::<f64>();
    let mean = sum(|edge| edge.bytes) / sum(|edge| edge.messages);
    let mean = if mean > 1.0 { mean } else { f64::from(SIZE_BYTES) };
    wishes.message.map_or(mean, f64::from)
}

/// Shows a plan.
pub fn show(plan: &RankPlan, json: bool) -> Result<(), CliError> {
    output::print(&if json { plan.to_json() } else { ranks::table(plan) })
}

/// The plan for ranks in a file; `None` where it is something else.
pub fn of_file(name: &str) -> Result<Option<RankPlan>, CliError> {
    let path = Path::new(name);
    if name == "-" || !path.is_file() {
        return Ok(None);
    }
    of_bytes(path, &input::bytes(path)?)
}

/// The plan for ranks in a file that was read; `None` where it is something else.
pub fn of_bytes(path: &Path, bytes: &[u8]) -> Result<Option<RankPlan>, CliError> {
    if !RankPlan::is_plan(bytes) {
        return Ok(None);
    }
    let plan = RankPlan::from_json(&String::from_utf8_lossy(bytes));
    plan.map(Some).map_err(|error| CliError::input(AtFile::new(path, error)))
}

/// The rank that a process is on this computer, by what its launcher put into its environment. This
/// program's own processes, which seat ranks, are none.
fn rank_of(pid: Tid) -> Option<usize> {
    let root = Root::new("/");
    let environment = task::environment(&root, pid);
    let variable = |name: &str| {
        environment.iter().find(|(key, _)| key == name).map(|(_, value)| value.clone())
    };
    let rank = seatmap_cluster::Rank::find(variable).ok()?.rank;
    // A computer that plays several nodes gives each a host name of its own.
    (task::shares_host_name(&root, pid) && !task::runs_this_program(&root, pid)).then_some(rank)
}

/// The processes on this computer that a launcher gave a rank.
pub fn living() -> Result<Vec<Tid>, CliError> {
    let processes = task::processes(&Root::new("/")).map_err(CliError::work)?;
    Ok(processes.filter(|pid| rank_of(*pid).is_some()).collect())
}

/// The seats that a plan has for the ranks of a job on this computer.
pub fn expected(plan: &RankPlan, seating: &Seating, any_machine: bool) -> Expected {
    let here = here::host_name();
    let rank_of = |pid: Tid| rank_of(pid).filter(|rank| *rank < plan.node_of_rank.len());
    let ranks = 0..plan.node_of_rank.len();
    let belong: Vec<usize> = ranks.filter(|rank| any_machine || plan.node(*rank) == here).collect();
    let seat_of = |rank: usize| {
        if any_machine || plan.node(rank) == here {
            Ok(plan.cpus_of_rank[rank].iter().copied().collect())
        } else {
            Err(plan.node(rank).to_owned())
        }
    };
    Expected::of_ranks(seating, &belong, rank_of, seat_of)
}

/// The CPUs of the rank that this process is, on this computer.
///
/// # Errors
/// No launcher gave this process a rank, the plan has another number of ranks, or it has this one
/// on another node.
pub fn own_cpus(path: &Path, plan: &RankPlan, any_machine: bool) -> Result<CpuSet, CliError> {
    let rank =
        seatmap_cluster::Rank::find(|name| std::env::var(name).ok()).map_err(CliError::input)?;
    let own = rank.rank;
    let here = here::host_name();
    let planned = plan.node_of_rank.len();
    if rank.size != planned {
        let wrong = format!(
            "the plan is for {planned}, and {} were started",
            rank.size,
            planned = counted(planned, "rank")
        );
        return Err(CliError::input(AtFile::new(path, wrong)));
    }
    if plan.node(own) != here && !any_machine {
        let wrong = format!(
            "rank {own} is to run on {}, and this is {here}: start the job in the order that 'seatmap export' writes",
            plan.node(own)
        );
        return Err(CliError::input(AtFile::new(path, wrong)));
    }
    Ok(plan.cpus_of_rank[own].iter().copied().collect())
}
