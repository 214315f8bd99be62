//! Parses durations: 500us, 20ms, 30s, 10m, 2h, 1d. A number without a unit is seconds, in every
//! option.

use std::ops::RangeInclusive;
use std::time::Duration;

const UNITS: [(&str, f64); 7] = [
    ("", 1.0),
    ("us", 1e-6),
    ("ms", 1e-3),
    ("s", 1.0),
    ("m", 60.0),
    ("h", 3600.0),
    ("d", 86_400.0),
];

/// A duration; `None` for anything else. Even the longest whole number of seconds is exact.
pub fn time(text: &str) -> Option<Duration> {
    let end = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let (number, unit) = text.split_at(end);
    let unit_seconds = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    if !is_plain(number) {
        return None;
    }
    // Whole seconds stay exact, even large ones.
    if let (Ok(whole), true) = (number.parse(), unit.is_empty() || unit.eq_ignore_ascii_case("s")) {
        return Some(Duration::from_secs(whole));
    }
    Duration::try_from_secs_f64(number.parse::<f64>().ok()? * unit_seconds).ok()
}

/// Digits with at most a point: no sign, exponent or word.
fn is_plain(number: &str) -> bool {
    // The parser of floating-point numbers also accepts `inf` and `1e9`.
    number.contains(|c: char| c.is_ascii_digit())
        && number.chars().all(|c| c.is_ascii_digit() || c == '.')
}

/// Parses durations within inclusive bounds such as `100ms to 1d`.
pub fn time_in(
    bounds: &'static str,
) -> impl Fn(&str) -> Result<Duration, String> + Clone + Send + Sync {
    move |text: &str| {
        let ends = bounds.split_once(" to ").and_then(|(least, most)| time(least).zip(time(most)));
        // Bounds that are none accept nothing, not even the option's default.
        let (least, most) = ends.unwrap_or_default();
        time_within(text, least..=most, bounds)
    }
}

/// A duration within bounds, which the error describes as `bounds_text`.
///
/// # Errors
/// A sentence with the accepted forms.
pub fn time_within(
    text: &str,
    bounds: RangeInclusive<Duration>,
    bounds_text: &str,
) -> Result<Duration, String> {
    let time = time(text).filter(|time| bounds.contains(time));
    time.ok_or_else(|| {
        format!(
            "'{text}' is not a time from {bounds_text}; write 500ms, 10s or 2m, or a number of \
             seconds"
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_accept_units() {
        let times = ["250us", "500ms", "30s", "10m", "2h", "1d", "1.5s", "10M", "0.05", "2"];
        let shown = "[250µs, 500ms, 30s, 600s, 7200s, 86400s, 1.5s, 600s, 50ms, 2s]";
        assert_eq!(format!("{:?}", times.map(|text| time(text).unwrap())), shown);
        assert_eq!(time(&format!("{}s", u64::MAX)), Some(Duration::from_secs(u64::MAX)));
    }

    #[test]
    fn other_texts_are_rejected() {
        let words = ["", "s", "-1", "nan", "inf", "1e99", "1x", "0x10", "1y", "infs", "."];
        let signed = ["-1s", "+1s", "1s2", "1,5s", "1.2.3", "99999999999999999999d"];
        for bad in words.into_iter().chain(signed) {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn time_is_within_its_bounds() {
        let accepted =
            ["20ms", "1h", "19ms", "3601"].map(|text| time_in("20ms to 1h")(text).is_ok());
        assert_eq!(accepted, [true, true, false, false]);
        let refusal = time_in("0 to 1h")("2h").unwrap_err();
        assert!(refusal.starts_with("'2h' is not a time from 0 to 1h"), "{refusal}");
    }
}
