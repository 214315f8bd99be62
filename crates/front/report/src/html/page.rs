//! The page of one profile.

use super::document::{document, head};
use super::map::map;
use super::{charts, data, tables};
use crate::cpus::known_words;
use crate::floor::{self, FloorPlan};
use crate::page::{Medium, PageSection, Table, draw, section};
use crate::{Digits, Scale, about, bandwidth, sentence};
use maud::{Markup, html};
use seatmap_data::machine::Profile;
use seatmap_launch::named::KnownWord;
use seatmap_measure::classes::{DistanceClass, classes_with_distances};
use seatmap_measure::findings::findings;
use seatmap_sim::CoherentModel;

const SCRIPT: &str = include_str!("../../assets/page.js");
/// Classes shown as large figures below the title.
const TILES: usize = 6;

/// A profile as one HTML file that works offline and, with static pictures, without scripts.
/// Isolated CPUs are marked, and the words for CPUs listed.
pub fn page(
    profile: &Profile,
    model: Option<&CoherentModel>,
    isolated: &[u32],
    words: &[KnownWord],
) -> String {
    page_with(profile, model, isolated, &html! {}, vec![known_words(words)])
}

/// The page with links above the title and more sections at the end.
pub fn page_with(
    profile: &Profile,
    model: Option<&CoherentModel>,
    isolated: &[u32],
    links: &Markup,
    more: Vec<PageSection>,
) -> String {
    let floor = FloorPlan { isolated: isolated.to_vec(), ..FloorPlan::of(profile, model) };
    let digits = Digits::of(profile);
    let spread_of = classes_with_distances(profile);
    let classes = Vec::from_iter(spread_of.iter().map(|(class, _)| class.clone()));
    let scale = data::scale(profile);
    let map = scale.map(|scale| map(profile, scale, digits, &beside(profile, &spread_of, digits)));
    // A profile without distances, such as an imported topology, still has a page.
    let none = section("Core distances", vec!["This profile has none.".to_owned()]);
    let sections = [
        section("The machine", floor::machine(&floor)).unit("CPUs by number"),
        section("Distance classes in figures", tables::classes(&classes, digits))
            .unit("round trip, ns"),
        explained(profile, digits),
        section("Under load", charts::loaded(&profile.loaded))
            .unit("round trip, ns")
            .with(tables::loaded(&profile.loaded, digits)),
        memory(profile),
        surroundings(profile),
        section("Provenance", Table::facts(tables::provenance(profile))),
    ];
    let sections = Vec::from_iter(sections.into_iter().chain(more).map(PageSection::narrow));
    let body = html! {
        (links)
        (header(profile, &classes, digits))
        main {
            @match map { Some(map) => (map), None => (draw::sections(&[none])) }
            (draw::sections(&sections))
        }
        footer { "A core distance is the round trip of one cache line between two hardware \
                  threads; one way is half of it." }
    };
    document(
        &format!("{}: core distances", profile.name),
        &body,
        SCRIPT,
        &data::text(profile, scale),
    )
}

fn header(profile: &Profile, classes: &[DistanceClass], digits: Digits) -> Markup {
    let more = html! {
        p.lead { (about::topology(&profile.topology)) }
        p.origin { (about::origin(profile)) }
        @if !classes.is_empty() {
            dl.tiles {
                @for class in classes.iter().take(TILES) {
                    div { dt { (class.name) }
                        dd { (digits.show(class.median_ns)) span.unit { "ns" } } }
                }
            }
        }
    };
    head(&profile.name, &sentence::of_profile(profile, digits), &more)
}

/// The distribution of the distances, and their oddities.
fn beside(profile: &Profile, spread_of: &[(DistanceClass, Vec<f64>)], digits: Digits) -> Markup {
    let values = spread_of.iter().flat_map(|(_, values_ns)| values_ns.iter().copied());
    let findings = findings(profile);
    html! {
        // Unlike the heat map's, this scale includes all distances.
        @if let Some(scale) = Scale::whole(values) {
            section { h3 { "Distance classes" } (charts::distribution(spread_of, scale, digits)) }
        }
        @if !findings.is_empty() {
            section {
                h3 { "Findings" }
                ul.findings { @for finding in &findings { li { (finding) } } }
            }
        }
    }
}

fn explained(profile: &Profile, digits: Digits) -> PageSection {
    let section = PageSection::new("Groups and homes").unit("round trip, ns");
    match &profile.home_model {
        None => section,
        Some(model) => {
            section.with(vec![about::information(profile)]).with(tables::groups(model, digits))
        }
    }
}

fn memory(profile: &Profile) -> PageSection {
    let section = PageSection::new("Memory bandwidth by number of threads").unit(bandwidth::UNIT);
    bandwidth::blocks(profile, Medium::Html).into_iter().fold(section, PageSection::with)
}

fn surroundings(profile: &Profile) -> PageSection {
    let mitigations = &profile.environment.mitigations;
    let folded = html! {
        @if !mitigations.is_empty() {
            details {
                summary { "Mitigations" }
                (draw::html_table(&Table::facts(mitigations)))
            }
        }
    };
    section("Environment", Table::facts(about::environment(&profile.environment))).with(folded)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::{grouped, two_groups};
    use proptest::prelude::*;
    use seatmap_data::machine::Matrix;

    fn page_of(profile: &Profile) -> String {
        page(profile, None, &[], &[])
    }

    #[test]
    fn page_is_complete_without_scripts() {
        let page = page_of(&two_groups());
        for part in [
            "<h1>sample</h1>",
            "measured on lab-7, 2026-02-03, by seatmap 0.1.0",
            "<noscript><svg ",
            "Distance classes</abbr></h3>",
            ">Groups</abbr> and <abbr",
            "explain 99.8 % of the variance",
            "<h2>Under load",
            "<h2>Environment",
            ">Example 8-core</td>",
            "15 discarded (12 interrupted, 3 switched out, 0 migrated)",
            "max=\"2\"",
        ] {
            assert!(page.contains(part), "{part}");
        }
    }

    #[test]
    fn profile_without_distances_has_no_map() {
        let mut profile = two_groups();
        (profile.core_distance, profile.home_model) = (None, None);
        let page = page_of(&profile);
        assert!(page.contains("This profile has none.") && !page.contains("<canvas"));
        assert!(page.contains("id=\"data\">null</script>"));
    }

    #[test]
    fn largest_machine_page_stays_below_5_megabytes() {
        let mut profile = grouped(512, 16);
        let distance = profile.core_distance.as_mut().unwrap();
        let around = |by: f64| Some(Matrix::from_fn(512, |i, j| distance.median_ns[(i, j)] * by));
        (distance.p10_ns, distance.mad_ns) = (around(0.97), around(0.01));
        (distance.ci95_low_ns, distance.ci95_high_ns) = (around(0.99), around(1.01));
        let bytes = page_of(&profile).len();
        assert!(bytes < 5_000_000, "{bytes}");
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]
        #[test]
        fn profile_text_never_becomes_markup(text in "[<>/\"'&a-z!-]{0,24}") {
            let hostile = format!("<script>{text}</script>");
            let mut profile = two_groups();
            let plain = page_of(&profile).matches("<script").count();
            profile.name.clone_from(&hostile);
            profile.origin.source.clone_from(&hostile);
            profile.environment.kernel = Some(hostile.clone());
            profile.environment.mitigations.insert(hostile.clone(), hostile.clone());
            let page = page_of(&profile);
            prop_assert_eq!(page.matches("<script").count(), plain);
            prop_assert!(!page.contains(&hostile));
        }
    }
}
