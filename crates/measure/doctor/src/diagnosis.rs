//! One finding: the subject that was examined, its state, and the remedy.

use crate::Remedy;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// It is as it should be.
    Ok,
    /// Worth knowing; no remedy is needed.
    Info,
    /// Can be mended on the running system.
    Fix,
    /// Can be fixed by an argument on the kernel's command line, which is the remedy.
    Boot,
    /// Cannot be mended from here.
    No,
}

impl Severity {
    /// The word in the doctor's first column.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            Severity::Ok => "OK",
            Severity::Info => "INFO",
            Severity::Fix => "FIX",
            Severity::Boot => "BOOT",
            Severity::No => "NO",
        }
    }
}

/// One thing examined.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// The subject that was examined: `governor`, `clock`...
    pub subject: &'static str,
    /// The severity.
    pub level: Severity,
    /// The state that was found, and its effect on a measurement.
    pub found: String,
    /// The remedy, where there is one.
    pub remedy: Option<Remedy>,
}
