//! Floats in an order.

use std::borrow::Borrow;
use std::cmp::Ordering;

/// Infinite without any.
#[inline]
pub fn minimum(all: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    all.into_iter().fold(f64::INFINITY, |least, one| least.min(*one.borrow()))
}

/// Of amounts; 0 without any.
#[inline]
pub fn maximum(all: impl IntoIterator<Item: Borrow<f64>>) -> f64 {
    all.into_iter().fold(0.0, |most, one| most.max(*one.borrow()))
}

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
