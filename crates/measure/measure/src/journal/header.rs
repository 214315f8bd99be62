//! The run of a journal.

use seatmap_data::statistics::words::counted;
use seatmap_os::CpuList;
use serde::{Deserialize, Serialize};
use std::fmt::Display;

/// The run of a journal. Only an equal run may resume it.
#[derive(Serialize, Deserialize)]
pub struct JournalHeader {
    /// Machine.
    pub machine: MachineIdentity,
    /// OS indices, in matrix order.
    pub pus: Vec<u32>,
    /// Options of the run.
    pub options: JournalOptions,
    /// Seed of random orders.
    pub seed: u64,
}

/// A machine, distinguished from others of its name.
#[derive(Default, Serialize, Deserialize)]
pub struct MachineIdentity {
    /// Host's or profile's name.
    pub name: String,
    /// Processor's model, if known.
    #[serde(default)]
    pub cpu_model: Option<String>,
    /// The kernel's boot identifier, if any. After a reboot, lines have other addresses and homes.
    #[serde(default)]
    pub boot_id: Option<String>,
    /// A hash of a replayed or simulated machine's figures.
    #[serde(default)]
    pub figures: Option<String>,
}

/// The options that affect figures.
#[derive(Default, Serialize, Deserialize)]
pub struct JournalOptions {
    /// Minimum number of visits to each pair.
    pub least_passes: u32,
    /// Maximum number of visits to each pair.
    pub most_passes: u32,
    /// Timed batches per visit.
    pub batches: u32,
    /// Round trips per batch.
    pub round_trips: u32,
    /// `--parallel`.
    pub parallel: bool,
    /// `--homes`.
    pub homes: u32,
    /// `--utilisation`; 0 if lines are sorted on a quiet machine.
    pub utilisation_percent: u32,
    /// `--loaded`.
    pub loaded: bool,
}

impl JournalHeader {
    /// The differences to another header, such as `--seed: 7 in the journal, 8 now`, if any.
    pub fn difference(&self, theirs: &JournalHeader) -> Option<String> {
        let there = &theirs.machine;
        let here = &self.machine;
        let differences = [
            difference("machine", &there.name, &here.name),
            difference("processor", known(&there.cpu_model), known(&here.cpu_model)),
            difference("boot", known(&there.boot_id), known(&here.boot_id)),
            difference(
                "hash of the machine's figures",
                known(&there.figures),
                known(&here.figures),
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
            difference("round trips per batch", theirs.round_trips, self.round_trips),
            difference("--parallel", theirs.parallel, self.parallel),
            difference("--homes", theirs.homes, self.homes),
            difference("--utilisation", theirs.utilisation_percent, self.utilisation_percent),
            difference("--loaded", theirs.loaded, self.loaded),
        ]
    }
}

fn passes(options: &JournalOptions) -> String {
    let JournalOptions { least_passes: least, most_passes: most, batches, .. } = *options;
    let least = if least == most { String::new() } else { format!("{least} to ") };
    format!("{least}{} of {}", counted(most, "pass"), counted(batches, "batch"))
}

fn known(name: &Option<String>) -> &str {
    name.as_deref().unwrap_or("unknown")
}

fn difference<T: PartialEq + Display>(what: &str, there: T, here: T) -> Option<String> {
    (there != here).then(|| format!("{what}: {there} in the journal, {here} now"))
}
