//! One finding: the subject that was examined, its state, and the remedy.

use crate::doctor::Remedy;

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

impl Diagnosis {
    /// A finding on a subject.
    pub(crate) fn new(
        subject: &'static str,
        level: Severity,
        found: impl Into<String>,
        remedy: Option<Remedy>,
    ) -> Self {
        Diagnosis { subject, level, found: found.into(), remedy }
    }
}

/// Subjects in the order of the time that they can take from a program, the most first: whole
/// periods that others or a quota take, then clocks and memory, then the kernel's own work of
/// microseconds, then settings that matter to a cell alone.
const BY_EFFECT: [&str; 24] = [
    "load",
    "quota",
    "steal",
    "governor",
    "scheduler",
    "variables",
    "offline",
    "smt siblings",
    "numa balancing",
    "clocksource",
    "turbo",
    "daemons",
    "interrupts",
    "tick",
    "workqueues",
    "thp",
    "rt throttling",
    "isolcpus",
    "irqaffinity",
    "rcu callbacks",
    "watchdog",
    "vm statistics",
    "huge pages",
    "cpuset backend",
];

/// The findings to begin with, at most so many: those that can be mended, in the order of their
/// effect, and then those that cannot.
#[must_use]
pub fn gravest(found: &[Diagnosis], most: usize) -> Vec<&Diagnosis> {
    let mut bad: Vec<&Diagnosis> = found
        .iter()
        .filter(|one| matches!(one.level, Severity::Fix | Severity::Boot | Severity::No))
        .filter(|one| one.remedy.is_some())
        .collect();
    // Stable: subjects that are not listed stand behind, as they were examined.
    bad.sort_by_key(|one| {
        let effect = BY_EFFECT.iter().position(|subject| *subject == one.subject);
        (one.level == Severity::No, effect.unwrap_or(BY_EFFECT.len()))
    });
    bad.truncate(most);
    bad
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gravest_can_be_mended_and_take_most_time() {
        let of = |subject, level| Diagnosis {
            subject,
            level,
            found: String::new(),
            remedy: Some(Remedy::advice("x".to_owned())),
        };
        let found = [
            of("hypervisor", Severity::No),
            of("vm statistics", Severity::Fix),
            of("tick", Severity::Boot),
            of("smt", Severity::Info),
            of("load", Severity::Fix),
        ];
        let subjects = |most| -> Vec<&str> {
            gravest(&found, most).into_iter().map(|one| one.subject).collect()
        };
        assert_eq!(subjects(3), ["load", "tick", "vm statistics"]);
        assert_eq!(subjects(9).last(), Some(&"hypervisor"));
    }
}
