//! Compares the JSON Schema in `docs/formats/` with written documents, key by key in both
//! directions.
#![expect(clippy::unwrap_used, reason = "a helper that finds its input broken fails the test")]

use seatmap_data::document::schema::{never_written, refused};
use seatmap_experiments::rank::ranking::FORMAT;
use seatmap_experiments::rank::{MappingChoice, MappingTimes, Ranking, Setup, Shard, Variant};
use serde_json::{Value, json};

fn schema() -> Value {
    serde_json::from_str(include_str!(
        "../../../../docs/papers/formats/seatmap-mappings-1.schema.json"
    ))
    .unwrap()
}

fn full(runs: u32) -> Ranking {
    let setup = Setup {
        machine: "desk".into(),
        machine_hash: "00".into(),
        pus: vec![0, 1, 2, 3, 4],
        pattern: "ring:5".into(),
        tasks: 5,
        is_unidirectional: false,
        messages: vec![[0, 1, 0]],
        packet_bytes: 512,
        rounds: 10,
        entry_bytes: 8,
        poll_cycles: 100,
        runs,
        variant: Variant::Default,
        seed: 3,
        choice: MappingChoice { sample: Some(20), is_reduced_by_symmetry: false },
        is_shuffled: true,
    };
    let shard = Some(Shard { number: 1, of: 2 });
    let mut times = MappingTimes::new(setup.indices(shard).unwrap(), runs);
    for job in times.missing() {
        times.set(job, 100.0 + (job.index * 7 % 11) as f64 + f64::from(job.run));
    }
    Ranking::new(setup, shard, &times).unwrap()
}

#[test]
fn rankings_have_exactly_the_schema_keys() {
    let written = [3, 1].map(|runs| serde_json::to_value(full(runs)).unwrap());
    for ranking in &written {
        assert_eq!(refused(&schema(), ranking), Vec::<String>::new());
    }
    assert_eq!(never_written(&schema(), &written[..1]), Vec::<String>::new());
}

#[test]
fn schema_and_reader_refuse_the_same() {
    let both = |change: &dyn Fn(&mut Value)| {
        let mut ranking = serde_json::to_value(full(3)).unwrap();
        change(&mut ranking);
        let read = Ranking::from_json(&ranking.to_string()).is_ok();
        assert_eq!(jsonschema::is_valid(&schema(), &ranking), read, "{ranking}");
        read
    };
    assert!(both(&|it| it["colour"] = json!("red")), "unknown keys are ignored");
    assert!(both(&|it| it["best"] = json!("[01234]")), "figures are computed again");
    assert!(!both(&|it| it["format"] = json!(FORMAT.replace('1', "2"))));
    assert!(!both(&|it| it["runs"] = json!(0)));
    assert!(!both(&|it| it["packet_bytes"] = json!(24)));
    assert!(!both(&|it| it["variant"] = json!("loose")));
    assert!(!both(&|it| it["ranking"] = json!([])));
    assert!(!both(&|it| it["ranking"][0]["runs_ns"][1] = json!(-1)));
    assert!(!both(&|it| it["ranking"][0]["runs_ns"] = json!([])));
}
