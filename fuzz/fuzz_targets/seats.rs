//! Files of kubelet, systemd and libvirt: every text is refused, or becomes a `services.toml` that
//! can be read.
#![no_main]

use seatmap_services::ServicesFile;
use seatmap_services::import::{CgroupDriver, SourceFile, read};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let text = String::from_utf8_lossy(bytes);
    let file = SourceFile { name: "a.service", text: &text, is_from_folder: false };
    let Ok(seats) = read(&[file], Vec::new(), None, CgroupDriver::Systemd) else { return };
    let written = seats.text(None).unwrap();
    let services = ServicesFile::from_toml(&written).unwrap().services;
    assert_eq!(services.len(), seats.seats.len());
});
