//! The page of one plan: gains, seats, heatmaps.

use super::{document, head};
use crate::about::counted;
use crate::floor::{self, Comparison};
use crate::placement::rows;
use crate::svg::traffic::Labelled;
use crate::{Grid, Order, sentence, svg};
use maud::{Markup, html};
use seatmap_machine::Profile;
use seatmap_pattern::{Edge, Pattern};
use seatmap_plan::Plan;
use std::collections::BTreeMap;

/// Machines of up to this many PUs also list those without a task.
const MOST_FREE: usize = 32;

/// A plan as one HTML file: its gain, the seats, the distances of the machine and those between the
/// tasks.
#[must_use]
pub fn placement(
    profile: &Profile,
    pattern: &Pattern,
    plan: &Plan,
    comparison: &Comparison,
) -> String {
    let title = format!("{} on {}", plan.pattern.as_deref().unwrap_or("a placement"), plan.machine);
    let lead = html! {
        p.lead { (plan.placement.len()) " tasks, " (pattern.edges.len()) " edges, "
            (plan.method.as_deref().unwrap_or("placed by hand")) }
    };
    let body = html! {
        (head(&title, &sentence::of_plan(plan), &lead))
        main {
            section.card { h2 { "Gains" } (gains(plan)) }
            section.card { h2 { "Threads, lines and traffic" } (floor::section(comparison)) }
            section.card { h2 { "Seats" } (seats(profile, plan)) }
            section.card { h2 { "Traffic, tasks in the order of their seats" } (traffic(profile, pattern, plan)) }
            section.card { h2 { "Core distances" } (svg::picture(profile, Grid::of(profile, Order::Group, None).as_ref())) }
        }
        footer { "Cost: weight x round trip of one cache line between the seats, summed over all edges." }
    };
    document(&title, &body, "", "null")
}

/// The cost of each placement as a bar and a figure: both are the same quantity, and bars begin at
/// zero.
fn gains(plan: &Plan) -> Markup {
    let rows = rows(plan);
    let cost = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let most = rows.iter().map(|(_, text, _)| cost(text)).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        table.figures.bars {
            thead { tr { th { "Placement" } th.wide { "Cost" } th { "Against the best found" } } }
            tbody {
                @for (what, text, more) in &rows {
                    tr {
                        th scope="row" { (what) }
                        td.wide {
                            div.measure {
                                span.bar style=(format!("width:{:.1}%", 65.0 * cost(text) / most)) {}
                                span { (text) }
                            }
                        }
                        td { (more) }
                    }
                }
            }
        }
    }
}

/// A row a group, each of its PUs with its task; where the machine is large, only those that have
/// one.
fn seats(profile: &Profile, plan: &Plan) -> Markup {
    let Some(grid) = Grid::of(profile, Order::Group, None) else { return html! {} };
    let tasks = tasks_by_seat(plan);
    let is_listed = |os: &u32| grid.os.len() <= MOST_FREE || tasks.contains_key(os);
    let free = grid.os.iter().filter(|os| !tasks.contains_key(os)).count();
    html! {
        div.seats {
            @for group in groups(&grid) {
                @let listed: Vec<u32> = group.into_iter().filter(is_listed).collect();
                @if !listed.is_empty() { div { @for os in listed { (seat(os, tasks.get(&os), &plan.names)) } } }
            }
        }
        @if grid.os.len() > MOST_FREE && free > 0 { p.hint { (counted(free, "CPU")) " without a task are not listed." } }
    }
}

fn seat(os: u32, tasks: Option<&Vec<usize>>, names: &[String]) -> Markup {
    let name = |task: &usize| names.get(*task).cloned().unwrap_or_else(|| task.to_string());
    let names: Option<Vec<String>> = tasks.map(|tasks| tasks.iter().map(name).collect());
    html! {
        span.seat.(if names.is_some() { "used" } else { "free" }) {
            span { "CPU " (os) }
            b { @match names { Some(names) => (names.join(", ")), None => "-" } }
        }
    }
}

fn tasks_by_seat(plan: &Plan) -> BTreeMap<u32, Vec<usize>> {
    let mut tasks = BTreeMap::<u32, Vec<usize>>::new();
    for (task, os) in plan.placement.iter().enumerate() {
        tasks.entry(*os).or_default().push(task);
    }
    tasks
}

/// The PUs of each group, in the order of the heatmap.
fn groups(grid: &Grid) -> Vec<Vec<u32>> {
    let mut groups = vec![Vec::new()];
    for (row, os) in grid.os.iter().enumerate() {
        if let Some(group) = groups.last_mut() {
            group.push(*os);
        }
        if grid.ends_group(row) {
            groups.push(Vec::new());
        }
    }
    groups
}

/// Seats with their tasks in the order of the heatmap.
struct Seated {
    /// Pairs of (PU, task).
    seated: Vec<(u32, usize)>,
    /// How many of them come before each group but the first.
    ends: Vec<usize>,
}

