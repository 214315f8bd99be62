//! The CPUs that words name on a machine, as a document.

use crate::count::{CpuCount, OtherCount};
use crate::sets::{self, ComputerCpus, SetError, words};
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};

/// The document's name and version.
pub const FORMAT: &str = "seatmap-cpus/1";

/// The CPUs that words name on a machine: the output of `seatmap cpus --json`.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NamedCpus {
    /// Name and version of the format.
    pub format: &'static str,
    /// The machine's name.
    pub machine: String,
    /// The words; null for all CPUs that this process may use.
    pub words: Option<String>,
    /// The CPUs, ascending.
    pub cpus: Vec<u32>,
    /// The threads that fit these CPUs and, on this computer, this process's quota.
    pub count: usize,
    /// The limits of this process; null for another machine.
    pub limits: Option<CpuCount>,
    /// The numbers that other programs compute here; empty for another machine.
    pub others: Vec<OtherCount>,
    /// The words that apply to this machine.
    pub known: Vec<KnownWord>,
}

/// A word that applies to a machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KnownWord {
    /// The word.
    pub word: String,
    /// Its CPUs, as a list.
    pub cpus: String,
    /// The figure that distinguishes them; null if unknown.
    pub by: Option<String>,
}

/// Numbers in a list may be those of another machine.
fn existing(words: &str, cpus: CpuSet, computer: &ComputerCpus) -> Result<CpuSet, SetError> {
    let shown: CpuSet = computer.topology.os_indices().collect();
    let absent = cpus.without(&shown);
    if absent.is_empty() {
        return Ok(cpus);
    }
    let is_offline = absent.is_subset(&computer.unseen);
    Err(SetError::Member(format!(
        "'{words}': {} {}: this machine has {}",
        absent.named(),
        if is_offline { "cannot be used" } else { "cannot be found" },
        shown.named()
    )))
}

impl NamedCpus {
    /// The CPUs that the words name, or all usable ones. `limits` are those of this process here.
    ///
    /// # Errors
    /// [`SetError`].
    pub fn of(
        machine: &str,
        words: Option<&str>,
        computer: &ComputerCpus,
        limits: Option<CpuCount>,
    ) -> Result<Self, SetError> {
        let cpus = match words {
            Some(words) => existing(words, sets::all_of(words, computer)?, computer)?,
            None => computer.usual(),
        };
        let count = limits.as_ref().map_or(cpus.len(), |limits| limits.threads_on(cpus.len()));
        let others = limits.as_ref().map_or_else(Vec::new, |limits| limits.of_others().to_vec());
        Ok(NamedCpus {
            format: FORMAT,
            machine: machine.to_owned(),
            words: words.map(str::to_owned),
            cpus: cpus.list().0,
            count,
            limits,
            others,
            known: words::of_machine(computer),
        })
    }

    /// The CPUs as a set.
    pub fn set(&self) -> CpuSet {
        self.cpus.iter().copied().collect()
    }

    /// The CPUs as a list, such as `0-3,8`.
    pub fn list(&self) -> String {
        self.set().to_string()
    }
}
