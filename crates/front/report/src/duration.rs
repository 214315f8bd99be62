//! Times in sentences and tables.

/// A time in nanoseconds, in the unit that suits it, with three digits behind the point: `1.234
/// us`.
#[must_use]
pub fn duration(ns: f64) -> String {
    match ns {
        1e9.. => format!("{:.3} s", ns / 1e9),
        1e6.. => format!("{:.3} ms", ns / 1e6),
        1e3.. => format!("{:.3} us", ns / 1e3),
        // Takes negative times and NaN as well, which no larger unit suits.
        _ => format!("{ns:.1} ns"),
    }
}

/// A time in nanoseconds for the cells of a table, which have little room.
pub(crate) fn time(ns: f64) -> String {
    match ns {
        ns if ns < 1e3 => format!("{ns:.0} ns"),
        ns if ns < 1e6 => format!("{:.1} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_that_suit() {
        let shown = [0.0, 12.34, 1234.5, 1.5e6, 2e9].map(duration);
        assert_eq!(shown, ["0.0 ns", "12.3 ns", "1.234 us", "1.500 ms", "2.000 s"]);
    }
}
