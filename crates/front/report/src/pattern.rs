//! Patterns: their kind, and the traffic between tasks.

use crate::page::{Block, Page, Table, TableCell, cells, section};
use crate::traffic::{TrafficMatrix, counted, degrees, name, short, size};
use crate::words::beyond;
use crate::{sentence, svg};
use seatmap_data::pattern::Pattern;

const LISTED: usize = 20;

/// Shades from an empty cell to the heaviest.
const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];
/// The number of a row's first task.
const MARGIN: usize = 9;
/// As many rows as fit on a screen.
const MOST_CELLS: usize = 64;

/// A pattern's figures and its matrix (rows send, columns receive), in at most `width` columns.
pub fn drawn(pattern: &Pattern, width: usize) -> Page {
    // Two columns a cell make it square.
    let room = (width.saturating_sub(MARGIN) / 2).clamp(1, MOST_CELLS);
    let traffic = TrafficMatrix::of(pattern, room);
    let mut about = vec![format!("{}: {}", name(pattern), size(pattern)), degrees(pattern)];
    about.extend(work(pattern));
    let section = section("Traffic", about);
    Page::of(section.with(Block::Drawn(matrix(&traffic))).with(caption(&traffic)))
}

/// The page of a pattern: its figures, its matrix, and the heaviest edges.
pub fn page(pattern: &Pattern) -> Page {
    let more = beyond(pattern.edges.len(), LISTED).map(|more| format!("and {more} more"));
    let heaviest = section("The heaviest edges", heaviest(pattern));
    Page {
        lead: vec![size(pattern), degrees(pattern)],
        sections: std::iter::once(section("Traffic between tasks", svg::traffic::picture(pattern)))
            .chain(stand_out(pattern).then(|| heaviest.with(more)))
            .collect(),
        footer: "Only the proportions affect a placement.",
        ..Page::new(name(pattern), sentence::of_pattern(pattern))
    }
}

/// Whether some edges are heavier than others.
fn stand_out(pattern: &Pattern) -> bool {
    // Comparing neighbours is enough: if each pair is equal, all are.
    pattern.edges.windows(2).any(|edges| edges[0].bytes != edges[1].bytes)
}

fn heaviest(pattern: &Pattern) -> Table {
    let mut edges = Vec::from_iter(pattern.edges.iter());
    edges.sort_by(|a, b| b.bytes.total_cmp(&a.bytes));
    Table::new("from:> | to:> | bytes:> | messages:>").rows(edges.into_iter().take(LISTED).map(
        |edge| {
            cells![
                task(pattern, edge.from),
                task(pattern, edge.to),
                TableCell::strong(short(edge.bytes)),
                short(edge.messages)
            ]
        },
    ))
}

fn task(pattern: &Pattern, at: usize) -> String {
    match pattern.names.get(at) {
        Some(name) => format!("{at} ({name})"),
        None => at.to_string(),
    }
}

pub(crate) fn work(pattern: &Pattern) -> Vec<String> {
    let unit =
        pattern.load_ns.map_or_else(String::new, |ns| format!("; a load of 1 takes {ns} ns"));
    let loads = range(&pattern.loads, ["Each task has a load of", "Loads are"], |most| {
        format!("{most}{unit}")
    });
    let bytes = Vec::from_iter(pattern.cache_bytes.iter().map(|bytes| *bytes as f64));
    let begins = ["Each task's working set is", "Working sets are"];
    let caches = range(&bytes, begins, |most| counted(most, "byte"));
    loads.into_iter().chain(caches).collect()
}

/// The sentence begins with the first text if all values are equal, else with the second.
fn range(
    values: &[f64],
    [each, several]: [&str; 2],
    with_unit: impl Fn(f64) -> String,
) -> Option<String> {
    let least = values.iter().copied().reduce(f64::min)?;
    let most = values.iter().copied().fold(least, f64::max);
    let most_in_words = with_unit(most);
    Some(if least == most {
        format!("{each} {most_in_words}.")
    } else {
        format!("{several} {least} to {most_in_words}.")
    })
}

fn matrix(traffic: &TrafficMatrix) -> String {
    // Rounded up to at least a dot: only a cell without traffic is blank.
    let shade = |row, column| {
        SHADES[traffic
            .strength(row, column)
            .map_or(0, |strength| ((strength * 9.0).ceil() as usize).max(1))]
    };
    (0..traffic.n)
        .map(|at| {
            let cells: String = (0..traffic.n).flat_map(|column| [shade(at, column); 2]).collect();
            format!("{:>7}  {cells}", at * traffic.block).trim_end().to_owned() + "\n"
        })
        .collect()
}

