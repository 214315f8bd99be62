//! Compares two machines.

use crate::page::{Page, PageSection, Table};
use seatmap_data::document::visible;
use seatmap_data::statistics::words::figure;
use seatmap_measure::comparison::{ClassComparison, FactDifference, ProfileComparison};

/// The page of a comparison: the classes, and the facts that differ.
#[must_use]
pub fn page(comparison: &ProfileComparison) -> Page {
    let [first, second] = comparison.machines.each_ref().map(|name| visible(name).to_string());
    let headline = sentence(comparison);
    let facts = match comparison.differences.len() {
        0 => vec!["Both profiles say the same of their machines.".to_owned()],
        _ => Vec::new(),
    };
    Page {
        sections: vec![
            PageSection::new("Distance classes").unit("round trip in ns").with(classes(comparison)),
            PageSection::new("What differs").with(facts).with(differences(&comparison.differences)),
        ],
        footer: "Ratio: how many times as far apart the second machine's pairs are, with the 95 % \
                 interval of the rank sum test over pairs.",
        ..Page::new(format!("{first} and {second}"), headline).headed()
    }
}

fn sentence(comparison: &ProfileComparison) -> String {
    let [first, second] = comparison.machines.each_ref().map(|name| visible(name).to_string());
    let model = if comparison.same_processor { "same processor model, " } else { "" };
    match comparison.widest() {
        None => format!("{first} and {second} have no distance class in common."),
        Some(widest) if widest.is_shown() => format!(
            "{first} and {second}: {model}most apart in '{}', {} times as far on {second}.",
            widest.name,
            ratio(widest)
        ),
        Some(widest) => format!(
            "{first} and {second}: {model}no class is shown to differ; the widest ratio is {} in \
             '{}'.",
            ratio(widest),
            widest.name
        ),
    }
}

fn classes(comparison: &ProfileComparison) -> Table {
    let table = Table::default().words(["class"]);
    let table = table.figures(["first", "second", "ratio", "95 % interval", "pairs", "pairs"]);
    table.rows(comparison.classes.iter().map(|class| {
        let interval = class.ratio_ci95;
        let interval = interval.map(|[low, high]| format!("{} to {}", times(low), times(high)));
        let [first, second] =
            class.median_ns.map(|median| median.map_or("-".to_owned(), |ns| figure(ns, 1)));
        [
            class.name.clone(),
            first,
            second,
            ratio(class),
            interval.unwrap_or_else(|| "-".to_owned()),
            class.pairs[0].to_string(),
            class.pairs[1].to_string(),
        ]
    }))
}

fn differences(facts: &[FactDifference]) -> Table {
    let table = Table::default().words(["what differs", "first", "second"]);
    table.rows(facts.iter().map(|difference| {
        let [first, second] = difference.values.clone();
        let unknown = "not known".to_owned();
        [difference.fact.clone(), first.unwrap_or(unknown.clone()), second.unwrap_or(unknown)]
    }))
}

fn ratio(class: &ClassComparison) -> String {
    class.ratio.map_or("-".to_owned(), times)
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;

    #[test]
    fn the_widest_class_comes_first() {
        let first = catalog::load("epyc-7r13-2s").unwrap();
        let second = catalog::load("epyc-9654-2s").unwrap();
        let text = page(&ProfileComparison::of(&first, &second)).text(None);
        let head = text.lines().next().unwrap();
        assert!(
            head.starts_with("epyc-7r13-2s and epyc-9654-2s: ") && head.contains("times"),
            "{text}"
        );
        assert!(text.contains("other package") && text.contains("what differs"), "{text}");
    }

    #[test]
    fn equal_machines_are_said_to_be_equal() {
        let machine = catalog::load("graviton3").unwrap();
        let text = page(&ProfileComparison::of(&machine, &machine)).text(None);
        assert!(text.contains("no class is shown to differ"), "{text}");
        assert!(text.contains("Both profiles say the same"), "{text}");
    }
}
