//! Tests of the repository's style. Each lists the offending lines.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

#[path = "style/dialect.rs"]
mod dialect;
#[path = "style/fuzz.rs"]
mod fuzz;
#[path = "style/guide.rs"]
mod guide;
#[path = "style/language.rs"]
mod language;
#[path = "style/maps.rs"]
mod maps;
#[path = "style/numbers.rs"]
mod numbers;
#[path = "style/packing.rs"]
mod packing;
#[path = "style/pages.rs"]
mod pages;
#[path = "style/recipes.rs"]
mod recipes;
#[path = "style/size.rs"]
mod size;
#[path = "style/workflows.rs"]
mod workflows;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const LONGEST_FILE: usize = 800;
/// Marks a longer file: a state machine is easier to read in one file. The rest of the line names
/// it.
const ONE_MACHINE: &str = "//! One state machine: ";
const LONGEST_MACHINE: usize = 1400;
/// This is far above most functions, so packing lines gains nothing.
const LONGEST_FUNCTION: usize = 120;
const SAFETY_WITHIN: usize = 4;

/// The floors, from the top: folders below `crates/`. A crate depends only on crates of its own
/// floor and of lower ones.
const FLOORS: [&str; 8] =
    ["front", "measure", "place", "run", "cell", "machines", "ground", "tests"];

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../..")).canonicalize().unwrap()
}

/// Finds all files below a folder, except built and downloaded ones.
fn below(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        if !path.is_dir() {
            found.push(path)
        } else if ["target", ".git", "corpus", "artifacts", "runs"].contains(&name.as_str()) {
        } else {
            below(&path, found)
        }
    }
}

/// The paths within the repository and the texts of files with these endings.
fn texts(endings: &[&str]) -> Vec<(String, String)> {
    let root = root();
    let mut files = Vec::new();
    below(&root, &mut files);
    files.sort();
    let name = |path: &Path| path.strip_prefix(&root).unwrap().to_str().unwrap().to_owned();
    files
        .iter()
        .filter(|path| endings.iter().any(|ending| path.to_str().unwrap().ends_with(ending)))
        .map(|path| (name(path), std::fs::read_to_string(path).unwrap()))
        .collect()
}

fn rust() -> Vec<(String, String)> {
    texts(&[".rs"])
}

/// Whether a file contains tests, which may be longer: cutting makes them harder to read.
fn is_test(name: &str) -> bool {
    name.contains("/tests/") || name.ends_with("/tests.rs") || name.starts_with("fuzz/")
}

fn assert_none(what: &str, offenders: &[String]) {
    assert!(offenders.is_empty(), "{what}:\n  {}", offenders.join("\n  "));
}

fn lines_that(texts: &[(String, String)], offends: impl Fn(&[&str], usize) -> bool) -> Vec<String> {
    let of_file = |(name, text): &(String, String)| {
        let lines: Vec<&str> = text.lines().collect();
        let bad = (0..lines.len()).filter(|at| offends(&lines, *at));
        bad.map(|at| format!("{name}:{}: {}", at + 1, lines[at].trim())).collect::<Vec<_>>()
    };
    texts.iter().flat_map(of_file).collect()
}

/// The style tests contain the words that they forbid.
fn is_style(name: &str) -> bool {
    name.starts_with("crates/front/cli/tests/style")
}

fn others() -> Vec<(String, String)> {
    rust().into_iter().filter(|(name, _)| !is_style(name)).collect()
}

fn longest(text: &str) -> usize {
    let head = text.lines().take_while(|line| line.starts_with("//!"));
    if head.into_iter().any(|line| line.starts_with(ONE_MACHINE)) {
        LONGEST_MACHINE
    } else {
        LONGEST_FILE
    }
}

#[test]
fn state_machine_file_may_be_longer() {
    assert_eq!(
        longest("//! A tracer.\n//!\n//! One state machine: a thread's stops.\n"),
        LONGEST_MACHINE
    );
    assert_eq!(longest("//! A tracer.\n\n//! One state machine: too late.\n"), LONGEST_FILE);
}

#[test]
fn files_are_short() {
    let long = |(name, text): &(String, String)| {
        let lines = text.lines().count();
        (!is_test(name) && lines > longest(text)).then(|| format!("{name}: {lines} lines"))
    };
    assert_none("too long", &rust().iter().filter_map(long).collect::<Vec<_>>());
}

/// The length of a function. In formatted code its closing brace has the indentation of its first
/// line.
fn function_length(lines: &[&str], at: usize) -> usize {
    let line = lines[at];
    let starts =
        ["fn ", "pub fn ", "pub(crate) fn ", "pub(super) fn ", "unsafe fn ", "pub const fn "];
    let indentation = line.len() - line.trim_start().len();
    if !starts.iter().any(|start| line.trim_start().starts_with(start))
        || line.trim_end().ends_with([';', '}'])
    {
        return 0;
    }
    let end = format!("{}}}", " ".repeat(indentation));
    lines[at..].iter().position(|line| *line == end).map_or(0, |length| length + 1)
}

