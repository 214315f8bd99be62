//! Remarks on a placement, in words.

use crate::placement::number;
use crate::traffic::counted as amount;
use crate::words::{agreeing, capital, counted, counted_figure, duration, joined};
use seatmap_data::machine::{CoreKind, Nearness};
use seatmap_data::plan::Agreement;
use seatmap_place::{LinkObjective, PlacementRemark, PlainSettings, Slowest, Weight};

const MOST_NAMED: usize = 8;

/// All remarks, each as a sentence or two.
pub fn sentences(remarks: &[PlacementRemark]) -> Vec<String> {
    remarks.iter().map(sentence).collect()
}

fn sentence(remark: &PlacementRemark) -> String {
    use PlacementRemark::*;
    match remark {
        WakeupsUnknown => {
            "These tasks sleep until a message arrives, but the cost of wakeups is unknown here; \
             distances of spinning threads replace it \
             ('seatmap measure' on that computer measures it)."
                .to_owned()
        }
        Wakeups { round_trips_ns, have_cpu_each } => wakeups(round_trips_ns, *have_cpu_each),
        SlowestSeat { seat, kind, are_speeds_known } => slowest(seat, *kind, *are_speeds_known),
        Crossing { crossing, all } => crosses(*crossing, *all),
        ChannelsWithoutLine(channels) => {
            let have = if *channels == 1 { "channel has" } else { "channels have" };
            format!("{channels} {have} no candidate line: there are fewer lines than channels.")
        }
        TooFewCores { shared, least, tasks, cores } => {
            // The plan may share more to keep tasks near.
            let choice = if shared > least { format!(" ({least} must)") } else { String::new() };
            format!(
                "{} two or more tasks{choice}: {} on {}.",
                carrying(*shared),
                counted(*tasks, "task"),
                counted(*cores, "core")
            )
        }
        CoreEach { beside_shared } => {
            let shared = beside_shared.map_or_else(String::new, |costs| {
                format!(
                    "; sharing cores (--use-smt) would {}, \
                     not counting how tasks on one core slow each other",
                    beside(costs)
                )
            });
            format!("Each task has its own core{shared}.")
        }
        CoresMayBeShared { shared, beside_apart } => {
            let now = match shared {
                0 => "No core runs two tasks".to_owned(),
                shared => format!("{} two or more tasks", carrying(*shared)),
            };
            let apart = beside_apart.map_or_else(String::new, |costs| {
                format!("; a core for each task (--avoid-smt) would {}", beside(costs))
            });
            format!("{now}{apart}.")
        }
        Empty { packages, nodes, have_memory } => empty(packages, nodes, *have_memory),
        Stacked { cpus: [a, b], pairs } => {
            let more = if *pairs > 1 { format!(" ({pairs} such pairs)") } else { String::new() };
            format!(
                "CPUs {a} and {b} shared one CPU of the host during the measurement{more}, \
                 so their tasks run in turn. Leave one out with --cpus, \
                 or request vCPUs with dedicated CPUs."
            )
        }
        AsGoodAs(plain) => as_good_as(plain),
        Agreement(agreement) => correlations(agreement),
        EqualityUnknown { unknown, cpus } => equality_unknown(*unknown, *cpus),
        LoadedLink { link, load, weight } if *load > 0.0 => {
            let unit = match weight {
                Weight::Bytes => "byte",
                Weight::Messages => "message",
            };
            let cross = if *load == 1.0 { "crosses" } else { "cross" };
            let load = amount(*load, unit);
            format!("The most loaded link belongs to {link}: {load} {cross} it.")
        }
        LoadedLink { .. } => "Nothing crosses a link between groups of CPUs.".to_owned(),
        BusierLink { link, bytes, in_order_bytes, remedy } => {
            busier(link, *bytes, *in_order_bytes, *remedy)
        }
    }
}

fn equality_unknown(unknown: usize, cpus: usize) -> String {
    let of = if unknown == cpus {
        counted(cpus, "CPU")
    } else {
        format!("{unknown} of {}", counted(cpus, "CPU"))
    };
    format!(
        "The seats may be unequal: the kind and speed of {of} are unknown \
         ('seatmap measure --speed' measures speeds)."
    )
}

fn wakeups(round_trips_ns: &[(Nearness, f64)], have_cpu_each: bool) -> String {
    let costs = round_trips_ns
        .iter()
        // Wakeups take microseconds, so fractions of a nanosecond are meaningless.
        .map(|(nearness, ns)| format!("{} {} ns", nearness.name(), number(ns.round())));
    let more = if have_cpu_each {
        " Each has its own CPU here; --objective time lets them share one."
    } else {
        ""
    };
    format!(
        "The tasks sleep until a message arrives. Round trip of two wakeups: {}.{more}",
        joined(costs, ", ")
    )
}

fn slowest(seat: &Slowest, kind: Option<CoreKind>, are_speeds_known: bool) -> String {
    let kind = kind.map_or_else(String::new, |kind| format!(", {} core", kind.word()));
    let tasks = joined(seat.tasks.iter().take(MOST_NAMED), ", ");
    let more = if seat.tasks.len() > MOST_NAMED { ", ..." } else { "" };
    let word = agreeing(seat.tasks.len(), "task", "tasks");
    let work = duration(seat.work_ns);
    let messages = duration(seat.messages_ns);
    let speeds = if are_speeds_known {
        ""
    } else {
        " All CPUs count as equally fast, because their speeds are unknown \
         ('seatmap measure --speed' measures them)."
    };
    format!(
        "The slowest seat is CPU {}{kind} (speed {:.3}): {word} {tasks}{more}, \
         {work} of work and {messages} of messages.{speeds}",
        seat.os, seat.speed
    )
}

