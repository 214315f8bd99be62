//! Compares the JSON Schema in `docs/formats/` with written cells, key by key in both directions.

use crate::memory::CellMemory;
use crate::record::FORMAT;
use crate::{CellBackend, CellRecord, CellState};
use seatmap_data::document::schema::{never_written, refused};
use serde_json::{Value, json};

const NOTHING: [&str; 0] = [];

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/formats/seatmap-cell-1.schema.json"))
        .unwrap()
}

/// Without `..Default`: add new fields here and to the schema.
fn full() -> CellRecord {
    CellRecord {
        format: FORMAT.to_owned(),
        name: "quiet".parse().unwrap(),
        cpus: vec![2, 3],
        backend: CellBackend::V1Exclusive,
        degraded: vec![
            "v2-partition: no cgroup version 2 hierarchy has the cpuset controller".into(),
        ],
        noise_before: Some(82.3),
        noise_after: Some(1.53),
        state: CellState::Ready,
        group: Some("/sys/fs/cgroup/cpuset/seatmap.quiet".into()),
        irqs_left: vec!["36".into()],
        kernel_threads_left: 16,
        threads_left: 1,
        processes_left: vec!["1 init".into()],
        memory: Some(CellMemory {
            size_bytes: 2 << 20,
            is_huge: true,
            nodes: "0".into(),
            path: Some("/proc/7/fd/4".into()),
        }),
        expires_s: Some(600),
    }
}

#[test]
fn cell_keys_match_the_schema() {
    let bare = CellRecord {
        noise_before: None,
        noise_after: None,
        group: None,
        memory: None,
        expires_s: None,
        ..full()
    };
    for record in [full(), bare] {
        let mut document = serde_json::to_value(&record).unwrap();
        assert_eq!(refused(&schema(), &document), NOTHING);
        assert_eq!(serde_json::from_value::<CellRecord>(document.clone()).unwrap(), record);
        document["faults"] = json!(["the partition is 'isolated invalid' now"]);
        assert_eq!(refused(&schema(), &document), NOTHING, "as verify prints it");
        document["more"] = json!(1);
        assert_eq!(refused(&schema(), &document).len(), 1);
    }
}

#[test]
fn every_schema_key_is_written() {
    let mut document = serde_json::to_value(full()).unwrap();
    document["faults"] = json!([]);
    assert_eq!(never_written(&schema(), &[document]), NOTHING);
}

#[test]
fn every_level_is_in_the_schema() {
    let words: Vec<Value> =
        CellBackend::ALL.iter().map(|backend| serde_json::to_value(backend).unwrap()).collect();
    let schema = schema();
    let listed = schema["$defs"]["CellBackend"]["oneOf"].as_array().unwrap();
    assert!(words.iter().all(|word| listed.iter().any(|level| level["const"] == *word)));
    assert_eq!(listed.len(), words.len());
    assert!(CellBackend::ALL.iter().zip(words).all(|(backend, word)| word == backend.word()));
}