#[test]
fn functions_are_short() {
    let long = lines_that(&rust(), |lines, at| function_length(lines, at) > LONGEST_FUNCTION);
    assert_none("more than one thought", &long);
}

#[test]
fn every_unsafe_states_its_reason() {
    let bare = |lines: &[&str], at: usize| {
        let line = lines[at].trim_start();
        let is_unsafe =
            !line.starts_with("//") && (line.contains("unsafe {") || line.contains("unsafe impl"));
        let reasons = &lines[at.saturating_sub(SAFETY_WITHIN)..=at];
        is_unsafe && !reasons.iter().any(|line| line.contains("SAFETY:"))
    };
    assert_none("unsafe without SAFETY", &lines_that(&others(), bare));
}

#[test]
fn no_unfinished_code_or_unexplained_allow() {
    let words = ["todo!(", "unimplemented!(", "#[ignore", "FIXME", "XXX"];
    let unfinished =
        lines_that(&others(), |lines, at| words.iter().any(|word| lines[at].contains(word)));
    assert_none("unfinished", &unfinished);
    let silenced = |lines: &[&str], at: usize| {
        let lint = ["[allow(", "[expect("].iter().any(|start| lines[at].contains(start));
        lint && !lines[at..(at + 4).min(lines.len())].iter().any(|line| line.contains("reason = "))
    };
    assert_none("silenced without a reason", &lines_that(&others(), silenced));
}

/// The test harness hides the output of passing tests, and skipped tests pass.
#[test]
fn skipped_tests_print_past_the_harness() {
    let hidden = |lines: &[&str], at: usize| lines[at].contains("eprintln!(\"skipped");
    assert_none(
        "hidden by the harness; seatmap_needs::skipped! is not",
        &lines_that(&others(), hidden),
    );
}

/// These panic if stdout is closed, as with `2>&1 | head`, and would lose minutes of measurement.
/// `output::tell` and `output::print` do not.
const PRINTS: [&str; 4] = ["println!(", "eprintln!(", "print!(", "eprint!("];

#[test]
fn product_uses_no_panicking_print() {
    let product: Vec<(String, String)> = others()
        .into_iter()
        .filter(|(name, _)| name.starts_with("crates/") && name.contains("/src/") && !is_test(name))
        .map(|(name, text)| {
            let product = text.split("#[cfg(test)]\nmod tests {").next().unwrap_or_default();
            (name, product.to_owned())
        })
        .collect();
    let printed = lines_that(&product, |lines, at| {
        PRINTS.iter().any(|print| lines[at].trim_start().starts_with(print))
    });
    assert_none("these panic where nobody reads", &printed);
}

#[test]
fn no_path_of_a_developers_machine() {
    let texts: Vec<_> =
        texts(&[".rs", ".md", ".toml", ".json", "Makefile", "/run", ".svg", ".snap"]);
    let homes = ["/home/", "/root/", "/Users/", "/work/"];
    let texts: Vec<_> = texts.into_iter().filter(|(name, _)| !is_style(name)).collect();
    assert_none(
        "a path of some machine",
        &lines_that(&texts, |lines, at| homes.iter().any(|home| lines[at].contains(home))),
    );
}

/// Only `SEATMAP_DATA` names the folder of published measurements, which a clone lacks. One CI
/// script looks for it.
#[test]
fn no_path_next_to_the_repository() {
    let mut files = Vec::new();
    below(&root(), &mut files);
    let mut texts = Vec::new();
    for path in files {
        let name = path.strip_prefix(root()).unwrap().to_str().unwrap().to_owned();
        let bytes = std::fs::read(&path).unwrap_or_default();
        if !is_style(&name) && name != ".ci/run" {
            texts.push((name, String::from_utf8_lossy(&bytes).into_owned()));
        }
    }
    assert!(texts.iter().any(|(name, _)| name == "Makefile"));
    assert_none(
        "a folder that a clone lacks; SEATMAP_DATA names it",
        &lines_that(&texts, |lines, at| lines[at].contains("shared/data")),
    );
}

#[test]
fn every_library_has_a_map_and_public_docs() {
    let poor = |(name, text): &(String, String)| {
        let map = text.lines().take_while(|line| line.starts_with("//!")).count();
        let poor = map < 5 || !text.contains("#![deny(missing_docs)]");
        (name.ends_with("src/lib.rs") && poor).then(|| format!("{name}: {map} lines of map"))
    };
    assert_none(
        "no map, or missing_docs not denied",
        &rust().iter().filter_map(poor).collect::<Vec<_>>(),
    );
    let silent = |(name, text): &(String, String)| (!text.starts_with("//!")).then(|| name.clone());
    let fuzz = |name: &String| name.starts_with("fuzz/");
    let silent: Vec<String> = rust().iter().filter_map(silent).filter(|name| !fuzz(name)).collect();
    assert_none("files that do not say what they are", &silent);
}

