//! The first sentence of each page: the meaning of its figures, computed from them.

use crate::Digits;
use crate::words::{agreeing, counted, duration, joined};
use seatmap_data::machine::Profile;
use seatmap_data::pattern::Pattern;
use seatmap_data::plan::Plan;
use seatmap_data::statistics::quantile_sorted;
use seatmap_health::noise::{CpuNoise, NoiseReport};
use seatmap_measure::classes::{PairInterval, are_apart, classes_with_pairs};
use seatmap_measure::findings::{ProfileFinding, findings};

/// Nearer classes justify no advice on seats.
const ALIKE: f64 = 1.15;
/// A class this near to a far home's distances is explained by that home.
const FAR_HOME: f64 = 0.05;
/// Smaller differences are invisible in print.
const SAME: f64 = 0.0005;
/// A context switch and back takes a few microseconds.
const QUIET_GAP_US: f64 = 20.0;
const QUIET_PERCENT: f64 = 0.1;
/// With smaller differences, a second run may rank the CPUs differently.
const ALIKE_LOSS: f64 = 1.5;
/// The share of all bytes that the heaviest edges carry.
const MOST_BYTES: f64 = 0.9;

pub fn of_profile(profile: &Profile, digits: Digits) -> String {
    let far_home_ns = findings(profile).iter().find_map(|finding| match finding {
        ProfileFinding::FarHome { far_ns, .. } => Some(*far_ns),
        _ => None,
    });
    // No class is near infinity, so without the finding none is excluded.
    let far_home_ns = far_home_ns.unwrap_or(f64::INFINITY);
    let classes = classes_with_pairs(profile);
    let mut cores = classes.iter().filter(|(class, _)| {
        // A part that looks slow only because the line's home is elsewhere is irrelevant to seats.
        let is_far_home = (class.median_ns / far_home_ns - 1.0).abs() < FAR_HOME;
        class.name != "SMT siblings" && !(is_far_home && class.name.starts_with("same "))
    });
    // A machine of one core has only the class of its siblings.
    let Some((near, near_pairs)) = cores.next().or(classes.first()) else {
        return format!(
            "This profile has no distances: run 'seatmap measure' on {}.",
            profile.name
        );
    };
    // Classes are sorted nearest first; a single one is both nearest and farthest.
    let farthest = cores.next_back();
    let times = farthest.map_or(1.0, |(far, _)| far.median_ns / near.median_ns);
    let shown = farthest.filter(|(_, pairs)| times >= ALIKE && are_apart(near_pairs, pairs));
    let Some((far, _)) = shown else {
        let others = farthest.map_or(&[][..], |(_, pairs)| pairs);
        return of_one_kind(&near.name, [near_pairs.as_slice(), others].concat(), digits);
    };
    let [near_ns, far_ns] = [near, far].map(|class| digits.show(class.median_ns));
    format!(
        "A cache line's round trip takes {near_ns} ns between the nearest cores ({}) and {far_ns} \
         ns between the farthest ({}), {times:.1} times as long: seat communicating threads on \
         near cores.",
        near.name, far.name
    )
}

/// Whether these pairs differ by more than their uncertainty.
fn of_one_kind(class: &str, mut pairs: Vec<PairInterval>, digits: Digits) -> String {
    let what = if class == "SMT siblings" { "threads of a core" } else { "cores" };
    pairs.sort_by(|a, b| a.median_ns.total_cmp(&b.median_ns));
    // Tenths, because a single disturbed pair does not make a machine uneven.
    let tenth = pairs.len().div_ceil(10);
    let [near, far] = [&pairs[..tenth], &pairs[pairs.len() - tenth..]];
    let medians = Vec::from_iter(pairs.iter().map(|pair| pair.median_ns));
    let [low, median, high] =
        [0.1, 0.5, 0.9].map(|share| quantile_sorted(&medians, share).unwrap_or(f64::NAN));
    let [low_ns, median_ns, high_ns] = [low, median, high].map(|ns| digits.show(ns));
    if pairs.len() == 1 {
        return format!(
            "The two {what} are {median_ns} ns apart. With a single pair, seats do not matter."
        );
    }
    if high / low < ALIKE {
        return format!(
            "All {what} are about equally far apart ({median_ns} ns), so seats matter little."
        );
    }
    if !are_apart(near, far) {
        return format!(
            "No pair of {what} is measurably nearer than another: the medians are {low_ns} to \
             {high_ns} ns, and the passes of each pair differ as much."
        );
    }
    format!(
        "Pairs of {what} are {low_ns} to {high_ns} ns apart (p10 to p90), although they share the \
         same level of the topology: seat threads by measured distance, not by topology."
    )
}

