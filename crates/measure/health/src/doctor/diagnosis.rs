//! One finding: its subject, state and remedy.

use crate::doctor::Remedy;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Severity {
    /// As it should be.
    Ok,
    /// Worth knowing; no remedy needed.
    Info,
    /// Can be fixed on the running system.
    Fix,
    /// Can be fixed by an argument on the kernel's command line.
    Boot,
    /// Cannot be fixed from here.
    No,
}

impl Severity {
    /// The word in the doctor's first column.
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

/// The examination of one subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnosis {
    /// Subject: `governor`, `clock`...
    pub subject: &'static str,
    /// Severity.
    pub level: Severity,
    /// State found and its effect on a measurement.
    pub found: String,
    /// Remedy, if any.
    pub remedy: Option<Remedy>,
}

impl Diagnosis {
    pub(crate) fn with(self, remedy: Remedy) -> Self {
        Diagnosis { remedy: Some(remedy), ..self }
    }
}

pub(crate) fn ok(subject: &'static str, found: impl Into<String>) -> Diagnosis {
    Diagnosis { subject, level: Severity::Ok, found: found.into(), remedy: None }
}

pub(crate) fn info(subject: &'static str, found: impl Into<String>) -> Diagnosis {
    Diagnosis { level: Severity::Info, ..ok(subject, found) }
}

pub(crate) fn fix(subject: &'static str, found: impl Into<String>, remedy: Remedy) -> Diagnosis {
    Diagnosis { level: Severity::Fix, ..ok(subject, found) }.with(remedy)
}

pub(crate) fn boot(subject: &'static str, found: impl Into<String>, remedy: Remedy) -> Diagnosis {
    Diagnosis { level: Severity::Boot, ..ok(subject, found) }.with(remedy)
}

pub(crate) fn no(
    subject: &'static str,
    found: impl Into<String>,
    advice: impl Into<String>,
) -> Diagnosis {
    Diagnosis { level: Severity::No, ..ok(subject, found) }.with(Remedy::advice(advice))
}

/// Subjects by the time they can take: whole periods, then clocks and memory, then microseconds of
/// kernel work, then effects on cells only.
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

/// At most `most` findings: first those that can be fixed, by their effect, then the others.
pub fn gravest(found: &[Diagnosis], most: usize) -> Vec<&Diagnosis> {
    let mut bad: Vec<&Diagnosis> = found
        .iter()
        .filter(|one| matches!(one.level, Severity::Fix | Severity::Boot | Severity::No))
        .filter(|one| one.remedy.is_some())
        .collect();
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
    fn worst_level_remedies_and_total_time_are_summarised() {
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
