//! Plans: the seat of each task, and the cost of the placement.

use crate::effect;
use crate::floor::{self, FloorPlan, SeatingComparison, tasks_by_seat};
use crate::page::{Page, PageSection, Table, TableCell, cells, section};
use crate::reduced::runs;
use crate::svg::traffic::Labelled;
use crate::words::{beyond, counted, duration, joined, signed, three_digits, visible};
use crate::{Grid, GridOrder, sentence, svg};
use maud::{Markup, html};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::{Edge, Pattern};
use seatmap_data::plan::{Objective, Plan};
use seatmap_os::CpuList;
use seatmap_place::Weight;
use std::collections::BTreeMap;

const MOST_SEATS: usize = 32;

/// Larger machines list only the seats with tasks.
const MOST_FREE: usize = 32;

/// The page of a plan: costs, floor plan, seats, and both matrices.
pub fn page(
    profile: &Profile,
    pattern: &Pattern,
    plan: &Plan,
    comparison: &SeatingComparison,
) -> Page {
    let tasks = counted(plan.placement.len(), "task");
    let edges = counted(pattern.edges.len(), "edge");
    let method = plan.method.as_deref().unwrap_or("placed by hand");
    let picture = section("Threads, lines and traffic", floor::section(comparison));
    let mut page = drawn(profile, plan, picture, |grid| traffic(grid, pattern, plan));
    page.lead = vec![format!("{tasks}, {edges}, {method}")];
    // A share of the program's time says more than a ratio of costs.
    if let Some(effect) = &plan.effect {
        page.lead.push(page.headline);
        page.headline = effect::sentences(effect).join(" ");
    }
    page
}

/// The page of a saved plan, which does not contain its pattern's messages.
pub fn saved_page(profile: &Profile, floor: &FloorPlan, plan: &Plan) -> Page {
    let mut lead = vec![counted(plan.placement.len(), "task")];
    lead.extend(plan.method.clone());
    let picture = section("Tasks on the machine", floor::tasks(floor, plan));
    Page { lead, ..drawn(profile, plan, picture, |_| html! {}) }
}

fn drawn(
    profile: &Profile,
    plan: &Plan,
    picture: PageSection,
    traffic: impl Fn(&Grid) -> Markup,
) -> Page {
    let grid = Grid::of(profile, GridOrder::Group, None);
    let of_grid = |draw: &dyn Fn(&Grid) -> Markup| grid.as_ref().map_or(html! {}, draw);
    Page {
        sections: vec![
            section("Costs", gains(plan)),
            picture,
            section("Seats", of_grid(&|grid| seat_boxes(grid, plan))),
            section("Traffic, tasks in seat order", of_grid(&traffic)),
            section("Core distances", svg::picture(profile, grid.as_ref())),
        ],
        footer: cost_words(plan)[1],
        ..Page::new(title(plan), sentence::of_plan(plan))
    }
}

/// The pattern and the machine of a plan.
pub fn title(plan: &Plan) -> String {
    format!("{} on {}", plan.pattern.as_deref().unwrap_or("a placement"), plan.machine)
}

/// The unit of a plan's costs, a sentence about it, and the unit of its traffic on the machine.
pub fn cost_words(plan: &Plan) -> [&'static str; 3] {
    match plan.objective {
        Some(Objective::Congestion) => [
            "traffic on the busiest link",
            "Cost: the traffic on the busiest link.",
            "traffic on the busiest link",
        ],
        Some(Objective::Simulated) => [
            "simulated time of the messages",
            "Cost: the simulated time of the messages, from the first task's start to the last \
             task's end.",
            "time, ns",
        ],
        Some(Objective::Measured) => {
            ["run time of the program", "Cost: the program's run time.", "time, ns"]
        }
        Some(Objective::Time) => [
            "time of the slowest seat",
            "Cost: the time of the slowest seat, for the work and messages of its tasks.",
            "time, ns",
        ],
        _ if plan.waits => [
            "messages x ns of two wakeups",
            "Cost: messages x round trip of two wakeups between the seats, summed over all edges.",
            "traffic x distance, ns",
        ],
        _ => [
            "traffic x ns",
            "Cost: weight x round trip of one cache line between the seats, summed over all edges.",
            "traffic x distance, ns",
        ],
    }
}

/// Bars begin at zero.
fn gains(plan: &Plan) -> Table {
    let rows = rows(plan);
    // The minimum avoids 0 / 0 if all cost nothing.
    let most = rows.iter().map(|(_, cost, _)| *cost).fold(f64::MIN_POSITIVE, f64::max);
    let table = Table::new("placement | cost | to best:>");
    table.rows(rows.into_iter().map(|(what, cost, more)| {
        cells![what, TableCell::bar(in_words(plan, cost), cost / most), more]
    }))
}