pub fn of_plan(plan: &Plan) -> String {
    let Some(cost) = plan.cost else {
        return "This plan has no cost: run it to judge it.".to_owned();
    };
    let against = match plan.baselines {
        // Comes first, because such a small gain would be printed as 0.0 % less.
        Some(usual) if is_same(usual.os, cost) => {
            "No placement was found that costs less than OS order".to_owned()
        }
        Some(usual) => {
            let alike = [("compact", usual.compact), ("scatter", usual.scatter)];
            let alike = alike.iter().filter(|one| is_same(one.1, cost)).map(|one| one.0);
            let alike = joined(alike, " or ");
            let alike = if alike.is_empty() { alike } else { format!(" ({alike} costs the same)") };
            let gain_percent = 100.0 * (1.0 - cost / usual.os);
            // Tasks fixed by the user can make the cheapest placement more expensive.
            let word = if gain_percent < 0.0 { "more" } else { "less" };
            format!("The plan{alike} costs {:.1} % {word} than OS order", gain_percent.abs())
        }
        None => format!("The plan costs {cost:.1}"),
    };
    match plan.lower_bound {
        _ if plan.optimal => {
            let condition = crate::placement::condition(plan);
            format!("{against}; proven optimal{condition}.")
        }
        // Costs are positive: a bound of 0 is trivial and would promise 100 %.
        Some(bound) if bound > 0.0 => {
            format!(
                "{against}; no placement can be more than {:.1} % cheaper{}.",
                100.0 * (1.0 - bound / cost),
                crate::placement::condition(plan)
            )
        }
        _ => format!("{against}; no lower bound is known."),
    }
}

fn is_same(cost: f64, other: f64) -> bool {
    // Both costs may be 0 (nothing is sent), and then have no ratio.
    cost == other || (cost / other - 1.0).abs() < SAME
}

pub fn of_noise(report: &NoiseReport) -> String {
    let by_loss = |a: &&CpuNoise, b: &&CpuNoise| {
        (a.stolen_percent, a.longest_gap_us)
            .partial_cmp(&(b.stolen_percent, b.longest_gap_us))
            .unwrap_or(std::cmp::Ordering::Equal)
    };
    let (Some(quiet), Some(noisy)) =
        (report.cpus.iter().min_by(by_loss), report.cpus.iter().max_by(by_loss))
    else {
        return "No CPU was measured.".to_owned();
    };
    let loses = |noise: &CpuNoise| {
        format!(
            "CPU {} loses {:.2} % of its time, up to {} at once",
            noise.cpu,
            noise.stolen_percent,
            duration(1e3 * noise.longest_gap_us)
        )
    };
    let is_quiet = |noise: &CpuNoise| {
        noise.stolen_percent < QUIET_PERCENT && noise.longest_gap_us < QUIET_GAP_US
    };
    if quiet.cpu == noisy.cpu {
        if is_quiet(quiet) {
            format!("{}: it is quiet.", loses(quiet))
        } else {
            format!(
                "{}: latency-critical work needs a quieter CPU, such as one in a cell.",
                loses(quiet)
            )
        }
    } else if is_quiet(noisy) {
        format!("All CPUs are quiet: even {}.", loses(noisy))
    } else if noisy.stolen_percent < ALIKE_LOSS * quiet.stolen_percent {
        format!("No CPU is measurably quieter than the others: even {}.", loses(quiet))
    } else {
        format!(
            "{}, and {}: run latency-critical work on CPU {}.",
            loses(noisy),
            loses(quiet),
            quiet.cpu
        )
    }
}

pub fn of_pattern(pattern: &Pattern) -> String {
    let mut bytes = Vec::from_iter(pattern.edges.iter().map(|edge| edge.bytes));
    bytes.sort_by(|a, b| b.total_cmp(a));
    let all: f64 = bytes.iter().sum();
    let (Some(most), Some(least)) = (bytes.first(), bytes.last()) else {
        return "No messages: all placements are equally good.".to_owned();
    };
    if bytes.len() == 1 {
        return "One edge carries everything: seat the tasks at its ends next to each other."
            .to_owned();
    }
    if most == least {
        // Plural: a single edge is handled above.
        return format!(
            "All {} edges carry the same: seat each task near the tasks it sends to.",
            bytes.len()
        );
    }
    let mut sum = 0.0;
    let heavy = bytes
        .iter()
        .take_while(|edge| {
            let is_before = sum < MOST_BYTES * all;
            sum += **edge;
            is_before
        })
        .count();
    let carry = agreeing(heavy, "carries", "carry");
    format!(
        "{heavy} of {} {carry} {:.0} % of the bytes: seat the tasks at their ends next to each \
         other.",
        counted(bytes.len(), "edge"),
        100.0 * MOST_BYTES
    )
}

#[cfg(test)]
mod tests;
