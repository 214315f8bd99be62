//! The controller's protocol: every line is refused with the number that it has, or is a request
//! that reads back as itself; and what answers a client sees.
#![no_main]

use seatmap_controller::{ControlAnswer, ControlRequest, line};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut lines = line::LineReader::new(bytes);
    while let Ok(Some(line)) = lines.read() {
        if let Ok(request) = ControlRequest::parse(&line) {
            let text = serde_json::to_vec(&request).expect("a request is written");
            assert_eq!(ControlRequest::parse(&text).expect("its own line is read"), request);
        }
        if let Ok(answer) = serde_json::from_slice::<ControlAnswer>(&line) {
            serde_json::to_vec(&answer).expect("an answer is written");
        }
    }
});
