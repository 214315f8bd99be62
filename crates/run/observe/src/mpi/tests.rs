//! Handmade and hostile traces.

use super::*;
use proptest::prelude::*;
use std::path::PathBuf;

const ZERO: &str = r#"{"format":"seatmap-trace/1","kind":"rank","rank":0,"ranks":3,"pid":7,"tid":7,"from_ns":1,"to_ns":2,"cpu_ns":5}
{"call":"Send","peer":1,"messages":2,"bytes":80,"communicator":"MPI_COMM_WORLD"}
{"call":"Bcast","peer":1,"messages":1,"bytes":8,"communicator":"half"}
{"call":"Get","peer":1,"messages":1,"bytes":8,"communicator":""}
{"call":"Send","peer":-32766,"messages":1,"bytes":8,"communicator":""}
{"unseen":"MPI_Neighbor_alltoall","times":4}
{"end":true}
"#;

fn trace(text: &str) -> TraceText {
    TraceText { path: PathBuf::from("rank-0-7.jsonl"), text: text.to_owned() }
}

#[test]
fn sums_become_edges_and_gets_are_reversed() {
    let observation = messages(&[trace(ZERO)]).unwrap();
    let sent = Edge { from: 0, to: 1, bytes: 88.0, messages: 3.0 };
    let fetched = Edge { from: 1, to: 0, bytes: 8.0, messages: 1.0 };
    assert_eq!(observation.windows[0].edges, [sent, fetched]);
    assert_eq!(observation.tasks.len(), 3);
    observation.pattern("job").check().unwrap();
}

#[test]
fn lost_calls_and_ranks_are_reported() {
    let unseen = messages(&[trace(ZERO)]).unwrap().unseen;
    let expected = [
        "4 calls of MPI_Neighbor_alltoall",
        "2 of 3 ranks left no trace: they did not call MPI_Finalize",
    ];
    assert_eq!(unseen, expected);
    let of_two = trace(&ZERO.replace("\"ranks\":3", "\"ranks\":2"));
    let unseen = messages(&[of_two]).unwrap().unseen;
    assert_eq!(unseen[1], "1 of 2 ranks left no trace: it did not call MPI_Finalize");
}

#[test]
fn too_many_ranks_are_refused() {
    let many = ZERO.replace("\"ranks\":3", "\"ranks\":99999999999");
    let said = messages(&[trace(&many)]).err().map(|error| error.to_string());
    assert_eq!(
        said.unwrap(),
        "'rank-0-7.jsonl': 99999999999 ranks, but a pattern has at most 1048576"
    );
}

proptest! {
    #[test]
    fn damaged_trace_never_panics(at in 0_usize..600, with in any::<Vec<u8>>(), swap in any::<(u8, u8)>()) {
        let mut bytes = ZERO.as_bytes().to_vec();
        let at = at.min(bytes.len());
        bytes.splice(at..(at + with.len()).min(ZERO.len()), with);
        bytes.iter_mut().filter(|byte| **byte == swap.0).for_each(|byte| *byte = swap.1);
        let _ = messages(&[trace(ZERO), trace(&String::from_utf8_lossy(&bytes))]);
    }
}