fn crosses(crossing: f64, all: f64) -> String {
    let percent = if all > 0.0 { 100.0 * crossing / all } else { 0.0 };
    let crossing = number(crossing);
    let all = number(all);
    format!("{percent:.1} % of the traffic ({crossing} of {all}) crosses between sections.")
}

/// `1 core runs`.
fn carrying(cores: usize) -> String {
    format!("{cores} {}", agreeing(cores, "core runs", "cores run"))
}

/// `cost 812, 12.3 % less`: the other cost is second.
fn beside([cost, other]: [f64; 2]) -> String {
    let percent = 100.0 * (other / cost - 1.0);
    match (cost > 0.0, percent) {
        // From half of the last printed digit on; less would read '0.0 % less'.
        (true, percent) if percent <= -0.05 => {
            format!("cost {}, {:.1} % less", number(other), -percent)
        }
        (true, percent) if percent >= 0.05 => {
            format!("cost {}, {percent:.1} % more", number(other))
        }
        _ => "cost as much".to_owned(),
    }
}

fn empty(packages: &[u32], nodes: &[u32], have_memory: bool) -> String {
    let parts = [named("package", packages), named("NUMA node", nodes)];
    let parts = joined(parts.into_iter().flatten(), " and ");
    let verb = agreeing(packages.len() + nodes.len(), "stays empty, its", "stay empty, their");
    let unused = if have_memory { "memory and caches" } else { "caches" };
    capital(&format!("{parts} {verb} {unused} unused."))
}

fn named(word: &str, numbers: &[u32]) -> Option<String> {
    match numbers {
        [] => None,
        [one] => Some(format!("{word} {one}")),
        several => Some(format!("{word}s {}", joined(several, ", "))),
    }
}

fn as_good_as(plain: &PlainSettings) -> String {
    let costs = match plain.name {
        "compact" => "Compact costs no more",
        "scatter" => "Scatter costs no more",
        _ => "OS order costs no more",
    };
    match plain.settings.as_slice() {
        [] => format!("{costs}."),
        settings => format!("{costs}. Without a plan: {}.", settings.join(", or ")),
    }
}

fn correlations(agreement: &Agreement) -> String {
    format!(
        "Rank correlation with the runs, over {}: distance {}, congestion {}.",
        counted(agreement.placements, "placement"),
        correlation(agreement.distance),
        correlation(agreement.congestion)
    )
}

fn correlation(of: Option<f64>) -> String {
    of.map_or("unknown".to_owned(), |of| format!("{of:.2}"))
}

fn busier(link: &str, bytes: f64, in_order_bytes: f64, remedy: LinkObjective) -> String {
    let remedy = match remedy {
        LinkObjective::Congestion => "--objective congestion includes links",
        LinkObjective::Simulated => "--objective simulated simulates them",
        LinkObjective::Unknown => "no objective models this machine's links",
    };
    let more = if in_order_bytes > 0.0 {
        format!("{:.0} % more than the busiest", 100.0 * (bytes / in_order_bytes - 1.0))
    } else {
        "and none".to_owned()
    };
    format!(
        "The busiest link, {link}, carries {}, {more} in OS order. \
         The distance objective ignores links; {remedy}.",
        counted_figure(bytes, 0, "byte")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn loaded(load: f64, weight: Weight) -> PlacementRemark {
        PlacementRemark::LoadedLink { link: "L3 0".to_owned(), load, weight }
    }

    #[test]
    fn each_remark_is_a_sentence() {
        let seat = Slowest {
            os: 3,
            tasks: (0..9).collect(),
            work_ns: 100.04,
            messages_ns: 2.5,
            speed: 0.5,
        };
        let remarks = [
            PlacementRemark::WakeupsUnknown,
            PlacementRemark::Wakeups {
                round_trips_ns: vec![(Nearness::SameCpu, 3000.4), (Nearness::Machine, 9000.0)],
                have_cpu_each: true,
            },
            PlacementRemark::SlowestSeat {
                seat,
                kind: Some(CoreKind::Efficiency),
                are_speeds_known: false,
            },
            PlacementRemark::Crossing { crossing: 2.0, all: 8.0 },
            PlacementRemark::ChannelsWithoutLine(1),
            PlacementRemark::TooFewCores { shared: 6, least: 4, tasks: 20, cores: 16 },
            PlacementRemark::CoreEach { beside_shared: Some([100.0, 50.0]) },
            PlacementRemark::CoreEach { beside_shared: None },
            PlacementRemark::CoresMayBeShared { shared: 1, beside_apart: Some([100.0, 100.0]) },
            PlacementRemark::CoresMayBeShared { shared: 0, beside_apart: None },
            PlacementRemark::Empty { packages: vec![1], nodes: vec![], have_memory: true },
            PlacementRemark::Empty { packages: vec![1, 2], nodes: vec![0], have_memory: false },
            PlacementRemark::Stacked { cpus: [0, 1], pairs: 2 },
            PlacementRemark::AsGoodAs(PlainSettings {
                name: "compact",
                settings: vec!["OMP_PROC_BIND=close"],
            }),
            PlacementRemark::Agreement(Agreement {
                placements: 24,
                distance: Some(0.5),
                congestion: None,
            }),
            loaded(7.0, Weight::Messages),
            loaded(1.0, Weight::Bytes),
            loaded(0.0, Weight::Bytes),
            PlacementRemark::EqualityUnknown { unknown: 4, cpus: 4 },
            PlacementRemark::EqualityUnknown { unknown: 1, cpus: 4 },
            PlacementRemark::BusierLink {
                link: "stop 0 to stop 1".to_owned(),
                bytes: 150.0,
                in_order_bytes: 100.0,
                remedy: LinkObjective::Simulated,
            },
        ];
        insta::assert_snapshot!(sentences(&remarks).join("\n"));
    }
}
