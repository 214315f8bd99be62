//! Every example of the README and the guide, run.
//!
//! In a `console` block a line that begins with `$ ` is a command and the lines below it are what it prints, stdout
//! before stderr; `...` alone stands for any lines, `[..]` for any text within one. All blocks of a page run in one
//! folder, in order; as in the repository, the demonstration's data lie in `demo` there.

use crate::common::{Place, data, two_cpus};
use std::path::{Path, PathBuf};
use std::process::Command;

#[derive(Debug)]
struct Example {
    line: usize,
    command: String,
    expected: Vec<String>,
}

fn root() -> PathBuf {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../..")).canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let root = root();
    let guide = std::fs::read_dir(root.join("docs/src")).into_iter().flatten();
    let mut pages: Vec<PathBuf> = guide.map(|entry| entry.unwrap().path()).collect();
    pages.retain(|path| path.extension().is_some_and(|extension| extension == "md"));
    pages.sort();
    pages.insert(0, root.join("README.md"));
    pages
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    for (at, line) in text.lines().enumerate() {
        match (inside, line) {
            (false, "```console") => inside = true,
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => {
                    examples.push(Example { line: at + 1, command: command.to_owned(), expected: Vec::new() })
                }
                None => examples.last_mut().unwrap().expected.push(line.to_owned()),
            },
            _ => {}
        }
    }
    examples
}

/// Whether what is needed for it is here.
fn possible(example: &Example) -> bool {
    let on_host =
        ["seatmap measure", "seatmap run", "seatmap workers"].iter().any(|verb| example.command.contains(verb));
    let host = on_host && !example.command.contains("--on ");
    let named = !example.command.contains("--cpus 0,1") || two_cpus().is_some_and(|cpus| cpus == "0,1");
    let host_missing = host && (two_cpus().is_none() || !named);
    let missing = (example.command.contains("$SEATMAP_DATA") && !data().exists()) || host_missing;
    if missing {
        eprintln!("skipped: {}", example.command);
    }
    !missing
}

fn run(place: &Place, example: &Example) -> String {
    // The binary under test comes first in PATH, under its own name.
    let binary = Path::new(env!("CARGO_BIN_EXE_seatmap")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = Command::new("sh");
    let surroundings = place.command(&[]);
    shell.args(["-c", &example.command]).current_dir(place.folder()).env("PATH", path);
    shell.envs(surroundings.get_envs().filter_map(|(name, value)| Some((name, value?))));
    let output = shell.output().unwrap();
    let text = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    assert!(output.status.success(), "line {}: $ {}\n{text}", example.line, example.command);
    text
}

/// Whether the lines fit the pattern.
fn fits(pattern: &[String], lines: &[&str]) -> bool {
    match pattern.split_first() {
        None => lines.is_empty(),
        Some((any, rest)) if any == "..." => (0..=lines.len()).any(|skipped| fits(rest, &lines[skipped..])),
        Some((first, rest)) => {
            lines.split_first().is_some_and(|(line, more)| line_fits(first, line) && fits(rest, more))
        }
    }
}

fn line_fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap()) else { return false };
    let parts: Vec<&str> = parts.collect();
    let Some((last, middle)) = parts.split_last() else { return rest.is_empty() };
    for part in middle {
        let Some(at) = rest.find(part) else { return false };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[test]
fn every_example_does_what_the_page_says() {
    for page in pages() {
        let place = Place::new();
        std::os::unix::fs::symlink(root().join("demo"), place.path("demo")).unwrap();
        for example in examples(&std::fs::read_to_string(&page).unwrap()).iter().filter(|example| possible(example)) {
            let text = run(&place, example);
            let lines: Vec<&str> = text.lines().collect();
            let shown = example.expected.is_empty() || fits(&example.expected, &lines);
            assert!(shown, "{}:{}: $ {}\nprints\n{text}", page.display(), example.line, example.command);
        }
    }
}

#[test]
fn patterns_can_fail() {
    let pattern = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    assert!(fits(&pattern("a\n...\nd [..] f"), &["a", "b", "c", "d e f"]));
    assert!(!fits(&pattern("a\n...\nd [..] g"), &["a", "b", "c", "d e f"]));
    assert!(!fits(&pattern("a"), &["a", "b"]));
    assert!(line_fits("[..]x[..]", "axb") && !line_fits("[..]x", "axb"));
}
