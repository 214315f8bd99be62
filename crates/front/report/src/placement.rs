//! Plans in the terminal: where each task sits, and how good that is.

use crate::counted;
use seatmap_document::visible;
use seatmap_plan::{Objective, Plan};

/// Seats that are listed in full; of more, only the first.
const MOST_SEATS: usize = 32;

/// Columns of a usual cost; of a longer one, two more than it has.
const COST_WIDTH: usize = 14;

/// A plan beside the usual placements and the bound, and the seats.
#[must_use]
pub fn table(plan: &Plan) -> String {
    let pattern = plan.pattern.as_deref().unwrap_or("A placement");
    let unit = match plan.objective {
        Some(Objective::Congestion) => "",
        Some(Objective::Simulated | Objective::Measured) => " (ns)",
        Some(Objective::Time) => " (ns of the slowest seat)",
        _ if plan.waits => " (messages x ns of two wakeups)",
        _ => " (weight x ns)",
    };
    let mut text = visible(&format!(
        "{pattern}: {} on {}{unit}",
        counted(plan.placement.len(), "task"),
        plan.machine
    )) + "\n";
    let rows = rows(plan);
    let width = rows.iter().map(|(what, ..)| what.chars().count()).max().unwrap_or(0);
    let cost_width =
        rows.iter().map(|(_, cost, _)| cost.len() + 2).max().unwrap_or(0).max(COST_WIDTH);
    for (what, cost, share) in rows {
        text += &format!("  {what:<width$}{cost:>cost_width$}  {share}\n").replace("  \n", "\n");
    }
    text += &verdict(plan);
    text + &seats(plan)
}

/// The name, the cost and how much more that is than the best found, for each line of the table.
pub(crate) fn rows(plan: &Plan) -> Vec<(String, String, String)> {
    let Some(best) = plan.cost else { return Vec::new() };
    let more =
        |cost: f64| if best > 0.0 { percent(100.0 * (cost / best - 1.0)) } else { String::new() };
    let row = |what: &str, cost: f64| (what.to_owned(), number(cost), more(cost));
    let mut rows = Vec::new();
    if let Some(usual) = plan.baselines {
        rows.extend([
            row("as the OS numbers them", usual.os),
            row("compact", usual.compact),
            row("scatter", usual.scatter),
            row("random, mean", usual.random.mean),
            row("random, best", usual.random.best),
        ]);
    }
    let method = plan.method.as_deref().map_or_else(String::new, |method| format!(" ({method})"));
    rows.push((format!("best found{method}"), number(best), String::new()));
    // Costs are positive: a bound of zero says nothing.
    rows.extend(
        plan.lower_bound.filter(|bound| *bound > 0.0).map(|bound| row("lower bound", bound)),
    );
    rows
}

fn verdict(plan: &Plan) -> String {
    match (plan.cost, plan.lower_bound) {
        _ if plan.optimal => format!("No placement is cheaper{}: proven.\n", condition(plan)),
        (Some(cost), Some(bound)) if bound > 0.0 => {
            format!(
                "No placement can be more than {:.1} % cheaper.\n",
                100.0 * (1.0 - bound / cost)
            )
        }
        _ => "How much cheaper a placement could be is not known.\n".to_owned(),
    }
}

/// The condition of a proof by distances: threads that sleep are often faster on one CPU than on
/// the nearest two.
pub(crate) fn condition(plan: &Plan) -> &'static str {
    let is_by_distance =
        matches!(plan.objective, Some(Objective::Distance | Objective::Time)) && !plan.waits;
    let used: std::collections::HashSet<u32> = plan.placement.iter().copied().collect();
    if is_by_distance && used.len() < plan.placement.len() {
        " for threads that spin (two on one CPU count like two on the nearest CPUs)"
    } else {
        ""
    }
}

fn seats(plan: &Plan) -> String {
    let seat = |(task, os): (usize, &u32)| match plan.names.get(task) {
        Some(name) => format!("{}:{os}", visible(name)),
        None => format!("{task}:{os}"),
    };
    let listed: Vec<String> =
        plan.placement.iter().enumerate().take(MOST_SEATS).map(seat).collect();
    let rest = plan.placement.len().saturating_sub(MOST_SEATS);
    let more = if rest > 0 { format!(" and {rest} more") } else { String::new() };
    format!("Seats (task:CPU): {}{more}\n", listed.join(" "))
}

/// A percentage with its sign; a zero that only rounding gives has none.
fn percent(share: f64) -> String {
    let rounded = (10.0 * share).round() / 10.0 + 0.0;
    format!("{rounded:+.1} %")
}

/// A cost with as many digits as mean something; from 10^15 on six of them and an exponent that is
/// a multiple of three.
#[must_use]
pub fn number(cost: f64) -> String {
    match cost.abs() {
        large if large >= LARGE => engineering(cost),
        _ if cost.fract() == 0.0 => format!("{cost}"),
        _ => format!("{cost:.1}"),
    }
}

/// Numbers from here on have more digits than a person reads.
const LARGE: f64 = 1e15;

fn engineering(cost: f64) -> String {
    let text = format!("{cost:.5e}");
    let Some((digits, exponent)) = text.split_once('e') else { return text };
    let (Ok(digits), Ok(exponent)) = (digits.parse::<f64>(), exponent.parse::<usize>()) else {
        return text;
    };
    let shift = exponent % 3;
    format!("{:.*}e{}", 5 - shift, digits * 10_f64.powi(shift as i32), exponent - shift)
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_plan::{Baselines, Random};

    pub(crate) fn plan() -> Plan {
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
    fn a_plan_stands_beside_what_is_usual() {
        insta::assert_snapshot!(table(&plan()));
    }

    #[test]
    fn a_number_of_any_size_stays_beside_its_label() {
        let shown = [
            0.0,
            812.0,
            812.25,
            1e15 - 1.0,
            1e15,
            1e18,
            2.5e16,
            -9.999_999e17,
            1.7e308,
            f64::INFINITY,
        ]
        .map(number);
        let wanted = [
            "0",
            "812",
            "812.2",
            "999999999999999",
            "1.00000e15",
            "1.00000e18",
            "25.0000e15",
            "-1.00000e18",
            "170.000e306",
            "inf",
        ];
        assert_eq!(shown, wanted);
        for cost in [999_999_999_999_999.0, 123_456_789_012_345.6, 1e18] {
            let table = table(&Plan { cost: Some(cost), lower_bound: Some(cost / 2.0), ..plan() });
            let line = table.lines().find(|line| line.contains("best found")).unwrap();
            assert!(line.ends_with(&format!("  {}", number(cost))), "{line}");
        }
    }

    #[test]
    fn what_is_proven_is_said() {
        let proven = Plan { optimal: true, lower_bound: Some(200.0), ..plan() };
        assert!(table(&proven).contains("No placement is cheaper: proven."));
        let shared = Plan { placement: vec![4, 2, 4], ..proven };
        assert!(
            table(&shared)
                .contains("No placement is cheaper for threads that spin (two on one CPU count")
        );
        let sleeping = table(&Plan { waits: true, ..shared });
        assert!(
            sleeping.contains("(messages x ns of two wakeups)")
                && sleeping.contains("is cheaper: proven.")
        );
    }
}
