//! The outcome of a question to a verb, and the console line that carries it out of the guest.

use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Marks an outcome on the console.
const MARK: &str = "lab-trial ";

/// The outcome of a verb.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerbOutcome {
    /// It agrees with the kernel.
    Right,
    /// It refused, and this computer indeed cannot do it.
    Refused,
    /// It contradicts the kernel, refused without cause, panicked, or did not end.
    Wrong,
}

/// A question to a verb with its outcome.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct VerbTrial {
    /// The verb.
    pub verb: String,
    /// The question.
    pub question: String,
    /// The outcome.
    pub outcome: VerbOutcome,
    /// The compared facts, or the fault.
    pub detail: String,
    /// Its duration in the guest.
    pub seconds: f64,
}

/// The reason for an outcome other than right.
#[derive(Debug)]
pub enum VerbFailure {
    /// The computer cannot do it.
    Refused(String),
    /// The verb is wrong.
    Wrong(String),
}

impl VerbTrial {
    /// Asks a question and measures the time.
    pub fn of(
        verb: &str,
        question: &str,
        ask: impl FnOnce() -> Result<String, VerbFailure>,
    ) -> Self {
        let begun = Instant::now();
        let (outcome, detail) = match ask() {
            Ok(detail) => (VerbOutcome::Right, detail),
            Err(VerbFailure::Refused(detail)) => (VerbOutcome::Refused, detail),
            Err(VerbFailure::Wrong(detail)) => (VerbOutcome::Wrong, detail),
        };
        let seconds = begun.elapsed().as_secs_f64();
        Self { verb: verb.to_owned(), question: question.to_owned(), outcome, detail, seconds }
    }

    pub fn tell(&self) {
        println!("{MARK}{}", serde_json::to_string(self).unwrap_or_default());
    }

    /// The trials on a console.
    #[must_use]
    pub fn among(console: &[String]) -> Vec<Self> {
        let words = console.iter().filter_map(|line| Some(line.split_once(MARK)?.1));
        words.filter_map(|words| serde_json::from_str(words).ok()).collect()
    }
}

/// Checks a condition.
///
/// # Errors
/// [`VerbFailure::Wrong`] with this text.
pub fn ensure(is_so: bool, otherwise: impl FnOnce() -> String) -> Result<(), VerbFailure> {
    if is_so { Ok(()) } else { Err(VerbFailure::Wrong(otherwise())) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_trial_leaves_the_guest_by_the_console() {
        let trial = VerbTrial::of("run", "by list", || {
            Err(VerbFailure::Wrong("mask 0-3\nnot 1".to_owned()))
        });
        let line = format!("noise {MARK}{}", serde_json::to_string(&trial).unwrap());
        assert_eq!(VerbTrial::among(&["other".to_owned(), line]), [trial]);
    }
}
