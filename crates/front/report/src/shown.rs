//! The list of machines, and the document and CPU settings that `seatmap show` prints.

use crate::page::{Page, Table, section};
use crate::words::{counted, joined};
use seatmap_data::machine::{HomeModel, Origin, Profile, SeatSpeed};
use seatmap_launch::named::KnownWord;
use seatmap_machines::catalog::MachineList;
use seatmap_measure::classes::{self, DistanceClass};
use seatmap_measure::findings::{self, ProfileFinding};
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::{CpuList, CpuSet};
use serde::Serialize;
use std::collections::BTreeSet;

/// The bundled machines, one a row: capabilities and origin.
pub fn machines(list: &MachineList) -> Page {
    let table = Table::new("| :>7 | |").flush();
    let table = table.rows(list.machines.iter().map(|entry| {
        let model = if entry.kind == "model" { " (model)" } else { "" };
        [
            entry.machine.to_owned(),
            // Plural: a machine has at least two PUs.
            format!("{} PUs", entry.pus),
            entry.can.join(" "),
            format!("{}{model}", entry.summary),
        ]
    }));
    Page::of(section("Machines", table))
}

/// CPUs of this host with special kernel settings, by OS index.
#[derive(Clone, Default, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetApart {
    /// CPUs that the kernel excludes from load balancing; absent if there are none, and for other
    /// machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isolated: Vec<u32>,
    /// CPUs without a timer tick while one thread runs alone (`nohz_full=`); absent if there are
    /// none, and for other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nohz_full: Vec<u32>,
}

impl SetApart {
    /// The CPUs set apart by these kernel settings.
    pub fn of(kernel: &SchedulerSettings) -> Self {
        SetApart { isolated: listed(&kernel.isolated), nohz_full: listed(&kernel.no_hz_full) }
    }

    /// A paragraph about these CPUs; empty if none.
    pub fn lines(&self) -> Vec<String> {
        let kinds = [
            ("isolated ", &self.isolated, "the kernel moves no thread there by itself"),
            ("nohz_full", &self.nohz_full, "no timer tick while one thread runs alone"),
        ];
        let known = kinds.into_iter().filter(|(_, cpus, _)| !cpus.is_empty());
        let mut lines = Vec::from_iter(known.map(|(word, cpus, meaning)| {
            format!("  {word}  {}: {meaning}", CpuList(cpus.clone()))
        }));
        if !lines.is_empty() {
            lines.insert(0, "CPUs with special kernel settings".to_owned());
        }
        lines
    }
}

fn listed(list: &str) -> Vec<u32> {
    CpuSet::of_list(list).unwrap_or_default().list().0
}

/// A profile in short: the output of `seatmap show --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownMachine<'a> {
    /// Name and version of the format.
    format: &'static str,
    /// The machine's name.
    machine: &'a str,
    /// The origin of the figures.
    origin: &'a Origin,
    /// The number of hardware threads.
    pus: usize,
    /// Distance classes, nearest first; empty without distances.
    classes: Vec<DistanceClass>,
    /// Groups of near PUs, by OS index; null without distances.
    groups: Option<&'a [Vec<u32>]>,
    /// The share of the variance that groups and homes explain; null without distances.
    r2: Option<f64>,
    /// The root mean square of the unexplained part, in nanoseconds; null without distances.
    residual_ns: Option<f64>,
    /// The share of the variance within groups that one figure per PU explains; null if unknown.
    star_r2: Option<f64>,
    /// Whether the matrix shows only which PUs are near the line's home; null without distances.
    pair_view_empty: Option<bool>,
    /// Unusual properties of the machine.
    findings: Vec<WordedFinding>,
    /// The speed of each PU, relative to the fastest; absent if unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<SpeedOfPus<'a>>,
    /// The words that distinguish its CPUs; absent if there are none.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    words: Vec<KnownWord>,
    #[serde(flatten)]
    set_apart: SetApart,
}

/// The speed of the PUs.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SpeedOfPus<'a> {
    /// How much slower the slowest PU is, as a share of the fastest; 0 if the differences may be
    /// noise.
    spread: f64,
    #[serde(flatten)]
    of_pus: &'a SeatSpeed,
}

