//! Files of systemd and libvirt: every text is refused, or becomes a `services.toml` that
//! can be read.
#![no_main]

use seatmap_services::ServicesFile;
use seatmap_services::import::{SourceFile, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let file = SourceFile { name: "a.service", text: &text, is_from_folder: false };
    let Ok(seats) = read(&[file], Vec::new(), None) else { return };
    let written = seats.text(None).unwrap();
    let services = ServicesFile::from_toml(&written).unwrap().services;
    assert_eq!(services.len(), seats.seats.len());
});
