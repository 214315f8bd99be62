//! Programs for SPUs, as files: every sequence of bytes is refused, or is a program that says how
//! large its store is.
#![no_main]

use seatmap_spe::Image;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(image) = Image::new(bytes.to_vec()) else { return };
    let _ = image.asked_bytes();
    assert_eq!(image.file(), bytes);
});
