//! The legend: the meaning of the marks.

use super::SeatingComparison;
use super::marks::{HOME, STEPS, part, step_at};
use crate::svg::number;
use crate::traffic::short;
use crate::words::three_digits;
use maud::{Markup, html};

pub const HEIGHT: f64 = 52.0;
const STEP: f64 = 46.0;

/// One line of marks and one of loads, at least 560 units wide.
pub fn legend(comparison: &SeatingComparison) -> Markup {
    let many = comparison.talking_parts() > 1;
    // Three colours are enough to show that they differ.
    let colours =
        Vec::from_iter((0..comparison.talking_parts().clamp(1, 3)).map(|at| part(Some(at)).0));
    let wide = 16.0 * colours.len() as f64;
    let is_ring = comparison.floor.seats.iter().any(|seat| seat.hub.is_some());
    let of_load = match (comparison.floor.wires.is_empty(), is_ring) {
        (true, _) => format!("{}s across a border", comparison.weight),
        (_, true) => format!("{}s on a link, clockwise outside", comparison.unit),
        (_, false) => format!("{}s on a link, each way on its right", comparison.unit),
    };
    // The minimum means that nothing is loaded, so omit the scale.
    let steps = if comparison.most.load > f64::MIN_POSITIVE { STEPS } else { 0 };
    html! {
        g.word fill="#57606a" font-size="10" {
            @for (at, fill) in colours.iter().enumerate() {
                rect x=(number(16.0 * at as f64)) y="2" width="13" height="13" rx="2" fill=(fill) {}
            }
            text x=(number(wide + 4.0)) y="12.5" {
                @if many { "T3: task 3; tasks that talk share a colour" } @else { "T3: task 3" }
            }
            @let next = wide + if many { 230.0 } else { 80.0 };
            rect.free x=(number(next)) y="2" width="13" height="13" rx="2" fill="#ffffff"
                stroke="#c4cad1" {}
            text x=(number(next + 18.0)) y="12.5" { "3: CPU 3, free" }
            @if comparison.has_lines() {
                @let at = next + 105.0;
                path.line d=(format!("M{0} 2l6.5 6.5l-6.5 6.5l-6.5 -6.5Z", number(at + 6.0)))
                    fill=(HOME) {}
                text x=(number(at + 17.0)) y="12.5" { "lines at home" }
            }
            @for step in 1..=steps {
                @let ((class, colour), x) = (step_at(step), STEP * (step as f64 - 1.0));
                line.load.(class) x1=(number(x)) x2=(number(x + STEP - 4.0)) y1="27" y2="27"
                    stroke=(colour)
                    stroke-width=(number(7.0 * step as f64 / STEPS as f64)) {}
                text x=(number(x + STEP - 4.0)) y="44" text-anchor="end" {
                    @let load = comparison.most.load * step as f64 / STEPS as f64;
                    @if load < 1e4 { (short(load)) } @else { (three_digits(load)) }
                }
            }
            @if steps > 0 { text x=(number(STEP * STEPS as f64 + 8.0)) y="30.5" { (of_load) } }
        }
    }
}
