//! The JSON Schema in `docs/formats/` and seatings.

use crate::seating::KernelSettings;
use crate::{ProcessChoice, Seating, WatchOptions};
use seatmap_data::document::schema::refused;
use seatmap_os::Tid;
use serde_json::Value;
use std::time::Duration;

const NOTHING: Vec<String> = Vec::new();

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/formats/seatmap-seating-1.schema.json"))
        .unwrap()
}

/// With every key: a new one must be added here, and so to the schema.
fn full() -> Seating {
    let document: Value = serde_json::from_str(FULL).unwrap();
    let seating: Seating = serde_json::from_value(document.clone()).unwrap();
    assert_eq!(serde_json::to_value(&seating).unwrap(), document);
    let text = format!("{seating:?}");
    assert!(!text.contains("None") && !text.contains("[]"), "a key is missing: {text}");
    seating
}

const FULL: &str = r#"{
    "format": "seatmap-seating/1",
    "machine": "desk",
    "taken_at_s": 1500000000.0,
    "watched_s": 0.5,
    "looks": 21,
    "processes": [{
        "pid": 7,
        "parent": 1,
        "name": "server",
        "program": "/opt/server",
        "user": 0,
        "age_s": 3.5,
        "threads": 1,
        "group": {
            "path": "/a",
            "cpusets": [{"file": "/c/a/cpuset.cpus", "cpus": "0-3", "unit": "a.slice"}],
            "cpus": "0-3",
            "nodes": "0",
            "quota_cpus": 1.5,
            "throttled": 2,
            "throttled_watched": 0
        },
        "variables": [{
            "name": "OMP_PLACES",
            "value": "{0,1}",
            "cpus": "0,1",
            "places": ["0,1"],
            "threads": 1
        }],
        "memory": {
            "nodes": [{"node": 1, "bytes": 4096}],
            "own": [{"node": 1, "bytes": 4096}],
            "mappings": [{
                "name": "heap",
                "address": "7f00",
                "policy": "bind:1",
                "nodes": [{"node": 1, "bytes": 4096}],
                "page_bytes": 4096
            }],
            "huge_bytes": 0
        },
        "devices": [{"name": "/dev/nvidia0", "kind": "gpu", "node": 1, "cpus": "8-15"}],
        "runtimes": ["libgomp"]
    }],
    "threads": [{
        "pid": 7,
        "tid": 8,
        "name": "worker",
        "state": "R",
        "age_s": 3.5,
        "mask": "0-3,8",
        "mask_before": "0-3",
        "policy": "fifo",
        "nice": -20,
        "real_time_priority": 99,
        "cpu": 3,
        "ran_on": [{"cpu": 3, "percent": 100.0}],
        "is_traced": true,
        "run_s": 2.0,
        "wait_s": 0.0,
        "run_percent": 100.0,
        "wait_percent": 0.0,
        "voluntary_switches": 1,
        "forced_switches": 2,
        "voluntary_per_s": 0.5,
        "forced_per_s": 1000.0,
        "migrations": 3,
        "group": {
            "path": "/a/b",
            "cpusets": [{"file": "/c/a/b/cpuset.cpus", "cpus": "0-3", "unit": "b.scope"}],
            "cpus": "0-3",
            "nodes": "0",
            "quota_cpus": 1.5,
            "throttled": 2,
            "throttled_watched": 0
        }
    }],
    "cpus": [{
        "cpu": 3,
        "busy_percent": 50.0,
        "steal_percent": 0.0,
        "interrupts": [{
            "irq": "24",
            "name": "disk",
            "per_second": 2.5,
            "is_per_cpu": false,
            "is_movable": true
        }],
        "strangers": [{
            "pid": 9,
            "tid": 9,
            "name": "other",
            "run_percent": 7.5,
            "mask": "0-3",
            "real_time_policy": "fifo",
            "real_time_priority": 50
        }]
    }],
    "quotas": [{
        "group": "/a",
        "file": "/c/a/cpu.max",
        "cpus": 1.5,
        "period_us": 100000,
        "throttled": 2,
        "throttled_watched": 0,
        "periods_watched": 5,
        "stopped_watched_s": 0.0,
        "tids": [7],
        "has_others": false,
        "unit": "a.slice",
        "is_read_only": false
    }],
    "brakes": [{
        "group": "/a",
        "file": "/c/a/memory.high",
        "words": "slowed down above 64 MiB of memory (memory.high)",
        "real_time_percent": 95.0,
        "stops_watched": 3,
        "tids": [7],
        "unit": "a.slice",
        "is_read_only": false
    }],
    "kernel": {
        "release": "7.2.1",
        "sched_ext": "lavd",
        "cache_aware": true,
        "numa_balancing": false,
        "isolated": "2,3",
        "no_hz_full": "",
        "memory_nodes": "0,1"
    },
    "cells": [{"name": "quiet", "cpus": "1"}],
    "unseen": [{"what": "memory", "pids": [7], "why": "not asked for"}]
}"#;

