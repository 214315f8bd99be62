//! Memory bandwidth by number of threads.

use crate::about;
use crate::axis::AxisUnit;
use crate::page::{Block, Medium, Table, TableCell, cells};
use crate::svg::{PlotCurve, Title};
use crate::words::{counted, joined};
use seatmap_data::machine::bandwidth::KNEE_SHARE;
use seatmap_data::machine::{BandwidthGroup, BandwidthPoint, Profile, StreamKernel};

/// The unit of all figures, for titles.
pub const UNIT: &str = "10^9 bytes/s";

/// The longest bar, in letters.
const LONGEST: f64 = 20.0;

/// The curves of the largest parts, and one line for each part inside them; empty if not measured.
pub fn blocks(profile: &Profile, medium: Medium) -> Vec<Block> {
    let Some(bandwidth) = &profile.bandwidth else { return Vec::new() };
    let outer = Vec::from_iter(bandwidth.outermost());
    let mut blocks = Vec::new();
    for group in &outer {
        blocks.push(vec![heading(group, medium)].into());
        blocks.push(table(group, medium).into());
        if medium == Medium::Html {
            blocks.push(curves(group));
        }
        blocks.push(vec![indented(&knees(group), medium)].into());
    }
    let inner = bandwidth.groups.iter().filter(|group| {
        // Compared by address, because two parts may have equal figures.
        !outer.iter().any(|other| std::ptr::eq(*other, *group))
    });
    blocks.push(summary(inner).into());
    blocks
}

/// Tables of a terminal are indented.
fn indented(line: &str, medium: Medium) -> String {
    if medium == Medium::Terminal { format!("  {line}") } else { line.to_owned() }
}

fn heading(group: &BandwidthGroup, medium: Medium) -> String {
    indented(&format!("{}: {}", part(group), about::cpus(&group.pus).named()), medium)
}

fn part(group: &BandwidthGroup) -> String {
    let names = group.levels.iter().map(|level| match level.as_str() {
        "l3" => "L3 cache",
        "numa" => "NUMA node",
        other => other,
    });
    joined(names, ", ")
}

fn table(group: &BandwidthGroup, medium: Medium) -> Table {
    let table = Table::new("threads:> | read:> | write:> | triad:> | 95 % interval:>");
    let table = if medium == Medium::Terminal { table.words([""]) } else { table };
    let most_gbps = group.best(StreamKernel::Triad).map_or(1.0, |best| best.median_gbps);
    table.rows(group.triad.iter().map(|triad| {
        let [read, write] = [StreamKernel::Read, StreamKernel::Write]
            .map(|kernel| group.curve(kernel).iter().find(|point| point.threads == triad.threads));
        let length = (LONGEST * triad.median_gbps / most_gbps).round() as usize;
        let row = cells![
            triad.threads,
            median(read),
            median(write),
            TableCell::strong(rate(triad.median_gbps)),
            format!("{} to {}", rate(triad.ci95_low_gbps), rate(triad.ci95_high_gbps)),
            "█".repeat(length)
        ];
        row.into_iter().take(if medium == Medium::Terminal { 6 } else { 5 })
    }))
}

fn rate(gbps: f64) -> String {
    format!("{gbps:.1}")
}

fn median(point: Option<&BandwidthPoint>) -> String {
    point.map_or_else(String::new, |point| rate(point.median_gbps))
}

fn curves(group: &BandwidthGroup) -> Block {
    let curves = StreamKernel::ALL.iter().enumerate().map(|(at, kernel)| {
        let points = group.curve(*kernel).iter();
        let points = points.map(|point| (f64::from(point.threads), point.median_gbps));
        PlotCurve::new(at, kernel.word(), points.collect())
    });
    Block::Curves {
        curves: curves.collect(),
        across: "threads",
        up: Title { text: UNIT, unit: AxisUnit::Number },
    }
}

/// The threads that carry 95 % of the best rate of each loop.
fn knees(group: &BandwidthGroup) -> String {
    let knees = StreamKernel::ALL.map(|kernel| {
        let word = kernel.word();
        match group.knee(kernel) {
            None => format!("{word} may need all {}", group.pus.len()),
            Some(knee) if knee.low == knee.high => {
                format!("{word} with {}", counted(knee.threads, "thread"))
            }
            Some(knee) => {
                let threads = counted(knee.threads, "thread");
                format!("{word} with {threads} ({} to {})", knee.low, knee.high)
            }
        }
    });
    format!("{:.0} % of the best rate: {}.", 100.0 * KNEE_SHARE, knees.join(", "))
}

/// The best rates of parts inside larger ones.
fn summary<'a>(groups: impl Iterator<Item = &'a BandwidthGroup>) -> Table {
    let table = Table::new("inside | CPUs | read:> | write:> | triad:> | threads for 95 %:>");
    table.rows(groups.map(|group| {
        let [read, write, triad] = StreamKernel::ALL.map(|kernel| median(group.best(kernel)));
        let useful = group.useful_threads().map_or(group.pus.len(), |threads| threads as usize);
        cells![
            part(group),
            about::cpus(&group.pus),
            read,
            write,
            triad,
            format!("{useful} of {}", group.pus.len())
        ]
    }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Page, PageSection};
    use crate::samples::two_groups;
    use seatmap_data::machine::Bandwidth;

    fn curve(rates_gbps: &[f64]) -> Vec<BandwidthPoint> {
        let points = (1..).zip(rates_gbps).map(|(threads, median_gbps)| BandwidthPoint {
            threads,
            median_gbps: *median_gbps,
            ci95_low_gbps: 0.99 * median_gbps,
            ci95_high_gbps: 1.01 * median_gbps,
            ..BandwidthPoint::default()
        });
        points.collect()
    }

    fn group(levels: &[&str], pus: &[u32], triad_gbps: &[f64]) -> BandwidthGroup {
        BandwidthGroup {
            levels: levels.iter().map(|level| (*level).to_owned()).collect(),
            pus: pus.to_vec(),
            read: curve(&[12.0, 22.0, 30.0, 38.0]),
            write: curve(&[8.0, 10.4, 10.5, 10.5]),
            triad: curve(triad_gbps),
        }
    }

    fn measured() -> Profile {
        let groups = vec![
            group(&["l3"], &[0, 1, 2, 3], &[11.0, 18.0, 18.2, 18.1]),
            group(&["numa", "package"], &[0, 4, 1, 5], &[11.0, 19.1, 20.1, 20.0]),
            group(&["package"], &[0, 4, 1, 5, 2, 3, 6, 7], &[11.0, 19.0, 20.1, 20.0]),
        ];
        let bandwidth = Some(Bandwidth { groups, ..Bandwidth::default() });
        Profile { bandwidth, ..two_groups() }
    }

    fn page(medium: Medium) -> Page {
        let section = PageSection::new("");
        Page::of(blocks(&measured(), medium).into_iter().fold(section, PageSection::with))
    }

    #[test]
    fn curve_has_bars_intervals_and_knees() {
        insta::assert_snapshot!("bandwidth", page(Medium::Terminal).text(None));
    }

    #[test]
    fn html_has_a_chart_instead_of_bars() {
        let html = page(Medium::Html).html();
        assert!(html.contains("10^9 bytes/s against threads") && !html.contains('█'));
        assert!(html.contains("triad with 3 threads (2 to 3)"));
        assert!(blocks(&two_groups(), Medium::Html).is_empty());
    }
}
