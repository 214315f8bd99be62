//! `seatmap cluster measure` if ranks die, contradict each other or do not belong together.

use crate::common::{Json, Place, assert_contains, files, stderr};
use crate::common::{begun, rank};
use crate::control_group::Group;
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command};
use std::time::Duration;

const MEASURE: &str = "cluster measure --each-rank --trips 1ms";

/// Each pair takes two seconds, long enough to interfere with.
const LONG: &str = "cluster measure --each-rank --trips 500ms -o cluster.json";

pub fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), stderr(&output))
}

pub fn begun_in(group: &Group, rank: Command) -> Child {
    begun(group.joined_by(&rank))
}

pub fn sentence_of(place: &Place, words: &str) -> String {
    let doctor = place.stdout("cluster doctor cluster.json");
    assert!(doctor.contains(words), "nothing with {words}: {doctor}");
    doctor.lines().find(|line| line.contains(words)).unwrap().to_owned()
}

fn under_way(place: &Place) -> [Child; 3] {
    let ranks = [0, 1, 2].map(|at| begun(rank(place, at, 3, LONG)));
    wait_for_a_pair(place);
    ranks
}

fn wait_for_a_pair(place: &Place) {
    let has_begun = || {
        std::fs::read_to_string(place.path("cluster.json")).is_ok_and(|text| text.ends_with("\n"))
    };
    while !has_begun() {
        std::thread::sleep(Duration::from_millis(2));
    }
}

fn first_pair(place: &Place) -> Value {
    let cluster = place.read_json("cluster.json");
    cluster["pairs"]
        .elements()
        .iter()
        .find(|pair| pair["nodes"] == serde_json::json!([0, 1]))
        .unwrap()
        .clone()
}

/// Figures of a pair for which lower is better.
fn costs(pair: &Value) -> Vec<f64> {
    let numbers =
        |key: &str| pair[key].elements().iter().map(|one| one.number()).collect::<Vec<_>>();
    let trips = pair["trips"].elements().iter().map(|trip| trip["p90_ns"].number());
    trips
        .chain(numbers("gap_ns"))
        .chain(numbers("rate_mbps").into_iter().map(|rate| 1.0 / rate))
        .collect()
}

fn goes_on(place: &Place) {
    let known = first_pair(place);
    let typed = (MEASURE, "--resume cluster.json -o cluster.json");
    let ranks = [0, 1, 2].map(|at| begun(rank(place, at, 3, typed)));
    for (at, one) in ranks.into_iter().enumerate() {
        let (code, told) = ended(one);
        assert_eq!(code, Some(0), "rank {at}: {told}");
    }
    let cluster = place.read_json("cluster.json");
    assert_eq!(cluster["pairs"].elements().len(), 3);
    // The better figures of a repeated bad pair count; a new measurement would have some worse
    // ones.
    let then = costs(&known);
    let now = costs(&first_pair(place));
    assert!(then.iter().zip(&now).all(|(then, now)| now <= then), "{then:?} {now:?}");
}

#[test]
fn dead_rank_is_named_and_results_kept() {
    let place = Place::new();
    let [first, second, mut third] = under_way(&place);
    third.kill().unwrap();
    third.wait().unwrap();
    let (code, told) = ended(first);
    assert!(
        code == Some(1)
            && told.contains("1 node could not be measured; --resume measures the missing"),
        "{told}"
    );
    assert_eq!(ended(second).0, Some(0), "the other rank is told that it is over");
    let cluster = place.read_json("cluster.json");
    assert!(cluster["missing"][0]["nodes"][0].text().ends_with(":2"), "{}", cluster["missing"]);
    let doctor = place.stdout("cluster doctor cluster.json");
    assert_contains(&doctor, ":2 could not be measured: its connection broke");
    goes_on(&place);
}

/// The stopped process keeps its connections.
#[test]
fn stopped_rank_is_named_without_waiting_ranks() {
    let place = Place::new();
    let measure = "cluster measure --each-rank --trips 50ms --timeout 9s -o cluster.json";
    let [first, second, third, mut fourth] =
        [0, 1, 2, 3].map(|at| begun(rank(&place, at, 4, measure)));
    wait_for_a_pair(&place);
    let stopped = crate::common::kill().args(["-STOP", &fourth.id().to_string()]).status().unwrap();
    assert!(stopped.success());
    let (code, told) = ended(first);
    fourth.kill().unwrap();
    fourth.wait().unwrap();
    assert!(code == Some(1) && told.contains("1 node could not be measured"), "{told}");
    assert_eq!([second, third].map(|one| ended(one).0), [Some(0); 2]);
    let doctor = place.stdout("cluster doctor cluster.json");
    assert!(
        doctor.contains(":3 could not be measured: ") && doctor.matches("could not").count() == 1,
        "{doctor}"
    );
    assert_contains(&doctor, "cannot measure the path to it: no answer to");
    let cluster = place.read_json("cluster.json");
    assert_eq!(cluster["pairs"].elements().len(), 3, "those of the others are kept");
}

