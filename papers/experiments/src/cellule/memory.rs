//! Main memory that workers access by address, and their stores as numbers.

use seatmap_worker::WorkerView;
use std::sync::atomic::{AtomicU32, Ordering};

/// Numbers in main memory, which workers copy in and out. The caller must ensure that no two
/// programs touch the same numbers unless one starts after the other has ended.
pub struct Floats(Vec<AtomicU32>);

impl Floats {
    pub fn new(values: impl IntoIterator<Item = f32>) -> Self {
        Floats(values.into_iter().map(|value| AtomicU32::new(value.to_bits())).collect())
    }

    pub fn zeros(count: usize) -> Self {
        Floats::new(std::iter::repeat_n(0.0, count))
    }

    pub fn values(&self) -> Vec<f32> {
        self.0.iter().map(|bits| f32::from_bits(bits.load(Ordering::Relaxed))).collect()
    }

    /// Zeros all numbers, so that a result found later was computed.
    pub fn clear(&self) {
        self.0.iter().for_each(|bits| bits.store(0, Ordering::Relaxed));
    }

    /// Copies `count` of them, from `first` on, into a store at a byte; false if either is too
    /// small.
    pub fn get(&self, inside: &mut WorkerView, local: usize, first: usize, count: usize) -> bool {
        self.window(first, count).is_some_and(|window| {
            // SAFETY: this many numbers lie there; the type's documentation says which other code
            // may touch them.
            unsafe { inside.get(local, window.as_ptr().cast(), size_of_val(window)) }
        })
    }

    /// Copies `count` numbers of a store at a byte to here; false if either is too small.
    pub fn put(&self, inside: &mut WorkerView, local: usize, first: usize, count: usize) -> bool {
        self.window(first, count).is_some_and(|window| {
            // SAFETY: this many numbers lie there, and atomics may be written through shared
            // references; the type's documentation says which other code may touch them.
            unsafe { inside.put(local, window.as_ptr().cast_mut().cast(), size_of_val(window)) }
        })
    }

    fn window(&self, first: usize, count: usize) -> Option<&[AtomicU32]> {
        self.0.get(first..first.checked_add(count)?)
    }
}

/// The numbers that fill a store; a store begins at a page, so no bytes remain before the first.
pub fn floats(store: &mut [u8]) -> &mut [f32] {
    // SAFETY: every pattern of 32 bits is an f32.
    unsafe { store.align_to_mut().1 }
}
