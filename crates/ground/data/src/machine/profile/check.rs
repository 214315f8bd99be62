//! Checks that the parts of a profile are consistent, and each number is possible.

use crate::document::{Checked, inconsistent};
use crate::machine::nanoseconds::{MAX_ROUND_TRIP_NS, too_long};
use crate::machine::{
    CoreDistance, Deciles, HomeLines, HomeModel, Matrix, Profile, SeatSpeed, Topology,
};
use crate::statistics::words::counted;
use seatmap_os::cpu_list::MAX_CPU;
use std::collections::HashSet;
use std::ops::RangeInclusive;

const TIME_NS: RangeInclusive<f64> = 0.0..=MAX_ROUND_TRIP_NS;
const SHARE: RangeInclusive<f64> = 0.0..=1.0;
/// A share of a variance; negative if a model is worse than the mean.
const EXPLAINED: RangeInclusive<f64> = -LARGEST..=1.0;
const AMOUNT: RangeInclusive<f64> = 0.0..=LARGEST;
/// The largest number: it can be added up and printed.
const LARGEST: f64 = 1e15;

impl Profile {
    /// Checks sizes, references and values.
    ///
    /// # Errors
    /// [`DocumentError::Inconsistent`](crate::document::DocumentError::Inconsistent) with the first
    /// inconsistency.
    pub fn check(&self) -> Checked {
        topology(&self.topology)?;
        circumstances(self)?;
        if let Some(distance) = &self.core_distance {
            check_core_distance(distance, &self.topology)?;
        }
        if let Some(model) = &self.home_model {
            check_home_model(model, self)?;
        }
        loaded(self)?;
        if let Some(speed) = &self.speed {
            check_speed(speed, &self.topology)?;
        }
        let wakeups = self.wakeups.as_ref();
        if let Some(problem) = wakeups.and_then(|wakeups| wakeups.problem(&self.topology)) {
            return inconsistent(format!("wakeups.{problem}"));
        }
        let bandwidth = self.bandwidth.as_ref();
        match bandwidth.and_then(|bandwidth| bandwidth.problem(&self.topology)) {
            Some(problem) => inconsistent(format!("bandwidth.{problem}")),
            None => Ok(()),
        }
    }
}

fn topology(topology: &Topology) -> Checked {
    check_unique("topology.pus", topology.os_indices())?;
    // Sets of CPUs have a bit for each index up to the last.
    match topology.os_indices().find(|os| *os > MAX_CPU) {
        Some(os) => {
            inconsistent(format!("topology.pus: PU {os} is beyond the largest index, {MAX_CPU}"))
        }
        None => Ok(()),
    }
}

type Figure<'a> = (&'a str, Option<f64>, RangeInclusive<f64>);

/// Checks the numbers of one part of a profile. A program, unlike JSON, can make infinity and NaN.
fn figures<const N: usize>(part: &str, figures: [Figure; N]) -> Checked {
    for (name, value, range) in figures {
        if let Some(value) = value.filter(|value| !range.contains(value)) {
            return inconsistent(format!(
                "{part}.{name} is {value:e}, but must be from {:e} to {:e}",
                range.start(),
                range.end()
            ));
        }
    }
    Ok(())
}

fn circumstances(profile: &Profile) -> Checked {
    let environment = &profile.environment;
    figures(
        "environment",
        [
            ("steal_percent", environment.steal_percent, AMOUNT),
            ("load_average", environment.load_average, AMOUNT),
        ],
    )?;
    let clock = &profile.clock;
    figures(
        "clock",
        [("step_ns", clock.step_ns, TIME_NS), ("frequency_hz", clock.frequency_hz, AMOUNT)],
    )
}

fn loaded(profile: &Profile) -> Checked {
    for (at, point) in profile.loaded.iter().enumerate() {
        figures(
            &format!("loaded[{at}]"),
            [
                ("median_ns", Some(point.median_ns), TIME_NS),
                ("p10_ns", Some(point.p10_ns), TIME_NS),
                ("p90_ns", Some(point.p90_ns), TIME_NS),
            ],
        )?;
    }
    // Curves are drawn from point to point.
    match profile.loaded.windows(2).position(|two| two[0].pairs >= two[1].pairs) {
        Some(at) => inconsistent(format!(
            "loaded[{}].pairs is {}, but must be above loaded[{at}].pairs, {}",
            at + 1,
            profile.loaded[at + 1].pairs,
            profile.loaded[at].pairs
        )),
        None => Ok(()),
    }
}

