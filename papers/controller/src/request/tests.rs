//! Compares the JSON Schema in `docs/papers/formats/` with real output, key by key in both
//! directions.

use crate::{
    CellPhase, ControlAnswer, ControlRequest, Create, ErrorOrigin, Listed, RequestKind, Say,
    request,
};
use seatmap_cell::{CellBackend, CellRecord, CellState};
use seatmap_data::document::schema::refused;
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../docs/papers/formats/seatmap-control-1.schema.json"
    ))
    .unwrap()
}

fn is_valid(instance: &Value) -> bool {
    refused(&schema(), instance).is_empty()
}

fn create() -> Create {
    Create {
        name: "quiet".parse().unwrap(),
        cpus: Some(vec![2, 3]),
        count: None,
        require: CellBackend::V1Exclusive,
        noise_limit: Some(2.5),
        is_tested: true,
        lease_s: Some(600),
        memory_bytes: 2 << 20,
        priority: 9,
        takes_turns: false,
        is_detached: true,
        waits: true,
    }
}

fn cell() -> CellRecord {
    CellRecord {
        format: seatmap_cell::record::FORMAT.to_owned(),
        name: "quiet".parse().unwrap(),
        cpus: vec![2, 3],
        backend: CellBackend::Affinity,
        degraded: Vec::new(),
        noise_before: None,
        noise_after: None,
        state: CellState::Ready,
        group: None,
        irqs_left: Vec::new(),
        kernel_threads_left: 0,
        threads_left: 0,
        processes_left: Vec::new(),
        memory: None,
        expires_s: None,
    }
}

fn asks() -> Vec<RequestKind> {
    let name = || create().name;
    vec![
        RequestKind::Create(create()),
        RequestKind::Destroy { name: name() },
        RequestKind::Renew { name: name(), lease_s: 5 },
        RequestKind::List,
    ]
}

fn says() -> Vec<Say> {
    let name = || create().name;
    let listed =
        |phase, cell| Listed { name: name(), phase, uid: Some(7), cell, faults: vec!["x".into()] };
    let phases = [
        listed(CellPhase::Standing, Some(cell())),
        listed(CellPhase::Waiting, None),
        listed(CellPhase::Suspended, None),
    ];
    let kinds = [ErrorOrigin::Denied, ErrorOrigin::Request, ErrorOrigin::Busy, ErrorOrigin::Failed];
    let mut says = vec![
        Say::Waiting { before: 0, waiting: 1 },
        Say::Cell { cell: Box::new(cell()) },
        Say::Cells { cells: phases.into() },
        Say::Done { left: vec!["x".into()] },
        Say::Damaged { name: name(), faults: Vec::new() },
        Say::Suspended { name: name() },
        Say::Resumed { name: name() },
        Say::Ended { name: name() },
    ];
    says.extend(kinds.map(|kind| Say::error(kind, "no")));
    says
}

#[test]
fn requests_have_exactly_the_schema_keys() {
    for ask in asks() {
        let request = ControlRequest { format: request::FORMAT.to_owned(), id: 3, ask };
        let mut document = serde_json::to_value(&request).unwrap();
        assert!(is_valid(&document), "{document}");
        assert_eq!(ControlRequest::parse(document.to_string().as_bytes()), Ok(request));
        document["more"] = json!(1);
        assert!(!is_valid(&document));
    }
}

#[test]
fn answers_have_exactly_the_schema_keys() {
    for say in says() {
        let answer = ControlAnswer { id: 3, say };
        let mut document = serde_json::to_value(&answer).unwrap();
        assert!(is_valid(&document), "{document}");
        assert_eq!(serde_json::from_value::<ControlAnswer>(document.clone()).unwrap(), answer);
        document["more"] = json!(1);
        assert!(!is_valid(&document));
    }
}

#[test]
fn invalid_requests_report_id_and_reason() {
    let parse = |text: &str| ControlRequest::parse(text.as_bytes()).unwrap_err();
    assert_eq!(parse("{").0, 0);
    assert!(parse(r#"{"id":4,"do":"list"}"#).1.contains("seatmap-control/1"));
    assert_eq!(parse(r#"{"format":"seatmap-control/1","id":4,"do":"melt"}"#).0, 4);
    let named = |name: &str| {
        json!({"format": request::FORMAT, "id": 1, "do": "destroy", "name": name}).to_string()
    };
    assert!(parse(&named("../up")).1.contains("is not a cell name"));
    assert!(parse(r#"{"format":"seatmap-control/1","id":-1,"do":"list"}"#).0 == 0);
}

proptest::proptest! {
    #[test]
    fn parser_survives_any_bytes(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..300)) {
        let _ = ControlRequest::parse(&bytes);
    }

    #[test]
    fn parser_survives_any_line(rest in "[a-z0-9_\":,{}\\[\\] .-]{0,60}") {
        let _ = ControlRequest::parse(format!("{{\"format\":\"seatmap-control/1\",\"id\":1,\"do\":\"create\",{rest}}}").as_bytes());
    }
}
