//! The cost of communication, in the terminal.

use seatmap_data::document::{left_aligned, visible};
use seatmap_data::statistics::words::counted;
use seatmap_experiments::cell_stats::{
    CellStatsSurvey, LatencyPoint, LatencySpread, StatsResult, SurveyFigure, SurveySeries,
};
use std::cmp::Ordering;
use std::collections::BTreeSet;

/// One experiment.
pub fn outcome(machine: &str, outcome: &StatsResult, requested: u64) -> String {
    let machine = visible(machine);
    let mut text = format!(
        "{} on {machine}\n  latency    {} ns\n",
        outcome.function,
        number(outcome.latency_ns)
    );
    if let Some(LatencySpread { batches, p10_ns, mad_ns, ci95_low_ns, ci95_high_ns }) =
        outcome.spread
    {
        let [low, high, p10, mad] = [ci95_low_ns, ci95_high_ns, p10_ns, mad_ns].map(number);
        text += &format!(
            "             the median of {batches}, 95 % {low} to {high}; p10 {p10}, MAD {mad}\n",
            batches = counted(batches, "batch")
        );
    }
    if let Some(gbps) = outcome.bandwidth_gbps {
        text += &format!("  bandwidth  {gbps:.2} GB/s\n");
    }
    // A single worker's figures are those above.
    if outcome.per_spe.len() > 1 {
        text += "  PU         latency    bandwidth\n";
        for task in &outcome.per_spe {
            let gbps =
                task.bandwidth_gbps.map_or_else(String::new, |gbps| format!("  {gbps:>7.2} GB/s"));
            text += &format!("  {:<6} {:>11} ns{gbps}\n", task.pu, number(task.latency_ns));
        }
    }
    // Only if the number of operations differs from the requested one.
    let run = outcome.iterations;
    match run.cmp(&requested) {
        Ordering::Less => {
            text +=
                &format!("Of {requested} operations {run} were run: the model repeats itself.\n")
        }
        Ordering::Greater => {
            text +=
                &format!("{run} operations were run: in fewer the workers' runs did not overlap.\n")
        }
        Ordering::Equal => {}
    }
    text
}

/// A survey: a table of single figures, and the curves' ends.
pub fn survey(machine: &str, survey: &CellStatsSurvey) -> String {
    let width = survey.rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    let mut text = visible(machine) + "\n\n";
    for row in &survey.rows {
        let what = left_aligned(&row.what, width);
        text += &format!("  {what}  {:>12} ns\n", number(row.latency_ns));
    }
    for refused in &survey.refused {
        let what = left_aligned(&refused.what, width);
        text += &format!("  {what}  {:>12}     {}\n", "-", refused.why);
    }
    for figure in &survey.figures {
        text += &table(figure);
    }
    text += "\nAdvice\n";
    for line in recommendations(survey) {
        text += &format!("  - {line}\n");
    }
    text
}

/// The points of all curves as a table of text.
pub fn csv(survey: &CellStatsSurvey) -> String {
    let mut text = "figure,curve,across,at,latency_ns,bandwidth_gbps\n".to_owned();
    for figure in &survey.figures {
        let SurveyFigure { title, across, .. } = figure;
        for SurveySeries { name, points } in &figure.series {
            for LatencyPoint { at, latency_ns, bandwidth_gbps } in points {
                let gbps = bandwidth_gbps.map_or_else(String::new, |gbps| gbps.to_string());
                text += &format!("\"{title}\",\"{name}\",{across},{at},{latency_ns},{gbps}\n");
            }
        }
    }
    text
}

/// Latency and bandwidth by size, one column per curve, every second size; "-" for a rejected size.
fn table(figure: &SurveyFigure) -> String {
    let mut text = format!("\n{} (ns, GB/s)\n  {:>9}", figure.title, figure.across);
    for series in &figure.series {
        text += &format!("  {:>24}", series.name);
    }
    text.push('\n');
    let all: BTreeSet<u64> =
        figure.series.iter().flat_map(|series| &series.points).map(|point| point.at).collect();
    // Every other size, counted from the largest, so that the largest is included.
    let shown = all.iter().rev().step_by(2).collect::<Vec<_>>();
    for at in shown.into_iter().rev() {
        text += &format!("  {at:>9}");
        for series in &figure.series {
            text += &format!("  {:>24}", at_of(series, *at).map_or_else(|| "-".to_owned(), cell));
        }
        text.push('\n');
    }
    text
}

/// A curve's point at a size; `None` for a rejected size.
fn at_of(series: &SurveySeries, at: u64) -> Option<&LatencyPoint> {
    series.points.iter().find(|point| point.at == at)
}

fn cell(point: &LatencyPoint) -> String {
    match point.bandwidth_gbps {
        Some(gbps) => format!("{}  {gbps:>6.2}", number(point.latency_ns)),
        None => number(point.latency_ns),
    }
}

