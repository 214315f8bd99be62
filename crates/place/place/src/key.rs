//! Floats as keys of an order.

use std::cmp::Ordering;

/// A float in the order of [`f64::total_cmp`], as a key for sorting and comparing.
#[derive(Clone, Copy, Debug)]
pub struct FloatKey(pub f64);

impl Ord for FloatKey {
    fn cmp(&self, other: &Self) -> Ordering {
        self.0.total_cmp(&other.0)
    }
}

impl PartialOrd for FloatKey {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for FloatKey {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for FloatKey {}
