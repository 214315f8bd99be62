//! Every document printed by the papers' verbs names its format, is one line, and has a schema with
//! each of its keys.

use crate::common::{Arguments, Json, Place, two_cpus};
use schemars::JsonSchema;
use seatmap_console::output::OfMachine;
use seatmap_controller::account::{self, UsageFile};
use seatmap_controller::{ControlAnswer, ControlRequest, JobList, answer, request};
use seatmap_data::document::schema::{check_in, of, refused};
use seatmap_experiments::{cellule, channels, rank};
use serde_json::Value;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::Stdio;

/// Programs over channels on default seats and near the homes of their lines.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only the type is of interest")]
struct Channels(OfMachine<'static, channels::ChannelsResult>);

/// A line between a client and the controller of cells, over a Unix socket.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "only the type is of interest")]
enum ControlLine {
    /// A line from a client.
    Request(ControlRequest),
    /// A line from the controller.
    Answer(ControlAnswer),
}

#[test]
fn schemas_match_types() {
    let schemas = [
        of::<rank::Ranking>(rank::ranking::FORMAT),
        of::<cellule::WorkersDocument>(cellule::document::FORMAT),
        of::<Channels>(channels::experiment::FORMAT),
        of::<ControlLine>(request::FORMAT),
        of::<JobList<'static>>(answer::LIST_FORMAT),
        of::<UsageFile>(account::FORMAT),
    ];
    let folder = Path::new(crate::REPOSITORY).join("docs/papers/formats");
    assert_eq!(check_in(&folder, &schemas), [""; 0]);
}

fn schema(format: &str) -> Value {
    let name = format!("{}.schema.json", format.replace('/', "-"));
    let path = Path::new(crate::REPOSITORY).join("docs/papers/formats").join(name);
    serde_json::from_str(&std::fs::read_to_string(&path).unwrap()).unwrap()
}

/// Checks the document that a command prints against its schema.
fn document(place: &Place, arguments: impl Arguments) -> Value {
    let text = place.stdout(&arguments);
    assert!(text.ends_with("}\n") && text.lines().count() == 1, "{arguments:?} prints one line");
    assert!(!text.contains("\":\x20"), "{arguments:?} prints no space behind a key");
    let document: Value = serde_json::from_str(&text).unwrap();
    let schema = schema(document["format"].text());
    assert_eq!(refused(&schema, &document), Vec::<String>::new(), "{arguments:?}");
    document
}

#[test]
fn documents_name_format_and_machine() {
    let place = Place::new();
    for (arguments, format, machine) in [
        ("channels curve --on xeon-phi-5110p --json", "seatmap-channels/1", "xeon-phi-5110p"),
        ("rank --on cell-ps3 --pattern ring:3 --json", "seatmap-mappings/1", "cell-ps3"),
    ] {
        let document = document(&place, arguments);
        assert_eq!(
            (&document["format"], &document["machine"]),
            (&format.into(), &machine.into()),
            "{arguments:?}"
        );
    }
}

#[test]
fn host_documents_name_the_host() {
    let Some(cpus) = two_cpus() else { return };
    let document = document(&Place::new(), format!("workers --cpus {cpus} --turns 1 --json"));
    assert_eq!(document["machine"], seatmap_os::state::host_name());
}

#[test]
fn controller_list_follows_schema() {
    let place = Place::new();
    let mut command = place.command("controller serve --socket socket");
    let mut child =
        command.env("SEATMAP_RUN", place.path("run")).stdout(Stdio::piped()).spawn().unwrap();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut String::new()).unwrap();
    let listed = document(&place, "controller list --socket socket --json");
    child.kill().unwrap();
    child.wait().unwrap();
    assert_eq!(listed["cells"].as_array().map(Vec::len), Some(0));
}
