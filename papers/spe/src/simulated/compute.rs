//! The charge for the work between two calls: `SEATMAP_SPE_COMPUTE`.
//!
//! Programs that `seatmap-cellcc` built count their instructions (`cell/count-work` has the table).
//! That is the choice if nothing is said: the same program takes the same time again.

use std::sync::OnceLock;

/// The charge for work between two calls.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// Nothing but what a program names itself.
    None,
    /// The cycles that SPU programs count, times a factor. Threads of the PPE work for nothing.
    Count(f64),
    /// The CPU time that this computer needs, times a factor. No two runs take exactly the same
    /// virtual time.
    Host(f64),
}

impl Compute {
    /// Reads a choice.
    ///
    /// # Errors
    /// Words that say what is expected.
    pub fn parse(text: Option<&str>) -> Result<Self, String> {
        let Some(text) = text.filter(|text| !text.is_empty()) else {
            return Ok(Compute::Count(1.0));
        };
        let (how, factor) = text.split_once(':').unwrap_or((text, "1"));
        let factor = factor.parse::<f64>().ok().filter(|factor| (0.0..=1e6).contains(factor));
        match (how, factor) {
            ("none", _) if text == "none" => Ok(Compute::None),
            ("count", Some(factor)) => Ok(Compute::Count(factor)),
            ("host", Some(factor)) => Ok(Compute::Host(factor)),
            _ => Err(format!(
                "SEATMAP_SPE_COMPUTE={text}: expected none, count, count:FACTOR, host or \
                 host:FACTOR"
            )),
        }
    }

    /// The core cycles for work that took this much time here, and counted so much, on a machine of
    /// this clock.
    #[must_use]
    pub fn cycles(self, worked_ns: u64, counted: u64, frequency_ghz: f64) -> u64 {
        match self {
            Compute::None => 0,
            Compute::Count(factor) => (counted as f64 * factor) as u64,
            Compute::Host(factor) => (worked_ns as f64 * frequency_ghz * factor) as u64,
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
        let read = |text| Compute::parse(Some(text)).unwrap();
        assert_eq!(Compute::parse(None), Ok(Compute::Count(1.0)));
        assert_eq!(
            (read("none"), read("host"), read("host:2.5")),
            (Compute::None, Compute::Host(1.0), Compute::Host(2.5))
        );
        assert_eq!((read("count"), read("count:0.5")), (Compute::Count(1.0), Compute::Count(0.5)));
        for text in ["host:", "host:-1", "count:x", "Host", "0", "none:1"] {
            let words = Compute::parse(Some(text)).unwrap_err();
            assert!(
                words.starts_with(&format!("SEATMAP_SPE_COMPUTE={text}: expected none")),
                "{words}"
            );
        }
    }

    #[test]
    fn work_is_charged_by_time_or_by_count() {
        let charged = |compute: Compute| compute.cycles(100, 70, 3.2);
        assert_eq!(
            [Compute::None, Compute::Count(2.0), Compute::Host(0.5)].map(charged),
            [0, 140, 160]
        );
    }
}
