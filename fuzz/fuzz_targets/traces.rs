//! Traces of `libseatmap_trace`: every text is refused, or becomes an observation whose pattern
//! holds together.
#![no_main]

use seatmap_observe::trace::TraceText;
use seatmap_observe::{Observation, mpi, tsan};
use seatmap_data::pattern::Pattern;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    let traces = [TraceText { path: "fuzz".into(), text: text.to_owned() }];
    if let Ok(sharing) = tsan::sharing(&traces) {
        holds(&sharing.observation);
    }
    if let Ok(observation) = mpi::messages(&traces) {
        holds(&observation);
    }
});

fn holds(observation: &Observation) {
    let pattern = observation.pattern("fuzz");
    pattern.check().expect("an observed pattern holds together");
    assert_eq!(Pattern::from_json(&pattern.to_json()).expect("its own file is read"), pattern);
}
