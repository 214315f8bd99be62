//! Remarks beside a plan's table.

use super::{seating_in_order, smt};
use crate::args::{ObjectiveChoice, Place};
use seatmap_catalog::Machine;
use seatmap_console::error::CliError;
use seatmap_machine::PairStatus;
use seatmap_place::{Answer, Links, PlaceError, PlaceRequest, Pus, Sharing};
use seatmap_plan::Plan;
use seatmap_report::floor::{Comparison, DrawnPlacement};
use seatmap_report::placement::number;
use seatmap_statistics::words::counted_figure;
use std::collections::HashSet;

/// A remark names a busiest link whose load is at least this many times its load without a plan.
const CLEARLY_MORE: f64 = 1.1;

/// Edges beyond which following each over the machine's links takes longer than a search does.
const MOST_EDGES: usize = 100_000;

/// All remarks, one on each line.
pub(super) fn remarks(
    typed: &Place,
    machine: &Machine,
    request: &PlaceRequest,
    answer: &Answer,
    plan: &Plan,
) -> Result<String, CliError> {
    let mut lines = vec![
        wakeups(typed, request),
        slowest(typed, request, answer)?,
        crossing(answer),
        channels(answer),
    ];
    if let Some(sharing) = request.sharing(&answer.placement) {
        lines.push(cores(typed, request, answer, &sharing)?);
        lines.push(empty(&sharing));
    }
    lines.push(stacked(request, plan));
    lines.push(plain(request, answer).map_err(CliError::input)?);
    lines.push(agreement(answer));
    lines.push(loads(answer));
    lines.push(busiest(typed, machine, request, plan)?);
    Ok(lines.into_iter().flatten().map(|line| line + "\n").collect())
}

/// The costs of messages to tasks that sleep, or why distances stand for them.
fn wakeups(typed: &Place, request: &PlaceRequest) -> Option<String> {
    let is_sum = matches!(typed.objective, ObjectiveChoice::Distance | ObjectiveChoice::Time);
    if !request.counts_wakeups() {
        let is_unknown = is_sum
            && request.pattern.waits()
            && !typed.spinning
            && request.profile.wakeups.is_none();
        return is_unknown.then(|| {
            "These tasks sleep until a message comes, and the cost of wakeups is not known here; \
             distances of spinning threads stand for it ('seatmap measure' on that computer finds it)."
                .to_owned()
        });
    }
    let wakeups = request.profile.wakeups.as_ref()?;
    let classes = wakeups.classes(&request.profile.topology);
    let costs: Vec<String> = classes
        .iter()
        .map(|class| format!("{} {} ns", class.sharing.name(), number(class.median_ns().round())))
        .collect();
    let alone = typed.objective == ObjectiveChoice::Distance
        && request.pattern.tasks <= request.profile.topology.pus.len();
    let more = if alone {
        " Each has a CPU of its own here; --objective time lets them share one."
    } else {
        ""
    };
    Some(format!(
        "The tasks sleep until a message comes; the round trip of two wakeups: {}.{more}",
        costs.join(", ")
    ))
}

/// The work and the messages of the slowest seat, and a hint where the CPUs' speeds are not known.
fn slowest(
    typed: &Place,
    request: &PlaceRequest,
    answer: &Answer,
) -> Result<Option<String>, CliError> {
    if typed.objective != ObjectiveChoice::Time {
        return Ok(None);
    }
    let seat = request.slowest(&answer.placement).map_err(CliError::input)?;
    let kind = request.profile.topology.pu(seat.os).and_then(|pu| pu.kind);
    let kind = kind.map_or(String::new(), |kind| format!(", {} core", kind.word()));
    let tasks: Vec<String> = seat.tasks.iter().take(MOST_NAMED).map(usize::to_string).collect();
    let more = if seat.tasks.len() > MOST_NAMED { ", ..." } else { "" };
    let what = if seat.tasks.len() == 1 { "task" } else { "tasks" };
    let work = number(rounded(seat.work_ns));
    let messages = number(rounded(seat.messages_ns));
    let speed = if request.profile.speed.is_none() {
        " All CPUs count as equally fast: their speeds are not known ('seatmap measure --speed' measures them)."
    } else {
        ""
    };
    Ok(Some(format!(
        "The slowest seat is CPU {}{kind} (speed {:.3}): {what} {}{more}, {work} ns of work and {messages} ns of messages.{speed}",
        seat.os,
        seat.speed,
        tasks.join(", ")
    )))
}

