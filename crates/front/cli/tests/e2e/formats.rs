//! Every printed document names its format, is one line, and has a schema with all its keys.

use crate::common::{Arguments, Json, Place, files};
use seatmap_data::document::schema::{never_written, refused};
use serde_json::Value;
use std::path::Path;

const NOTHING: Vec<String> = Vec::new();

fn schema(format: &str) -> Value {
    let name = format!("{}.schema.json", format.replace('/', "-"));
    let path = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/formats")).join(name);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

fn document(place: &Place, arguments: impl Arguments) -> Value {
    let text = place.stdout(&arguments);
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{arguments:?} prints one line");
    assert!(!text.contains("\":\x20"), "{arguments:?} prints no space behind a key");
    let document: Value = serde_json::from_str(&text).unwrap();
    let schema = schema(document["format"].text());
    assert_eq!(refused(&schema, &document), NOTHING, "{arguments:?}");
    document
}

#[test]
fn documents_name_format_and_machine() {
    let place = Place::new();
    place.file("x.csv", ",,\n30,,\n60,61,\n");
    for (arguments, format, machine) in [
        ("show graviton3 --json", "seatmap-show/1", "graviton3"),
        ("model fit x.csv --json", "seatmap-fit/1", "x"),
        ("place --on x.csv --pattern ring:3 --json", "seatmap-plan/1", "x"),
    ] {
        let document = document(&place, arguments);
        assert_eq!(
            (&document["format"], &document["machine"]),
            (&format.into(), &machine.into()),
            "{arguments:?}"
        );
    }
    assert_eq!(files(&place), ["x.csv"], "a fit without -o writes nothing");
    assert!(
        place.refusal("model fit x.csv").contains("--output"),
        "and without --json it would say nothing"
    );
}

#[test]
fn profiles_and_patterns_have_a_name() {
    let place = Place::new();
    for arguments in ["measure --on graviton3 --cpus 0,1 --json", "pattern show ring:3 --json"] {
        assert!(document(&place, arguments)["name"].is_string(), "{arguments:?}");
    }
}

#[test]
fn host_documents_name_the_host() {
    let place = Place::new();
    let name = document(&place, "doctor --json")["machine"].clone();
    assert_eq!(document(&place, "noise --seconds 0.1 --json")["machine"], name);
    assert_eq!(document(&place, "show --json")["machine"], name);
}

#[test]
fn schemas_list_exactly_the_printed_keys() {
    let place = Place::new();
    for (format, arguments) in [
        ("seatmap-show/1", "show epyc-7r13-2s --json"),
        ("seatmap-machines/1", "machines --json"),
        ("seatmap-doctor/1", "doctor --json"),
    ] {
        let document = document(&place, arguments);
        assert_eq!(document["format"], format);
        let missing = never_written(&schema(format), std::slice::from_ref(&document));
        // Machines from files lack isolated CPUs. This one also lacks speeds and most findings.
        let of_others = ["/speed", "/isolated", "/nohz_full", "/findings/0/finding"];
        let is_of_others = |path: &String| {
            format == "seatmap-show/1" && of_others.iter().any(|other| path.starts_with(other))
        };
        let missing: Vec<String> = missing.into_iter().filter(|path| !is_of_others(path)).collect();
        assert_eq!(missing, NOTHING, "{format}");
        let mut later = document.clone();
        later["format"] = format.replace("/1", "/2").into();
        assert_eq!(refused(&schema(format), &later).len(), 1, "{format}");
    }
}

#[test]
fn cell_list_follows_schema() {
    let place = Place::new();
    let output =
        place.command("cell list --json").env("SEATMAP_RUN", place.path("run")).output().unwrap();
    let document: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(refused(&schema("seatmap-cells/1"), &document), NOTHING);
}
