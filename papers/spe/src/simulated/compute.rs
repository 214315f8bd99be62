//! The charge for work between two calls: `SEATMAP_SPE_COMPUTE`.
//!
//! By default it is the instruction counts of programs built by `seatmap-cellcc` (table in
//! `cell/count-work`), so that a program always takes the same time.

use std::sync::OnceLock;

/// The chosen charge.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Compute {
    /// Only the work that a program states.
    None,
    /// The cycles that SPU programs count, times a factor. The PPE's threads are free.
    Count(f64),
    /// This computer's CPU time, times a factor. Virtual times differ between runs.
    Host(f64),
}

impl Compute {
    /// Parses a choice.
    ///
    /// # Errors
    /// The expected values.
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

    /// The core cycles for this time and count, at this clock.
    pub fn cycles(self, worked_ns: u64, counted: u64, frequency_ghz: f64) -> u64 {
        match self {
            Compute::None => 0,
            Compute::Count(factor) => (counted as f64 * factor) as u64,
            Compute::Host(factor) => (worked_ns as f64 * frequency_ghz * factor) as u64,
        }
    }
}

/// The environment's choice, set when a machine starts.
pub static CHOICE: OnceLock<Compute> = OnceLock::new();

/// The CPU time of the calling thread, if it is charged.
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
    fn compute_options_are_parsed() {
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
