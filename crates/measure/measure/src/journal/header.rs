//! The run that a journal belongs to.

use seatmap_data::statistics::words::counted;
use seatmap_os::CpuList;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// The run that a journal belongs to. A run may continue a journal only where all of this is the
/// same.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalHeader {
    /// The machine.
    pub machine: MachineIdentity,
    /// OS indices, in matrix order.
    pub pus: Vec<u32>,
    /// The options of the run.
    pub options: JournalOptions,
    /// Where random orders start.
    pub seed: u64,
}

/// A machine, by all that tells it from another of its name.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MachineIdentity {
    /// The host's name, or the profile's.
    pub name: String,
    /// The processor's model; `None` where it is not known.
    #[serde(default)]
    pub cpu_model: Option<String>,
    /// The kernel's identifier of this boot; `None` where nothing boots. After another boot pages
    /// lie elsewhere, and so do the homes of the lines in them.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// A hash of the figures behind a machine that is replayed or simulated.
    #[serde(default)]
    pub figures: Option<String>,
}

/// The options of the run, as far as figures depend on them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JournalOptions {
    /// The fewest visits to each pair.
    pub least_passes: u32,
    /// The most.
    pub most_passes: u32,
    /// Timed batches a visit.
    pub batches: u32,
    /// Round trips a batch.
    pub round_trips: u32,
    /// `--parallel`.
    pub parallel: bool,
    /// `--homes`.
    pub homes: u32,
    /// `--utilisation`; 0 where lines are sorted on a quiet machine.
    pub utilisation_percent: u32,
    /// `--loaded`.
    pub loaded: bool,
}

impl JournalHeader {
    /// The differences to another run's header, `theirs`, as `seed 7 there, 8 here`; `None` where
    /// all is the same.
    #[must_use]
    pub fn difference(&self, theirs: &JournalHeader) -> Option<String> {
        let there = &theirs.machine;
        let here = &self.machine;
        let differences = [
            difference("machine", &there.name, &here.name),
            difference(
                "processor",
                known(there.cpu_model.as_ref()),
                known(here.cpu_model.as_ref()),
            ),
            // After a boot the kernel lays out memory anew, and with it the homes of lines.
            difference("boot", known(there.boot_id.as_ref()), known(here.boot_id.as_ref())),
            difference(
                "the machine's figures, hash",
                known(there.figures.as_ref()),
                known(here.figures.as_ref()),
            ),
            difference(
                "CPUs",
                &CpuList(theirs.pus.clone()).to_string(),
                &CpuList(self.pus.clone()).to_string(),
            ),
            difference("--seed", theirs.seed, self.seed),
        ];
        let found: Vec<String> = differences
            .into_iter()
            .chain(self.options.differences(&theirs.options))
            .flatten()
            .collect();
        (!found.is_empty()).then(|| found.join("; "))
    }
}

impl JournalOptions {
    fn differences(&self, theirs: &JournalOptions) -> [Option<String>; 6] {
        [
            difference("--quick, --thorough or --passes", passes(theirs), passes(self)),
            difference("round trips a batch", theirs.round_trips, self.round_trips),
            difference("--parallel", theirs.parallel, self.parallel),
            difference("--homes", theirs.homes, self.homes),
            difference("--utilisation", theirs.utilisation_percent, self.utilisation_percent),
            difference("--loaded", theirs.loaded, self.loaded),
        ]
    }
}

fn passes(options: &JournalOptions) -> String {
    match (options.least_passes, options.most_passes) {
        (least, most) if least == most => {
            format!("{} of {}", counted(least, "pass"), counted(options.batches, "batch"))
        }
        (least, most) => {
            format!("{least} to {} of {}", counted(most, "pass"), counted(options.batches, "batch"))
        }
    }
}

fn known(name: Option<&String>) -> &str {
    name.map_or("unknown", String::as_str)
}

fn difference<T: PartialEq + Display>(what: &str, there: T, here: T) -> Option<String> {
    (there != here).then(|| format!("{what}: {there} there, {here} here"))
}
