//! Programs with a known pattern, and named lines.

use crate::built::{Program, there_is};
use seatmap_observe::{Sighting, tsan};
use std::collections::HashMap;

const PATTERNS: [&str; 5] = ["ring", "stencil", "tree", "pipeline", "workers"];

/// The correlation that every program must reach.
const BAR: f64 = 0.95;

fn numbers<'a>(printed: &'a str, word: &'a str) -> impl Iterator<Item = Vec<i64>> + 'a {
    let lines = printed.lines().filter_map(move |line| line.strip_prefix(word));
    lines.map(|line| line.split_whitespace().map(|number| number.parse().unwrap()).collect())
}

/// Printed and observed, by task.
fn matrices(printed: &str, sharing: &Sighting) -> (Vec<f64>, Vec<f64>) {
    let tasks = &sharing.observation.tasks;
    let size = tasks.len();
    let places: HashMap<i64, usize> =
        tasks.iter().enumerate().map(|(at, task)| (i64::from(task.tid), at)).collect();
    let of: HashMap<i64, usize> =
        numbers(printed, "thread ").map(|line| (line[0], places[&line[1]])).collect();
    let mut truth = vec![0.0; size * size];
    let mut seen = vec![0.0; size * size];
    for line in numbers(printed, "edge ") {
        truth[of[&line[0]] * size + of[&line[1]]] += line[2] as f64;
    }
    for edge in &sharing.observation.windows[0].edges {
        seen[edge.from * size + edge.to] += edge.messages;
    }
    (truth, seen)
}

fn correlation(a: &[f64], b: &[f64]) -> f64 {
    let mean = |values: &[f64]| values.iter().sum::<f64>() / values.len() as f64;
    let mean_a = mean(a);
    let mean_b = mean(b);
    let product = |a: &[f64], mean_a: f64, b: &[f64], mean_b: f64| {
        a.iter().zip(b).map(|(a, b)| (a - mean_a) * (b - mean_b)).sum::<f64>()
    };
    product(a, mean_a, b, mean_b)
        / (product(a, mean_a, a, mean_a) * product(b, mean_b, b, mean_b)).sqrt()
}

fn assert_seen(program: &Program, pattern: &str, threads: &str, rounds: &str) {
    let _ = std::fs::remove_dir_all(program.traces());
    std::fs::create_dir(program.traces()).unwrap();
    let printed = program.run(&[pattern, threads, rounds]);
    let sharing = tsan::read(&program.traces()).unwrap();
    let (truth, seen) = matrices(&printed, &sharing);
    let found = correlation(&truth, &seen);
    println!("{pattern}, {threads} threads: correlation {found:.4}");
    assert!(found >= BAR, "{pattern} of {threads}: {found}\ntrue {truth:?}\nseen {seen:?}");
    // A spinning thread receives a line once for each write.
    let known = truth.iter().zip(&seen).filter(|(truth, _)| **truth > 0.0);
    known.for_each(|(truth, seen)| {
        assert!((0.9..1.1).contains(&(seen / truth)), "{pattern}: {seen} of {truth}")
    });
}

#[test]
fn spinning_pthreads_are_seen() {
    if !there_is("gcc") {
        return;
    }
    let program = Program::shared("gcc", &[], "patterns.c");
    PATTERNS.iter().for_each(|pattern| assert_seen(&program, pattern, "8", "200"));
    ["ring", "stencil"].iter().for_each(|pattern| assert_seen(&program, pattern, "64", "30"));
    let program = Program::fixed("gcc", &[], "patterns.c");
    assert_seen(&program, "tree", "16", "50");
}

#[test]
fn spinning_threads_of_cpp_are_seen() {
    if there_is("g++") {
        let program = Program::shared("g++", &["-x", "c++", "-std=c++11"], "patterns.c");
        PATTERNS.iter().for_each(|pattern| assert_seen(&program, pattern, "8", "100"));
    }
}

#[test]
fn spinning_openmp_threads_are_seen() {
    if there_is("gcc") {
        let program = Program::shared("gcc", &["-fopenmp"], "patterns.c");
        PATTERNS.iter().for_each(|pattern| assert_seen(&program, pattern, "8", "100"));
    }
}

#[test]
fn clang_programs_are_seen() {
    if there_is("clang") {
        let program = Program::shared("clang", &[], "patterns.c");
        PATTERNS.iter().for_each(|pattern| assert_seen(&program, pattern, "8", "100"));
    }
}

#[test]
fn false_sharing_is_reported_with_variable() {
    if !there_is("gcc") {
        return;
    }
    let program = Program::shared("gcc", &[], "sharing.c");
    assert_eq!(program.run(&[]), "200\n");
    let sharing = tsan::read(&program.traces()).unwrap();
    let line = sharing.lines.iter().find(|line| line.written.starts_with("counters+")).unwrap();
    assert!(line.is_false_sharing() && line.falsely >= 190 && line.truly < 10, "{line:?}");
    let mut places = [line.written.as_str(), line.accessed.as_str()];
    places.sort_unstable();
    assert_eq!(places, ["counters+0", "counters+8"]);
    let letter = sharing.lines.iter().find(|line| line.written == "letter+0").unwrap();
    assert!(!letter.is_false_sharing() && letter.truly == 100, "{letter:?}");
    assert_eq!((letter.from, letter.to), (0, 1));
}