fn caption(traffic: &TrafficMatrix) -> Vec<String> {
    let block = traffic.block;
    // Plural: a square of several pairs.
    let shared = format!("Each cell is {block} x {block} pairs of tasks.");
    let most = if traffic.most > 0.0 {
        format!("; '@' is {}", counted(traffic.most, "byte"))
    } else {
        String::new()
    };
    let shades = format!("Rows send, columns receive{most}; blank is nothing.");
    (block > 1).then_some(shared).into_iter().chain([shades]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    fn of(spec: &str, width: usize) -> String {
        drawn(&samples::pattern(spec), width).text(None)
    }

    #[test]
    fn ring_is_drawn_as_two_diagonals() {
        insta::assert_snapshot!(of("ring:4", 40), @"
        ring:4: 4 tasks, 4 edges, 4 bytes in 4 messages
        Each task sends to 1 other.
              0    @@
              1      @@
              2        @@
              3  @@
        Rows send, columns receive; '@' is 1 byte; blank is nothing.
        ");
    }

    #[test]
    fn silent_pattern_shows_zero_bytes() {
        assert!(of("idle:4", 40).starts_with("idle:4: 4 tasks, 0 edges, 0 bytes in 0 messages\n"));
    }

    #[test]
    fn degrees_of_tasks_are_described() {
        insta::assert_snapshot!(of("stencil2d:2x3", 40), @"
        stencil2d:2x3: 6 tasks, 14 edges, 14 bytes in 14 messages
        A task sends to 2 to 3 others, median 2; traffic is symmetric.
              0    @@  @@
              1  @@  @@  @@
              2    @@      @@
              3  @@      @@
              4    @@  @@  @@
              5      @@  @@
        Rows send, columns receive; '@' is 1 byte; blank is nothing.
        ");
        assert!(of("idle:3", 40).contains("Each task sends to 0 others.\n"));
    }

    #[test]
    fn loads_and_working_sets_are_described() {
        let mut pattern = samples::pattern("pairs:2");
        assert!(work(&pattern).is_empty());
        (pattern.loads, pattern.load_ns, pattern.cache_bytes) =
            (vec![4.0, 1.0], Some(500.0), vec![1 << 20; 2]);
        let told = "Loads are 1 to 4; a load of 1 takes 500 ns.\n\
                    Each task's working set is 1.05 M bytes.";
        assert_eq!(work(&pattern).join("\n"), told);
    }

    #[test]
    fn unequal_directions_are_not_symmetric() {
        let mut pattern = samples::pattern("pairs:4");
        assert!(degrees(&pattern).ends_with("; traffic is symmetric."));
        pattern.edges[0].bytes = 2.0;
        assert_eq!(degrees(&pattern), "Each task sends to 1 other.");
    }

    #[test]
    fn many_tasks_share_cells() {
        let text = of("pipeline:1000", 60);
        assert!(text.contains("Each cell is 40 x 40 pairs"), "{text}");
        assert!(
            text.lines().filter(|line| line.ends_with('@')).all(|line| line.chars().count() <= 60)
        );
    }

    #[test]
    fn heaviest_edges_come_first_and_names_are_escaped() {
        let mut ring = samples::pattern("ring:30");
        ring.names = vec!["<script>alert(1)</script>".to_owned(); 30];
        ring.edges[29].bytes = 4096.0;
        let page = page(&ring).html();
        assert!(page.contains("&lt;script&gt;alert") && !page.contains("<script>alert"));
        assert!(page.contains(">29 (") && !page.contains(">27 ("));
        assert!(page.contains("and 10 more") && page.contains("<svg"));
    }

    #[test]
    fn equal_edges_are_not_listed() {
        for spec in ["idle:3", "ring:3"] {
            let page = page(&samples::pattern(spec)).html();
            assert!(!page.contains("heaviest"), "{spec}");
        }
    }

    #[test]
    fn largest_and_narrowest_patterns_fit() {
        assert!(of("ring:1048576", 20).lines().nth(2).unwrap().chars().count() <= 20);
        assert!(of("idle:1", 0).contains("blank is nothing"));
    }
}
