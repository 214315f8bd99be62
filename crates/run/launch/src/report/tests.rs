//! The JSON Schema in `docs/formats/` and a report.

use crate::policies::ThreadMemory;
use crate::report::FORMAT;
use crate::threads::MOST_RECORDS;
use crate::verifier::{MOST_PROCESSES, MemoryReport, PagesOnNode, PagesUnderPolicy, ProcessMemory};
use crate::{
    AttachRequest, Behind, Beyond, Hampered, Report, SeatAllocator, SeatList, SeatedThread,
};
use seatmap_data::document::schema::refused;
use seatmap_os::CpuList;
use serde_json::Value;

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../../../docs/formats/seatmap-seating-1.schema.json"))
        .unwrap()
}

fn assert_valid(instance: &Value) {
    assert_eq!(refused(&schema(), instance), Vec::<String>::new());
}

/// No `..Default`: a new field must be added here, and so to the schema.
fn full() -> Report {
    let thread = SeatedThread {
        order: 0,
        pid: Some(70),
        tid: 71,
        name: "worker".into(),
        task: Some(1),
        task_name: Some("right".into()),
        cpus: vec![3],
        seen_on: vec![3, 0],
        verified: false,
        waiting: false,
        elsewhere_ms: 0,
        late: true,
        trouble: Some("its seat is CPU 3, but its affinity was changed to 0-3".into()),
        memory: Some(ThreadMemory {
            policy: "bind:1".into(),
            is_set: false,
            trouble: Some("it runs 32-bit code".into()),
        }),
    };
    let task = None;
    let trouble = None;
    let memory = None;
    let nobody = SeatedThread {
        pid: None,
        task,
        task_name: None,
        cpus: Vec::new(),
        trouble,
        memory,
        ..thread.clone()
    };
    Report {
        format: FORMAT,
        pid: Some(70),
        created: 2,
        helpers: 3,
        widened: 1,
        roaming: vec!["/opt/server".into()],
        narrowed: vec!["/usr/bin/java".into()],
        narrowed_lines: Vec::new(),
        throttled: Vec::new(),
        crowding: Vec::new(),
        unmet_rules: Vec::new(),
        skipped: 0,
        unseated: 1,
        tasks: 3,
        ordered_tasks: 2,
        strangers: 0,
        empty_tasks: vec![0],
        cyclic: false,
        words: Some("kind:performance".into()),
        within: Some("0-3".into()),
        threads: vec![thread, nobody],
        hampered: Hampered {
            unprivileged: vec!["/usr/bin/su".into()],
            tracers: vec!["/usr/bin/gdb".into()],
        },
        behind: Some(Behind {
            processes: 1,
            threads: 2,
            supervisor: Some(80),
            freed: 0,
            waiter: None,
        }),
        cell_end: None,
        fit: None,
        memory: Some(memory_report()),
        complete: true,
        taken_at_s: 1.5e9,
    }
}

fn memory_report() -> MemoryReport {
    let process = ProcessMemory {
        pid: 70,
        name: "server".into(),
        nodes: vec![PagesOnNode { node: 1, own_bytes: 8192, shared_bytes: 4096 }],
        policies: vec![PagesUnderPolicy { policy: "bind:1".into(), bytes: 8192 }],
        elsewhere_bytes: Some(0),
        at_end: true,
    };
    MemoryReport {
        wish: Some("node:1".into()),
        policy: Some("bind:1".into()),
        nodes: Some(vec![1]),
        processes: vec![process],
    }
}

#[test]
fn report_keys_match_schema_exactly() {
    assert_valid(&serde_json::to_value(full()).unwrap());
    let text = schema().to_string();
    assert!(text.contains("first 10,000 threads") && MOST_RECORDS == 10_000);
    assert!(text.contains("first 1,000 examined processes") && MOST_PROCESSES == 1_000);
}

#[test]
fn report_of_real_process_matches_schema() {
    let seats = SeatList::of_cpus(&CpuList(vec![0]), Beyond::Leave);
    let rules = vec![
        crate::SeatRule::parse("no thread's name=0", &seats, &mut |_| Ok(Vec::new())).unwrap(),
    ];
    let pid = i32::try_from(std::process::id()).unwrap();
    let seats = Some(SeatAllocator::new(seats, rules, 0));
    let request = AttachRequest { pids: vec![pid], force: false, seats, pages: None };
    let attached = request.run().unwrap();
    assert_eq!(attached.undo, None, "no mask was changed");
    let report = attached.report.unwrap();
    assert!(report.created > 0 && report.created == report.unseated);
    assert_valid(&serde_json::to_value(report).unwrap());
}
