//! The promises of every importer.

use seatmap_data::machine::{export, import};

/// Imports, and checks what came out: sound, of real numbers, the same after a trip through its own
/// file.
pub fn import(bytes: &[u8], name: &str) {
    let Ok(profile) = import::read(bytes, name, None) else { return };
    profile.check().expect("an imported profile holds together");
    for (_, _, ns) in profile.core_distance.iter().flat_map(|distance| distance.median_ns.pairs()) {
        assert!(ns.is_nan() || (*ns >= 0.0 && ns.is_finite()), "{ns} is not a distance");
    }
    let json = profile.to_json();
    let again = import::read(json.as_bytes(), "again.json", None).expect("its own file is read");
    assert_eq!(again.to_json(), json);
    if let Ok(text) = export::csv::write(&profile) {
        let _ = import::read(text.as_bytes(), "again.csv", None);
    }
    if let Ok(text) = export::hwloc_xml::write(&profile) {
        let _ = import::read(text.as_bytes(), "again.xml", None);
    }
}
