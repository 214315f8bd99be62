//! Models, TOML: every text is refused, or becomes a machine whose first two PUs have a distance.
#![no_main]

use seatmap_sim::catalog;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(model) = catalog::from_toml("fuzz.toml", text) {
        let [a, b] = [0, 1].map(|at: usize| model.topology.pus[at].os);
        let uncached = model.round_trip_ticks(a, b, 0).is_none();
        assert!(uncached || model.round_trip_ticks(a, b, 0) > Some(0));
    }
});