/// A launcher does the same if one rank fails.
#[test]
fn killed_job_resumes_with_its_results() {
    let place = Place::new();
    for mut one in under_way(&place) {
        one.kill().unwrap();
        one.wait().unwrap();
    }
    assert_eq!(files(&place), ["cluster.json"], "the meeting file went when all had come");
    goes_on(&place);
}

#[test]
fn duplicate_rank_number_ends_all_ranks() {
    let place = Place::new();
    let ranks = [0, 1, 1].map(|at| begun(rank(&place, at, 3, MEASURE)));
    let [first, second, third] = ranks.map(ended);
    assert!(
        first.0 == Some(1) && first.1.contains("two processes are rank 1: one on"),
        "{first:?}"
    );
    let told = [&second, &third].map(|(_, told)| told.as_str()).concat();
    assert!(second.0 != Some(0) && third.0 != Some(0), "{told}");
    let words = "cannot join rank 0: refused: another process is rank 1";
    assert!(told.contains(words) && !told.contains("within"), "{told}");
    assert_eq!(files(&place), Vec::<String>::new());
}

fn by_address(place: &Place) -> (String, Command) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let address = format!("127.0.0.1:{port}");
    let meeting = format!("--timeout 3s --meet {address}");
    let mut first = rank(place, 0, 2, (MEASURE, meeting));
    first.env("SEATMAP_SECRET", "the secret of rank zero");
    (address, first)
}

#[test]
fn wrong_secret_is_reported_on_both_sides() {
    let place = Place::new();
    let (address, first) = by_address(&place);
    let first = begun(first);
    let mut other = rank(&place, 1, 2, (MEASURE, format!("--timeout 3s --meet {address}")));
    other.env("SEATMAP_SECRET", "not the secret of rank zero");
    let (code, told) = ended(begun(other));
    assert!(
        code == Some(1) && told.contains("refused: wrong secret: this is not a rank of this job"),
        "{told}"
    );
    let (code, told) = ended(first);
    assert!(
        code == Some(1)
            && told.contains("these did not join within 3 s: 1; connection from 127.0.0.1: "),
        "{told}"
    );
    assert_contains(&told, "does not know the secret of this job");
}

fn message(line: &mut TcpStream) -> String {
    let mut length = [0; 4];
    line.read_exact(&mut length).unwrap();
    let mut text = vec![0; u32::from_be_bytes(length) as usize];
    line.read_exact(&mut text).unwrap();
    String::from_utf8(text).unwrap()
}

#[test]
fn version_mismatch_is_reported_on_both_sides() {
    let place = Place::new();
    let (address, first) = by_address(&place);
    let first = begun(first);
    let mut line = loop {
        match TcpStream::connect(&address) {
            Ok(line) => break line,
            Err(_) => std::thread::sleep(Duration::from_millis(5)),
        }
    };
    assert!(message(&mut line).contains(concat!("of seatmap ", env!("CARGO_PKG_VERSION"))));
    let claim =
        r#"{"protocol":"seatmap-cluster-wire/4 of seatmap 0.0.1","nonce":"","said":"","proof":""}"#;
    line.write_all(&(claim.len() as u32).to_be_bytes()).unwrap();
    line.write_all(claim.as_bytes()).unwrap();
    let told = message(&mut line);
    assert!(told.contains(r#""protocol":"seatmap-cluster-wire/4 of seatmap "#), "{told}");
    let (code, told) = ended(first);
    let words = "the other rank uses seatmap-cluster-wire/4 of seatmap 0.0.1";
    assert!(
        code == Some(1) && told.contains(words) && told.contains("use one version on all nodes"),
        "{told}"
    );
}

#[test]
fn result_of_other_nodes_is_refused() {
    let place = Place::new();
    let node = serde_json::json!({ "name": "elsewhere", "rank": 0, "address": "10.0.0.1" });
    place.file(
        "other.json",
        serde_json::json!({ "format": "seatmap-cluster/1", "nodes": [node], "pairs": [] })
            .to_string(),
    );
    let typed = (MEASURE, "--resume other.json");
    let [first, other] = [0, 1].map(|at| begun(rank(&place, at, 2, typed)));
    let (code, told) = ended(first);
    let words = "the earlier result has other nodes: elsewhere is not a node of this job";
    assert!(code == Some(2) && told.contains(words), "{told}");
    assert_ne!(ended(other).0, Some(0));
}