fn seat_boxes(grid: &Grid, plan: &Plan) -> Markup {
    let tasks = tasks_by_seat(&plan.placement);
    let is_listed = |os: &u32| grid.os.len() <= MOST_FREE || tasks.contains_key(os);
    let free = grid.os.iter().filter(|os| !tasks.contains_key(os)).count();
    html! {
        div.seats {
            @for group in groups(grid) {
                @let listed = Vec::from_iter(group.iter().copied().filter(is_listed));
                @if !listed.is_empty() {
                    div { @for os in listed { (seat(os, tasks.get(&os), &plan.names)) } } }
            }
        }
        @if grid.os.len() > MOST_FREE && free > 0 {
            p.hint { (counted(free, "CPU")) " without a task are not listed." } }
    }
}

fn seat(os: u32, tasks: Option<&Vec<usize>>, names: &[String]) -> Markup {
    // T3 as on the floor plan; a bare number is a CPU.
    let names = tasks.map(|tasks| {
        let names = tasks
            .iter()
            .map(|task| names.get(*task).cloned().unwrap_or_else(|| format!("T{task}")));
        joined(names, ", ")
    });
    html! {
        span.seat.(if names.is_some() { "used" } else { "free" }) {
            span { "CPU " (os) }
            b { (names.as_deref().unwrap_or("-")) }
        }
    }
}

fn groups(grid: &Grid) -> impl Iterator<Item = &[u32]> {
    runs(&grid.group).into_iter().map(|rows| &grid.os[rows])
}

/// A good plan keeps the traffic near the diagonal.
fn traffic(grid: &Grid, pattern: &Pattern, plan: &Plan) -> Markup {
    let tasks = tasks_by_seat(&plan.placement);
    let mut seated: Vec<(u32, usize)> = Vec::new();
    // The first seat of each group, except the first group's.
    let mut ends = Vec::new();
    for group in groups(grid) {
        let before = seated.len();
        for os in group {
            seated.extend(tasks.get(os).into_iter().flatten().map(|task| (*os, *task)));
        }
        ends.extend((before > 0 && seated.len() > before).then_some(before));
    }
    let place = BTreeMap::from_iter(seated.iter().enumerate().map(|(at, (_, task))| (*task, at)));
    // A task on a PU without distances loses its edges.
    let edges = pattern.edges.iter().filter_map(|edge| {
        Some(Edge { from: *place.get(&edge.from)?, to: *place.get(&edge.to)?, ..*edge })
    });
    let labels = Labelled {
        title: "Bytes between seats",
        axis: "CPUs in group order",
        label: &|at| seated.get(at).map_or_else(String::new, |(os, _)| os.to_string()),
        ends: &ends,
    };
    let renumbered = Pattern::gathered(&pattern.name, seated.len().max(1), edges);
    svg::traffic::labelled(&renumbered, &labels)
}

/// A plan compared with the usual placements and the bound.
pub fn table(plan: &Plan) -> Page {
    let pattern = plan.pattern.as_deref().unwrap_or("A placement");
    let tasks = counted(plan.placement.len(), "task");
    let title = format!("{pattern}: {tasks} on {}", plan.machine);
    let [unit, ..] = cost_words(plan);
    let above = match &plan.effect {
        Some(effect) => {
            let model = format!("Estimated costs ({unit}; lower is better), not the run time:");
            std::iter::once(title).chain(effect::sentences(effect)).chain([model]).collect()
        }
        None => vec![format!("{title} (cost: {unit}; lower is better)")],
    };
    let table = Table::new("| :>12 |");
    let rows = rows(plan).into_iter().map(|(what, cost, more)| [what, in_words(plan, cost), more]);
    let below = vec![verdict(plan), seats(plan)];
    Page::of(section("Costs", above).with(table.rows(rows)).with(below))
}

/// The mean distance that a byte or message travels. `None` if the cost is not a sum over core
/// distances, or nothing is sent.
pub fn mean_distance(plan: &Plan, pattern: &Pattern, weight: Weight) -> Option<String> {
    let amount = match weight {
        Weight::Bytes => pattern.edges.iter().map(|edge| edge.bytes).sum::<f64>(),
        Weight::Messages => pattern.edges.iter().map(|edge| edge.messages).sum(),
    };
    let is_sum = plan.objective == Some(Objective::Distance) && !plan.waits;
    let cost = plan.cost.filter(|_| is_sum && amount > 0.0)?;
    let usual = plan.baselines?;
    let [best, os, random] =
        [cost, usual.os, usual.random.mean].map(|cost| duration(cost / amount));
    let what = match weight {
        Weight::Bytes => "A byte",
        Weight::Messages => "A message",
    };
    Some(format!(
        "{what}'s round trip takes {best} on average ({os} in OS order, {random} at random)."
    ))
}

