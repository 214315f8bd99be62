//! The version, which a program can check first.

use std::ffi::{CStr, c_char};

/// The major version of this header.
pub const SEATMAP_PLACE_VERSION_MAJOR: u32 = 0;

/// The minor version of this header. Before 1.0 another minor version may break programs, and is
/// another library to the dynamic linker.
pub const SEATMAP_PLACE_VERSION_MINOR: u32 = 1;

const VERSION: &CStr =
    match CStr::from_bytes_with_nul(concat!(env!("CARGO_PKG_VERSION"), "\0").as_bytes()) {
        Ok(version) => version,
        Err(_) => c"",
    };

/// The version of the loaded library, such as "0.1.0". Static text, never NULL.
#[unsafe(no_mangle)]
pub extern "C" fn seatmap_place_version() -> *const c_char {
    VERSION.as_ptr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn header_version_matches_package() {
        let numbers = format!("{SEATMAP_PLACE_VERSION_MAJOR}.{SEATMAP_PLACE_VERSION_MINOR}.");
        assert!(env!("CARGO_PKG_VERSION").starts_with(&numbers));
        assert_eq!(VERSION.to_str().unwrap(), env!("CARGO_PKG_VERSION"));
    }
}
