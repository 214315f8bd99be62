//! MatrixMarket: every text below every first line is refused, or becomes a pattern that holds
//! together.
#![no_main]

mod pattern;

/// First lines.
const KINDS: [&str; 8] = [
    "coordinate real general",
    "coordinate integer general",
    "coordinate pattern general",
    "coordinate real symmetric",
    "coordinate pattern symmetric",
    "array real general",
    "array integer symmetric",
    "",
];

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((kind, rest)) = bytes.split_first() else { return };
    let head = format!("%%MatrixMarket matrix {}", KINDS[usize::from(*kind) % KINDS.len()]);
    pattern::import(&[head.as_bytes(), b"\n", rest].concat(), None);
});