#[test]
fn seating_keys_match_schema_exactly() {
    let full = serde_json::to_value(full()).unwrap();
    assert_eq!(refused(&schema(), &full), NOTHING);
    let objects =
        ["/processes/0", "/processes/0/group", "/processes/0/variables/0", "/processes/0/memory"];
    let more = [
        "/processes/0/memory/mappings/0",
        "/processes/0/memory/nodes/0",
        "/processes/0/devices/0",
        "/cpus/0",
    ];
    let last = [
        "/cpus/0/interrupts/0",
        "/cpus/0/strangers/0",
        "/kernel",
        "/unseen/0",
        "/threads/0/ran_on/0",
        "/cells/0",
        "/brakes/0",
    ];
    for path in objects.into_iter().chain(more).chain(last).chain(["", "/threads/0"]) {
        for key in full.pointer(path).unwrap().as_object().unwrap().keys() {
            let mut poorer = full.clone();
            poorer.pointer_mut(path).unwrap().as_object_mut().unwrap().remove(key);
            let is_newer = match path {
                "" => ["quotas", "brakes", "cells"].contains(&key.as_str()),
                "/processes/0" => key == "runtimes",
                "/threads/0" => {
                    ["is_traced", "group", "mask_before"].contains(&key.as_str())
                        || ["voluntary_per_s", "forced_per_s"].contains(&key.as_str())
                }
                "/brakes/0" => key == "real_time_percent",
                "/processes/0/group" => key == "cpusets",
                "/cpus/0/interrupts/0" => ["is_per_cpu", "is_movable"].contains(&key.as_str()),
                "/cpus/0/strangers/0" => key.starts_with("real_time_"),
                "/kernel" => key == "memory_nodes",
                _ => false,
            };
            assert_eq!(refused(&schema(), &poorer).is_empty(), is_newer, "{path}/{key}");
        }
    }
}

#[test]
fn unknown_values_are_null_in_schema() {
    let mut seating = full();
    let process = &mut seating.processes[0];
    (process.program, process.user, process.group, process.memory) = (None, None, None, None);
    let thread = &mut seating.threads[0];
    (thread.cpu, thread.wait_s, thread.wait_percent, thread.migrations) = (None, None, None, None);
    (seating.cpus[0].busy_percent, seating.cpus[0].steal_percent) = (None, None);
    seating.kernel = KernelSettings::default();
    assert_eq!(refused(&schema(), &serde_json::to_value(&seating).unwrap()), NOTHING);
}

#[test]
fn real_seating_matches_schema_and_round_trips() {
    let own = Tid::try_from(std::process::id()).unwrap();
    let choice = ProcessChoice::Processes { pids: vec![own], with_children: true };
    let options = WatchOptions { window: Duration::from_millis(40), ..WatchOptions::default() };
    for choice in [choice, ProcessChoice::All] {
        let seating = Seating::take(&choice, &options).unwrap();
        let written = serde_json::to_value(&seating).unwrap();
        assert_eq!(refused(&schema(), &written), NOTHING);
        assert_eq!(serde_json::from_value::<Seating>(written).unwrap(), seating);
    }
}
