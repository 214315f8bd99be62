//! Examines this computer.

use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::remedy::DoctorRemedyKind;
use crate::doctor::{isolation, measuring, seats, wakeups};
use seatmap_data::document::Blame;
use seatmap_machines::host::topology::{self, TopologyError};
use seatmap_os::Root;
use seatmap_os::cpus::{CpuError, Cpus};
use serde::Serialize;

/// Why this computer cannot be examined.
#[derive(Debug, thiserror::Error)]
pub enum ExamineError {
    /// Its CPUs cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// A requested CPU does not exist.
    #[error(transparent)]
    Cpu(#[from] CpuError),
}

impl Blame for ExamineError {
    fn is_input(&self) -> bool {
        matches!(self, ExamineError::Cpu(_))
    }
}

/// The cell gets the requested CPUs, which must be online; by default all CPUs that a cell could
/// have.
///
/// # Errors
/// [`ExamineError`].
pub fn examine(named: Option<&[u32]>, may_try: bool) -> Result<Vec<Diagnosis>, ExamineError> {
    let topology = topology::of_host()?;
    let cpus = Cpus::read().map_err(TopologyError::from)?;
    let chosen = match named {
        None => isolation::usual_cpus(&topology, &cpus.online),
        Some(named) => {
            Cpus { allowed: cpus.online.clone(), ..cpus }.check(named)?;
            named.to_vec()
        }
    };
    let mut found = measuring::examine(&topology);
    found.push(wakeups::examine(&topology));
    found.extend(seats::examine(&Root::new("/"), std::env::vars_os()));
    // Last, because a trial takes a CPU for a moment.
    found.extend(isolation::examine(&topology, &chosen, may_try));
    Ok(found)
}

/// Disturbances of a measurement or a quiet program on this host: the output of `seatmap doctor
/// --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorReport<'a> {
    /// Name and version of the format.
    format: &'static str,
    /// The host's name.
    machine: &'a str,
    /// All findings.
    findings: Vec<DoctorFinding<'a>>,
}

/// The examination of one subject.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
struct DoctorFinding<'a> {
    /// The subject.
    subject: &'a str,
    /// `OK`: as it should be. `INFO`: nothing to fix. `FIX`: can be fixed on the running system.
    /// `BOOT`: can be fixed by an argument on the kernel's command line. `NO`: cannot be fixed from
    /// here.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["OK", "INFO", "FIX", "BOOT", "NO"])))]
    level: &'a str,
    /// The state found.
    found: &'a str,
    /// The remedy; null if there is nothing to fix, or no way to fix it.
    remedy: Option<&'a str>,
    /// The kind of the remedy: a shell command, an argument for the kernel's command line
    /// (`boot-...`) or advice in a sentence. Missing in older documents.
    #[cfg_attr(feature = "schema", schemars(default))]
    remedy_kind: Option<DoctorRemedyKind>,
}

impl<'a> DoctorReport<'a> {
    /// The report of these findings.
    pub fn new(machine: &'a str, found: &'a [Diagnosis]) -> Self {
        let findings = found.iter().map(|diagnosis| DoctorFinding {
            subject: diagnosis.subject,
            level: diagnosis.level.word(),
            found: &diagnosis.found,
            remedy: diagnosis.remedy.as_ref().map(|remedy| remedy.text.as_str()),
            remedy_kind: diagnosis.remedy.as_ref().map(|remedy| remedy.kind),
        });
        DoctorReport { format: "seatmap-doctor/1", machine, findings: findings.collect() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn absent_cpu_is_an_input_error() {
        let refused = examine(Some(&[99_999]), false).unwrap_err();
        assert!(refused.is_input(), "{refused}");
    }
}
