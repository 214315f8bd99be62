//! QAPLIB instances: every text is refused, or both of its matrices are refused or become patterns
//! that hold together.
#![no_main]

mod pattern;

use seatmap_data::pattern::qaplib::{Instance, Which};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    for which in [None, Some(Which::First), Some(Which::Second)] {
        pattern::import(bytes, which);
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(instance) = Instance::read(text) {
        let cells = instance.n * instance.n;
        assert_eq!((instance.a.len(), instance.b.len()), (cells, cells));
        assert!(instance.a.iter().chain(&instance.b).all(|cell| cell.is_finite()));
    }
});
