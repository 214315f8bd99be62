//! The section of the workers' page for both styles on a Cell model.

use super::libspe2::curves;
use super::workers::spread;
use maud::{Markup, html};
use seatmap_data::statistics::words;
use seatmap_experiments::cellule::SimulatedCellule;
use seatmap_experiments::cellule::costs::CALLS;
use seatmap_experiments::cellule::simulated::figures::{Perturbed, SimulatedCalls};
use seatmap_experiments::cellule::simulated::inputs::AssumedCost;
use seatmap_experiments::cellule::simulated::text::origin;
use seatmap_report::counted;

pub fn sentence(found: &SimulatedCellule) -> String {
    let points = found.figures.iter().flat_map(|figure| &figure.series).flat_map(|one| &one.points);
    let gains = points.map(|point| point.gain_percent);
    let most = gains.clone().fold(f64::NEG_INFINITY, f64::max);
    let least = gains.fold(f64::INFINITY, f64::min);
    if most < least {
        return "Nothing was simulated.".to_owned();
    }
    format!(
        "On the model the cell's style takes {} to {} % less time than Linux's; it saves most if \
         the work is small.",
        words::figure(least, 0),
        words::figure(most, 0)
    )
}

pub fn page(found: &SimulatedCellule) -> Markup {
    html! {
        div.columns { @for figure in &found.figures { (curves(figure)) } }
        (perturbed(&found.perturbed))
        @for one in &found.calls { (calls(one)) }
        (inputs(&found.inputs))
        p { (super::ABOUT_SPES) }
    }
}

fn calls(found: &SimulatedCalls) -> Markup {
    html! {
        section.card {
            h2 {
                "Calls with " (counted(found.spes, "SPE"))
                span.unit { "median and standard deviation; growth over one SPE" }
            }
            table.figures {
                thead { tr {
                    th { "Call" } th { "Cell style" } th { "Growth" }
                    th { "Linux style" } th { "Growth" }
                } }
                tbody { @for (call, name, _) in CALLS {
                    @let times = found.times.get(&call);
                    @if let (Some(both), Some(growth)) = (times, found.growth.get(&call)) { tr {
                        th scope="row" { (name) }
                        td { (spread(&both.cell)) } td { (format!("{:.1}", growth.cell)) }
                        td { (spread(&both.linux)) } td { (format!("{:.1}", growth.linux)) }
                    } }
                } }
            }
        }
    }
}

fn perturbed(all: &[Perturbed]) -> Markup {
    html! {
        section.card {
            h2 { "Gain with another partition" span.unit { "median (least to most), %" } }
            table.figures {
                tbody { @for one in all { tr {
                    th scope="row" { (counted(one.spes, "SPE")) }
                    @for point in &one.points { td {
                        (point.size) ": " (words::figure(point.median_percent, 0))
                        " (" (words::figure(point.least_percent, 0))
                        " to " (words::figure(point.most_percent, 0)) ")"
                    } }
                } } }
            }
        }
    }
}

fn inputs(all: &[AssumedCost]) -> Markup {
    html! {
        section.card {
            h2 { "Taken as given" }
            table.figures {
                thead { tr { th { "Cost" } th { "Value" } th.wide { "Origin" } } }
                tbody { @for input in all { tr {
                    th scope="row" { (input.name) } td { (input.value) } td.wide { (origin(input)) }
                } } }
            }
        }
    }
}
