//! Results of `bench` and records of `tune`: every text is refused, or becomes results that can be
//! shown, compared and read again.
#![no_main]

use seatmap_trial::tune::{BenchResults, Tuned};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(mut results) = BenchResults::from_json(text) {
        let then = results.clone();
        results.judge();
        results.compare_with(&then);
        let _ = seatmap_report::bench::page(&results).text(Some(80));
        BenchResults::from_json(&results.to_json()).expect("its own file is read");
    }
    if let Ok(tuned) = Tuned::from_json(text) {
        assert_eq!(tuned.differs_from(&tuned), None);
        Tuned::from_json(&tuned.to_json()).expect("its own file is read");
    }
});
