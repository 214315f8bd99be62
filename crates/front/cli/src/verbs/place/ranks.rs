//! `seatmap place --on CLUSTER`.

use super::{OnCluster, PlaceArgs};
use seatmap_cluster::Cluster;
use seatmap_cluster::ranks::message_bytes;
use seatmap_cluster::ranks_here::{OwnSeatError, own_cpus as own_cpus_of};
use seatmap_console::waiting::Waiting;
use seatmap_console::{AtPath, CliError, CliResult, Destination, here, output, pattern_input};
use seatmap_data::pattern::Pattern;
use seatmap_os::CpuSet;
use seatmap_place::ranks::{ClusterNodes, RankPlan, RankRequest};
use seatmap_report::ranks;
use std::path::Path;
use std::time::Instant;

pub fn run(typed: &PlaceArgs, cluster: &Cluster) -> CliResult {
    CliError::check_input(typed.of_one_machine().map(|option| {
        format!("{option} is for one machine, and {} is a cluster; leave it out", typed.on)
    }))?;
    let destination = output::beside(typed.output.as_deref(), None, "-o")?;
    refuse_if!(
        typed.forms.json && destination == Some(Destination::Stdout),
        "only one of --json and -o - can have stdout"
    );
    let wishes = &typed.on_cluster;
    let pattern = pattern_of_ranks(typed.pattern.as_deref().unwrap_or_default(), wishes)?;
    let nodes = nodes(&typed.on, cluster, wishes, &pattern)?;
    let began = Instant::now();
    let waiting = Waiting::new("searching", typed.time().seconds());
    let request = RankRequest {
        wishes: wishes.into(),
        limit: typed.time().limit(),
        threads: typed.threads(),
        seed: typed.seed,
        ..RankRequest::new(&nodes, &pattern)
    };
    let mut plan = request.place().map_err(CliError::input)?;
    drop(waiting);
    plan.seconds = Some(began.elapsed().as_secs_f64());
    plan.date = Some(here::today());
    plan.tool = Some(here::tool());
    if let Some(destination) = &destination {
        destination.write(&plan.to_json())?;
    }
    if destination == Some(Destination::Stdout) { Ok(()) } else { show(&plan, typed.forms.json) }
}

pub fn pattern_of_ranks(text: &str, wishes: &OnCluster) -> CliResult<Pattern> {
    let first = pattern_input::pattern(text)?;
    if wishes.also.is_empty() {
        return Ok(first);
    }
    let others =
        wishes.also.iter().map(|(weight, text)| Ok((*weight, pattern_input::pattern(text)?)));
    let others = others.collect::<CliResult<Vec<_>>>()?;
    first.with(&others).map_err(CliError::input)
}

pub fn nodes(
    name: &str,
    cluster: &Cluster,
    wishes: &OnCluster,
    pattern: &Pattern,
) -> CliResult<ClusterNodes> {
    let bytes = wishes.message.map_or_else(|| message_bytes(pattern), f64::from);
    cluster.places(bytes).at(Path::new(name))
}

pub fn show(plan: &RankPlan, json: bool) -> CliResult {
    if json { output::print_exact(&plan.to_json()) } else { output::show(&ranks::page(plan)) }
}

/// The CPUs of this process's rank, on this computer.
///
/// # Errors
/// No launcher gave this process a rank, the plan has another number of ranks, or it has this rank
/// on another node.
pub fn own_cpus(path: &Path, plan: &RankPlan, any_machine: bool) -> CliResult<CpuSet> {
    own_cpus_of(plan, &here::host_name(), any_machine, |name| std::env::var(name).ok()).map_err(
        |error| match error {
            OwnSeatError::Launcher(error) => CliError::input(error),
            error => CliError::at(path, error),
        },
    )
}
