//! The outcome of a question to a verb, and the console line that carries it out of the guest.

use serde::{Deserialize, Serialize};
use std::time::Instant;

const MARK: &str = "lab-trial ";

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum VerbOutcome {
    Right,
    /// This computer indeed cannot do it.
    Refused,
    /// It contradicts the kernel, refused without cause, panicked, or did not end.
    Wrong,
}

#[derive(Clone, Debug, Deserialize, PartialEq, Serialize)]
pub struct VerbTrial {
    pub verb: String,
    pub question: String,
    pub outcome: VerbOutcome,
    pub detail: String,
    pub seconds: f64,
}

#[derive(Debug)]
pub enum VerbFailure {
    Refused(String),
    Wrong(String),
}

impl VerbTrial {
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
    fn trial_is_read_from_guest_console() {
        let trial = VerbTrial::of("run", "by list", || {
            Err(VerbFailure::Wrong("mask 0-3\nnot 1".to_owned()))
        });
        let line = format!("noise {MARK}{}", serde_json::to_string(&trial).unwrap());
        assert_eq!(VerbTrial::among(&["other".to_owned(), line]), [trial]);
    }
}
