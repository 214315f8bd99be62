//! The ranks of a job on the nodes of a cluster, for a terminal.

use crate::page::{Page, Table, cells, section};
use crate::words::{agreeing, beyond, counted, joined, signed, time};
use seatmap_os::CpuList;
use seatmap_place::ranks::{OrderCosts, RankPlan};

const MOST_NODES: usize = 32;

/// The page of a rank plan, compared with the orders of launchers.
pub fn page(plan: &RankPlan) -> Page {
    let ranks = plan.ranks_of_nodes();
    let used = ranks.iter().filter(|ranks| !ranks.is_empty()).count();
    let pattern = plan.pattern.as_deref().map(|name| format!(" of {name}")).unwrap_or_default();
    let count = counted(plan.node_of_rank.len(), "rank");
    // Sizes of 'cluster measure' above a KiB are multiples of it.
    let size = match plan.message_bytes {
        bytes @ ..1024 => format!("{bytes} B"),
        bytes => format!("{} KiB", bytes / 1024),
    };
    let means = if plan.by_mpi { " over MPI" } else { "" };
    let nodes_of = counted(ranks.len(), "node");
    let proof = plan.optimal.then(|| "Proven optimal.".to_owned());
    let more = beyond(used, MOST_NODES).map(|more| format!("  and {}", counted(more, "more node")));
    Page {
        lead: vec![format!(
            "{count}{pattern} on {used} of {nodes_of}; cost: round trips of {size}{means}"
        )],
        sections: vec![
            section("Orders", orders(plan)).with(proof),
            section("Nodes", nodes(plan, &ranks)).with(more),
        ],
        ..Page::default()
    }
}

fn orders(plan: &RankPlan) -> Table {
    let columns = "order:11 | all trips:>10 | :>7 | in a node:>9 | in a group:>9 | between:>10";
    let row = |name: &str, costs: &OrderCosts| {
        let shares = [costs.in_node, costs.in_group, costs.between_groups];
        let total = [time(costs.total_ns), more(costs.total_ns, plan.costs.total_ns)];
        let shares = shares.map(|share| format!("{:.0} %", 100.0 * share));
        [&[name.to_owned()][..], &total, &shares].concat()
    };
    let bound = Some(plan.lower_bound_ns)
        .filter(|bound| *bound > 0.0)
        .map(|bound| vec!["lower bound".to_owned(), time(bound), more(bound, plan.costs.total_ns)]);
    let others = plan.orders.iter().map(|order| row(&order.name, &order.costs));
    Table::new(columns)
        .rows(std::iter::once(row("this plan", &plan.costs)).chain(others).chain(bound))
}

fn more(ns: f64, plan_ns: f64) -> String {
    let percent = 100.0 * (ns / plan_ns - 1.0);
    // The plan itself has no difference; a plan without cost has no ratio.
    if ns == plan_ns || !percent.is_finite() {
        return String::new();
    }
    format!("{} %", signed(percent, 0))
}

fn nodes(plan: &RankPlan, ranks: &[Vec<usize>]) -> Table {
    let used = ranks.iter().enumerate().filter(|(_, ranks)| !ranks.is_empty());
    Table::new("|").rows(used.take(MOST_NODES).map(|(node, ranks)| {
        let list = CpuList(ranks.iter().map(|rank| *rank as u32).collect());
        let cpus = ranks.iter().map(|rank| CpuList(plan.cpus_of_rank[*rank].clone()));
        let many = agreeing(ranks.len(), "rank", "ranks");
        let noun = agreeing(ranks.len(), "CPU", "CPUs");
        cells![&plan.nodes[node], format!("{many} {list} on {noun} {}", joined(cpus, " "))]
    }))
}
