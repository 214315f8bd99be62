//! The output of `seatmap show`.

use super::numbers::mark;
use super::{Colour, DrawOptions, heatmap, tree};
use crate::html::tables;
use crate::neighbours::{nearest, shared_level};
use crate::page::draw::line::indented;
use crate::page::{Block, Medium, Page, PageSection, Table, TableCell, cells, section};
use crate::words::{counted, joined, visible};
use crate::{Digits, about, bandwidth};
use seatmap_data::machine::{Profile, WakeupClass};
use seatmap_measure::classes::{DistanceClass, QuantilesOf, classes};
use seatmap_measure::findings::findings;

const NEIGHBOURS: usize = 8;

/// Name and origin, topology, heat map, classes, groups, oddities and the information in the matrix
/// of pairs; if requested, the nearest neighbours of one PU. Without distances, the tree of the
/// topology.
pub fn page(profile: &Profile, options: &DrawOptions, neighbours_of: Option<u32>) -> Page {
    let digits = Digits::of(profile);
    let found: String =
        findings(profile).iter().map(|finding| bullet(&finding.to_string(), options)).collect();
    let information = indented(&about::information(profile), options.width, 2);
    let loaded = tables::loaded(&profile.loaded, digits);
    let heading = match options.home {
        Some(_) => "Core distances predicted for one home",
        None => "Core distances",
    };
    let topology = match profile.core_distance {
        Some(_) => Vec::new(),
        None => tree::tree(&profile.topology).lines().map(str::to_owned).collect(),
    };
    let sections = [
        ("Topology", vec![topology.into()]),
        (heading, distances(profile, options)),
        ("Distance classes, round trip in ns", class_table(&classes(profile), digits)),
        (
            "Nearest neighbours",
            Vec::from_iter(neighbours_of.map(|os| neighbours(profile, os, digits))),
        ),
        ("Groups, round trip in ns", vec![groups(profile, digits, options).into()]),
        ("Findings", vec![Block::Drawn(found)]),
        ("What the matrix shows", vec![Block::Drawn(information)]),
        ("Speed, 1 is the fastest CPU", speed(profile, options)),
        ("Sleeping threads, round trip of two wakeups in ns", vec![wakeups(profile).into()]),
        ("Under load, round trip in ns", vec![loaded.into()]),
        (
            "Memory bandwidth by number of threads, 10^9 bytes/s",
            bandwidth::blocks(profile, Medium::Terminal),
        ),
    ];
    // Omit empty sections: a title alone would look like a failure.
    let known = sections
        .into_iter()
        .filter(|(_, blocks)| blocks.iter().any(|block| !block.is_empty(Medium::Terminal)));
    let titled = known.map(|(title, blocks)| {
        let section = section(title, Block::Drawn(options.colour.bold(title) + "\n"));
        blocks.into_iter().fold(section, PageSection::with)
    });
    Page {
        sections: std::iter::once(head(profile, options)).chain(titled).collect(),
        ..Page::default()
    }
}

fn head(profile: &Profile, options: &DrawOptions) -> PageSection {
    let known = about::environment(&profile.environment);
    let environment = joined(known.iter().map(|(name, value)| format!("{name} {value}")), "; ");
    let name = match options.colour {
        Colour::None => TableCell::from(&profile.name),
        _ => TableCell::painted(&profile.name, "1"),
    };
    let table = Table::new("|").flush();
    section("Machine", table.rows([[name, about::origin(profile).into()]]))
        .with(Block::Drawn(indented(&visible(&environment), options.width, 2)))
        .with(Block::Drawn(indented(&about::topology(&profile.topology), options.width, 2)))
}

fn bullet(text: &str, options: &DrawOptions) -> String {
    let mut lines = indented(&visible(text), options.width, 4);
    // The third of the four blanks becomes the bullet.
    lines.replace_range(2..3, "-");
    lines
}

fn distances(profile: &Profile, options: &DrawOptions) -> Vec<Block> {
    let Some(distance) = &profile.core_distance else { return Vec::new() };
    let marks = Vec::from_iter(distance.status.pairs().map(|(_, _, status)| mark(*status)));
    let explained = [
        ('*', "no steady distance (several levels, or passes disagree)"),
        ('~', "drift during the measurement"),
        ('!', "stacked: the host runs both vCPUs on one CPU, in turn, so there is no distance"),
    ];
    let explained = explained.iter().filter_map(|(sign, what)| {
        let count = marks.iter().filter(|mark| *mark == sign).count();
        (count > 0).then(|| format!("{sign} {}: {what}", counted(count, "pair")))
    });
    vec![Block::Drawn(heatmap(profile, options)), Vec::from_iter(explained).into()]
}

