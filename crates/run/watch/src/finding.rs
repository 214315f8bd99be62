//! A problem with a seating, or a fact worth knowing.

use crate::judge::Sitter;
use crate::remedy::{SeatingRemedy, SeatingRemedyKind};
use seatmap_os::{CpuSet, Root, Tid, rights};
use serde::{Deserialize, Serialize};

/// The severity of a finding.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Gravity {
    /// Worth knowing; fails no check.
    Remark,
    /// The kernel does not provide the facts for a rule; fails a strict check.
    Unseen,
    /// Wrong: the check fails.
    #[default]
    Wrong,
}

/// A finding of a check.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Finding {
    /// The broken rule: `one-per-cpu`, `expect`, `memory-local`.
    pub rule: String,
    /// The severity.
    pub gravity: Gravity,
    /// The fault, its place and size, as a sentence.
    pub what: String,
    /// The process; null for several.
    pub pid: Option<Tid>,
    /// The threads, by number.
    pub tids: Vec<Tid>,
    /// The CPUs, as a list.
    pub cpus: String,
    /// Its least duration, in seconds: the watched time.
    pub since_s: Option<f64>,
    /// Its longest possible duration, in seconds: the age of the thread or process. A mask does not
    /// show when it was set.
    #[serde(default)]
    pub at_most_s: Option<f64>,
    /// Its size: a share of time, memory or interrupts, in percent or per second.
    pub measure: Option<Quantity>,
    /// A command that fixes it.
    pub remedy: Option<String>,
    /// The command's kind; missing in older documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub remedy_kind: Option<SeatingRemedyKind>,
    /// Advice as a sentence, if no command fixes it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub advice: Option<String>,
}

/// A figure with its unit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Quantity {
    /// The figure.
    pub value: f64,
    /// The unit: `percent of one CPU`, `percent of the pages`, `a second`.
    pub unit: String,
}

impl Finding {
    /// A finding that fails the check.
    pub fn wrong(rule: &str, what: impl Into<String>) -> Self {
        Finding { rule: rule.to_owned(), what: what.into(), ..Finding::default() }
    }

    pub(crate) fn remark(rule: &str, what: impl Into<String>) -> Self {
        Finding { gravity: Gravity::Remark, ..Finding::wrong(rule, what) }
    }

    pub(crate) fn unseen(rule: &str, what: impl Into<String>) -> Self {
        Finding { gravity: Gravity::Unseen, ..Finding::wrong(rule, what) }
    }

    /// Wrong if the condition holds, otherwise a remark.
    pub fn grave_if(self, holds: bool) -> Self {
        Finding { gravity: if holds { Gravity::Wrong } else { Gravity::Remark }, ..self }
    }

    /// Sets the process.
    pub fn of(self, pid: Tid) -> Self {
        Finding { pid: Some(pid), ..self }
    }

    /// Sets the threads.
    pub fn tids(self, tids: impl IntoIterator<Item = Tid>) -> Self {
        Finding { tids: tids.into_iter().collect(), ..self }
    }

    /// Sets the threads, and their process if it is the same for all.
    pub fn threads(self, sitters: &[&Sitter]) -> Self {
        let pid = sitters.first().map(|first| first.pid);
        let pid = pid.filter(|pid| sitters.iter().all(|one| one.pid == *pid));
        Finding { pid, ..self }.tids(sitters.iter().map(|one| one.tid))
    }

    /// The same, since the first one's start at most.
    pub fn about(self, sitters: &[&Sitter]) -> Self {
        let at_most_s = sitters.first().map(|first| first.age_s);
        Finding { at_most_s, ..self.threads(sitters) }
    }

    /// Sets the CPUs.
    pub fn on(self, cpus: &CpuSet) -> Self {
        Finding { cpus: cpus.to_string(), ..self }
    }

    pub(crate) fn since(self, seconds: f64) -> Self {
        Finding { since_s: Some(seconds), ..self }
    }

    pub(crate) fn at_most(self, seconds: f64) -> Self {
        Finding { at_most_s: Some(seconds), ..self }
    }

    pub(crate) fn measured(self, value: f64, unit: &str) -> Self {
        Finding { measure: Some(Quantity { value, unit: unit.to_owned() }), ..self }
    }

    pub(crate) fn mended_by(self, remedy: SeatingRemedy) -> Self {
        Finding { remedy: Some(remedy.command), remedy_kind: Some(remedy.kind), ..self }
    }

    pub(crate) fn mended_by_all(self, remedies: impl IntoIterator<Item = SeatingRemedy>) -> Self {
        match SeatingRemedy::joined(remedies) {
            Some(remedy) => self.mended_by(remedy),
            None => self,
        }
    }

    pub(crate) fn advised(self, advice: impl Into<String>) -> Self {
        Finding { advice: Some(advice.into()), ..self }
    }

    /// Replaces a command that the kernel refuses even to this root, in a user namespace or without
    /// capabilities.
    pub fn permitted(self, root: &Root) -> Self {
        match &self.remedy {
            Some(command) if command.split("; ").any(|part| is_refused_to_root(root, part)) => {
                let advice = format!("ask {} to run '{command}'", rights::whom_to_ask(root));
                Finding { remedy: None, remedy_kind: None, ..self.advised(advice) }
            }
            _ => self,
        }
    }

    /// Whether it fails every check.
    pub fn is_wrong(&self) -> bool {
        self.gravity == Gravity::Wrong
    }

    /// Whether both are about the same thing, with possibly different figures.
    pub fn is_same(&self, other: &Finding) -> bool {
        self.rule == other.rule
            && self.gravity == other.gravity
            && self.pid == other.pid
            && self.tids == other.tids
            && self.cpus == other.cpus
    }
}

fn is_refused_to_root(root: &Root, command: &str) -> bool {
    if let Some((_, file)) = command.split_once(" > ") {
        return rights::is_closed_to_root(root, file);
    }
    let mut words = command.split(' ');
    // The process is the last word, except in `migratepages PID FROM TO`.
    let target = match words.next() {
        Some("migratepages") => words.next(),
        _ => words.next_back(),
    };
    let tid = target.and_then(|word| word.parse::<Tid>().ok());
    tid.is_some_and(|tid| rights::is_root() && rights::is_of_unknown_user(root, tid))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_figures_keep_finding_identity() {
        let finding =
            |percent: f64| Finding::wrong("shared-cpu", format!("{percent} %")).of(7).tids([7, 8]);
        assert!(finding(150.0).is_same(&finding(160.0)));
        assert!(!finding(150.0).is_same(&finding(150.0).tids([7])));
        assert!(!finding(150.0).is_same(&finding(150.0).grave_if(false)));
    }
}
