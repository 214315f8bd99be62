//! Times in sentences and tables.

use seatmap_data::statistics::words::figure;

/// A time in nanoseconds, in a suitable unit, with three decimals: `1.234 us`.
pub fn duration(ns: f64) -> String {
    // A unit begins where rounding would give 1000 of the smaller one.
    match ns {
        999_999_500.0.. => format!("{:.3} s", ns / 1e9),
        999_999.5.. => format!("{:.3} ms", ns / 1e6),
        999.95.. => format!("{:.3} us", ns / 1e3),
        // Includes negative times and NaN, which suit no larger unit.
        _ => format!("{} ns", figure(ns, 1)),
    }
}

/// A time for the cells of a table, which have little room.
pub fn time(ns: f64) -> String {
    match ns {
        // A unit begins where rounding would give 1000 of the smaller one.
        ns if ns < 999.5 => format!("{ns:.0} ns"),
        ns if ns < 999_950.0 => format!("{:.1} us", ns / 1e3),
        ns => format!("{:.2} ms", ns / 1e6),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_choose_suitable_unit() {
        let shown = [0.0, 12.34, 1234.5, 1.5e6, 2e9].map(duration);
        assert_eq!(shown, ["0.0 ns", "12.3 ns", "1.234 us", "1.500 ms", "2.000 s"]);
        let rounded = [-0.01, 999.94, 999.96, 999_999.6, 999_999_600.0].map(duration);
        assert_eq!(rounded, ["0.0 ns", "999.9 ns", "1.000 us", "1.000 ms", "1.000 s"]);
    }
}
