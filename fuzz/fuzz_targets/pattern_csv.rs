//! CSV matrices and lists of edges: every text is refused, or becomes a pattern that holds
//! together.
#![no_main]

mod pattern;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    pattern::import(bytes, None);
    pattern::import(&[b"from,to,bytes\n", bytes].concat(), None);
});