fn check_lines(lines: &HomeLines, homes: usize, topology: &Topology) -> Checked {
    let part = "home_model.lines";
    figures(part, [("confidence", Some(lines.confidence), SHARE)])?;
    if let Some(at) = lines.home_of_line.iter().position(|home| *home as usize >= homes) {
        return inconsistent(format!(
            "{part}.home_of_line[{at}] is {}, but the model has {homes}, counted from 0",
            lines.home_of_line[at],
            homes = counted(homes, "home")
        ));
    }
    check_known("home_model.lines.nearest_pu", &lines.nearest_pu, topology)
}

fn check_regimes(distance: &CoreDistance) -> Checked {
    for (at, pair) in distance.regimes.iter().enumerate() {
        let part = format!("core_distance.regimes[{at}]");
        if let Some(os) = pair.pus.iter().find(|os| distance.index_of(**os).is_none()) {
            return inconsistent(format!("{part}.pus: PU {os} is not in core_distance.pus"));
        }
        for (number, regime) in pair.regimes.iter().enumerate() {
            figures(
                &format!("{part}.regimes[{number}]"),
                [
                    ("median_ns", Some(regime.median_ns), TIME_NS),
                    ("share", Some(regime.share), SHARE),
                ],
            )?;
        }
    }
    let protocol = distance.protocol.as_ref();
    figures(
        "core_distance.protocol",
        [
            ("resolution_ns", protocol.map(|protocol| protocol.resolution_ns), TIME_NS),
            ("seconds", protocol.map(|protocol| protocol.seconds), AMOUNT),
        ],
    )
}

/// A list that belongs to another one is as long.
fn check_rows(name: &str, rows: usize, of: usize, things: &str) -> Checked {
    if rows == of {
        return Ok(());
    }
    inconsistent(format!("{name} has {} for {}", counted(rows, "row"), counted(of, things)))
}

fn check_unique(what: &str, os: impl Iterator<Item = u32>) -> Checked {
    let mut seen = HashSet::new();
    for os in os {
        if !seen.insert(os) {
            return inconsistent(format!("{what}: PU {os} is listed twice"));
        }
    }
    Ok(())
}

fn check_known(what: &str, pus: &[u32], topology: &Topology) -> Checked {
    // A set, because thousands of PUs are looked up.
    let known: HashSet<u32> = topology.os_indices().collect();
    match pus.iter().find(|os| !known.contains(os)) {
        Some(os) => inconsistent(format!("{what}: PU {os} is not in topology.pus")),
        None => Ok(()),
    }
}

fn check_speed(speed: &SeatSpeed, topology: &Topology) -> Checked {
    check_unique("speed.pus", speed.pus.iter().copied())?;
    check_known("speed.pus", &speed.pus, topology)?;
    match speed.problem() {
        Some(problem) => inconsistent(format!("speed.{problem}")),
        None => Ok(()),
    }
}

fn check_core_distance(distance: &CoreDistance, topology: &Topology) -> Checked {
    check_unique("core_distance.pus", distance.pus.iter().copied())?;
    check_known("core_distance.pus", &distance.pus, topology)?;
    let named = [
        ("median_ns", Some(&distance.median_ns)),
        ("p10_ns", distance.p10_ns.as_ref()),
        ("mad_ns", distance.mad_ns.as_ref()),
        ("ci95_low_ns", distance.ci95_low_ns.as_ref()),
        ("ci95_high_ns", distance.ci95_high_ns.as_ref()),
    ];
    for (name, matrix) in named.into_iter().filter_map(|(name, matrix)| Some((name, matrix?))) {
        check_matrix(name, matrix, distance.pus.len())?;
    }
    check_deciles(distance)?;
    check_regimes(distance)?;
    check_rows("core_distance.status", distance.status.n(), distance.pus.len(), "PU")
}