/// Tasks of a seat that are named.
const MOST_NAMED: usize = 8;

fn rounded(ns: f64) -> f64 {
    (10.0 * ns).round() / 10.0
}

/// Seats that a hypervisor ran on one CPU of its own, in turn, while they were measured: their
/// distance is a time slice, and tasks on them do not run at the same time.
fn stacked(request: &PlaceRequest, plan: &Plan) -> Option<String> {
    let distance = request.profile.core_distance.as_ref()?;
    let in_use: HashSet<u32> = plan.pus_in_use().into_iter().collect();
    let is_stacked = |i: usize, j: usize, status: &Option<PairStatus>| {
        *status == Some(PairStatus::Stacked)
            && [i, j].iter().all(|at| in_use.contains(&distance.pus[*at]))
    };
    let pairs: Vec<[u32; 2]> = (distance.status.pairs())
        .filter(|(i, j, status)| is_stacked(*i, *j, status))
        .map(|(i, j, _)| [distance.pus[i], distance.pus[j]])
        .collect();
    let [a, b] = pairs.first()?;
    let more =
        if pairs.len() > 1 { format!(" ({} such pairs)", pairs.len()) } else { String::new() };
    Some(format!(
        "CPUs {a} and {b} took turns on one CPU of the host when they were measured{more}: \
         their tasks run one after the other. Leave one out with --cpus, or ask for vCPUs with CPUs of their own."
    ))
}

fn crossing(answer: &Answer) -> Option<String> {
    let (crossing, all) = answer.crossing?;
    let percent = if all > 0.0 { 100.0 * crossing / all } else { 0.0 };
    let [crossing, all] = [crossing, all].map(number);
    Some(format!("{crossing} of the weight {all} crosses between sections ({percent:.1} %)."))
}

fn channels(answer: &Answer) -> Option<String> {
    let without = answer.channels.iter().filter(|channel| channel.line.is_none()).count();
    let is_some = without > 0 && without < answer.channels.len();
    let are = if without == 1 { "channel is" } else { "channels are" };
    is_some.then(|| {
        format!(
            "{without} {are} left without a candidate line: there are fewer lines than channels."
        )
    })
}

fn agreement(answer: &Answer) -> Option<String> {
    let agreement = answer.agreement.as_ref()?;
    let with = |of: Option<f64>| of.map_or("says nothing".to_owned(), |of| format!("{of:.2}"));
    Some(format!(
        "Rank correlation with the runs, over {}: distance {}, congestion {}.",
        seatmap_statistics::words::counted(agreement.placements, "placement"),
        with(agreement.distance),
        with(agreement.congestion)
    ))
}

fn loads(answer: &Answer) -> Option<String> {
    let (link, load) = answer.busiest_link.as_ref()?;
    Some(if *load > 0.0 {
        format!("The most loaded link is that of {link}: {} crosses it.", number(*load))
    } else {
        "Nothing crosses a link that groups of CPUs share.".to_owned()
    })
}

/// How many cores carry several tasks, and what the other way would cost.
fn cores(
    typed: &Place,
    request: &PlaceRequest,
    answer: &Answer,
    sharing: &Sharing,
) -> Result<Option<String>, CliError> {
    let tasks = request.pattern.tasks;
    let cores = sharing.cores;
    if tasks > cores {
        let shared = counted(sharing.shared_cores, "core carries", "cores carry");
        let least = (tasks - cores).min(cores);
        let choice = if sharing.shared_cores > least {
            format!(", of which {least} must")
        } else {
            String::new()
        };
        return Ok(Some(format!(
            "{shared} two tasks or more{choice}: {} on {}.",
            seatmap_report::counted(tasks, "task"),
            seatmap_report::counted(cores, "core")
        )));
    }
    if request.smt_cores().is_none() {
        return Ok(None);
    }
    let is_one_each = request.one_per.is_some();
    let now = match (is_one_each, sharing.shared_cores) {
        (true, _) => "Each task has a core of its own".to_owned(),
        (false, 0) => "No core carries two tasks".to_owned(),
        (false, shared) => {
            format!("{} two tasks or more", counted(shared, "core carries", "cores carry"))
        }
    };
    let is_asked = typed.one_per.is_some() || (sharing.shared_cores == 0 && !is_one_each);
    if is_asked || typed.objective == ObjectiveChoice::Simulated {
        return Ok(Some(now + "."));
    }
    let other = smt::other_way(typed, request).map_err(CliError::input)?;
    let Some(other) = other else { return Ok(Some(now + ".")) };
    let more = share(other.cost, answer.cost);
    Ok(Some(if is_one_each {
        format!(
            "{now}; sharing cores (--use-smt) would {more}; what tasks take from each other is not in it."
        )
    } else {
        format!("{now}; a core for each task (--avoid-smt) would {more}.")
    }))
}

