//! The section of the workers' page for C programs with libspe2 in two styles.

use super::workers::spread;
use crate::svg::Chart;
use maud::{Markup, html};
use seatmap_experiments::cellule::Libspe2;
use seatmap_experiments::cellule::costs::{CALLS, TimedCall};
use seatmap_experiments::cellule::libspe2::gains::Curves;
use seatmap_experiments::cellule::libspe2::noise::OsNoise;
use seatmap_report::counted;
use seatmap_report::duration::duration;

pub fn sentence(found: &Libspe2) -> String {
    let Some(run) = found.table.get(&TimedCall::CtxRun) else {
        return "No call was measured.".to_owned();
    };
    format!(
        "spe_context_run of an empty program on {} takes {} in the cell's style and {} in Linux's.",
        counted(found.spes, "SPE"),
        duration(run.cell.median_ns),
        duration(run.linux.median_ns)
    )
}

pub fn page(found: &Libspe2) -> Markup {
    html! {
        (table(found))
        div.columns { @for figure in &found.figures { (curves(figure)) } }
        (noise(found))
        p { (super::ABOUT_SPES) }
    }
}

fn table(found: &Libspe2) -> Markup {
    html! {
        section.card {
            h2 { "Calls of libspe2 with " (counted(found.spes, "SPE"))
                span.unit { "median and standard deviation" } }
            table.figures {
                thead { tr { th { "Call" } th { "Cell style" } th { "Linux style" }
                    th { "Ratio" } } }
                // In the order of the paper's table 1; unmeasured calls are omitted.
                tbody { @for (call, name, _) in CALLS {
                    @if let Some(both) = found.table.get(&call) { tr {
                    th scope="row" { (name) } td { (spread(&both.cell)) }
                    td { (spread(&both.linux)) }
                    td { (format!("{:.4}", both.cell.median_ns / both.linux.median_ns)) }
                } } } }
            }
        }
    }
}

pub fn curves(figure: &Curves) -> Markup {
    let chart = Chart {
        title: String::new(),
        across: figure.across.to_owned(),
        up: "gain over Linux's style, %".to_owned(),
        curves: figure.curves(),
    };
    html! { section.card { h2 { (figure.title) } (chart.picture()) } }
}

fn noise(found: &Libspe2) -> Markup {
    html! {
        section.card {
            h2 { "OS noise of one SPE" span.unit { "gaps of 1 us and more in its clock" } }
            table.figures {
                thead { tr { th { "Style" } th { "Gaps a second" } th { "Time" }
                    th { "Longest" } } }
                tbody { (row("cell", &found.noise.cell)) (row("Linux", &found.noise.linux)) }
            }
        }
    }
}

fn row(name: &str, of: &OsNoise) -> Markup {
    html! { tr {
        th scope="row" { (name) } td { (format!("{:.0}", of.gaps_per_second)) }
        td { (format!("{:.3} %", of.lost_percent)) } td { (duration(of.longest_ns)) }
    } }
}
