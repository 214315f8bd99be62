//! `seatmap observe --method pages`: the threads that share memory are seen, and the program is not
//! changed.

use crate::common::Place;
use crate::observe::{messages, names};
use crate::trace;
use serde_json::Value;
use std::process::Command;

/// Seconds after which a program counts as hanging: each takes less than a second of CPU time.
const PATIENCE_S: &str = "60";

/// Has a program do its rounds while its pages are sampled, and expects it to find its memory
/// whole.
fn stays_whole(place: &Place, library: &str, way: &str, rounds: &str) {
    let program = ["timeout", "--kill-after=1", PATIENCE_S, "./moving", way, rounds];
    let observe = ["observe", "--method", "pages", "--library", library, "--"];
    let output = place.run(&[&observe[..], &program].concat());
    let said = String::from_utf8_lossy(&output.stderr);
    let printed = String::from_utf8_lossy(&output.stdout);
    assert_eq!((output.status.code(), &*printed), (Some(0), "whole\n"), "{way}: {said}");
}

#[test]
fn memory_stays_whole_in_every_way_it_can_change() {
    let Some((place, library)) = trace::sampled("moving") else { return };
    for (way, rounds) in [
        ("grow", "1"),
        ("calls", "100"),
        ("forks", "2"),
        ("wiped", "2"),
        ("sparse", "1"),
        ("given", "10"),
        ("robust", "3"),
    ] {
        stays_whole(&place, &library, way, rounds);
    }
}

/// A library that is found by its name alone would take the pages of its own variables, and wait
/// for itself.
#[test]
fn the_library_may_have_any_name() {
    let Some((place, library)) = trace::sampled("moving") else { return };
    std::fs::copy(library, place.path("other.so")).unwrap();
    stays_whole(&place, "other.so", "given", "5");
}

/// Samples the pages of a program that checks its own memory, and returns the words on stderr.
fn observed(place: &Place, library: &str, way: &str) -> String {
    let options = ["observe", "--method", "pages", "--library", library, "-o", "pattern.json"];
    let output = place.run(&[&options[..], &["--", "./pages", way]].concat());
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!((output.status.code(), &*output.stdout), (Some(0), &b"whole\n"[..]), "{said}");
    said
}

#[test]
fn threads_that_share_pages_are_seen_though_they_spin() {
    let Some((place, library)) = trace::sampled("pages") else { return };
    let said = observed(&place, &library, "pairs");
    assert!(
        said.contains("by pages (userfaultfd")
            && said.contains("cannot be seen by pages: memory of files"),
        "{said}"
    );
    let pattern: Value = serde_json::from_str(&place.read("pattern.json")).unwrap();
    assert_eq!(
        (&pattern["observation"]["methods"][0], names(&pattern)),
        (&"pages".into(), vec!["pages", "w0", "w1", "w2", "w3"])
    );
    let messages = messages(&pattern);
    let between = |pairs: &[(&str, &str)]| {
        let both = pairs.iter().flat_map(|(a, b)| [(a, b), (b, a)]);
        both.filter_map(|(a, b)| messages.get(&((*a).to_owned(), (*b).to_owned()))).sum::<f64>()
    };
    let partners = between(&[("w0", "w1"), ("w2", "w3")]);
    let others = between(&[("w0", "w2"), ("w0", "w3"), ("w1", "w2"), ("w1", "w3")]);
    assert!(partners > 100.0 && others < partners / 10.0, "{messages:?}");
}

#[test]
fn a_program_whose_main_thread_ends_first_ends_as_it_does_alone() {
    let Some((place, library)) = trace::sampled("pages") else { return };
    trace::compile(&place, "leaving");
    let program = place.path("leaving");
    for way in ["pthread", "exit"] {
        let alone = Command::new(&program).arg(way).output().unwrap();
        let observed = place.run(&[
            "observe",
            "--method",
            "pages",
            "--library",
            &library,
            "--",
            "./leaving",
            way,
        ]);
        let said = String::from_utf8_lossy(&observed.stderr).into_owned();
        assert_eq!(observed.status.code(), alone.status.code(), "{way}: {said}");
        let printed = String::from_utf8_lossy(&observed.stdout).into_owned();
        assert_eq!(printed.matches(" ends").count(), 2, "{printed}{said}");
    }
}

#[test]
fn memory_stays_whole_while_its_pages_are_sampled() {
    let Some((place, library)) = trace::sampled("pages") else { return };
    let said = observed(&place, &library, "change");
    assert!(said.contains("20 forks began processes that started no program"), "{said}");
}

#[test]
fn auto_samples_pages_where_threads_are_told_to_spin() {
    let Some((place, library)) = trace::sampled("pages") else { return };
    let observe = |policy: &str, more: &[&str]| {
        let words =
            [&["observe", "--library", &library], more, &["--", "./pages", "pairs"]].concat();
        let output = place.command(&words).env("OMP_WAIT_POLICY", policy).output().unwrap();
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    };
    let spins = observe("active", &[]);
    assert!(spins.contains("pages, as OMP_WAIT_POLICY=active makes threads spin"), "{spins}");
    assert!(
        !spins.contains("seatmap-pages") && spins.contains("and pages (eBPF and userfaultfd"),
        "{spins}"
    );
    let waits = observe("passive", &[]);
    assert!(waits.contains("--method pages sees it") && !waits.contains("userfaultfd"), "{waits}");
    let method = observe("active", &["--method", "wakeups"]);
    assert!(!method.contains("userfaultfd"), "{method}");
}

#[test]
fn pages_of_a_program_that_does_not_load_the_library_are_an_error() {
    let Some((place, library)) = trace::sampled("pages") else { return };
    let built = Command::new("gcc")
        .args(["-static", "-o"])
        .arg(place.path("static"))
        .arg(trace::source("pages.c"))
        .output();
    if !built.is_ok_and(|output| output.status.success()) {
        return seatmap_needs::skipped!("no static C library");
    }
    let output = place.run(&[
        "observe",
        "--method",
        "pages",
        "--library",
        &library,
        "--",
        "./static",
        "pairs",
    ]);
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(
        output.status.code() == Some(1) && said.contains("did not load libseatmap_trace.so"),
        "{said}"
    );
    let running = [
        "observe",
        "--method",
        "pages",
        "--library",
        &library,
        "-p",
        &std::process::id().to_string(),
    ];
    assert!(place.one_line_refusal(&running).contains("give the command after --"));
    let absent = ["observe", "--method", "pages", "--library", "absent.so", "--", "true"];
    assert!(place.one_line_refusal(&absent).contains("absent.so: there is no such file"));
}