impl Seated {
    fn of(grid: &Grid, plan: &Plan) -> Self {
        let tasks = tasks_by_seat(plan);
        let of_seat = |os: &u32| {
            tasks.get(os).into_iter().flatten().map(|task| (*os, *task)).collect::<Vec<_>>()
        };
        let mut seated = Vec::new();
        let mut ends = Vec::new();
        for group in groups(grid) {
            let here: Vec<(u32, usize)> = group.iter().flat_map(of_seat).collect();
            ends.extend((!here.is_empty() && !seated.is_empty()).then_some(seated.len()));
            seated.extend(here);
        }
        Seated { seated, ends }
    }

    /// A pattern whose tasks have the numbers of their places in this order.
    fn renumbered(&self, pattern: &Pattern) -> Pattern {
        let place: BTreeMap<usize, usize> =
            self.seated.iter().enumerate().map(|(at, (_, task))| (*task, at)).collect();
        let edge = |edge: &Edge| {
            Some(Edge { from: *place.get(&edge.from)?, to: *place.get(&edge.to)?, ..*edge })
        };
        Pattern::gathered(
            &pattern.name,
            self.seated.len().max(1),
            pattern.edges.iter().filter_map(edge),
        )
    }
}

/// The traffic between seats, in the order of the heatmap: good plans keep it near the diagonal.
fn traffic(profile: &Profile, pattern: &Pattern, plan: &Plan) -> Markup {
    let Some(grid) = Grid::of(profile, Order::Group, None) else { return html! {} };
    let order = Seated::of(&grid, plan);
    let label = |at: usize| order.seated.get(at).map_or_else(String::new, |(os, _)| os.to_string());
    let labels = Labelled {
        title: "Bytes between seats",
        axis: "CPUs in the order of their groups",
        label: &label,
        ends: &order.ends,
    };
    svg::traffic::labelled(&order.renumbered(pattern), &labels)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::DrawnPlacement;

    #[test]
    fn names_cannot_run_as_scripts() {
        let profile = crate::samples::two_groups();
        let mut pattern = seatmap_pattern::generate("ring:2").unwrap();
        pattern.names = vec!["<script>alert(1)</script>".to_owned(), "b".to_owned()];
        let plan =
            Plan { names: pattern.names.clone(), cost: Some(1.0), ..Plan::new("x", vec![0, 1]) };
        let seatings = [
            DrawnPlacement::in_order(&profile, &pattern, &plan, vec![0, 1]),
            DrawnPlacement::planned(&pattern, &plan),
        ];
        let comparison = Comparison::new(&profile, None, &pattern, &plan, seatings);
        let page = placement(&profile, &pattern, &plan, &comparison);
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(page.contains("CPU 0") && page.contains("<svg"));
    }

    /// The page of a ring of four tasks on a machine of `pus`, its plan in the second group.
    fn page_of(pus: u32) -> String {
        let profile = crate::samples::grouped(pus, 4);
        let pattern = seatmap_pattern::generate("ring:4").unwrap();
        let random = seatmap_plan::Random { mean: 400.0, best: 300.0 };
        let baselines =
            Some(seatmap_plan::Baselines { os: 250.0, compact: 200.0, scatter: 500.0, random });
        let plan = Plan { cost: Some(200.0), baselines, ..Plan::new("x", vec![4, 5, 6, 7]) };
        let seatings = [
            DrawnPlacement::in_order(&profile, &pattern, &plan, vec![0, 1, 2, 3]),
            DrawnPlacement::planned(&pattern, &plan),
        ];
        placement(
            &profile,
            &pattern,
            &plan,
            &Comparison::new(&profile, None, &pattern, &plan, seatings),
        )
    }

    #[test]
    fn large_machines_list_only_seats_with_tasks() {
        let small = page_of(16);
        let large = page_of(64);
        assert_eq!(
            (small.matches("seat free").count(), small.matches("seat used").count()),
            (12, 4)
        );
        assert_eq!(
            (large.matches("seat free").count(), large.matches("seat used").count()),
            (0, 4)
        );
        assert!(large.contains("60 CPUs without a task are not listed."));
    }

    #[test]
    fn a_bar_is_as_long_as_its_label_says() {
        let page = page_of(16);
        for (width, cost) in [("65.0", "500"), ("32.5", "250"), ("26.0", "200")] {
            let bar = format!("style=\"width:{width}%\"></span><span>{cost}</span>");
            assert!(page.contains(&bar), "{bar} in {page}");
        }
    }

    #[test]
    fn traffic_has_the_cpus_on_its_axes() {
        let page = page_of(64);
        let matrix = page.split("Bytes between seats").nth(2).unwrap_or_default();
        for cpu in ["4", "5", "6", "7"] {
            assert!(
                matrix.contains(&format!("text-anchor=\"end\">{cpu}</text>")),
                "{cpu} in {matrix}"
            );
        }
        assert!(matrix.contains("Rows send, columns receive: CPUs"), "{matrix}");
    }
}