fn class_table(classes: &[DistanceClass], digits: Digits) -> Vec<Block> {
    let note = "  Quantiles are of the pairs' medians: this profile has no samples.";
    let is_exact = classes.iter().all(|class| class.quantiles_of == QuantilesOf::Samples);
    let note = (!is_exact).then(|| note.to_owned());
    vec![tables::classes(classes, digits).into(), note.into()]
}

fn neighbours(profile: &Profile, os: u32, digits: Digits) -> Block {
    let Some(found) = nearest(profile, os, NEIGHBOURS) else {
        return vec![format!("  PU {os} has no distances in this profile.")].into();
    };
    let table = Table::new(&format!("of PU {os} | ns:> |"));
    let rows = found.iter().map(|other| {
        let ns = format!("{}{}", digits.show(other.median_ns), mark(other.status));
        let level = shared_level(profile, os, other.os);
        cells![format!("PU {}", other.os), ns.trim_end(), level]
    });
    table.rows(rows).into()
}

fn groups(profile: &Profile, digits: Digits, options: &DrawOptions) -> Table {
    let Some(model) = &profile.home_model else { return Table::default() };
    let table = Table::new(":> | | |");
    table.rows(model.groups.iter().enumerate().map(|(at, group)| {
        let inside = match group.len() {
            1 => "alone".to_owned(),
            _ => format!("inside {}", digits.show(model.between_ns[(at, at)])),
        };
        let to = |other: &usize| model.between_ns[(at, *other)];
        let others = (0..model.groups.len()).filter(|other| *other != at);
        let nearest = others.min_by(|a, b| to(a).total_cmp(&to(b)));
        let nearest = nearest.map_or_else(String::new, |other| {
            format!("nearest {other} at {}", digits.show(to(&other)))
        });
        // Half the line for the list of CPUs, the rest for the distances.
        let pus = super::caption::cut(&about::cpus(group).to_string(), options.width / 2);
        cells![at, pus, inside, nearest]
    }))
}

fn speed(profile: &Profile, options: &DrawOptions) -> Vec<Block> {
    let Some(speed) = &profile.speed else { return Vec::new() };
    let together = if speed.together.is_some() { "together" } else { "" };
    let table = Table::new(&format!("| CPUs | alone:> | {together}:>"));
    let classes = crate::speed::classes(profile).into_iter();
    let rows = classes.map(|[what, cpus, alone, together]| {
        [what, super::caption::cut(&cpus, options.width / 2), alone, together]
    });
    let told = indented(&crate::speed::sentence(speed), options.width, 2);
    vec![table.rows(rows).into(), Block::Drawn(told)]
}

fn wakeups(profile: &Profile) -> Table {
    let classes = profile
        .wakeups
        .as_ref()
        .map(|wakeups| wakeups.classes(&profile.topology))
        .unwrap_or_default();
    Table::new("on | pairs:> | median:> | 95 % interval:>").rows(classes.iter().map(wakeup_row))
}

