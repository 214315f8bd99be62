//! The ranks of a job on the nodes of a cluster, in the terminal.

use crate::counted;
use crate::duration::time;
use seatmap_data::document::{left_aligned, visible};
use seatmap_data::statistics::words::signed;
use seatmap_os::CpuList;
use seatmap_place::ranks::{OrderCosts, RankPlan};

/// The most nodes that are listed.
const MOST_NODES: usize = 32;

/// The order beside those that launchers know, and the ranks of each node.
#[must_use]
pub fn table(plan: &RankPlan) -> String {
    let ranks = plan.ranks_of_nodes();
    let used = ranks.iter().filter(|ranks| !ranks.is_empty()).count();
    let pattern =
        plan.pattern.as_deref().map(|name| format!(" of {}", visible(name))).unwrap_or_default();
    let count = counted(plan.node_of_rank.len(), "rank");
    let size = bytes(plan.message_bytes);
    let means = if plan.by_mpi { " by MPI" } else { "" };
    let nodes_of = counted(ranks.len(), "node");
    let mut text =
        format!("{count}{pattern} on {used} of {nodes_of}, by round trips of {size}{means}\n\n");
    text += &orders(plan);
    text += if plan.optimal { "No order is cheaper: proven.\n" } else { "" };
    seatmap_data::document::visible_lines(text + "\n" + &nodes(plan, &ranks))
}

fn orders(plan: &RankPlan) -> String {
    let names: Vec<String> = plan.orders.iter().map(|order| visible(&order.name)).collect();
    let width =
        names.iter().map(|name| name.chars().count()).max().unwrap_or(0).max("lower bound".len());
    let line = |name: &str, costs: &OrderCosts| {
        let share = |share: f64| format!("{:.0} %", 100.0 * share);
        let [node, group, between] =
            [costs.in_node, costs.in_group, costs.between_groups].map(share);
        let more = more(costs.total_ns, plan.costs.total_ns);
        format!(
            "  {}{:>12}{more:>9}{node:>11}{group:>11}{between:>12}\n",
            left_aligned(name, width),
            time(costs.total_ns)
        )
    };
    let mut text = format!(
        "  {}{:>12}{:>9}{:>11}{:>11}{:>12}\n",
        left_aligned("order", width),
        "all trips",
        "",
        "in a node",
        "in a group",
        "between"
    );
    text += &line("this plan", &plan.costs);
    text.extend(plan.orders.iter().zip(&names).map(|(order, name)| line(name, &order.costs)));
    // Costs are positive: a bound of 0 says nothing.
    if plan.lower_bound_ns > 0.0 {
        let less = more(plan.lower_bound_ns, plan.costs.total_ns);
        let bound = left_aligned("lower bound", width);
        text += &format!("  {bound}{:>12}{less:>9}\n", time(plan.lower_bound_ns));
    }
    text
}

/// The difference from the plan, in percent.
fn more(ns: f64, plan_ns: f64) -> String {
    let percent = 100.0 * (ns / plan_ns - 1.0);
    // The plan's own row has no difference. Over a plan that costs nothing, the ratio is not a
    // number.
    if ns == plan_ns || !percent.is_finite() {
        return String::new();
    }
    format!("{} %", signed(percent, 0))
}

fn nodes(plan: &RankPlan, ranks: &[Vec<usize>]) -> String {
    let width = plan.nodes.iter().map(|name| name.chars().count()).max().unwrap_or(0);
    let used = ranks.iter().enumerate().filter(|(_, ranks)| !ranks.is_empty());
    let line = |(node, ranks): (usize, &Vec<usize>)| {
        let list = CpuList(ranks.iter().map(|rank| *rank as u32).collect());
        let cpus: Vec<String> = ranks
            .iter()
            .map(|rank| CpuList(plan.cpus_of_rank[*rank].clone()).to_string())
            .collect();
        let many = if ranks.len() == 1 { "rank" } else { "ranks" };
        let noun = if cpus.len() == 1 && ranks.len() == 1 { "CPU" } else { "CPUs" };
        let name = left_aligned(&plan.nodes[node], width);
        format!("  {name}  {many} {list} on {noun} {}\n", cpus.join(" "))
    };
    let all = used.clone().count();
    let mut text: String = used.take(MOST_NODES).map(line).collect();
    if all > MOST_NODES {
        text += &format!("  and so on for {} more\n", counted(all - MOST_NODES, "node"));
    }
    text
}

fn bytes(size: u32) -> String {
    // Only sizes that 'cluster measure' sends stand here, and those above a KiB are multiples of
    // it.
    if size >= 1024 { format!("{} KiB", size / 1024) } else { format!("{size} B") }
}
