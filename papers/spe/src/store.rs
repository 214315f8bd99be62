//! The local store of one SPE.

use crate::error::SpeError;
use seatmap_cell_sim::os::window::DoubleMapping;
use std::sync::atomic::{AtomicUsize, Ordering};

/// The local store of the Cell's SPEs: 256 KiB.
pub const STORE_BYTES: usize = 256 << 10;
/// The largest store, in KiB: a DMA list cannot address larger ones.
pub const MOST_KIB: usize = 1 << 20;
/// The least size of new stores, for programs that need more than the Cell's.
static LEAST_BYTES: AtomicUsize = AtomicUsize::new(0);

/// Gives new stores at least this size, in whole pages up to 1 GiB.
pub fn at_least(bytes: usize) {
    LEAST_BYTES.fetch_max(bytes.min(MOST_KIB << 10).next_multiple_of(4096), Ordering::Relaxed);
}

/// Memory aligned to 4 GiB, so that the low 32 bits of a pointer are its local-store address.
#[derive(Debug)]
pub struct SpeStore {
    window: DoubleMapping,
}

impl SpeStore {
    /// A zeroed store of 256 KiB, or of `SEATMAP_SPE_LS_KIB` KiB, or of the size of [`at_least`] if
    /// larger.
    ///
    /// # Errors
    /// [`SpeError::Store`], or [`SpeError::Argument`] for an invalid size.
    pub fn new() -> Result<Self, SpeError> {
        let bytes = wanted_bytes(std::env::var("SEATMAP_SPE_LS_KIB").ok().as_deref())?;
        let bytes = bytes.max(LEAST_BYTES.load(Ordering::Relaxed));
        Ok(SpeStore { window: DoubleMapping::new(bytes).map_err(SpeError::Store)? })
    }

    /// Its size.
    #[inline]
    pub fn bytes(&self) -> usize {
        self.window.bytes()
    }

    /// Its address for the SPU.
    #[inline]
    pub fn base(&self) -> *mut u8 {
        self.window.high()
    }

    /// Its effective address for the PPE and other SPEs, below 4 GiB if there is room.
    #[inline]
    pub fn effective(&self) -> *mut u8 {
        self.window.low()
    }

    /// A range's effective address; `None` outside of the store.
    #[inline]
    pub fn at(&self, local: u32, bytes: usize) -> Option<*mut u8> {
        let start = usize::try_from(local).ok()?;
        let end = start.checked_add(bytes)?;
        // SAFETY: the range was just checked to be in the mapping.
        (end <= self.bytes()).then(|| unsafe { self.effective().add(start) })
    }

    /// Makes every page writable through [`SpeStore::effective`].
    ///
    /// # Errors
    /// [`SpeError::Store`].
    pub fn open(&self) -> Result<(), SpeError> {
        // Without a second address, the last program's pages are only executable.
        if self.effective() == self.base() { self.execute(0, 0) } else { Ok(()) }
    }

    /// Lets the SPU execute only these pages.
    ///
    /// # Errors
    /// [`SpeError::Store`].
    pub fn execute(&self, start: usize, end: usize) -> Result<(), SpeError> {
        self.window.execute(start, end).map_err(SpeError::Store)
    }
}

fn wanted_bytes(kib: Option<&str>) -> Result<usize, SpeError> {
    let Some(text) = kib else { return Ok(STORE_BYTES) };
    match text.parse::<usize>() {
        Ok(kib) if (64..=MOST_KIB).contains(&kib) && kib % 4 == 0 => Ok(kib << 10),
        _ => Err(SpeError::Argument(format!(
            "SEATMAP_SPE_LS_KIB={text}: expected a multiple of 4 from 64 to {MOST_KIB}"
        ))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_pointer_bits_are_the_local_address() {
        let store = SpeStore { window: DoubleMapping::new(STORE_BYTES).unwrap() };
        assert_eq!(store.base() as usize & 0xffff_ffff, 0);
        assert_eq!(store.at(16, 16).unwrap() as usize, store.effective() as usize + 16);
        assert!(
            store.at(0x3_fff0, 16).is_some()
                && store.at(0x3_fff0, 17).is_none()
                && store.at(u32::MAX, 1).is_none()
        );
    }

    #[test]
    fn store_size_comes_from_environment() {
        assert_eq!(wanted_bytes(None).unwrap(), 256 << 10);
        assert_eq!(wanted_bytes(Some("1024")).unwrap(), 1 << 20);
        assert!(
            ["", "0", "-1", "65", "9999999"].iter().all(|text| wanted_bytes(Some(text)).is_err())
        );
    }
}
