//! CPUs on the command line: a list, parts of a machine, or words.

use crate::error::{CliError, CliResult};
use crate::values::cpus;
use crate::{input, output};
use clap::Args;
use seatmap_launch::sets::{self, ComputerCpus, KeptWords};
use seatmap_machines::catalog::Machine;
use seatmap_os::{CpuList, CpuSet};

/// Distinct CPUs of a machine that is opened later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestedCpus {
    /// The CPUs by number, in this order.
    List(CpuList),
    /// Parts and words, such as `l3:0` and `kind:performance`.
    Words(String),
}

/// The chosen CPUs of a machine.
#[derive(Clone, Debug)]
pub struct FoundCpus {
    /// The CPUs.
    pub list: CpuList,
    /// The words that named them, if any did.
    pub kept: Option<KeptWords>,
}

/// Distinct CPUs of any machine: `0-3,8`, `l3:0`, `kind:performance/no-smt`.
///
/// # Errors
/// The text is not a list of these, or repeats a CPU.
pub fn requested_cpus(text: &str) -> Result<RequestedCpus, String> {
    if text.split(',').any(|member| sets::is_set(member.trim())) {
        return Ok(RequestedCpus::Words(text.to_owned()));
    }
    cpus(text).map(RequestedCpus::List)
}

/// The treatment of words that distinguish no CPUs.
#[derive(Args, Clone, Copy, Debug, Default)]
pub struct OrAll {
    /// If a word of --cpus distinguishes no CPUs of the machine, take all of them, and say so.
    #[arg(long = "or-all", requires = "cpus", hide_short_help = true)]
    pub is_given: bool,
}

impl OrAll {
    /// The words without those that distinguish no CPUs, if these mean all.
    ///
    /// # Errors
    /// The words are wrong for another reason.
    pub fn words(self, words: &str, computer: &ComputerCpus) -> CliResult<String> {
        if !self.is_given {
            return Ok(words.to_owned());
        }
        let accepted = sets::or_all(words, &|| Ok(computer.clone())).map_err(CliError::input)?;
        output::tell_each(&accepted.remarks);
        Ok(accepted.words)
    }

    /// The CPUs of a machine, if some were chosen.
    ///
    /// # Errors
    /// A word names no CPU of the machine, or its topology cannot be read.
    pub fn on(
        self,
        choice: Option<&RequestedCpus>,
        machine: &Machine,
    ) -> CliResult<Option<FoundCpus>> {
        self.among(choice, || input::cpus_of(machine))
    }

    /// The CPUs of this computer, if some were chosen.
    ///
    /// # Errors
    /// As [`OrAll::on`].
    pub fn here(self, choice: Option<&RequestedCpus>) -> CliResult<Option<FoundCpus>> {
        self.among(choice, || ComputerCpus::read().map_err(CliError::work))
    }

    fn among(
        self,
        choice: Option<&RequestedCpus>,
        computer: impl FnOnce() -> CliResult<ComputerCpus>,
    ) -> CliResult<Option<FoundCpus>> {
        let words = match choice {
            None => return Ok(None),
            Some(RequestedCpus::List(list)) => {
                return Ok(Some(FoundCpus { list: list.clone(), kept: None }));
            }
            Some(RequestedCpus::Words(words)) => words,
        };
        let computer = computer()?;
        let words = self.words(words, &computer)?;
        let list = if self.is_given {
            sets::all_of(&words, &computer).map_err(CliError::input)?.list()
        } else {
            distinct(&words, &computer)?
        };
        let kept = KeptWords::of(&words, &|| Ok(computer.clone())).map_err(CliError::input)?;
        Ok(Some(FoundCpus { list, kept }))
    }
}

/// The CPUs in the order of the list.
fn distinct(words: &str, computer: &ComputerCpus) -> CliResult<CpuList> {
    let seats = sets::parse(words, &|| Ok(computer.clone())).map_err(CliError::input)?;
    let cpus = CpuList(seats.iter().flat_map(CpuSet::iter).collect());
    cpus.distinct().map_err(CliError::input)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_cpus_are_refused() {
        let machine = input::machine("core-i9-12900k").unwrap();
        for text in ["0,0", "core:0,core:0", "0,core:0"] {
            let on_machine = requested_cpus(text).and_then(|cpus| {
                let found = OrAll::default().on(Some(&cpus), &machine);
                found.map_err(|error| format!("{error:?}"))
            });
            let error = on_machine.unwrap_err();
            assert!(error.contains("CPU 0 is in the list twice"), "{text}: {error}");
        }
    }
}
