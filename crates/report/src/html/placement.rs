//! The page of one plan: gains, seats, heatmaps.

use super::document;
use crate::floor::{self, Comparison};
use crate::placement::rows;
use crate::{Grid, Order, svg};
use maud::{Markup, html};
use seatmap_machine::{Matrix, Profile};
use seatmap_pattern::Pattern;
use seatmap_plan::Plan;

/// A plan as one HTML file: what it gains, who sits where, the distances of the machine and those between the tasks.
#[must_use]
pub fn placement(profile: &Profile, pattern: &Pattern, plan: &Plan, comparison: &Comparison) -> String {
    let title = format!("{} on {}", plan.pattern.as_deref().unwrap_or("a placement"), plan.machine);
    let body = html! {
        header {
            div.title {
                h1 { (title) }
                button.js #theme type="button" aria-label="Switch between light and dark" { "Light / dark" }
            }
            p.lead { (plan.placement.len()) " tasks, " (pattern.edges.len()) " edges, "
                (plan.method.as_deref().unwrap_or("placed by hand")) }
        }
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

fn gains(plan: &Plan) -> Markup {
    let rows = rows(plan);
    let cost = |text: &str| text.parse::<f64>().unwrap_or(0.0);
    let most = rows.iter().map(|(_, text, _)| cost(text)).fold(f64::MIN_POSITIVE, f64::max);
    html! {
        table {
            tr { th { "placement" } th { "cost" } th { "against the best found" } th {} }
            @for (what, text, more) in &rows {
                tr {
                    td { (what) } td style="text-align:right" { (text) } td style="text-align:right" { (more) }
                    td style="width:40%" {
                        div style=(format!("height:.8em;background:#3b7dd8;width:{:.1}%", 100.0 * cost(text) / most)) {}
                    }
                }
            }
        }
    }
}

/// A table of groups, each with its PUs and their tasks.
fn seats(profile: &Profile, plan: &Plan) -> Markup {
    let Some(grid) = Grid::of(profile, Order::Group, None) else { return html! {} };
    let tasks_on = |os: u32| -> Vec<String> {
        let here = plan.placement.iter().enumerate().filter(|(_, pu)| **pu == os);
        here.map(|(task, _)| plan.names.get(task).cloned().unwrap_or_else(|| task.to_string())).collect()
    };
    html! {
        div style="display:flex;flex-wrap:wrap;gap:3px;font-size:11px" {
            @for (at, os) in grid.os.iter().enumerate() {
                @let tasks = tasks_on(*os);
                @let fill = if tasks.is_empty() { "transparent" } else { "#3b7dd833" };
                div style=(format!("border:1px solid #8886;border-radius:3px;padding:2px 4px;min-width:4.2em;background:{fill}")) {
                    div style="opacity:.6" { "CPU " (os) }
                    b { @if tasks.is_empty() { "-" } @else { (tasks.join(", ")) } }
                }
                @if grid.ends_group(at) { div style="flex-basis:100%;height:4px" {} }
            }
        }
    }
}

/// What flows between seats, as a picture in the order of the heatmap: good plans keep it near the diagonal.
fn traffic(profile: &Profile, pattern: &Pattern, plan: &Plan) -> Markup {
    let Some(grid) = Grid::of(profile, Order::Group, None) else { return html! {} };
    let n = grid.os.len();
    let row = |task: usize| grid.os.iter().position(|os| plan.placement.get(task) == Some(os));
    let mut bytes = Matrix::filled(n, 0.0);
    for edge in &pattern.edges {
        if let (Some(from), Some(to)) = (row(edge.from), row(edge.to)) {
            bytes[(from, to)] += edge.bytes;
        }
    }
    let most = (0..n).flat_map(|i| bytes.row(i)).copied().fold(f64::MIN_POSITIVE, f64::max);
    let cells = (0..n).flat_map(|i| (0..n).map(move |j| (i, j))).filter(|(i, j)| bytes[(*i, *j)] > 0.0);
    html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {n} {n}")) width="480" height="480" role="img" {
            rect width=(n) height=(n) fill="#8882" {}
            @for (i, j) in cells {
                rect x=(j) y=(i) width="1" height="1" fill="#d8573b" fill-opacity=(format!("{:.2}", 0.3 + 0.7 * (bytes[(i, j)] / most).sqrt())) {}
            }
            @for at in (0..n).filter(|at| grid.ends_group(*at)) {
                path d=(format!("M0 {0}h{n}M{0} 0v{n}", at + 1)) stroke="#888" stroke-width=(format!("{:.3}", n as f64 / 400.0)) {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::floor::Seating;

    #[test]
    fn names_cannot_run_as_scripts() {
        let profile = crate::samples::two_groups();
        let mut pattern = seatmap_pattern::generate("ring:2").unwrap();
        pattern.names = vec!["<script>alert(1)</script>".to_owned(), "b".to_owned()];
        let plan = Plan { names: pattern.names.clone(), cost: Some(1.0), ..Plan::new("x", vec![0, 1]) };
        let seatings = [Seating::in_order(&profile, &pattern, &plan, vec![0, 1]), Seating::planned(&pattern, &plan)];
        let comparison = Comparison::new(&profile, None, &pattern, &plan, seatings);
        let page = placement(&profile, &pattern, &plan, &comparison);
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(page.contains("CPU 0") && page.contains("<svg"));
    }
}
