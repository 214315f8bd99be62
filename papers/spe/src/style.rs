//! The library's style on this computer: a runtime for the Cell that avoids the kernel, or Linux's,
//! for comparison.

use crate::error::SpeError;
use std::sync::OnceLock;

const VARIABLE: &str = "SEATMAP_SPE_STYLE";

/// The runtime's style.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SpeStyle {
    /// Existing pinned threads, mailboxes in shared cache lines, waiters that spin first.
    #[default]
    Cell,
    /// A thread for each run, a system call for each message, sleeping waiters.
    Linux,
}

impl SpeStyle {
    /// The style in the environment, read once: `SEATMAP_SPE_STYLE=cell` or `linux`.
    ///
    /// # Errors
    /// [`SpeError::Argument`] for another word.
    pub fn chosen() -> Result<Self, SpeError> {
        static CHOSEN: OnceLock<Result<SpeStyle, String>> = OnceLock::new();
        let chosen = CHOSEN.get_or_init(|| parsed(std::env::var(VARIABLE).ok().as_deref()));
        chosen.clone().map_err(SpeError::Argument)
    }

    /// The style; that of the Cell for an unknown word.
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
    fn cell_and_linux_styles_are_parsed() {
        assert_eq!((parsed(None), parsed(Some("cell"))), (Ok(SpeStyle::Cell), Ok(SpeStyle::Cell)));
        assert_eq!(parsed(Some("linux")), Ok(SpeStyle::Linux));
        assert!(parsed(Some("windows")).unwrap_err().contains("expected cell or linux"));
    }
}
