//! Chooses the colour of a distance.

/// Above this ratio, a linear scale would give most of its colours to the far end.
const LOG_FROM_RATIO: f64 = 4.0;
/// The share of pairs beyond the far end: one disturbed pair must not take the colours from all
/// others. Nothing makes a pair look too near.
const OUTSIDE: f64 = 0.01;

/// Maps round-trip nanoseconds to 0 (near) .. 1 (far), linearly or logarithmically depending on the
/// range.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub struct Scale {
    /// Distance at position 0.
    pub low_ns: f64,
    /// Distance at position 1.
    pub high_ns: f64,
    /// Whether the scale is logarithmic.
    pub log: bool,
    /// Whether there are distances below `low_ns`; they get its colour.
    pub below: bool,
    /// Whether there are distances above `high_ns`; they get its colour.
    pub above: bool,
}

impl Scale {
    /// A scale from the nearest pair to the 99th percentile; `None` if no distance is known.
    pub fn of(values_ns: impl Iterator<Item = f64>) -> Option<Self> {
        Self::without_ends(values_ns, OUTSIDE)
    }

    /// A scale from the smallest to the largest distance; `None` if none is known.
    pub fn whole(values_ns: impl Iterator<Item = f64>) -> Option<Self> {
        Self::without_ends(values_ns, 0.0)
    }

    fn without_ends(values_ns: impl Iterator<Item = f64>, outside: f64) -> Option<Self> {
        let mut known = Vec::from_iter(values_ns.filter(|value| value.is_finite()));
        known.sort_by(f64::total_cmp);
        let &min = known.first()?;
        let &max = known.last()?;
        let skipped = (known.len() as f64 * outside) as usize;
        // A transfer takes time: a zero is some importer's unknown distance.
        let low_ns = known.iter().copied().find(|value| *value > 0.0).unwrap_or(min);
        let high_ns = known[known.len() - 1 - skipped].max(low_ns);
        let log = low_ns > 0.0 && high_ns / low_ns > LOG_FROM_RATIO;
        Some(Scale { low_ns, high_ns, log, below: min < low_ns, above: max > high_ns })
    }

    /// The position of a distance, 0 to 1; 0 if both ends are equal.
    pub fn position(&self, value_ns: f64) -> f64 {
        let [low, high, at] =
            [self.low_ns, self.high_ns, value_ns].map(|ns| if self.log { ns.ln() } else { ns });
        if high > low { ((at - low) / (high - low)).clamp(0.0, 1.0) } else { 0.0 }
    }

    /// The distance at a position.
    pub fn value_ns(&self, position: f64) -> f64 {
        if self.log {
            self.low_ns * (self.high_ns / self.low_ns).powf(position)
        } else {
            self.low_ns + (self.high_ns - self.low_ns) * position
        }
    }

    /// `linear` or `logarithmic`.
    pub fn word(&self) -> &'static str {
        if self.log { "logarithmic" } else { "linear" }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn narrow_scale_is_linear_and_wide_logarithmic() {
        let narrow = Scale::of([80.0, 100.0, f64::NAN].into_iter()).unwrap();
        assert_eq!((narrow.low_ns, narrow.high_ns, narrow.log), (80.0, 100.0, false));
        assert_eq!(narrow.position(90.0), 0.5);
        let wide = Scale::of([10.0, 1000.0].into_iter()).unwrap();
        assert!(wide.log);
        assert!((wide.position(100.0) - 0.5).abs() < 1e-12);
    }

    #[test]
    fn scale_ignores_disturbed_pair() {
        let values = (0..300).map(|i| if i == 7 { 9000.0 } else { 80.0 + f64::from(i % 10) });
        let scale = Scale::of(values.clone()).unwrap();
        assert_eq!(scale.high_ns, 89.0);
        assert!(scale.above && !scale.below);
        let whole = Scale::whole(values).unwrap();
        assert_eq!((whole.low_ns, whole.high_ns, whole.above), (80.0, 9000.0, false));
    }

    #[test]
    fn scale_starts_at_siblings_and_ignores_zero() {
        let siblings = (0..300).map(|i| if i == 7 { 19.6 } else { 45.4 });
        let scale = Scale::of(siblings.clone()).unwrap();
        assert_eq!((scale.low_ns, scale.below), (19.6, false));
        let with_zero = Scale::of(siblings.chain([0.0])).unwrap();
        assert_eq!((with_zero.low_ns, with_zero.below), (19.6, true));
    }

    #[test]
    fn scale_handles_empty_and_single_value() {
        assert_eq!(Scale::of([f64::NAN].into_iter()), None);
        assert_eq!(Scale::of([80.0].into_iter()).unwrap().position(80.0), 0.0);
        assert_eq!(Scale::of([1.0, 3.0].into_iter()).unwrap().position(3.0), 1.0);
    }

    proptest! {
        #[test]
        fn value_inverts_position(values in prop::collection::vec(0.1f64..1e4, 2..50), at in 0.0f64..=1.0) {
            let scale = Scale::of(values.into_iter()).unwrap();
            prop_assume!(scale.high_ns > scale.low_ns * 1.0001);
            prop_assert!((scale.position(scale.value_ns(at)) - at).abs() < 1e-6);
        }
    }
}
