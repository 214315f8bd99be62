//! Times as they are typed: 500ms, 30s, 10m, 2h, 1d.

use std::time::Duration;

/// The units, and how many seconds each lasts.
const UNITS: [(&str, f64); 5] = [("ms", 1e-3), ("s", 1.0), ("m", 60.0), ("h", 3600.0), ("d", 86_400.0)];

/// A number with a unit; `None` for anything else. The longest time that a clock counts is a time, and not rounded.
pub fn time(text: &str) -> Option<Duration> {
    let (number, unit) = text.split_at(text.find(|c: char| c.is_ascii_alphabetic())?);
    if let (Ok(whole), true) = (number.parse(), unit.eq_ignore_ascii_case("s")) {
        return Some(Duration::from_secs(whole));
    }
    let seconds = UNITS.iter().find(|(name, _)| name.eq_ignore_ascii_case(unit))?.1;
    of_seconds(number.parse::<f64>().ok()? * seconds)
}

/// The same, or a number of seconds without a unit.
pub fn time_or_seconds(text: &str) -> Option<Duration> {
    match text.parse::<f64>() {
        Ok(seconds) => of_seconds(seconds),
        Err(_) => time(text),
    }
}

/// `None` for what is negative, infinite, not a number, or longer than a clock counts.
fn of_seconds(seconds: f64) -> Option<Duration> {
    Duration::try_from_secs_f64(seconds).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_have_units() {
        let [ms, s] = [Duration::from_millis, Duration::from_secs];
        let told = ["500ms", "30s", "10m", "2h", "1d", "1.5s", "10M"].map(time);
        assert_eq!(told, [ms(500), s(30), s(600), s(7200), s(86_400), ms(1500), s(600)].map(Some));
        assert_eq!(time(&format!("{}s", u64::MAX)), Some(s(u64::MAX)));
        for bad in ["", "s", "10", "1y", "-1s", "1s2", "infs", "99999999999999999999d"] {
            assert_eq!(time(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_bare_number_is_seconds() {
        assert_eq!(time_or_seconds("0.05"), Some(Duration::from_millis(50)));
        assert_eq!(time_or_seconds("2"), time_or_seconds("2s"));
        for bad in ["", "-1", "nan", "inf", "1e99", "1x"] {
            assert_eq!(time_or_seconds(bad), None, "{bad}");
        }
    }
}
