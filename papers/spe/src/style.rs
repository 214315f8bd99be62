//! How the library does its work on this computer: as a runtime for the Cell that never enters the
//! kernel, or as Linux does it. The second is there to be compared with the first.

use crate::error::SpeError;
use std::sync::OnceLock;

/// The variable that chooses.
const VARIABLE: &str = "SEATMAP_SPE_STYLE";

/// A way of doing the work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeStyle {
    /// Pinned threads that are there before they are needed, mailboxes in shared cache lines,
    /// waiters that look first.
    #[default]
    Cell,
    /// A thread for each run, a system call for each message, waiters that sleep.
    Linux,
}

impl SpeStyle {
    /// The style that the environment asks for, once a process: `SEATMAP_SPE_STYLE=cell` or
    /// `linux`.
    ///
    /// # Errors
    /// [`SpeError::Argument`] for another word.
    pub fn chosen() -> Result<Self, SpeError> {
        static CHOSEN: OnceLock<Result<SpeStyle, String>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| parsed(std::env::var(VARIABLE).ok().as_deref()));
        chosen.clone().map_err(SpeError::Argument)
    }

    /// The style; that of the Cell where the environment asks for one that there is not.
    #[must_use]
    pub fn current() -> Self {
        Self::chosen().unwrap_or_default()
    }
}

fn parsed(word: Option<&str>) -> Result<SpeStyle, String> {
    match word {
        None | Some("" | "cell") => Ok(SpeStyle::Cell),
        Some("linux") => Ok(SpeStyle::Linux),
        Some(other) => Err(format!("{VARIABLE}={other}: expected cell or linux")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_words_are_known() {
        assert_eq!((parsed(None), parsed(Some("cell"))), (Ok(SpeStyle::Cell), Ok(SpeStyle::Cell)));
        assert_eq!(parsed(Some("linux")), Ok(SpeStyle::Linux));
        assert!(parsed(Some("windows")).unwrap_err().contains("expected cell or linux"));
    }
}
