//! Recordings of living programs: every text is refused, or becomes a page that replays it.
#![no_main]

use seatmap_watch::recording::Recording;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(recording) = Recording::read(text) {
        let _ = seatmap_report::html::replay(&recording);
    }
});
