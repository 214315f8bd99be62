//! core-to-core-latency CSV: every text is refused, or becomes a profile that holds together and
//! can be exported.
#![no_main]

mod common;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| common::import(bytes, "fuzz.csv"));
