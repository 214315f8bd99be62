//! Parses values of the command line: CPUs, sizes, counts, times, levels of a machine.

use crate::time::time;
use seatmap_data::document::whole_number;
use seatmap_data::machine::Level;
use seatmap_launch::sets;
use seatmap_os::CpuList;
use std::time::Duration;

/// Distinct CPUs by number: `0-3,8`.
///
/// # Errors
/// The text is not a list, or repeats a CPU.
pub fn cpus(text: &str) -> Result<CpuList, String> {
    let read = text.parse::<CpuList>().and_then(CpuList::distinct);
    read.map_err(|error| match text.split(',').find_map(sets::foreign) {
        Some(advice) => format!("'{text}': {advice}"),
        None => error.to_string(),
    })
}

/// A count with an optional multiplier of a thousand or a million.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn count(text: &str) -> Result<u64, String> {
    with_unit(text, &[("", 1), ("k", 1000), ("m", 1_000_000)])
        .filter(|count| *count <= 1_000_000_000_000)
        .ok_or_else(|| format!("'{text}' is not a count; write 5000, 5k or 5m"))
}

/// A size in bytes with an optional multiplier of 1024 or 1024 squared.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn size(text: &str) -> Result<u32, String> {
    let bytes = with_unit(text, &[("", 1), ("k", 1 << 10), ("m", 1 << 20)])
        .and_then(|bytes| u32::try_from(bytes).ok())
        .filter(|bytes| *bytes <= 1 << 28);
    bytes.ok_or_else(|| format!("'{text}' is not a size; write 2048, 2k or 1m"))
}

/// A whole number times the factor of its unit, in any case.
pub(crate) fn with_unit(text: &str, units: &[(&str, u64)]) -> Option<u64> {
    let number = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = &text[number.len()..];
    let factor = units.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    // A size beyond 64 bits is rejected rather than wrapped.
    whole_number::<u64>(number)?.checked_mul(factor)
}

/// 11 days. Durations are doubled and added to the clock, which would overflow for the longest that
/// can be typed.
const LONGEST: Duration = Duration::from_secs(1_000_000);

/// A duration above 0.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn duration(text: &str) -> Result<Duration, String> {
    let time = time(text).filter(|time| !time.is_zero() && *time <= LONGEST);
    time.ok_or_else(|| {
        format!(
            "'{text}' is not a time above 0 and up to 11d; write 500ms, 10s or 2m, or a number of \
             seconds"
        )
    })
}

/// The words of an option, each for its namesake or for another value of a library's type.
#[macro_export]
macro_rules! choice {
    (@ $meaning:ident $word:ident) => {
        $meaning::$word
    };
    (@ $meaning:ident $word:ident $value:expr) => {
        $value
    };
    (
        $(#[$about:meta])*
        $name:ident for $meaning:ident { $($(#[$help:meta])* $word:ident $(= $value:expr)?,)* }
    ) => {
        $(#[$about])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
        pub enum $name {
            $($(#[$help])* $word,)*
        }

        impl From<$name> for $meaning {
            fn from(word: $name) -> Self {
                match word {
                    $($name::$word => $crate::choice!(@ $meaning $word $($value)?),)*
                }
            }
        }
    };
}

choice! {
    /// Parts of the machine that PUs can share.
    LevelChoice for Level {
        /// A core.
        Core,
        /// A level-2 cache.
        L2,
        /// A level-3 cache.
        L3,
        /// A die.
        Die,
        /// A NUMA node.
        #[value(alias = "node")]
        Numa,
        /// A package.
        #[value(alias = "socket")]
        Package,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn duration_is_bounded() {
        assert_eq!(duration("60s"), Ok(Duration::from_secs(60)));
        assert_eq!(duration("1000000"), Ok(LONGEST));
        for bad in ["0", "1000001", "18446744073709551615", "soon"] {
            assert!(duration(bad).unwrap_err().starts_with(&format!("'{bad}' is not a time")));
        }
    }
}