/// A finding, also in words.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WordedFinding {
    /// The kind of the finding, with its figures.
    finding: ProfileFinding,
    /// The finding in sentences: observation, reason, remedy.
    text: String,
}

impl<'a> ShownMachine<'a> {
    /// The document of a profile, its special CPUs and its words for CPUs.
    pub fn of(profile: &'a Profile, set_apart: SetApart, words: Vec<KnownWord>) -> Self {
        let model = profile.home_model.as_ref();
        ShownMachine {
            format: "seatmap-show/1",
            machine: &profile.name,
            origin: &profile.origin,
            pus: profile.topology.pus.len(),
            classes: classes::classes(profile),
            groups: model.map(|model| model.groups.as_slice()),
            r2: model.map(|model| model.r2),
            residual_ns: model.map(|model| model.residual_ns),
            star_r2: model.and_then(|model| model.star_r2),
            pair_view_empty: model.map(|model| model.pair_view_empty),
            speed: profile
                .speed
                .as_ref()
                .map(|of_pus| SpeedOfPus { spread: of_pus.spread(), of_pus }),
            findings: findings::findings(profile)
                .into_iter()
                .map(|finding| WordedFinding { text: finding.to_string(), finding })
                .collect(),
            words,
            set_apart,
        }
    }
}

/// A requested CPU or home that the machine does not have.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct AbsentPart(String);

/// Checks that a machine has the CPU and the home to show.
///
/// # Errors
/// [`AbsentPart`].
pub fn check(profile: &Profile, near: Option<u32>, home: Option<usize>) -> Result<(), AbsentPart> {
    let machine = &profile.name;
    if let Some(cpu) = near.filter(|cpu| profile.topology.pu(*cpu).is_none()) {
        let known = CpuList(profile.topology.os_indices().collect()).named();
        return Err(AbsentPart(format!("--near {cpu}: {machine} has only {known}")));
    }
    let homes = profile.home_model.as_ref().map_or(0, HomeModel::homes);
    match home.filter(|home| *home >= homes) {
        Some(home) => Err(AbsentPart(format!(
            "--home {home}: {machine} has {}, numbered from 0; 'seatmap measure --homes N' \
             measures more",
            counted(homes, "home")
        ))),
        None => Ok(()),
    }
}

/// One line about a profile: `epyc with 192 PUs in 12 groups of 16, R2 0.999`.
pub fn summary(profile: &Profile) -> String {
    let pus = counted(profile.topology.pus.len(), "PU");
    let Some(model) = &profile.home_model else { return format!("{} with {pus}", profile.name) };
    let sizes = BTreeSet::from_iter(model.groups.iter().map(Vec::len));
    let groups = counted(model.groups.len(), "group");
    // A fit with as many unknowns as pairs is always exact and shows nothing.
    let fit =
        if model.is_overdetermined() { format!(", R2 {:.4}", model.r2) } else { String::new() };
    format!("{} with {pus} in {groups} of {}{fit}", profile.name, joined(sizes, " or "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn missing_part_is_named_with_available_ones() {
        let profile = crate::samples::two_groups();
        let machine = &profile.name;
        assert!(check(&profile, None, None).is_ok());
        let near = check(&profile, Some(999), None).unwrap_err().to_string();
        assert!(near.starts_with(&format!("--near 999: {machine} has only CPUs 0")), "{near}");
        let home = check(&profile, None, Some(999)).unwrap_err().to_string();
        assert!(home.starts_with(&format!("--home 999: {machine} has ")), "{home}");
        assert!(summary(&profile).starts_with(&format!("{machine} with ")));
    }

    #[test]
    fn isolated_cpus_are_listed() {
        let kernel =
            SchedulerSettings { isolated: "2-3".to_owned(), ..SchedulerSettings::default() };
        let set_apart = SetApart::of(&kernel);
        assert_eq!(
            set_apart.lines().join("\n"),
            "CPUs with special kernel settings\n  \
             isolated   2,3: the kernel moves no thread there by itself"
        );
        assert!(SetApart::default().lines().is_empty());
        let profile = crate::samples::two_groups();
        let document =
            serde_json::to_value(ShownMachine::of(&profile, set_apart, Vec::new())).unwrap();
        assert_eq!(document["isolated"], serde_json::json!([2, 3]));
        assert!(document.get("nohz_full").is_none(), "{document}");
    }
}