/// A cost beside another, such as `cost 812, 12.3 % less`.
fn share(other: f64, cost: f64) -> String {
    let percent = 100.0 * (other / cost - 1.0);
    match (cost > 0.0, percent) {
        (true, percent) if percent <= -0.05 => {
            format!("cost {}, {:.1} % less", number(other), -percent)
        }
        (true, percent) if percent >= 0.05 => {
            format!("cost {}, {percent:.1} % more", number(other))
        }
        _ => "cost as much".to_owned(),
    }
}

fn counted(number: usize, one: &str, several: &str) -> String {
    format!("{number} {}", if number == 1 { one } else { several })
}

fn empty(sharing: &Sharing) -> Option<String> {
    let named = |what: &str, numbers: &[u32]| match numbers {
        [] => None,
        [one] => Some(format!("{what} {one}")),
        several => {
            let several: Vec<String> = several.iter().map(u32::to_string).collect();
            Some(format!("{what}s {}", several.join(", ")))
        }
    };
    let parts =
        [named("package", &sharing.empty_packages), named("NUMA node", &sharing.empty_nodes)];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    let is_one = sharing.empty_packages.len() + sharing.empty_nodes.len() == 1;
    let verb = if is_one {
        "stays empty, its memory and caches"
    } else {
        "stay empty, their memory and caches"
    };
    (!parts.is_empty()).then(|| {
        let text = format!("{} {verb} unused.", parts.join(" and "));
        text[..1].to_uppercase() + &text[1..]
    })
}

/// The usual order that is as good, and what carries it out.
fn plain(request: &PlaceRequest, answer: &Answer) -> Result<Option<String>, PlaceError> {
    Ok(request.plain(answer)?.map(|plain| {
        let costs = match plain.name {
            "compact" => "Compact costs no more",
            "scatter" => "Scatter costs no more",
            _ => "The order of the OS's numbers costs no more",
        };
        match plain.settings.as_slice() {
            [] => format!("{costs}."),
            settings => format!("{costs}. Without a plan: {}.", settings.join(", or ")),
        }
    }))
}

/// A link that is clearly busier than without a plan, and the objective that would see it.
fn busiest(
    typed: &Place,
    machine: &Machine,
    request: &PlaceRequest,
    plan: &Plan,
) -> Result<Option<String>, CliError> {
    if typed.objective != ObjectiveChoice::Distance || request.pattern.edges.len() > MOST_EDGES {
        return Ok(None);
    }
    let model = machine.model();
    let profile = request.profile;
    let pattern = request.pattern;
    let seatings = [seating_in_order(request, plan)?, DrawnPlacement::planned(pattern, plan)];
    let comparison = Comparison::new(profile, model, pattern, plan, seatings);
    let Some([before, after]) =
        comparison.busiest().filter(|[before, after]| after.1 > before.1 * CLEARLY_MORE)
    else {
        return Ok(None);
    };
    let pus = Pus::new(profile, request.cpus.as_deref(), request.homes).map_err(CliError::input)?;
    let remedy = match (Links::new(profile, &pus).is_empty(), model) {
        (false, _) => "--objective congestion looks at links",
        (true, Some(_)) => "--objective simulated runs the messages on them",
        (true, None) => "no objective knows this machine's links",
    };
    let more = if before.1 > 0.0 {
        format!("{:.0} % more than the busiest", 100.0 * (after.1 / before.1 - 1.0))
    } else {
        "and none".to_owned()
    };
    Ok(Some(format!(
        "The busiest link, {}, carries {}, {more} in the OS's order: distance does not see that; {remedy}.",
        after.0,
        counted_figure(after.1, 0, "byte")
    )))
}
