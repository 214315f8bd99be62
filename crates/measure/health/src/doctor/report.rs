//! The examination of this computer, and the document of it.

use crate::doctor::diagnosis::Diagnosis;
use crate::doctor::remedy::DoctorRemedyKind;
use crate::doctor::{isolation, measuring, seats};
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
    /// A CPU that was named is not there.
    #[error(transparent)]
    Cpu(#[from] CpuError),
}

impl Blame for ExamineError {
    /// The user named CPUs that cannot be examined.
    fn is_input(&self) -> bool {
        matches!(self, ExamineError::Cpu(_))
    }
}

/// Examines this computer for measurements, seats and a cell. The cell has the CPUs that are named,
/// which must be there and online; else all that a cell could have.
///
/// # Errors
/// [`ExamineError`].
pub fn examine(named: Option<&[u32]>, may_try: bool) -> Result<Vec<Diagnosis>, ExamineError> {
    let topology = topology::of_host()?;
    let cpus = Cpus::read().map_err(TopologyError::from)?;
    let chosen = match named {
        None => isolation::usual_cpus(&topology, &cpus.online),
        Some(named) => {
            // A CPU that is isolated from this process can be asked about as well.
            Cpus { allowed: cpus.online.clone(), ..cpus }.check(named)?;
            named.to_vec()
        }
    };
    let mut found = measuring::examine(&topology);
    found.extend(seats::examine(&Root::new("/"), std::env::vars_os()));
    // Last, as a try takes a CPU for a moment, which the other looks would see.
    found.extend(isolation::examine(&topology, &chosen, may_try));
    Ok(found)
}

/// The things on a host that disturb a measurement or a quiet program: the output of
/// `seatmap doctor --json`.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DoctorReport<'a> {
    /// Name and version of the format.
    #[cfg_attr(feature = "schema", schemars(extend("const" = "seatmap-doctor/1")))]
    format: &'static str,
    /// The host's name.
    machine: &'a str,
    /// Everything that was examined.
    findings: Vec<DoctorFinding<'a>>,
}

/// One thing that was examined.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Finding"))]
struct DoctorFinding<'a> {
    /// The thing that was examined.
    subject: &'a str,
    /// `OK`: as it should be. `INFO`: nothing to mend. `FIX`: can be mended on the running system.
    /// `BOOT`: by a word on the kernel's command line. `NO`: cannot be mended from here.
    #[cfg_attr(feature = "schema", schemars(extend("enum" = ["OK", "INFO", "FIX", "BOOT", "NO"])))]
    level: &'a str,
    /// The state in which it was found.
    found: &'a str,
    /// The remedy; null where there is nothing to mend, or no way to do it.
    remedy: Option<&'a str>,
    /// The kind of the remedy: a command for a shell, a word for the kernel's command line
    /// (`boot-...`), or advice, a sentence. Older documents do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    remedy_kind: Option<DoctorRemedyKind>,
}

impl<'a> DoctorReport<'a> {
    /// The document of what was found on this machine.
    #[must_use]
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
    fn a_cpu_that_is_not_there_is_the_users_mistake() {
        let refused = examine(Some(&[99_999]), false).unwrap_err();
        assert!(refused.is_input(), "{refused}");
    }
}
