//! The page of all machines.

use super::thumbnail::thumbnail;
use super::{page_name, pair_name, to_type};
use crate::html::document::{document, head};
use crate::page::draw;
use crate::page::{PageSection, section};
use crate::words::{counted, figure, joined};
use crate::{Digits, about, ranking};
use maud::{Markup, PreEscaped, html};
use seatmap_data::machine::Profile;
use seatmap_measure::classes::{DistanceClass, PairInterval, are_apart, classes_with_pairs};
use seatmap_measure::gallery::{Gallery, GalleryMachine, LikePair};

/// Sorts the table by a column, and filters the rows.
const SCRIPT: &str = include_str!("../../assets/gallery.js");
const STYLE: &str = include_str!("../../assets/gallery.css");

/// Header, and whether the column contains figures.
const COLUMNS: [(&str, bool); 7] = [
    ("Machine", false),
    ("Figures", false),
    ("PUs", true),
    ("Cores", true),
    ("Far to near", true),
    ("Distances by class, ns", false),
    ("Date and source", false),
];

/// A sortable, searchable table, and the pairs with the same processor.
pub fn page(gallery: &Gallery, pairs: &[LikePair]) -> String {
    let count = counted(gallery.machines().len(), "machine");
    let sentence =
        format!("{count}: how far apart their cores are, and where the figures come from.");
    let how_to_read = html! {
        p.lead {
            "Measured: by Seatmap on such a computer. Imported: from another tool's file. \
             Modelled: from a description that names the source of each figure."
        }
    };
    let body = html! {
        style { (PreEscaped(STYLE)) }
        (head("Gallery of machines", &sentence, &how_to_read))
        main {
            section.card {
                label.search.js {
                    "Search "
                    input #search type="search" placeholder="epyc, measured, same L3";
                }
                table.figures.gallery #machines {
                    thead { tr {
                        th { span.visually-hidden { "Picture" } }
                        @for (at, (name, is_figures)) in COLUMNS.iter().enumerate() {
                            th.wide[!is_figures] data-column=(at + 1) { (name) }
                        }
                    } }
                    tbody { @for machine in gallery.machines() { (row(machine)) } }
                }
                p.quiet #none hidden { "No machine matches." }
            }
            (pairs_of_one_processor(gallery, pairs))
            (draw::sections(&[ranking_of_own_program()]))
        }
        footer { "A core distance is the round trip of one cache line between two hardware \
                  threads. Classes are named after the nearest part that two threads share." }
    };
    document("Gallery of machines", &body, SCRIPT, "null")
}

fn row(machine: &GalleryMachine) -> Markup {
    let profile = &machine.profile;
    let found = classes_with_pairs(profile);
    let span = span(&found);
    let classes = Vec::from_iter(found.iter().map(|(class, _)| class));
    let digits = Digits::of(profile);
    let topology = &profile.topology;
    let cores = topology.count(|pu| pu.core);
    let nearest_ns = classes.first().map_or(0.0, |class| class.median_ns);
    let day = profile.origin.date.as_deref().unwrap_or_default();
    html! {
        tr {
            td { (thumbnail(profile)) }
            th.wide scope="row" data-sort=(machine.name) {
                a href=(page_name(machine)) { (machine.name) }
                p.quiet { (machine.summary.as_deref().unwrap_or(&profile.name)) }
            }
            td.wide data-label="Figures" { (ranking::origin(profile.origin.kind)) }
            td data-label="PUs" data-sort=(topology.pus.len()) { (topology.pus.len()) }
            td data-label="Cores" data-sort=(cores) {
                @if cores > 0 { (cores) } @else { "-" }
            }
            td data-label="Far to near" data-sort=(span.unwrap_or(0.0)) {
                (span.map_or("-".to_owned(), |times| format!("{} times", figure(times, 1))))
            }
            td.wide data-label="Distances, ns" data-sort=(nearest_ns) {
                ul.classes {
                    @for class in &classes {
                        li { (class.name) " " strong { (digits.show(class.median_ns)) } }
                    }
                }
            }
            td.wide data-label="Source" data-sort=(day) { (source(profile)) }
        }
    }
}

/// Farthest class / nearest; `None` without two clearly different classes.
fn span(classes: &[(DistanceClass, Vec<PairInterval>)]) -> Option<f64> {
    let [(near, near_pairs), .., (far, far_pairs)] = classes else { return None };
    let is_shown = near.median_ns > 0.0 && are_apart(near_pairs, far_pairs);
    is_shown.then(|| far.median_ns / near.median_ns)
}

fn source(profile: &Profile) -> Markup {
    let origin = about::origin(profile);
    html! { details { summary { (profile.origin.date.as_deref().unwrap_or("no date")) } (origin) } }
}

/// A single profile cannot show this.
fn pairs_of_one_processor(gallery: &Gallery, pairs: &[LikePair]) -> Markup {
    html! {
        section.card {
            h2 { "Same processor, other firmware or kernel" }
            @if pairs.is_empty() {
                p { "No two machines in this gallery have the same processor yet." }
            } @else {
                ul.findings {
                    @for pair in pairs {
                        @let [first, second] = pair.places.map(|place| &gallery.machines()[place]);
                        li {
                            a href=(pair_name(first, second)) { (first.name) " and " (second.name) }
                            ": " (widest(pair))
                        }
                    }
                }
            }
        }
    }
}

fn widest(pair: &LikePair) -> String {
    let facts = joined(pair.comparison.differences.iter().map(|fact| &fact.fact), ", ");
    let other = if facts.is_empty() {
        "no other fact differs".to_owned()
    } else {
        format!("different {facts}")
    };
    match pair.comparison.widest() {
        Some(widest) => {
            let ratio = widest.ratio.unwrap_or(1.0);
            let shown = if widest.is_shown() { "" } else { " (not significant)" };
            format!("'{}' is {} times as far{shown}; {other}", widest.name, figure(ratio, 2))
        }
        None => format!("no distance class in common; {other}"),
    }
}

fn ranking_of_own_program() -> PageSection {
    let rows = [
        (
            "rank the bundled machines for a program",
            "seatmap place --pattern app.pattern.json --on gallery",
        ),
        (
            "rank your profiles as well",
            "seatmap place --pattern app.pattern.json --on gallery:FOLDER",
        ),
        ("add your computer", "seatmap measure --share mine.json"),
    ];
    section("Which machine suits my program?", to_type(rows))
}
