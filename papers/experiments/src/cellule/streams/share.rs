//! The share of each stream in each window.

use seatmap_data::statistics::median;
use serde::Serialize;

/// A forwarded chunk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Forwarded {
    /// The time since the service began.
    pub at_ns: u64,
    /// The stream of the bytes.
    pub stream: usize,
    /// The number of bytes.
    pub bytes: u64,
}

/// The first stream's share of the bytes of both, in whole windows of one length.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct StreamShares {
    /// The length of a window, in milliseconds.
    pub window_ms: f64,
    /// The number of windows.
    pub windows: usize,
    /// The median share; null if nothing was forwarded.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub median: f64,
    /// The smallest share.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub least: f64,
    /// The largest share.
    #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
    pub most: f64,
}

/// Shares in the windows before `end_ns`, without the first, in which the streams start. All are
/// NaN if nothing was forwarded.
pub fn shares(forwarded: &[Forwarded], window_ns: u64, end_ns: u64) -> StreamShares {
    let count = (end_ns / window_ns.max(1)) as usize;
    let mut bytes = vec![[0_u64; 2]; count];
    for one in forwarded {
        let window = bytes.get_mut((one.at_ns / window_ns.max(1)) as usize);
        if let Some(sum) = window.and_then(|window| window.get_mut(one.stream)) {
            *sum += one.bytes;
        }
    }
    let found: Vec<f64> = bytes
        .iter()
        .skip(1)
        .filter(|[first, second]| first + second > 0)
        .map(|[first, second]| *first as f64 / (first + second) as f64)
        .collect();
    StreamShares {
        window_ms: window_ns as f64 / 1e6,
        windows: found.len(),
        median: median(&found).unwrap_or(f64::NAN),
        least: found.iter().copied().reduce(f64::min).unwrap_or(f64::NAN),
        most: found.iter().copied().reduce(f64::max).unwrap_or(f64::NAN),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn recorded(windows: &[[u64; 2]]) -> Vec<Forwarded> {
        let at = |window: usize, stream: usize| (window as u64) * 1000 + 7 * stream as u64;
        let both = |(window, bytes): (usize, &[u64; 2])| {
            [0, 1].map(|stream| Forwarded {
                at_ns: at(window, stream),
                stream,
                bytes: bytes[stream],
            })
        };
        windows.iter().enumerate().flat_map(both).collect()
    }

    #[test]
    fn shares_are_computed_per_window() {
        let trace = recorded(&[[9, 0], [400, 300], [100, 300], [700, 300], [0, 9]]);
        let found = shares(&trace, 1000, 4000);
        assert_eq!(
            (found.windows, found.median, found.least, found.most),
            (3, 4.0 / 7.0, 0.25, 0.7)
        );
        let whole = shares(&trace, 2000, 5000);
        assert_eq!((whole.windows, whole.median), (1, 800.0 / 1400.0));
        assert!(shares(&trace, 1000, 1000).median.is_nan() && shares(&[], 0, 10).windows == 0);
    }

    proptest! {
        #[test]
        fn steady_ratio_is_found_in_every_window(a in 1u64..1000, b in 1u64..1000, windows in 2usize..20) {
            let found = shares(&recorded(&vec![[a, b]; windows]), 1000, windows as u64 * 1000);
            prop_assert_eq!(found.windows, windows - 1);
            let share = a as f64 / (a + b) as f64;
            prop_assert!(found.least == share && found.most == share && found.median == share);
        }
    }
}
