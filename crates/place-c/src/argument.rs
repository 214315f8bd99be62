//! What every call checks on its way in: pointers, lengths and texts.

use crate::failure::Failure;
use std::ffi::{CStr, c_char};

/// What a handle stands for.
///
/// # Safety
/// `handle` is NULL, or was given away by this library and is not taken back while the reference is used.
pub unsafe fn known<'a, T>(handle: *const T, name: &'static str) -> Result<&'a T, Failure> {
    // SAFETY: the caller's promise is that of `as_ref`.
    unsafe { handle.as_ref() }.ok_or(Failure::Null(name))
}

/// What a handle stands for, to be changed.
///
/// # Safety
/// As [`known`], and nobody else uses it meanwhile.
pub unsafe fn changed<'a, T>(handle: *mut T, name: &'static str) -> Result<&'a mut T, Failure> {
    // SAFETY: the caller's promise is that of `as_mut`.
    unsafe { handle.as_mut() }.ok_or(Failure::Null(name))
}

/// A text that ends with a zero byte.
///
/// # Safety
/// `text` is NULL or such a text, which does not change while the reference is used.
pub unsafe fn bytes<'a>(text: *const c_char, name: &'static str) -> Result<&'a [u8], Failure> {
    if text.is_null() {
        return Err(Failure::Null(name));
    }
    // SAFETY: not NULL, so it ends with a zero byte.
    Ok(unsafe { CStr::from_ptr(text) }.to_bytes())
}

/// A text that ends with a zero byte and is UTF-8.
///
/// # Safety
/// As [`bytes`].
pub unsafe fn text<'a>(text: *const c_char, name: &'static str) -> Result<&'a str, Failure> {
    // SAFETY: passed on.
    let bytes = unsafe { bytes(text, name) }?;
    std::str::from_utf8(bytes).map_err(|_| Failure::NotText(name))
}

/// An array; NULL is one without elements.
///
/// # Safety
/// `first` is NULL or leads to `count` elements that do not change while the slice is used.
pub unsafe fn array<'a, T>(first: *const T, count: usize, name: &'static str) -> Result<&'a [T], Failure> {
    // No array that is there is longer; a larger count is a negative number, or none that was ever set.
    let count = at_most(count, isize::MAX as usize / size_of::<T>().max(1), "the number of elements")?;
    match (first.is_null(), count) {
        (_, 0) => Ok(&[]),
        (true, _) => Err(Failure::Null(name)),
        // SAFETY: not NULL, so the caller says that they are there, and no longer than a slice may be.
        (false, _) => Ok(unsafe { std::slice::from_raw_parts(first, count) }),
    }
}

/// A length, if it can be meant.
pub fn at_most(given: usize, most: usize, name: &'static str) -> Result<usize, Failure> {
    if given <= most { Ok(given) } else { Err(Failure::TooLong { name, given, most }) }
}
