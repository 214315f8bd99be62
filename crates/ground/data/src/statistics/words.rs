//! Numbers in sentences: `1 thread`, `2 processes`, and figures that are never `-0`.

use std::fmt::Display;

/// A number of things with their name: `1 core`, `2 cores`, `0.5 CPUs`, `4 more entries`.
pub fn counted(count: impl Display, name: &str) -> String {
    let count = count.to_string();
    if count == "1" { format!("1 {name}") } else { format!("{count} {}", plural(name)) }
}

/// A part of a whole in percent; 0 of an empty whole.
pub fn percent(part: u64, whole: u64) -> f64 {
    100.0 * part as f64 / whole.max(1) as f64
}

/// A figure with this many digits after the point, and the name of its unit: `1 CPU`, `0.5 CPUs`,
/// `1.0 CPUs`.
pub fn counted_figure(value: f64, digits: usize, name: &str) -> String {
    counted(figure(value, digits), name)
}

/// The texts of these values, with a separator between them.
pub fn joined<T: ToString>(parts: impl IntoIterator<Item = T>, separator: &str) -> String {
    parts.into_iter().map(|part| part.to_string()).collect::<Vec<_>>().join(separator)
}

/// The plural of a name, by the rules for regular nouns. Of several words the last one is the noun.
pub fn plural(name: &str) -> String {
    if name == "vertex" {
        return "vertices".to_owned();
    }
    match name.strip_suffix('y') {
        // `days`, and `entries`.
        Some(stem) if !stem.ends_with(|letter| "aeiou".contains(letter)) => {
            return format!("{stem}ies");
        }
        _ => {}
    }
    if name.ends_with(['s', 'x']) || name.ends_with("ch") || name.ends_with("sh") {
        format!("{name}es")
    } else {
        format!("{name}s")
    }
}

/// The word for one thing, or the other for any other number: `is` and `are`.
pub fn agreeing<'a>(count: usize, one: &'a str, other: &'a str) -> &'a str {
    if count == 1 { one } else { other }
}

/// A number of times: `once`, `twice`, `3 times`.
pub fn times(count: impl Display) -> String {
    match count.to_string().as_str() {
        "1" => "once".to_owned(),
        "2" => "twice".to_owned(),
        count => format!("{count} times"),
    }
}

/// How often something happened per second: `less than once a second`, `once a second`,
/// `8 times a second`.
pub fn times_a_second(rate: f64) -> String {
    let rounded = rate.round();
    // `0 times` would deny something that was seen.
    if rate > 0.0 && rounded < 1.0 {
        return "less than once a second".to_owned();
    }
    format!("{} a second", times(rounded as u64))
}

/// A figure with this many digits after the point. A small negative one is `0`, not `-0`.
pub fn figure(value: f64, digits: usize) -> String {
    let text = format!("{value:.digits$}");
    let is_zero = !text
        .contains(|letter: char| ('1'..='9').contains(&letter) || letter.is_ascii_alphabetic());
    match text.strip_prefix('-') {
        Some(positive) if is_zero => positive.to_owned(),
        _ => text,
    }
}

/// A figure with its sign and this many digits after the point. Rounded to zero it has a plus:
/// `-1.2`, `+0.0`.
pub fn signed(value: f64, digits: usize) -> String {
    let text = figure(value, digits);
    if text.starts_with('-') { text } else { format!("+{text}") }
}

/// A time in seconds, in one unit. Only zero is printed as 0: `0.4 ms`, `1.2 s`, `20 s`, `3 min`.
pub fn lasting(seconds: f64) -> String {
    let size = seconds.abs();
    match size {
        0.0 => "0 s".to_owned(),
        ..0.000_999_5 => format!("{:.0} us", (seconds * 1e6).max(1.0)),
        ..0.009_95 => format!("{:.1} ms", seconds * 1e3),
        ..0.095 => format!("{:.0} ms", seconds * 1e3),
        ..9.95 => format!("{seconds:.1} s"),
        ..119.5 => format!("{seconds:.0} s"),
        ..7170.0 => format!("{:.0} min", seconds / 60.0),
        ..171_000.0 => format!("{:.0} h", seconds / 3600.0),
        // Plural: two days or more.
        _ => format!("{:.0} days", seconds / 86_400.0),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nouns_agree_with_their_number() {
        let all = [0_usize, 1, 2].map(|count| counted(count, "more thread"));
        assert_eq!(all, ["0 more threads", "1 more thread", "2 more threads"]);
        let plurals = ["process", "box", "batch", "entry", "day", "vertex", "CPU"].map(plural);
        assert_eq!(
            plurals,
            ["processes", "boxes", "batches", "entries", "days", "vertices", "CPUs"]
        );
        let figures = [0.96, 0.4, -0.4, 2.0].map(|value| counted_figure(value, 0, "CPU"));
        assert_eq!(figures, ["1 CPU", "0 CPUs", "0 CPUs", "2 CPUs"]);
        let numbers = [1.0, 0.5, 2.0].map(|value| counted(value, "CPU"));
        assert_eq!(
            (numbers, counted_figure(1.0, 1, "CPU")),
            (["1 CPU", "0.5 CPUs", "2 CPUs"].map(str::to_owned), "1.0 CPUs".to_owned())
        );
        assert_eq!(
            (times(1_u32), times(2_u32), times(3_u32)),
            ("once".into(), "twice".into(), "3 times".into())
        );
    }

    #[test]
    fn small_rate_is_not_printed_as_zero() {
        let rates = [0.05, 0.5, 1.4, 2.0, 8.3].map(times_a_second);
        let expected = [
            "less than once a second",
            "once a second",
            "once a second",
            "twice a second",
            "8 times a second",
        ];
        assert_eq!(rates, expected);
        assert_eq!(times_a_second(0.0), "0 times a second");
    }

    #[test]
    fn negative_zero_is_never_printed() {
        let all = [-0.04, -0.0, 0.0, -0.05, -1.0].map(|value| figure(value, 1));
        assert_eq!(all, ["0.0", "0.0", "0.0", "-0.1", "-1.0"]);
        assert_eq!(
            (figure(-0.4, 0), figure(f64::NEG_INFINITY, 0)),
            ("0".to_owned(), "-inf".to_owned())
        );
        let with_signs = [-0.04, -0.0, 0.04, -0.06, 1.0].map(|value| signed(value, 1));
        assert_eq!(with_signs, ["+0.0", "+0.0", "+0.0", "-0.1", "+1.0"]);
    }

    #[test]
    fn short_time_is_not_printed_as_zero() {
        let times =
            [0.0, 4e-7, 4e-4, 0.0042, 0.04, 0.5, 12.0, 600.0, 7200.0, 864_000.0].map(lasting);
        assert_eq!(
            times,
            [
                "0 s", "1 us", "400 us", "4.2 ms", "40 ms", "0.5 s", "12 s", "10 min", "2 h",
                "10 days"
            ]
        );
    }
}