fn floors() -> BTreeMap<String, usize> {
    let of = |(name, _): &(String, String)| {
        let mut parts = name.strip_prefix("crates/")?.strip_suffix("/Cargo.toml")?.split('/');
        let folder = parts.next()?;
        let own = parts.next()?;
        let floor = FLOORS.iter().position(|floor| *floor == folder);
        assert!(floor.is_some(), "'{folder}' is not one of the floors {FLOORS:?}");
        Some((own.to_owned(), floor?))
    };
    texts(&["Cargo.toml"]).iter().filter_map(of).collect()
}

fn dependencies(manifest: &str) -> Vec<&str> {
    let ordinary = manifest
        .split("\n[")
        .find(|section| section.starts_with("dependencies]"))
        .unwrap_or_default();
    ordinary
        .lines()
        .filter_map(|line| line.strip_prefix("seatmap-")?.split(['.', ' ', '=']).next())
        .collect()
}

#[test]
fn dependencies_point_downwards() {
    let floors = floors();
    assert!(
        floors.len() > 20
            && FLOORS.iter().enumerate().all(|(at, _)| floors.values().any(|floor| *floor == at))
    );
    let mut upward = Vec::new();
    for (name, text) in texts(&["Cargo.toml"]) {
        let Some(own) =
            name.strip_prefix("crates/").and_then(|name| name.strip_suffix("/Cargo.toml"))
        else {
            continue;
        };
        let crate_name = own.rsplit('/').next().unwrap();
        let bad =
            dependencies(&text).into_iter().filter(|other| floors[*other] < floors[crate_name]);
        upward.extend(bad.map(|other| format!("{own} -> {other}")));
    }
    assert_none("arrows that point upwards", &upward);
}

const PAPERS: [&str; 5] =
    ["seatmap-papers", "seatmap_papers", "seatmap-experiments", "seatmap_experiments", "papers/"];

const WORDS_OF_PAPERS: [&str; 13] = [
    "SPE",
    "SPEs",
    "SPU",
    "SPUs",
    "libspe",
    "libspe2",
    "EIB",
    "CellStats",
    "CellBe",
    "cell_be",
    "9P",
    "ninep",
    "Cellule",
];

/// Lines that may use these words: they point users to the papers' commands and machines, or mean
/// Arm's Statistical Profiling Extension.
const POINTERS: [(&str, &str); 4] = [
    ("crates/front/cli/src/main.rs", ", \"seatmap-papers "),
    ("crates/machines/sim/src/catalog.rs", "SUCCESSOR: &str"),
    ("crates/run/observe/src/c2c.rs", "Arm's SPE"),
    ("crates/run/observe/src/method.rs", "(IBS, PEBS, SPE)"),
];

fn is_pointer(line: &str) -> bool {
    POINTERS.iter().any(|(file, words)| line.starts_with(file) && line.contains(words))
}

fn has_word_of_papers(line: &str) -> bool {
    line.split(|letter: char| !letter.is_alphanumeric() && letter != '_')
        .any(|word| WORDS_OF_PAPERS.contains(&word))
}

/// The papers may use the product. The product must not depend on them, name them or use their
/// words.
#[test]
fn product_does_not_mention_the_papers() {
    let its_test = "crates/front/cli/src/misread_tests.rs";
    let endings = [
        ".rs", ".toml", ".css", ".js", ".html", ".h", ".c", ".snap", ".txt", ".py", ".json", ".md",
    ];
    let product: Vec<_> = texts(&endings)
        .into_iter()
        .filter(|(name, _)| name.starts_with("crates/") && !is_style(name))
        .collect();
    assert!(product.len() > 500, "the product is not where it was");
    let mut worded = lines_that(&product, |lines, at| has_word_of_papers(lines[at]));
    worded.retain(|line| !is_pointer(line));
    assert_none("lines of the product with words of the papers", &worded);
    let built: Vec<_> =
        product.into_iter().filter(|(name, _)| !is_test(name) && name != its_test).collect();
    let mut named =
        lines_that(&built, |lines, at| PAPERS.iter().any(|name| lines[at].contains(name)));
    named.retain(|line| !is_pointer(line));
    assert_none("lines of the product that name the papers", &named);
}

#[test]
fn only_myself_module_uses_current_exe() {
    let names = ["/proc/self/exe", "current_exe"];
    let front: Vec<_> = rust()
        .into_iter()
        .filter(|(name, _)| {
            name.starts_with("crates/front/cli/src/") && !name.ends_with("/myself.rs")
        })
        .collect();
    assert_none(
        "commands of this program itself",
        &lines_that(&front, |lines, at| names.iter().any(|name| lines[at].contains(name))),
    );
}

#[test]
fn only_os_crate_sets_masks_and_reads_threads() {
    let calls =
        ["SYS_sched_setaffinity", "libc::sched_setaffinity(", "SYS_sched_getaffinity,", "}/stat\""];
    let others: Vec<_> =
        rust().into_iter().filter(|(name, _)| !name.starts_with("crates/ground/os/")).collect();
    let production: Vec<_> = others
        .into_iter()
        .filter(|(name, _)| name.starts_with("crates/") && !is_test(name))
        .collect();
    assert_none(
        "what only `os` does",
        &lines_that(&production, |lines, at| calls.iter().any(|call| lines[at].contains(call))),
    );
}
