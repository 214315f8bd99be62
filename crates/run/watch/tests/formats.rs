//! The JSON Schema in `docs/formats/` and seatings.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::refused;
use seatmap_os::Tid;
use seatmap_watch::seating::{
    ControlGroup, CpuActivity, CpusetLevel, FORMAT, GroupBrake, InterruptRate, KernelSettings,
    MemoryMapping, MemoryUsage, OnNode, OpenDevice, Process, RanOn, Stranger, Unseen, Variable,
    WatchedQuota, WatchedThread,
};
use seatmap_watch::{ProcessChoice, Seating, WatchOptions};
use serde_json::Value;
use std::time::Duration;

const NOTHING: Vec<String> = Vec::new();

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../docs/formats/seatmap-seating-1.schema.json"))
        .unwrap()
}

/// No `..Default`: a new field must be added here, and so to the schema.
fn full() -> Seating {
    Seating {
        format: FORMAT.to_owned(),
        machine: "desk".into(),
        taken_at_s: 1.5e9,
        watched_s: 0.5,
        looks: 21,
        processes: vec![process()],
        threads: vec![thread()],
        cpus: vec![cpu()],
        quotas: vec![quota()],
        brakes: vec![brake()],
        cells: vec![seatmap_watch::seating::CellCpus {
            name: "quiet".to_owned(),
            cpus: "1".to_owned(),
        }],
        kernel: kernel(),
        unseen: vec![Unseen { what: "memory".into(), pids: vec![7], why: "not asked for".into() }],
    }
}

fn thread() -> WatchedThread {
    WatchedThread {
        pid: 7,
        tid: 8,
        name: "worker".into(),
        state: 'R',
        age_s: 3.5,
        mask: "0-3,8".into(),
        mask_before: Some("0-3".into()),
        policy: "fifo".into(),
        nice: -20,
        real_time_priority: 99,
        cpu: Some(3),
        ran_on: vec![RanOn { cpu: 3, percent: 100.0 }],
        is_traced: true,
        run_s: 2.0,
        wait_s: Some(0.0),
        run_percent: 100.0,
        wait_percent: Some(0.0),
        voluntary_switches: 1,
        forced_switches: 2,
        voluntary_per_s: Some(0.5),
        forced_per_s: Some(1e3),
        migrations: Some(3),
        group: Some(group()),
    }
}

fn group() -> ControlGroup {
    ControlGroup {
        path: "/a".into(),
        cpusets: vec![CpusetLevel {
            file: "/c/a/cpuset.cpus".into(),
            cpus: "0-3".into(),
            unit: Some("a.slice".into()),
        }],
        cpus: Some("0-3".into()),
        nodes: Some("0".into()),
        quota_cpus: Some(1.5),
        throttled: Some(2),
        throttled_watched: Some(0),
    }
}

fn process() -> Process {
    let on_node = || vec![OnNode { node: 1, bytes: 4096 }];
    let mapping = MemoryMapping {
        name: "heap".into(),
        address: "7f00".into(),
        policy: "bind:1".into(),
        nodes: on_node(),
        page_bytes: 4096,
    };
    let variable = Variable {
        name: "OMP_PLACES".into(),
        value: "{0,1}".into(),
        cpus: Some("0,1".into()),
        places: vec!["0,1".into()],
        threads: Some(1),
    };
    Process {
        pid: 7,
        parent: 1,
        name: "server".into(),
        program: Some("/opt/server".into()),
        user: Some(0),
        age_s: 3.5,
        threads: 1,
        group: Some(group()),
        variables: vec![variable],
        memory: Some(MemoryUsage {
            nodes: on_node(),
            own: on_node(),
            mappings: vec![mapping],
            huge_bytes: 0,
        }),
        devices: vec![OpenDevice {
            name: "/dev/nvidia0".into(),
            kind: "gpu".into(),
            node: Some(1),
            cpus: Some("8-15".into()),
        }],
        runtimes: vec!["libgomp".into()],
    }
}

fn quota() -> WatchedQuota {
    WatchedQuota {
        group: "/a".into(),
        file: "/c/a/cpu.max".into(),
        cpus: 1.5,
        period_us: 100_000,
        throttled: Some(2),
        throttled_watched: Some(0),
        periods_watched: Some(5),
        stopped_watched_s: Some(0.0),
        tids: vec![7],
        has_others: false,
        unit: Some("a.slice".into()),
        is_read_only: false,
    }
}

fn brake() -> GroupBrake {
    GroupBrake {
        group: "/a".into(),
        file: "/c/a/memory.high".into(),
        words: "slowed down above 64 MiB of memory (memory.high)".into(),
        stops_watched: Some(3),
        tids: vec![7],
        unit: None,
        is_read_only: false,
        real_time_percent: Some(95.0),
    }
}

fn cpu() -> CpuActivity {
    CpuActivity {
        cpu: 3,
        busy_percent: Some(50.0),
        steal_percent: Some(0.0),
        interrupts: vec![InterruptRate {
            irq: "24".into(),
            name: "disk".into(),
            per_second: 2.5,
            is_per_cpu: false,
            is_movable: Some(true),
        }],
        strangers: vec![Stranger {
            pid: 9,
            tid: 9,
            name: "other".into(),
            run_percent: 7.5,
            mask: "0-3".into(),
            real_time_policy: Some("fifo".into()),
            real_time_priority: 50,
        }],
    }
}

fn kernel() -> KernelSettings {
    KernelSettings {
        release: "7.2.1".into(),
        sched_ext: Some("lavd".into()),
        cache_aware: Some(true),
        numa_balancing: Some(false),
        isolated: "2,3".into(),
        no_hz_full: String::new(),
        memory_nodes: Some("0,1".into()),
    }
}

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