/// A cost of a plan, which may be a time.
fn in_words(plan: &Plan, cost: f64) -> String {
    use Objective::{Measured, Simulated, Time};
    match plan.objective {
        Some(Time | Simulated | Measured) => duration(cost),
        _ => number(cost),
    }
}

/// A placement, its cost, and how much more than the best found that is.
fn rows(plan: &Plan) -> Vec<(String, f64, String)> {
    let Some(best) = plan.cost else { return Vec::new() };
    let row = |what: &str, cost: f64| {
        // If the best cost is 0 (nothing is sent), there is no percentage.
        let more = if best > 0.0 { percent(100.0 * (cost / best - 1.0)) } else { String::new() };
        (what.to_owned(), cost, more)
    };
    let mut rows = Vec::new();
    if let Some(usual) = plan.baselines {
        rows.extend([
            row("OS order (CPU 0, 1, 2 ...)", usual.os),
            row("compact", usual.compact),
            row("scatter", usual.scatter),
            row("random, mean", usual.random.mean),
            row("random, best", usual.random.best),
        ]);
    }
    let method = plan.method.as_deref().map_or_else(String::new, |method| format!(" ({method})"));
    rows.push((format!("best found{method}"), best, String::new()));
    // Costs are positive, so a bound of zero is trivial.
    rows.extend(
        plan.lower_bound.filter(|bound| *bound > 0.0).map(|bound| row("lower bound", bound)),
    );
    rows
}

fn verdict(plan: &Plan) -> String {
    match (plan.cost, plan.lower_bound) {
        // True of every placement, so not an achievement of this one.
        _ if costs_nothing(plan) && shares_one_cpu(plan) => {
            "Every placement costs 0: all tasks share one CPU.".to_owned()
        }
        _ if costs_nothing(plan) => {
            "Every placement costs 0: the tasks exchange no messages.".to_owned()
        }
        _ if plan.optimal => format!("Proven optimal{}.", condition(plan)),
        (Some(cost), Some(bound)) if bound > 0.0 => {
            format!(
                "No placement can be more than {:.1} % cheaper{}.",
                100.0 * (1.0 - bound / cost),
                condition(plan)
            )
        }
        _ => "No lower bound is known: there may be a cheaper placement.".to_owned(),
    }
}

/// Whether even random placements cost nothing.
fn costs_nothing(plan: &Plan) -> bool {
    plan.cost == Some(0.0) && plan.baselines.is_some_and(|usual| usual.random.mean == 0.0)
}

fn shares_one_cpu(plan: &Plan) -> bool {
    plan.placement.len() > 1 && plan.placement.windows(2).all(|pair| pair[0] == pair[1])
}

/// The condition of a proof by distances: sleeping threads are often faster on one CPU than on the
/// nearest two, and distances alone would put all on one.
pub(crate) fn condition(plan: &Plan) -> &'static str {
    let used: std::collections::HashSet<u32> = plan.placement.iter().copied().collect();
    if plan.waits || used.len() == plan.placement.len() {
        return "";
    }
    match plan.objective {
        Some(Objective::Distance) => " (tasks spread evenly, spinning threads)",
        Some(Objective::Time) => " (spinning threads)",
        _ => "",
    }
}

fn seats(plan: &Plan) -> String {
    let tasks = 0..plan.placement.len().min(MOST_SEATS);
    let listed = joined(tasks.map(|task| seat_of_task(plan, task)), " ");
    let more = beyond(plan.placement.len(), MOST_SEATS).map(|more| format!(" and {more} more"));
    let title = if plan.seats.is_empty() { "task:CPU" } else { "task:CPUs" };
    format!("Seats ({title}): {listed}{}", more.unwrap_or_default())
}

fn seat_of_task(plan: &Plan, task: usize) -> String {
    let cpus = CpuList(plan.seat(task).to_vec());
    match plan.names.get(task) {
        Some(name) => format!("{}:{cpus}", visible(name)),
        None => format!("{task}:{cpus}"),
    }
}

fn percent(share: f64) -> String {
    format!("{} %", signed(share, 1))
}

