//! Compares the JSON Schema of accounts with real output, key by key in both directions.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_controller::account::UsageFile;
use seatmap_controller::usage::UserUsage;
use seatmap_data::document::schema::{never_written, refused};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!("../../../docs/papers/formats/seatmap-usage-1.schema.json"))
        .unwrap()
}

#[test]
fn accounts_have_exactly_the_schema_keys() {
    let usage = UserUsage::at(61_000, [(0, 0.25), (4_294_967_295, 1e11)].into());
    let document = serde_json::to_value(UsageFile::of(&usage, "a-boot")).unwrap();
    assert_eq!(refused(&schema(), &document), [""; 0]);
    assert_eq!(never_written(&schema(), std::slice::from_ref(&document)), [""; 0]);
    for (key, wrong) in [
        ("more", json!(1)),
        ("cpu_us", json!({"x": 1})),
        ("cpu_us", json!({"7": -1})),
        ("at_ms", json!(0.5)),
    ] {
        let mut wrong_one = document.clone();
        wrong_one[key] = wrong;
        assert!(!refused(&schema(), &wrong_one).is_empty(), "{wrong_one}");
    }
}
