//! The page of a ranking: its curve, its figures, and the first mappings.

use crate::ranking::about;
use crate::{sentence, svg};
use maud::{Markup, html};
use seatmap_experiments::rank::Ranking;
use seatmap_report::counted;
use seatmap_report::duration::duration;
use seatmap_report::html::facts;
use seatmap_report::html::{document, head};

/// Mappings listed on the page; the others are in the CSV.
const LISTED: usize = 20;

/// A ranking as one HTML file.
pub fn ranking(ranking: &Ranking) -> String {
    let title = format!("{} on {}", ranking.setup.pattern, ranking.setup.machine);
    let lead = html! {
        p.lead { (ranking.mappings) " mappings, " (counted(ranking.setup.runs as usize, "run"))
            " of each" }
        p.origin { (about(ranking)) }
    };
    let body = html! {
        (head(&title, &sentence::of_ranking(ranking), &lead))
        main {
            section.card {
                div.halves {
                    div { h2 { "Times over ranks" } (svg::ranking::picture(ranking)) }
                    div { h2 { "In figures" } (facts(&figures(ranking))) }
                }
            }
            section.card { h2 { "Obvious mappings" } (named(ranking)) }
            section.card { h2 { "Run by run" } (runs(ranking)) }
            section.card { h2 { "The first" } (first(ranking)) }
        }
        footer { "[a0...] : thread i executes task a_i. Times from the first task's beginning to \
                  the last one's end." }
    };
    document(&title, &body, "", "null")
}

fn figures(ranking: &Ranking) -> Vec<(String, String)> {
    let quantiles = ranking.quantiles_ns;
    let spread =
        [quantiles.p01, quantiles.p10, quantiles.p50, quantiles.p90, quantiles.p99].map(duration);
    let mut rows = vec![
        ("Best", format!("{}, {}", ranking.best, duration(ranking.best_mean_ns))),
        ("Worst", format!("{}, {}", ranking.worst, duration(ranking.worst_mean_ns))),
        ("At random", format!("{:.2} times the best, on average", ranking.mean_to_best)),
        ("p1, p10, p50, p90, p99", spread.join(", ")),
        ("Median over mean", format!("{:.3}", ranking.median_to_mean)),
        (
            "In the faster half of the range",
            format!("{:.0} % of the mappings", ranking.below_mid_range_percent),
        ),
    ];
    if let Some(correlation) = &ranking.rank_correlation {
        let text =
            format!("{:.3}, at least {:.3} (Spearman)", correlation.mean, correlation.lowest);
        rows.push(("Rank correlation between runs", text));
    }
    if let Some(set) = ranking.may_be_best {
        let text = format!(
            // Plural: a ranking has at least two mappings.
            "{} mappings, those within {:.2} %, with {:.0} % confidence (Hsu 1984)",
            set.mappings,
            set.margin_percent,
            100.0 * set.confidence
        );
        rows.push(("May be the best", text));
    }
    rows.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

fn named(ranking: &Ranking) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Mapping" } th.wide { "" } th { "Rank" } th { "To the best" } } }
            tbody {
                @for named in &ranking.named {
                    tr {
                        th scope="row" { (named.name) } td.wide { (named.mapping) }
                        td { (named.rank) } td { (format!("{:.2}", named.to_best)) }
                    }
                }
            }
        }
    }
}

fn runs(ranking: &Ranking) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Run" } th.wide { "Best" } th { "takes" } th { "Worst to best" }
                th { "Rank of the best mean" } } }
            tbody {
                @for run in &ranking.by_run {
                    tr {
                        th scope="row" { (run.run) } td.wide { (run.best) }
                        td { (duration(run.best_ns)) }
                        td { (format!("{:.2}", run.best_to_worst)) } td { (run.rank_of_best) }
                    }
                }
            }
        }
    }
}

fn first(ranking: &Ranking) -> Markup {
    html! {
        table.figures {
            thead { tr { th { "Rank" } th.wide { "Mapping" } th { "Mean" } th { "To the best" }
                th { "May be the best" } } }
            tbody {
                @for row in ranking.ranking.iter().take(LISTED) {
                    tr {
                        th scope="row" { (row.rank) } td.wide { (row.mapping) }
                        td { (duration(row.mean_ns)) }
                        td { (format!("{:.3}", row.mean_ns / ranking.best_mean_ns)) }
                        // Empty if one run or a single mapping cannot decide it.
                        td { (match row.may_be_best {
                            Some(true) => "yes",
                            Some(false) => "no",
                            None => "",
                        }) }
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::samples;

    #[test]
    fn page_explains_its_terms() {
        let page = super::ranking(&samples::ranking(2));
        let list = page.split_once("<details class=\"terms\">").unwrap().1;
        for term in ["mapping", "rank correlation", "identity", "mean", "p50"] {
            assert!(list.contains(&format!("<dt>{term}</dt>")), "{term}");
        }
    }
}
