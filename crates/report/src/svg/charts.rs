//! Charts below each other, as a standalone picture.

use super::curves::{Curve, HEIGHT, WIDTH, drawing};
use maud::html;

/// Room for a chart's title, above it.
const TITLE: f64 = 28.0;

/// Curves with a title.
#[derive(Clone, Debug, PartialEq)]
pub struct Chart {
    /// What they show.
    pub title: String,
    /// What their points differ in.
    pub across: String,
    /// What is shown of each, with its unit.
    pub up: String,
    /// Each curve's name and points.
    pub curves: Vec<(String, Vec<(f64, f64)>)>,
}

/// Charts below each other; those without a point are left out.
#[must_use]
pub fn charts(charts: &[Chart]) -> String {
    let has_points = |chart: &&Chart| chart.curves.iter().any(|(_, points)| !points.is_empty());
    let drawn: Vec<&Chart> = charts.iter().filter(has_points).collect();
    let (each, count) = (TITLE + HEIGHT, drawn.len() as f64);
    let curve = |(name, points): &(String, Vec<(f64, f64)>)| Curve { name: name.clone(), points: points.clone() };
    let picture = html! {
        svg xmlns="http://www.w3.org/2000/svg" viewBox=(format!("0 0 {WIDTH} {}", each * count)) width=(WIDTH)
            height=(each * count) role="img" font-family="system-ui, sans-serif" font-size="11" {
            rect width=(WIDTH) height=(each * count) fill="#fff" {}
            @for (at, chart) in drawn.into_iter().enumerate() {
                g transform=(format!("translate(0 {})", each * at as f64)) {
                    text x="12" y="20" font-size="13" font-weight="600" { (chart.title) }
                    g transform=(format!("translate(0 {TITLE})")) {
                        (drawing(&chart.curves.iter().map(curve).collect::<Vec<_>>(), &chart.across, &chart.up))
                    }
                }
            }
        }
    };
    picture.into_string() + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn charts_stand_below_each_other() {
        let chart = |title: &str, points: Vec<(f64, f64)>| Chart {
            title: title.to_owned(),
            across: "size".to_owned(),
            up: "gain in %".to_owned(),
            curves: vec![("one".to_owned(), points)],
        };
        let picture = charts(&[
            chart("a & b", vec![(1.0, 60.0), (2.0, 20.0)]),
            chart("nothing", vec![]),
            chart("c", vec![(1.0, 1.0)]),
        ]);
        assert!(picture.contains("viewBox=\"0 0 560 656\"") && picture.contains("translate(0 328)"), "{picture}");
        assert!(picture.contains("a &amp; b") && !picture.contains("nothing"), "{picture}");
    }
}
