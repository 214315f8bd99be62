//! A machine as `seatmap show` has it: the document, and the CPUs that were set apart.

use seatmap_machine::{Origin, Profile, SeatSpeed};
use seatmap_measure::classes::{self, DistanceClass};
use seatmap_measure::findings::{self, Finding};
use seatmap_os::kernel::Scheduler;
use seatmap_os::{CpuList, CpuSet};
use serde::Serialize;

/// The CPUs of this host that the kernel was started to set apart, by OS index.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct SetApart {
    /// The CPUs that the kernel was started to keep threads away from (`isolcpus=`); absent where
    /// there are none, and for other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub isolated: Vec<u32>,
    /// The CPUs without a timer tick while one thread runs alone (`nohz_full=`); absent where there
    /// are none, and for other machines.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nohz_full: Vec<u32>,
}

impl SetApart {
    /// The CPUs that a kernel has set apart.
    #[must_use]
    pub fn of(kernel: &Scheduler) -> Self {
        SetApart { isolated: listed(&kernel.isolated), nohz_full: listed(&kernel.no_hz_full) }
    }

    /// A paragraph about them; empty where there are none.
    #[must_use]
    pub fn text(&self) -> String {
        let isolated = paragraph_line(
            "isolated ",
            &self.isolated,
            "no thread is put there that does not ask; --cpus names them",
        );
        let nohz_full = paragraph_line(
            "nohz_full",
            &self.nohz_full,
            "no timer tick while one thread runs alone",
        );
        match isolated + &nohz_full {
            lines if lines.is_empty() => lines,
            lines => format!("\nSet apart at boot\n{lines}"),
        }
    }
}

fn listed(list: &str) -> Vec<u32> {
    CpuSet::of_list(list).unwrap_or_default().list().0
}

fn paragraph_line(word: &str, cpus: &[u32], meaning: &str) -> String {
    if cpus.is_empty() {
        return String::new();
    }
    format!("  {word}  {}: {meaning}\n", CpuList(cpus.to_vec()))
}

/// A profile in short: the output of `seatmap show --json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ShownMachine<'a> {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "seatmap-show/1")))]
    format: &'static str,
    /// The machine's name.
    machine: &'a str,
    /// The origin of the figures.
    origin: &'a Origin,
    /// Hardware threads.
    pus: usize,
    /// Distance classes, nearest first; none where there are no distances.
    classes: Vec<DistanceClass>,
    /// Groups of PUs, by OS index, that are near one another; null without distances.
    groups: Option<&'a [Vec<u32>]>,
    /// The share of the variance that groups and homes explain; null without distances.
    r2: Option<f64>,
    /// The root mean square of the part that they do not explain, in nanoseconds; null without
    /// distances.
    residual_ns: Option<f64>,
    /// The share of the variance inside groups that one figure a PU explains; null where that is
    /// unknown.
    star_r2: Option<f64>,
    /// Whether the matrix says only which PUs are near the line's home; null without distances.
    pair_view_empty: Option<bool>,
    /// Things that are odd.
    findings: Vec<WordedFinding>,
    /// The speed of each PU, relative to the fastest; absent where that is unknown.
    #[serde(skip_serializing_if = "Option::is_none")]
    speed: Option<SpeedOfPus<'a>>,
    #[serde(flatten)]
    set_apart: SetApart,
}

/// How fast the PUs are.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct SpeedOfPus<'a> {
    /// How far the slowest PU is behind the fastest, as a share of the fastest; differences that
    /// only noise gives do not count.
    spread: f64,
    #[serde(flatten)]
    of_pus: &'a SeatSpeed,
}

/// A finding, and the same in words.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct WordedFinding {
    /// Its kind, with its figures.
    finding: Finding,
    /// The finding as sentences: the observation, the reason, and the remedy.
    text: String,
}

impl<'a> ShownMachine<'a> {
    /// A profile as a document, with the CPUs that are set apart on it.
    #[must_use]
    pub fn of(profile: &'a Profile, set_apart: SetApart) -> Self {
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
            set_apart,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpus_that_are_set_apart_have_a_paragraph() {
        let kernel = Scheduler { isolated: "2-3".to_owned(), ..Scheduler::default() };
        let set_apart = SetApart::of(&kernel);
        assert_eq!(
            set_apart.text(),
            "\nSet apart at boot\n  isolated   2,3: no thread is put there that does not ask; --cpus names them\n"
        );
        assert_eq!(SetApart::default().text(), "");
        let profile = crate::samples::two_groups();
        let document = serde_json::to_value(ShownMachine::of(&profile, set_apart)).unwrap();
        assert_eq!(document["isolated"], serde_json::json!([2, 3]));
        assert!(document.get("nohz_full").is_none(), "{document}");
    }
}
