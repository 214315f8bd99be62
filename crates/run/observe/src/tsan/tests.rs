//! Handmade and hostile traces.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

const HEAD: &str = r#"{"format":"seatmap-trace/1","kind":"threads","pid":7,"parent_pid":1,"from_ns":1000000000,
"to_ns":3000000000,"threads":4,"replaced_lines":2,"table_lines":16,"unnamed_transfers":0}"#;

const BODY: &str = r#"
{"task":0,"parent":0,"tid":7,"cpu_ns":500000000,"name":"app"}
{"task":1,"parent":0,"tid":8,"cpu_ns":1,"name":"worker"}
{"task":2,"parent":0,"tid":9,"cpu_ns":2,"name":"worker"}
{"task":3,"parent":1,"tid":10,"cpu_ns":3,"name":"log"}
{"from":1,"to":2,"true":10,"false":5}
{"from":3,"to":1,"true":0,"false":9}
{"from":3,"to":99,"true":1,"false":0}
{"line":4096,"from":3,"to":1,"true":0,"false":9,"written":"counts+0","accessed":"counts+8"}
{"line":4096,"from":3,"to":1,"true":0,"false":9,"written":"counts+0","accessed":"counts+8"}
{"end":true}
"#;

fn trace(text: &str) -> TraceText {
    TraceText { path: PathBuf::from("threads-7.jsonl"), text: text.to_owned() }
}

fn whole() -> String {
    HEAD.replace('\n', "") + BODY
}

#[test]
fn threads_get_names_paths_and_edges() {
    let sharing = sharing(&[trace(&whole())]).unwrap();
    let told: Vec<_> = sharing
        .observation
        .tasks
        .iter()
        .map(|task| (task.name.as_str(), task.path.as_str()))
        .collect();
    assert_eq!(told, [("app", "0"), ("worker#0", "0.0"), ("log", "0.0.0"), ("worker#1", "0.1")]);
    let edges = &sharing.observation.windows[0].edges;
    assert_eq!(*edges, line_edges([((1, 3), 15.0), ((2, 1), 9.0)]));
    assert_eq!((sharing.observation.seconds(), sharing.observation.tasks[0].cpu_s), (2.0, 0.5));
    sharing.observation.pattern("app").check().unwrap();
}

#[test]
fn false_sharing_is_reported_once_with_variables() {
    let sharing = sharing(&[trace(&whole())]).unwrap();
    let [line] = &sharing.lines[..] else { unreachable!("one line: {:?}", sharing.lines) };
    assert!(line.is_false_sharing() && (line.from, line.to) == (2, 1));
    assert_eq!((line.written.as_str(), line.accessed.as_str()), ("counts+0", "counts+8"));
    let lines = vec![line.clone(); 9];
    let sighting = Sighting { observation: sharing.observation, lines };
    let sentences: Vec<String> = sighting.false_sharing().collect();
    assert_eq!(
        sentences[0],
        "false sharing: 'log' writes counts+0 and 'worker#0' uses counts+8, on one cache line that \
         passed between them 9 times"
    );
    assert_eq!(sentences.len(), 5, "a program with many such lines shows the first ones");
}

#[test]
fn document_names_next_command() {
    let observation = sharing(&[trace(&whole())]).unwrap().observation;
    assert_eq!(observation.name(), "app");
    let mut document = observation.document("app");
    let file = Path::new("-a b.json");
    let next = document.next_step(Some(file));
    assert_eq!(next.as_deref(), Some("next: seatmap place --pattern ./'-a b.json'"));
    assert!(document.next_step(None).unwrap().starts_with("next: -o app.pattern.json keeps"));
    document.pattern.edges.clear();
    assert_eq!(document.next_step(Some(file)), None);
}

#[test]
fn lost_records_are_reported() {
    let cut = whole().replace("{\"end\":true}\n", "{\"from\":1,");
    let unseen = sharing(&[trace(&cut)]).unwrap().observation.unseen;
    let expected = [
        "process 7 used more lines than the table holds: 2 had their state replaced",
        "threads-7.jsonl was cut off: its process ended while it wrote",
    ];
    assert_eq!(unseen, expected);
}

#[test]
fn invalid_traces_are_rejected_with_position() {
    let said = |text: &str| sharing(&[trace(text)]).err().map(|error| error.to_string());
    let later = whole().replace("trace/1", "trace/2");
    let expected =
        "'threads-7.jsonl': its format is 'seatmap-trace/2'; this program reads seatmap-trace/1";
    assert_eq!(said(&later).as_deref(), Some(expected));
    assert!(
        said(&whole().replace("\"tid\":8", "\"tid\":"))
            .unwrap()
            .starts_with("'threads-7.jsonl', line 3")
    );
    assert!(said("").is_some());
}

proptest! {
    #[test]
    fn damaged_trace_never_panics(at in 0_usize..1200, with in any::<Vec<u8>>(), swap in any::<(u8, u8)>()) {
        let mut bytes = whole().into_bytes();
        let at = at.min(bytes.len());
        bytes.splice(at..(at + with.len()).min(whole().len()), with);
        let digits = bytes.iter_mut().filter(|byte| **byte == swap.0);
        digits.for_each(|byte| *byte = swap.1);
        if let Ok(sharing) = sharing(&[trace(&whole()), trace(&String::from_utf8_lossy(&bytes))]) {
            let _ = sharing.observation.pattern("hostile").check();
        }
    }

    #[test]
    fn extreme_numbers_never_panic(from in any::<usize>(), parent in any::<usize>(), count in any::<u64>()) {
        let text = whole().replace("\"from\":3", &format!("\"from\":{from}"));
        let text = text.replace("\"parent\":1", &format!("\"parent\":{parent}"));
        let text = text.replace(":9", &format!(":{count}")).replace(":1000000000", &format!(":{}", count as i64));
        if let Ok(sharing) = sharing(&[trace(&text)]) {
            prop_assert!(sharing.observation.seconds() >= 0.0);
            prop_assert!(sharing.observation.windows[0].edges.iter().all(|edge| edge.from != edge.to));
        }
    }
}
