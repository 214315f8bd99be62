//! `--metrics`: as a file for node_exporter, and as a server.

use super::{bind_all, threads};
use crate::REPOSITORY;
use crate::common::{Guarded, Place, assert_contains, stderr, stdout};
use crate::hostile::assert_output_is_harmless;
use crate::run::programs::two_cpus;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Command, Stdio};

/// Runs Prometheus' own checker. `false` if it is not installed.
fn promtool(words: &[&str], input: &str) -> bool {
    let mut command = Command::new("promtool");
    command.args(words).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let Ok(mut child) = command.spawn() else {
        seatmap_needs::skipped!("promtool is not installed (Debian: prometheus)");
        return false;
    };
    child.stdin.take().unwrap().write_all(input.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let said = stdout(&output) + &stderr(&output);
    assert!(output.status.success(), "{said}\n{input}");
    true
}

#[test]
fn metrics_file_contains_findings() {
    let Some(program) = threads(2, "sleep") else { return };
    let [cpu, _] = two_cpus();
    bind_all(program.pid(), &[cpu]);
    let place = Place::new();
    let pid = program.pid().to_string();
    let rule = ["check", "-q", "--pid", &pid, "--rule", "one-per-cpu"];
    let output = place.run((rule, "--metrics seatmap.prom"));
    assert_eq!(output.status.code(), Some(1), "{output:?}");
    let text = place.read("seatmap.prom");
    assert_contains(&text, "rule=\"one-per-cpu\",gravity=\"wrong\"} 1\n");
    assert!(text.contains("seatmap_check_failed 1\n") && text.ends_with("# EOF\n"), "{text}");
    promtool(&["check", "metrics"], &text);
    let output = place.run(format!("check --pid {pid} --metrics -"));
    let text = stdout(&output);
    assert!(text.starts_with("# TYPE seatmap_check_threads gauge\n"), "{text}");
}

#[test]
fn unit_is_compared_with_baseline() {
    let Some(program) = threads(2, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid().to_string();
    std::fs::create_dir(place.path("good")).unwrap();
    let check = &format!("check --pid {pid} --seconds 100ms");
    let none = place.run((check, "--baseline good"));
    let said = stderr(&none);
    assert!(none.status.code() == Some(2) && said.contains("has no .json file"), "{said}");
    place.run((check, "-q -o good/own.json"));
    let good = place.read("good/own.json");
    let mut document: serde_json::Value = serde_json::from_str(&good).unwrap();
    let Some(group) = document["processes"][0]["group"]["path"].as_str().map(str::to_owned) else {
        return seatmap_needs::skipped!("no control groups are mounted here");
    };
    let metrics = (check, "--baseline good --metrics -");
    let well = place.run(metrics);
    let text = stdout(&well);
    assert!(text.contains("state=\"as-it-was\"} 1\n"), "{group}: {text}");
    promtool(&["check", "metrics"], &text);

    let [cpu, _] = two_cpus();
    bind_all(program.pid(), &[cpu]);
    let moved = place.run(metrics);
    let text = stdout(&moved);
    assert_eq!(moved.status.code(), Some(1), "{text}");
    assert_contains(&text, "state=\"differs\"} 1\n");
    assert_contains(&text, "rule=\"baseline\",gravity=\"wrong\"} 1\n");
    let page = place.run((check, "--baseline good"));
    let page = stdout(&page);
    assert_contains(&page, "differs from its good state: 3 of its 3 threads");

    document["processes"][0]["group"]["path"] = "/elsewhere.service".into();
    place.file("good/own.json", document.to_string());
    let text = String::from_utf8(place.run(metrics).stdout).unwrap();
    assert_contains(&text, "state=\"unknown\"} 1\n");
    assert_contains(&text, "rule=\"baseline\",gravity=\"unseen\"} 1\n");
    assert!(!text.contains("state=\"gone\""), "the other one was not looked for: {text}");
    let strict = place.run((metrics, "--strict"));
    assert_eq!(strict.status.code(), Some(1));
}

#[test]
fn every_request_runs_a_new_check() {
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid().to_string();
    let words = ["check", "--pid", &pid, "--seconds", "50ms", "--metrics", "127.0.0.1:0"];
    let mut server = place.command(words).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    BufReader::new(server.stderr.take().unwrap()).read_line(&mut said).unwrap();
    let address = said.split("http://").nth(1).and_then(|rest| rest.split('/').next()).unwrap();
    let ask = || {
        let mut client = TcpStream::connect(address).unwrap();
        client.write_all(b"GET /metrics HTTP/1.1\r\nHost: here\r\n\r\n").unwrap();
        let mut answer = String::new();
        client.read_to_string(&mut answer).unwrap();
        answer
    };
    let well = ask();
    assert!(well.starts_with("HTTP/1.1 200 OK\r\n"), "{well}");
    assert_contains(&well, "seatmap_check_programs 1\n");
    let [cpu, _] = two_cpus();
    bind_all(program.pid(), &[cpu]);
    assert!(ask().contains("seatmap_check_threads{"));
    drop(program);
    let gone = ask();
    assert!(gone.starts_with("HTTP/1.1 503 "), "{gone}");
    // SAFETY: the child has not been waited for.
    assert_eq!(unsafe { libc::kill(server.id() as i32, libc::SIGINT) }, 0);
    server.wait().unwrap();
}

/// Other users choose program names, and metrics may go to a terminal.
#[test]
fn program_names_are_escaped() {
    let place = Place::new();
    let name = "\u{1b}[2J\u{9b}1m\u{202e}\"\\x";
    std::fs::copy("/bin/sleep", place.path(name)).unwrap();
    let mut sleep = Command::new(place.path(name));
    let program = Guarded(sleep.arg("1000").spawn().unwrap());
    let pid = program.id().to_string();
    let words = ["check", "--pid", &pid, "--seconds", "50ms", "--metrics", "-"];
    let output = place.run(words);
    assert_output_is_harmless(&output, "metrics");
    let text = stdout(&output);
    assert!(text.contains(r#"program="\\u{1b}[2J"#), "{text}");
}

#[test]
fn alerts_and_dashboard_use_existing_metrics() {
    let folder = format!("{REPOSITORY}/packaging/monitoring");
    let rules = std::fs::read_to_string(format!("{folder}/alerts.yml")).unwrap();
    let board = std::fs::read_to_string(format!("{folder}/dashboard.json")).unwrap();
    let board: serde_json::Value = serde_json::from_str(&board).unwrap();
    let place = Place::new();
    let output = place.run("check --all --seconds 50ms --metrics -");
    let text = stdout(&output);
    let named = format!("{rules}{board}");
    let mut count = 0;
    for part in named.split("seatmap_check_").skip(1) {
        let is_name = |letter: char| letter.is_ascii_lowercase() || letter == '_';
        let end = part.find(|letter| !is_name(letter)).unwrap_or(part.len());
        assert!(text.contains(&format!("# TYPE seatmap_check_{} ", &part[..end])), "{part}");
        count += 1;
    }
    assert!(count > 8, "{count}");
    promtool(&["check", "rules", &format!("{folder}/alerts.yml")], "");
}
