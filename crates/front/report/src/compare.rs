//! Compares two machines.

use crate::page::{Page, Table, cells, section};
use crate::words::{figure, or_dash, visible};
use seatmap_measure::comparison::{ClassComparison, FactDifference, ProfileComparison};

/// The page of a comparison: the classes, and the facts that differ.
pub fn page(comparison: &ProfileComparison) -> Page {
    let [first, second] = comparison.machines.each_ref().map(|name| visible(name));
    let headline = sentence(comparison, &first, &second);
    let are_equal = comparison.differences.is_empty();
    let facts = are_equal.then(|| "All recorded facts are equal.".to_owned());
    Page {
        sections: vec![
            section("Distance classes", classes(comparison)).unit("round trip in ns"),
            section("Differences", facts).with(differences(&comparison.differences)),
        ],
        footer: "Ratio: the second machine's distance divided by the first's, with the 95 % \
                 interval of the rank sum test over pairs.",
        ..Page::new(format!("{first} and {second}"), headline).headed()
    }
}

fn sentence(comparison: &ProfileComparison, first: &str, second: &str) -> String {
    let model = if comparison.same_processor { "same processor model, " } else { "" };
    match comparison.widest() {
        None => format!("{first} and {second} have no distance class in common."),
        Some(widest) if widest.is_shown() => format!(
            "{first} and {second}: {model}they differ most in '{}', {} times as far on {second}.",
            widest.name,
            ratio(widest)
        ),
        Some(widest) => format!(
            "{first} and {second}: {model}no significant difference; the largest ratio is {} in \
             '{}'.",
            ratio(widest),
            widest.name
        ),
    }
}

fn classes(comparison: &ProfileComparison) -> Table {
    Table::new("class | first:> | second:> | ratio:> | 95 % interval:> | pairs:> | pairs:>").rows(
        comparison.classes.iter().map(|class| {
            let interval = class.ratio_ci95;
            let interval = interval.map(|[low, high]| format!("{} to {}", times(low), times(high)));
            let [first, second] =
                class.median_ns.map(|median| or_dash(median.map(|ns| figure(ns, 1))));
            cells![
                &class.name,
                first,
                second,
                ratio(class),
                or_dash(interval),
                class.pairs[0],
                class.pairs[1]
            ]
        }),
    )
}

fn differences(facts: &[FactDifference]) -> Table {
    Table::new("fact | first | second").rows(facts.iter().map(|difference| {
        let [first, second] = difference.values.clone();
        let unknown = "unknown".to_owned();
        cells![&difference.fact, first.unwrap_or(unknown.clone()), second.unwrap_or(unknown)]
    }))
}

fn ratio(class: &ClassComparison) -> String {
    or_dash(class.ratio.map(times))
}

fn times(ratio: f64) -> String {
    format!("{ratio:.2}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::catalog;

    #[test]
    fn comparison_starts_with_widest_class() {
        let first = catalog::load("epyc-7r13-2s").unwrap();
        let second = catalog::load("epyc-9654-2s").unwrap();
        let text = page(&ProfileComparison::of(&first, &second)).text(None);
        let head = text.lines().next().unwrap();
        assert!(
            head.starts_with("epyc-7r13-2s and epyc-9654-2s: ") && head.contains("times"),
            "{text}"
        );
        assert!(text.contains("other package") && text.contains("fact"), "{text}");
    }

    #[test]
    fn equal_machines_show_no_difference() {
        let machine = catalog::load("graviton3").unwrap();
        let text = page(&ProfileComparison::of(&machine, &machine)).text(None);
        assert!(text.contains("no significant difference"), "{text}");
        assert!(text.contains("All recorded facts are equal."), "{text}");
    }
}