/// The recommendations of the paper's section 5, derived from these figures.
pub fn recommendations(survey: &CellStatsSurvey) -> Vec<String> {
    let mut said = Vec::new();
    if let (Some(thread), Some(message)) = (row(survey, "thread"), row(survey, "mailbox")) {
        said.push(format!(
            "Create threads once: one costs as much as {:.0} mailbox messages.",
            thread / message
        ));
    }
    if let (Some(mapped), Some(called)) =
        (row(survey, "mailbox, controller"), row(survey, "mailbox, the same by a system call"))
    {
        said.push(format!(
            "Write mapped registers, not system calls: {:.0} times faster.",
            called / mapped
        ));
    }
    if let (Some(near), Some(far)) = (between(survey, "same chip"), between(survey, "chip 1")) {
        said.push(format!(
            "Keep partners on one chip: a message across takes {:.1} times as long.",
            far / near
        ));
    }
    if let Some(best) = survey
        .rows
        .iter()
        .filter(|r| r.what.starts_with("barrier"))
        .min_by(|a, b| a.latency_ns.total_cmp(&b.latency_ns))
    {
        said.push(format!("The quickest {} takes {} ns.", best.what, number(best.latency_ns)));
    }
    said.extend(buffers(survey));
    said.extend(lists(survey));
    said.extend(memories(survey));
    said
}

fn row(survey: &CellStatsSurvey, name: &str) -> Option<f64> {
    survey.rows.iter().find(|row| row.what.starts_with(name)).map(|row| row.latency_ns)
}

fn is_between(what: &str) -> bool {
    what.starts_with("mailbox") && !what.contains("controller")
}

fn between(survey: &CellStatsSurvey, chip: &str) -> Option<f64> {
    let row = survey.rows.iter().find(|r| is_between(&r.what) && r.what.ends_with(chip));
    row.map(|row| row.latency_ns)
}

fn figure<'a>(survey: &'a CellStatsSurvey, begins: &str) -> Option<&'a SurveyFigure> {
    survey.figures.iter().find(|figure| figure.title.starts_with(begins))
}

/// The size up to which private buffers are better than shared ones, for the most workers.
fn buffers(survey: &CellStatsSurvey) -> Option<String> {
    let shared = gets(survey, "shared")?;
    let private = gets(survey, "private")?;
    // A difference below 5 % counts as none.
    let better = shared.points.iter().filter(|point| {
        // By size, because a rejected size is missing in one of the two.
        at_of(private, point.at).is_some_and(|private| private.latency_ns < 0.95 * point.latency_ns)
    });
    let last = better.map(|point| point.at).max()?;
    Some(format!(
        "Give every worker a separate buffer for transfers up to {last}; beyond, sharing costs \
         nothing.",
        last = counted(last, "byte")
    ))
}

fn gets<'a>(survey: &'a CellStatsSurvey, sort: &str) -> Option<&'a SurveySeries> {
    // Curves are sorted by number of workers, so the last has the most.
    figure(survey, &format!("GETs on {sort}"))?.series.last()
}

/// Elements from which a list costs more.
fn lists(survey: &CellStatsSurvey) -> Option<String> {
    let points = &figure(survey, "Lists of GETs")?.series.last()?.points;
    // No recommendation without it: no other figure gives a list's base cost.
    let plain = points.iter().find(|point| point.at == 1)?.latency_ns;
    // Up to the first list that takes noticeably longer than the shortest.
    let last = points.iter().take_while(|point| point.latency_ns < 1.1 * plain).last()?;
    let worst = points.last()?;
    Some(format!(
        "Lists of 16 KiB cost nothing up to {}; {} take {:.1} times as long.",
        counted(last.at, "element"),
        counted(worst.at, "element"),
        worst.latency_ns / plain
    ))
}

fn memories(survey: &CellStatsSurvey) -> Option<String> {
    let near_memory = eight(survey, 0)?;
    let largest = near_memory.points.last()?;
    let near = largest.bandwidth_gbps?;
    // At the same size, because one memory may have rejected the largest.
    let far = at_of(eight(survey, 1)?, largest.at)?.bandwidth_gbps?;
    let workers = &near_memory.name;
    // No recommendation if both memories are equally fast.
    (far < 0.95 * near).then(|| {
        format!(
            "Allocate next to the chip that works: {workers} get {near:.1} GB/s there and {far:.1} \
             GB/s from the other."
        )
    })
}

fn eight(survey: &CellStatsSurvey, module: usize) -> Option<&SurveySeries> {
    let figure = figure(survey, &format!("GETs on private buffers of memory {module}"))?;
    figure.series.iter().find(|series| series.name.starts_with("8 "))
}

fn number(ns: f64) -> String {
    if ns < 9_999.95 { format!("{ns:.1}") } else { format!("{ns:.0}") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_experiments::cell_stats::{Refused, SurveyLatency};

    #[test]
    fn refused_figure_prints_dash_and_reason() {
        let curve = |name: &str, counts: &[u64]| {
            let point = |at: &u64| LatencyPoint { at: *at, latency_ns: 5.0, bandwidth_gbps: None };
            SurveySeries { name: name.to_owned(), points: counts.iter().map(point).collect() }
        };
        let found = CellStatsSurvey {
            rows: vec![SurveyLatency { what: "futex".to_owned(), latency_ns: 9.0 }],
            figures: vec![SurveyFigure {
                title: "Atomics".to_owned(),
                across: "workers",
                series: vec![curve("shared", &[1]), curve("private", &[1, 2])],
            }],
            refused: vec![Refused { what: "swap".to_owned(), why: "apart".to_owned() }],
        };
        insta::assert_snapshot!(survey("host", &found), @r"
        host

          futex           9.0 ns
          swap              -     apart

        Atomics (ns, GB/s)
            workers                    shared                   private
                  2                         -                       5.0

        Advice
        ");
    }
}