/// A cost in full; from a million on, three digits and a multiplier.
pub fn number(cost: f64) -> String {
    match cost.abs() {
        1e21.. => format!("{cost:.2e}"),
        1e6.. => three_digits(cost),
        _ if cost.fract() == 0.0 => format!("{cost}"),
        _ => format!("{cost:.1}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use seatmap_data::plan::{Baselines, Random};

    fn plan() -> Plan {
        Plan {
            pattern: Some("ring:3".to_owned()),
            objective: Some(Objective::Distance),
            cost: Some(200.0),
            lower_bound: Some(180.0),
            baselines: Some(Baselines {
                os: 300.0,
                compact: 250.5,
                scatter: 400.0,
                random: Random { mean: 350.0, best: 210.0 },
            }),
            method: Some("greedy growth".to_owned()),
            ..Plan::new("desk", vec![4, 2, 0])
        }
    }

    #[test]
    fn plan_table_compares_usual_placements() {
        insta::assert_snapshot!(table(&plan()).text(None));
    }

    #[test]
    fn cost_is_shown_as_mean_round_trip() {
        let ring = samples::pattern("ring:3");
        let bytes: f64 = ring.edges.iter().map(|edge| edge.bytes).sum();
        let mean = mean_distance(&plan(), &ring, Weight::Bytes).unwrap();
        let expected = duration(200.0 / bytes);
        assert!(mean.starts_with(&format!("A byte's round trip takes {expected} on")), "{mean}");
        let congestion = Plan { objective: Some(Objective::Congestion), ..plan() };
        assert_eq!(mean_distance(&congestion, &ring, Weight::Bytes), None);
        let silent = samples::pattern("idle:3");
        assert_eq!(mean_distance(&plan(), &silent, Weight::Bytes), None);
    }

    #[test]
    fn numbers_of_any_size_fit_table() {
        let shown = [
            0.0,
            812.0,
            812.25,
            1e6 - 1.0,
            1_172_735_091.2,
            1e18,
            2.5e16,
            -9.999_999e17,
            1.7e308,
            f64::INFINITY,
        ]
        .map(number);
        let wanted = [
            "0", "812", "812.2", "999999", "1.17 G", "1.00 E", "25.0 P", "-1.00 E", "1.70e308",
            "inf",
        ];
        assert_eq!(shown, wanted);
        for cost in [999_999_999_999_999.0, 123_456_789_012_345.6, 1e18] {
            let table = table(&Plan { cost: Some(cost), lower_bound: Some(cost / 2.0), ..plan() })
                .text(None);
            let line = table.lines().find(|line| line.contains("best found")).unwrap();
            assert!(line.ends_with(&format!("  {}", number(cost))), "{line}");
        }
    }

    #[test]
    fn proof_of_optimality_is_shown() {
        let proven = Plan { optimal: true, lower_bound: Some(200.0), ..plan() };
        assert!(table(&proven).text(None).contains("Proven optimal.\n"));
        let shared = Plan { placement: vec![4, 2, 4], ..proven };
        let condition = "Proven optimal (tasks spread evenly, spinning threads).";
        assert!(table(&shared).text(None).contains(condition));
        let sleeping = table(&Plan { waits: true, ..shared }).text(None);
        assert!(
            sleeping.contains("(cost: messages x ns of two wakeups; lower is better)")
                && sleeping.contains("Proven optimal.\n")
        );
    }

    #[test]
    fn task_names_are_escaped() {
        let profile = samples::two_groups();
        let mut pattern = samples::pattern("ring:2");
        pattern.names = vec!["<script>alert(1)</script>".to_owned(), "b".to_owned()];
        let plan =
            Plan { names: pattern.names.clone(), cost: Some(1.0), ..Plan::new("x", vec![0, 1]) };
        let comparison = samples::compared(&profile, &pattern, &plan, vec![0, 1]);
        let page = page(&profile, &pattern, &plan, &comparison).html();
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(page.contains("CPU 0") && page.contains("<svg"));
    }

    fn page_of(pus: u32) -> String {
        let profile = samples::grouped(pus, 4);
        let pattern = samples::pattern("ring:4");
        let plan = Plan { placement: vec![4, 5, 6, 7], ..samples::plan(200.0, 250.0, 200.0) };
        let comparison = samples::compared(&profile, &pattern, &plan, vec![0, 1, 2, 3]);
        page(&profile, &pattern, &plan, &comparison).html()
    }

    #[test]
    fn large_machines_list_only_seats_with_tasks() {
        let large = page_of(64);
        let seats = [page_of(16).as_str(), &large]
            .map(|page| ["seat free", "seat used"].map(|seat| page.matches(seat).count()));
        assert_eq!(seats, [[12, 4], [0, 4]]);
        assert!(large.contains("60 CPUs without a task are not listed."));
    }

    #[test]
    fn bar_length_matches_label() {
        let page = page_of(16);
        for (width, cost) in [("65.0", "500"), ("32.5", "250"), ("26.0", "200")] {
            let bar = format!("style=\"width:{width}%\"></span><span>{cost}</span>");
            assert!(page.contains(&bar), "{bar} in {page}");
        }
    }

    #[test]
    fn traffic_axes_show_cpus() {
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
