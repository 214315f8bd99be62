//! Checks of arguments beyond those of `seatmap-c-abi`: lengths, arrays and texts.

use crate::failure::PlaceCallFailure;
use seatmap_c_abi::Boundary;
use std::ffi::{CStr, c_char};

/// The bytes of a zero-terminated text.
///
/// # Safety
/// `text` is NULL or such a text, which does not change while the reference is used.
pub unsafe fn bytes<'a>(
    text: *const c_char,
    name: &'static str,
) -> Result<&'a [u8], PlaceCallFailure> {
    if text.is_null() {
        return Err(PlaceCallFailure::null(name));
    }
    // SAFETY: not NULL, so it ends with a zero byte.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A zero-terminated text in UTF-8.
///
/// # Safety
/// As [`bytes`].
pub unsafe fn text<'a>(
    text: *const c_char,
    name: &'static str,
) -> Result<&'a str, PlaceCallFailure> {
    // SAFETY: passed on.
    let bytes = unsafe { bytes(text, name) }?;
    std::str::from_utf8(bytes).map_err(|_| PlaceCallFailure::NotText(name))
}

/// An array; NULL is an empty one.
///
/// # Safety
/// `first` is NULL or points to `count` elements that do not change while the slice is used.
pub unsafe fn array<'a, T>(
    first: *const T,
    count: usize,
    name: &'static str,
) -> Result<&'a [T], PlaceCallFailure> {
    match PlaceCallFailure::counted(first, count, name)? {
        0 => Ok(&[]),
        // SAFETY: there are some, so not NULL, and the caller says that they are there.
        count => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// A length, if it is at most `most`.
pub fn at_most(given: usize, most: usize, name: &'static str) -> Result<usize, PlaceCallFailure> {
    if given <= most { Ok(given) } else { Err(PlaceCallFailure::TooLong { name, given, most }) }
}