/// The interval reaches from the lowest to the highest end of the pairs' intervals.
fn wakeup_row(class: &WakeupClass) -> [TableCell; 4] {
    let low = class.pairs.iter().map(|pair| pair.ci95_low_ns).fold(f64::INFINITY, f64::min);
    let high = class.pairs.iter().map(|pair| pair.ci95_high_ns).fold(0.0, f64::max);
    cells![
        class.sharing.name(),
        class.pairs.len(),
        format!("{:.0}", class.median_ns()),
        format!("{low:.0} to {high:.0}")
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples::two_groups;
    use proptest::prelude::*;
    use seatmap_data::machine::{PairStatus, Topology};

    fn class(name: &str, median_ns: f64) -> DistanceClass {
        DistanceClass {
            name: name.to_owned(),
            pairs: 12,
            median_ns,
            p10_ns: median_ns - 1.0,
            p90_ns: median_ns + 2.26,
            quantiles_of: QuantilesOf::Samples,
        }
    }

    fn table(classes: &[DistanceClass]) -> String {
        let blocks = class_table(classes, Digits::for_resolution(0.04));
        Page::of(blocks.into_iter().fold(PageSection::new(""), PageSection::with)).text(None)
    }

    #[test]
    fn page_shows_all_parts_of_profile() {
        let profile = two_groups();
        let options = DrawOptions::default();
        // Classes and findings come from another crate with its own tests.
        let page = page(&profile, &options, Some(1)).text(None);
        let (before, after) = page.split_once("\nNearest neighbours").unwrap();
        insta::assert_snapshot!("page-head", before.split("\nDistance classes").next().unwrap());
        let after = after.split("\nFindings").next().unwrap();
        insta::assert_snapshot!("page-tail", after.split("\nWhat the matrix").next().unwrap());
        assert!(
            page.contains("\nWhat the matrix shows\n")
                && page.contains("\nUnder load, round trip in ns\n")
        );
    }

    #[test]
    fn classes_are_shown_as_table() {
        let classes = [class("same L3", 41.0), class("other package", 253.04)];
        insta::assert_snapshot!("classes", table(&classes));
        let unsampled =
            DistanceClass { quantiles_of: QuantilesOf::PairMedians, ..class("x", 41.0) };
        let note = "of the pairs' medians: this profile has no samples.\n";
        assert!(table(&[unsampled]).ends_with(note) && !table(&classes).contains("medians"));
    }

    #[test]
    fn unsteady_pairs_are_marked_and_explained() {
        let mut profile = two_groups();
        let statuses = [
            (PairStatus::MultiRegime, 0),
            (PairStatus::Unsteady, 1),
            (PairStatus::Drifting, 2),
            (PairStatus::Stacked, 3),
        ];
        let distance = profile.core_distance.as_mut().unwrap();
        distance.status = seatmap_data::machine::Square::filled(8, Some(PairStatus::Stable));
        for (status, j) in statuses {
            distance.status.set_both(7, j, Some(status));
        }
        let text = page(&profile, &DrawOptions::default(), Some(7)).text(None);
        assert!(
            text.contains(
                "* 2 pairs: no steady distance (several levels, or passes disagree)\n~ 1 pair"
            ),
            "{text}"
        );
        assert!(text.contains("! 1 pair: stacked"), "{text}");
    }

    #[test]
    fn profile_without_distances_shows_topology() {
        let mut profile = two_groups();
        (profile.core_distance, profile.home_model, profile.loaded) = (None, None, Vec::new());
        insta::assert_snapshot!(
            "page-topology",
            page(&profile, &DrawOptions::default(), None).text(None)
        );
    }

    #[test]
    fn digits_stop_at_clock_resolution() {
        let mut profile = two_groups();
        if let Some(protocol) =
            profile.core_distance.as_mut().and_then(|distance| distance.protocol.as_mut())
        {
            protocol.resolution_ns = 10.0;
        }
        let text = page(&profile, &DrawOptions::default(), Some(0)).text(None);
        let figures = text
            .split(['\n', ' '])
            .filter(|word| word.contains('.') && word.parse::<f64>().is_ok());
        assert_eq!(Vec::from_iter(figures), ["0.2", "99.8", "31.0"], "{text}");
    }

    #[test]
    fn hostile_names_are_escaped() {
        let mut profile = two_groups();
        profile.name = "\u{1b}[2Jboo\nbar".into();
        profile.origin.source = "\u{1b}]0;x\u{7}".into();
        let text = page(&profile, &DrawOptions::default(), None).text(None);
        assert!(text.starts_with("\\u{1b}[2Jboo\\nbar  measured on \\u{1b}]0;x\\u{7}"), "{text}");
    }

    #[test]
    fn a_pu_without_distances_is_named() {
        assert!(
            page(&two_groups(), &DrawOptions::default(), Some(99))
                .text(None)
                .contains("PU 99 has no distances in this profile.")
        );
    }

    proptest! {
        #[test]
        fn arbitrary_profile_never_panics(
            n in 0u32..40, width in 0usize..140, value in prop::num::f64::ANY, resolution in prop::num::f64::ANY,
        ) {
            let mut profile = Profile::new("x", two_groups().origin, Topology::unknown(0..n));
            let matrix = seatmap_data::machine::Matrix::filled(n as usize, value);
            profile.core_distance = Some(seatmap_data::machine::CoreDistance::imported((0..n).collect(), matrix));
            profile.clock.step_ns = Some(resolution);
            for colour in [crate::terminal::Colour::None, crate::terminal::Colour::True] {
                let text = page(&profile, &DrawOptions { colour, width, ..DrawOptions::default() }, Some(0)).text(None);
                prop_assert!(text.ends_with('\n'));
            }
        }
    }
}
