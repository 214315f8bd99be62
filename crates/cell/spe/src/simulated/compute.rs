//! What is charged for the work between two calls: `SEATMAP_SPE_COMPUTE`.

use std::sync::OnceLock;

/// The charge for work between two calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// Nothing. Every run takes the same virtual time.
    None,
    /// The CPU time that this computer needs, times a factor. No two runs take exactly the same virtual time.
    Host(f64),
}

impl Compute {
    /// Reads a choice.
    ///
    /// # Errors
    /// Words that say what is expected.
    pub fn parse(text: Option<&str>) -> Result<Self, String> {
        let wrong = |text| format!("SEATMAP_SPE_COMPUTE={text}: expected none, host or host:FACTOR");
        match text {
            None | Some("" | "none") => Ok(Compute::None),
            Some("host") => Ok(Compute::Host(1.0)),
            Some(text) => {
                let factor = text.strip_prefix("host:").and_then(|factor| factor.parse::<f64>().ok());
                let factor = factor.filter(|factor| (0.0..=1e6).contains(factor));
                factor.map(Compute::Host).ok_or_else(|| wrong(text))
            }
        }
    }

    /// The factor for measured time.
    #[must_use]
    pub fn factor(self) -> f64 {
        match self {
            Compute::None => 0.0,
            Compute::Host(factor) => factor,
        }
    }
}

/// The choice of the environment, once a machine has been started.
pub static CHOICE: OnceLock<Compute> = OnceLock::new();

/// The CPU time that the calling thread has used, if it is charged.
#[must_use]
pub fn spent_ns() -> u64 {
    match CHOICE.get() {
        Some(Compute::Host(_)) => seatmap_os::usage::own_cpu_ns(),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_read() {
        let read = |text| Compute::parse(Some(text));
        assert_eq!(Compute::parse(None), Ok(Compute::None));
        assert_eq!(
            (read("none"), read("host"), read("host:2.5")),
            (Ok(Compute::None), Ok(Compute::Host(1.0)), Ok(Compute::Host(2.5)))
        );
        for text in ["host:", "host:-1", "host:x", "Host", "0"] {
            assert!(read(text).unwrap_err().starts_with(&format!("SEATMAP_SPE_COMPUTE={text}: expected none")));
        }
    }
}
