//! Profiles of clusters: every text is refused, or becomes a cluster that survives its own file.
#![no_main]

use seatmap_cluster::Cluster;

libfuzzer_sys::fuzz_target!(|text: &str| {
    let Ok(cluster) = Cluster::from_json(text) else { return };
    let again = Cluster::from_json(&cluster.to_json()).expect("our own file");
    assert_eq!(again.to_json(), cluster.to_json());
});