fn check_deciles(distance: &CoreDistance) -> Checked {
    let Some(deciles) = &distance.deciles_ns else { return Ok(()) };
    let pairs = distance.pus.len() * distance.pus.len().saturating_sub(1) / 2;
    check_rows("core_distance.deciles_ns", deciles.len(), pairs, "pair")?;
    match deciles.iter().position(|row| !row.as_ref().is_none_or(ascend)) {
        Some(at) => {
            inconsistent(format!("core_distance.deciles_ns[{at}] must ascend from 0 or more"))
        }
        None => {
            let none = [0.0; 11];
            let rows = deciles.iter().map(|row| row.as_ref().unwrap_or(&none).as_slice());
            check_length("core_distance.deciles_ns", rows)
        }
    }
}

fn ascend(row: &Deciles) -> bool {
    row[0] >= 0.0 && row.is_sorted()
}

fn check_matrix(name: &str, matrix: &Matrix, n: usize) -> Checked {
    let name = &format!("core_distance.{name}");
    check_rows(name, matrix.n(), n, "PU")?;
    for i in 0..n {
        // Unknown distances are NaN, which is not below 0.
        if let Some(j) = matrix.row(i).iter().position(|cell| *cell < 0.0) {
            return inconsistent(format!("{name}[{i}][{j}] is negative: {}", matrix[(i, j)]));
        }
    }
    check_length(name, (0..n).map(|i| matrix.row(i)))?;
    check_symmetric(name, matrix)
}

/// A profile made by a program must obey the limits of files.
fn check_length<'a>(name: &str, rows: impl Iterator<Item = &'a [f64]>) -> Checked {
    for (i, row) in rows.enumerate() {
        if let Some((j, problem)) =
            row.iter().enumerate().find_map(|(j, ns)| Some((j, too_long(*ns)?)))
        {
            return inconsistent(format!("{name}[{i}][{j}]: {problem}"));
        }
    }
    Ok(())
}

/// A round trip is the same from both ends; a search that relies on it would otherwise never end.
fn check_symmetric(name: &str, matrix: &Matrix) -> Checked {
    match matrix.pairs().find(|(i, j, there)| {
        let back = matrix[(*j, *i)];
        // Two unknown distances are equal, though NaN is not.
        **there != back && !(there.is_nan() && back.is_nan())
    }) {
        Some((i, j, there)) => inconsistent(format!(
            "{name}[{i}][{j}] is {there}, but [{j}][{i}] is {}; they must be equal",
            matrix[(j, i)]
        )),
        None => Ok(()),
    }
}

fn check_home_model(model: &HomeModel, profile: &Profile) -> Checked {
    let Some(distance) = &profile.core_distance else {
        return inconsistent("home_model needs core_distance");
    };
    check_unique("home_model.groups", model.groups.iter().flatten().copied())?;
    if let Some(os) = model.groups.iter().flatten().find(|os| !distance.pus.contains(os)) {
        return inconsistent(format!("home_model.groups: PU {os} is not in core_distance.pus"));
    }
    let groups = model.groups.len();
    check_rows("home_model.between_ns", model.between_ns.n(), groups, "group")?;
    check_symmetric("home_model.between_ns", &model.between_ns)?;
    check_rows("home_model.offset_ns", model.offset_ns.len(), distance.pus.len(), "PU")?;
    check_length("home_model.between_ns", (0..groups).map(|i| model.between_ns.row(i)))?;
    check_length("home_model.offset_ns", model.offset_ns.iter().map(Vec::as_slice))?;
    check_length("home_model.inside_ns", model.inside_ns.iter().flatten().map(Vec::as_slice))?;
    let homes = model.homes();
    if let Some(inside) = &model.inside_ns
        && (inside.len() != groups || inside.iter().any(|row| row.len() != homes))
    {
        return inconsistent(format!(
            "home_model.inside_ns is not {} by {homes}",
            counted(groups, "group"),
            homes = counted(homes, "home")
        ));
    }
    if let Some(bad) = model.offset_ns.iter().position(|row| row.len() != homes) {
        return inconsistent(format!(
            "home_model.offset_ns[{bad}] and row 0 have different numbers of homes"
        ));
    }
    figures(
        "home_model",
        [
            ("r2", Some(model.r2), EXPLAINED),
            ("residual_ns", Some(model.residual_ns), TIME_NS),
            ("star_r2", model.star_r2, EXPLAINED),
            ("smt_ns", model.smt_ns, TIME_NS),
        ],
    )?;
    match &model.lines {
        Some(lines) => check_lines(lines, homes, &profile.topology),
        None => Ok(()),
    }
}
