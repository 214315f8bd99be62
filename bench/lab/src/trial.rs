//! The outcome of one question to one verb, and the line of the console by which it leaves the
//! guest.

use serde::{Deserialize, Serialize};
use std::time::Instant;

/// Marks an outcome among the console's lines.
const MARK: &str = "lab-trial ";

/// How a verb answered.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerbOutcome {
    /// As the kernel has it.
    Right,
    /// Refused, and this computer truly cannot.
    Refused,
    /// Something that the kernel does not say, a refusal without cause, a panic, or no end.
    Wrong,
}

/// A question to a verb, and its answer.
#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct VerbTrial {
    /// The verb.
    pub verb: String,
    /// The question.
    pub question: String,
    /// How it was answered.
    pub outcome: VerbOutcome,
    /// The facts that were compared, or the fault.
    pub detail: String,
    /// How long it took in the guest.
    pub seconds: f64,
}

/// Why a question was not answered rightly.
#[derive(Debug)]
pub enum VerbFailure {
    /// The computer cannot.
    Refused(String),
    /// The verb is wrong.
    Wrong(String),
}

impl VerbTrial {
    /// Asks, and keeps the time.
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

    /// Prints it on the console.
    pub fn tell(&self) {
        println!("{MARK}{}", serde_json::to_string(self).unwrap_or_default());
    }

    /// The trials among the lines of a console.
    #[must_use]
    pub fn among(console: &[String]) -> Vec<Self> {
        let words = console.iter().filter_map(|line| Some(line.split_once(MARK)?.1));
        words.filter_map(|words| serde_json::from_str(words).ok()).collect()
    }
}

/// That this is so, or what is wrong.
///
/// # Errors
/// [`VerbFailure::Wrong`], with these words.
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
