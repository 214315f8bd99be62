//! Recordings of perf: every sequence of bytes is refused, or becomes an observation whose pattern
//! holds together.
#![no_main]

use seatmap_observe::c2c;
use std::io::Cursor;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(sampled) = c2c::read(Cursor::new(bytes)) else { return };
    sampled.observation.pattern("fuzz").check().expect("an observed pattern holds together");
    let tasks = sampled.observation.tasks.len();
    assert!(sampled.lines.iter().all(|line| line.from < tasks && line.to < tasks && line.from != line.to));
});
