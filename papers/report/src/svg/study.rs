//! A study's rows: each of our figures as a multiple of the published one.

use crate::study::{ClaimVerdict, MeasuredFigure};
use maud::{Markup, html};
use seatmap_report::svg::{number, standalone};

/// Rows of text are 6 units wide for each letter.
const WIDTH: f64 = 760.0;
const LEFT: f64 = 430.0;
const RIGHT: f64 = 20.0;
const TOP: f64 = 44.0;
const ROW: f64 = 14.0;
const LETTERS: usize = 68;
/// The axis is logarithmic, and ends at a hundredth and at a hundredfold: farther rows are drawn
/// there.
const DECADES: f64 = 2.0;
const TICKS: [(f64, &str); 5] =
    [(0.01, "1/100"), (0.1, "1/10"), (1.0, "equal"), (10.0, "10 x"), (100.0, "100 x")];

/// The rows with published numbers as a standalone picture; `None` without any.
pub fn study(found: &[MeasuredFigure]) -> Option<String> {
    let rows: Vec<(&MeasuredFigure, f64)> =
        found.iter().filter_map(|one| Some((one, one.ratio?))).collect();
    let bottom = TOP + ROW * rows.len() as f64;
    let drawn = html! {
        text x="0" y="14" font-size="13" font-weight="600" { "ours over the published figure" }
        // Within a tenth.
        rect x=(number(across(0.9))) y=(TOP) width=(number(across(1.1) - across(0.9)))
            height=(number(bottom - TOP)) fill="#eaeef2" {}
        @for (value, name) in TICKS {
            line x1=(number(across(value))) x2=(number(across(value))) y1=(TOP) y2=(number(bottom))
                stroke="#d0d7de" {}
            text x=(number(across(value))) y="36" font-size="10" text-anchor="middle"
                fill="#57606a" { (name) }
        }
        @for (at, (one, ratio)) in rows.iter().enumerate() {
            (row(TOP + ROW * (at as f64 + 0.5), one, *ratio))
        }
    };
    (!rows.is_empty()).then(|| standalone([WIDTH, bottom + 6.0], &drawn))
}

fn row(middle: f64, one: &MeasuredFigure, ratio: f64) -> Markup {
    let x = number(across(ratio));
    html! {
        text x=(number(LEFT - 10.0)) y=(number(middle + 3.5)) font-size="10" text-anchor="end" {
            (label(one))
        }
        line x1=(number(across(1.0))) x2=(x) y1=(number(middle)) y2=(number(middle))
            stroke=(colour(one.verdict)) {}
        circle cx=(x) cy=(number(middle)) r="3.5" fill=(colour(one.verdict)) {
            title { (one.verdict.word()) ": " (number(ratio)) }
        }
    }
}

fn across(ratio: f64) -> f64 {
    let decades = ratio.max(f64::MIN_POSITIVE).log10().clamp(-DECADES, DECADES);
    LEFT + (WIDTH - LEFT - RIGHT) * (decades + DECADES) / (2.0 * DECADES)
}

fn label(one: &MeasuredFigure) -> String {
    let text = seatmap_data::document::visible(&format!("{}: {}", one.place, one.what));
    if text.chars().count() <= LETTERS {
        return text;
    }
    text.chars().take(LETTERS - 3).chain("...".chars()).collect()
}

fn colour(verdict: ClaimVerdict) -> &'static str {
    match verdict {
        ClaimVerdict::Equal | ClaimVerdict::Direction => "#1a7f37",
        ClaimVerdict::Unproven | ClaimVerdict::Calibrated => "#8c959f",
        ClaimVerdict::Miss | ClaimVerdict::Reverse => "#cf222e",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::study::{ClaimKind, StudyFigure};

    fn figure(claim: &str, ours: f64) -> MeasuredFigure {
        let text = format!(
            "place = 'table 1'\nwhat = 'a & b'\ncommand = 'a'\nvalue = '/x'\nunit = ''\n\
             kind = 'check'\n{claim}"
        );
        let figure: StudyFigure = toml::from_str(&text).unwrap();
        assert_eq!(figure.kind, ClaimKind::Check);
        figure.beside(ours, None)
    }

    #[test]
    fn rows_with_numbers_have_a_dot() {
        let order = "says = 'it grows'\nabove = 1.0\nnull = { what = 'alone' }";
        let rows = [
            figure("published = 2.0", 2.0),
            figure("published = 2.0", 9000.0),
            figure("published = 2.0", -1.0),
            figure(order, 3.0),
        ];
        let picture = study(&rows).unwrap();
        assert_eq!(picture.matches("<circle").count(), 3);
        // Equal in the middle, the others at the ends of the axis.
        for at in ["cx=\"585\"", "cx=\"740\"", "cx=\"430\""] {
            assert!(picture.contains(at), "{at}: {picture}");
        }
        assert!(picture.contains("table 1: a &amp; b") && picture.contains("miss: 4500"));
        assert_eq!(study(&rows[3..]), None);
    }
}
