//! Runs every example of the README and the guide, and every transcript, and compares its output
//! with the page.
//!
//! A `console` block contains commands, on lines that begin with `$ `, each followed by its output,
//! stdout before stderr. The rules:
//!
//! - A line `...` matches any number of lines.
//! - A command without output below it only has to succeed.
//! - All other lines must match exactly, except for white space at their ends.
//! - `<!-- varies -->` above a block (hidden from readers) marks output that differs from run to
//!   run or from host to host. Such lines are compared after [`mask`]: numbers, units of time and
//!   words in parentheses count as equal.
//! - `<!-- needs: nginx gcc -->` above a block skips it, with a message, unless all these programs
//!   are installed. `<!-- varies; needs: nginx -->` combines the two.
//!
//! All blocks of a page run in one folder, in order.
//!
//! A transcript is a text file of such blocks for cases that no reader needs. There,
//!
//! - lines that begin with `> ` continue the command above them.
//! - a last line such as `[2]` is the exit code of a command that fails.
//! - `$A` and `$B` are two CPUs of this process, equal if it has only one, and `own` is the folder
//!   of small files in the form of other tools.
//! - `needs` may also name `two-cpus`, `root`, and the verbs `observe` and `pretend`.
//!
//! `SEATMAP_EXAMPLES=update cargo test --workspace --test e2e examples` rewrites the pages with the
//! current output. Add `--release`, because searches with a time limit find more in such a build.

use crate::common::{Place, can_observe, can_pretend, two_cpus};
use seatmap_os::Root;
use seatmap_os::visibility::is_in_container;
use std::path::{Path, PathBuf};
use std::process::Stdio;

/// The directives above a block, if the line is a comment with some.
fn marks(line: &str) -> Vec<&str> {
    let inside = line.strip_prefix("<!-- ").and_then(|rest| rest.strip_suffix(" -->"));
    inside.map(|words| words.split("; ").collect()).unwrap_or_default()
}

#[derive(Debug)]
struct Example {
    /// The command's line, counted from 1.
    line: usize,
    command: String,
    expected: Vec<String>,
    varies: bool,
    needs: Vec<String>,
}

impl Example {
    /// The number of the line below the command.
    fn end(&self) -> usize {
        self.line + self.command.matches('\n').count()
    }
}

fn root() -> PathBuf {
    Path::new(crate::REPOSITORY).canonicalize().unwrap()
}

fn pages() -> Vec<PathBuf> {
    let of_place = |name: &&str| {
        let path = root().join(name);
        let mut pages: Vec<PathBuf> = match std::fs::read_dir(&path) {
            Ok(entries) => entries.map(|entry| entry.unwrap().path()).collect(),
            Err(_) => vec![path],
        };
        pages.retain(|page| is_transcript(page) || page.extension().is_some_and(|end| end == "md"));
        pages.sort();
        pages
    };
    crate::PAGES.iter().flat_map(of_place).collect()
}

fn is_transcript(page: &Path) -> bool {
    page.extension().is_some_and(|end| end == "txt")
}

fn examples(text: &str) -> Vec<Example> {
    let mut examples: Vec<Example> = Vec::new();
    let mut inside = false;
    let mut varies = false;
    let mut needs = Vec::new();
    let mut before = "";
    for (at, line) in text.lines().enumerate() {
        match (inside, line) {
            (false, "```console") => {
                let marks = marks(before);
                inside = true;
                varies = marks.contains(&"varies");
                let named = marks.iter().find_map(|mark| mark.strip_prefix("needs: "));
                let named = named.unwrap_or_default().split_whitespace();
                needs = named.map(str::to_owned).collect();
            }
            (true, "```") => inside = false,
            (true, line) => match line.strip_prefix("$ ") {
                Some(command) => {
                    let command = command.to_owned();
                    let expected = Vec::new();
                    let needs = needs.clone();
                    examples.push(Example { line: at + 1, command, expected, varies, needs });
                }
                None => {
                    let last = examples.last_mut().unwrap();
                    match line.strip_prefix("> ").filter(|_| last.expected.is_empty()) {
                        Some(more) => last.command += &format!("\n{more}"),
                        None => last.expected.push(line.to_owned()),
                    }
                }
            },
            _ => {}
        }
        before = line;
    }
    examples
}

fn is_there(name: &str) -> bool {
    match name {
        "two-cpus" => two_cpus().is_some(),
        "root" => can_give_files_away(),
        "observe" => can_observe(),
        "pretend" => can_pretend(),
        program => is_installed(program),
    }
}

/// A user namespace may have a root that can not.
fn can_give_files_away() -> bool {
    let place = Place::new();
    let file = place.path(place.file("given", ""));
    std::os::unix::fs::chown(file, Some(65_534), None).is_ok()
}

fn is_installed(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join(program).is_file())
}

fn is_possible(command: &str) -> bool {
    let measures = ["seatmap measure", "seatmap run", "seatmap check", "workers --cpus"]
        .iter()
        .any(|verb| command.contains(verb));
    let remembered = command.contains("show host") || command.contains("--on host");
    let host = (measures && !command.contains("--on ")) || remembered;
    let named = !command.contains("--cpus 0,1") || two_cpus().is_some_and(|cpus| cpus == "0,1");
    let host_missing = host && (two_cpus().is_none() || !named);
    let server_missing = command.contains("redis") && !seatmap_needs::tool("redis-server");
    // In a container `seatmap check` warns that it may not see everything.
    let hidden = command.contains("seatmap check") && is_in_container(&Root::new("/"));
    let unseen = (command.contains("relay") || command.contains("auto.log"))
        && !(seatmap_needs::tool("gcc") && can_observe());
    let data_missing = command.contains("$SEATMAP_DATA") && seatmap_needs::published("").is_none();
    // Only the tests of the whole workspace build all programs.
    let is_absent = |word: &str| !Path::new(crate::PROGRAM).with_file_name(word).exists();
    let first = command.split(' ').next().unwrap_or_default();
    let program_missing = first.starts_with("seatmap") && is_absent(first);
    let unshown = command.contains("seatmap pretend") && !can_pretend();
    !(program_missing
        || hidden
        || data_missing
        || host_missing
        || server_missing
        || unseen
        || unshown)
}

/// The output, with a last line for an exit code above 0.
fn run(place: &Place, example: &Example) -> String {
    let binary = Path::new(crate::PROGRAM).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut shell = place.command_of("sh");
    let cpus = seatmap_os::affinity::current().unwrap();
    let second = cpus.get(1).unwrap_or(&cpus[0]);
    shell.env("A", cpus[0].to_string()).env("B", second.to_string()).stdin(Stdio::null());
    let output = shell.args(["-c", &example.command]).env("PATH", path).output().unwrap();
    let text =
        [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat();
    match output.status.code() {
        Some(0) => text,
        code => text + &format!("[{}]\n", code.unwrap_or(-1)),
    }
}

/// The last line, if it is an exit code.
fn exit_code<S: AsRef<str>>(lines: &[S]) -> Option<&str> {
    lines.last().map(AsRef::as_ref).filter(|line| {
        line.strip_prefix('[')
            .and_then(|rest| rest.strip_suffix(']'))
            .is_some_and(|code| code.parse::<i32>().is_ok())
    })
}

/// Replaces the page's lines by the matching printed ones, except `...`. `None` if they do not
/// match.
fn fitted(page: &[String], printed: &[&str], same: fn(&str, &str) -> bool) -> Option<Vec<String>> {
    let Some((first, rest)) = page.split_first() else { return printed.is_empty().then(Vec::new) };
    let (shown, mut fitted) = if first == "..." {
        (
            first.as_str(),
            (0..=printed.len()).find_map(|skipped| fitted(rest, &printed[skipped..], same))?,
        )
    } else {
        let (line, more) = printed.split_first().filter(|(line, _)| same(first, line))?;
        (line.trim_end(), fitted(rest, more, same)?)
    };
    fitted.insert(0, shown.to_owned());
    Some(fitted)
}

fn exactly(page: &str, printed: &str) -> bool {
    page.trim_end() == printed.trim_end()
}

fn masked(page: &str, printed: &str) -> bool {
    mask(page) == mask(printed)
}

/// Replaces everything that differs from run to run: `#` for every number, date and CPU list with
/// its sign or mark; one unit for all units of time; one CPU for all CPU lists; one blank for all
/// white space. Removes text in parentheses.
fn mask(line: &str) -> String {
    let mut masked = String::new();
    let mut run = String::new();
    for character in without_parentheses(line).chars().chain([' ']) {
        if character.is_ascii_digit() || ".,%+-~*".contains(character) {
            run.push(character);
            continue;
        }
        let is_number = run.contains(|character: char| character.is_ascii_digit());
        masked.push_str(if is_number { "#" } else { &run });
        run.clear();
        masked.push(character);
    }
    masked
        .split_whitespace()
        .map(|word| match word {
            "ns" | "us" | "ms" => "s",
            "CPUs" => "CPU",
            word => word,
        })
        .collect::<Vec<_>>()
        .join(" ")
}

fn without_parentheses(line: &str) -> String {
    match line.split_once('(').and_then(|(before, inner)| Some((before, inner.split_once(')')?.1)))
    {
        Some((before, after)) => format!("{before}{}", without_parentheses(after)),
        None => line.to_owned(),
    }
}

fn akin(page: &str, printed: &str) -> bool {
    page.split_whitespace().next() == printed.split_whitespace().next()
}

fn fits(example: &Example, printed: &str) -> bool {
    let lines: Vec<&str> = printed.lines().collect();
    let same = if example.varies { masked } else { exactly };
    exit_code(&example.expected) == exit_code(&lines)
        && (example.expected.is_empty() || fitted(&example.expected, &lines, same).is_some())
}

/// The page's lines, refreshed. All printed lines if none match and the page leaves nothing out.
fn refreshed(example: &Example, printed: &str) -> Option<Vec<String>> {
    let lines: Vec<&str> = printed.lines().collect();
    let leaves_out = example.expected.iter().any(|line| line == "...");
    let same = |same| fitted(&example.expected, &lines, same);
    if example.expected.is_empty() {
        return Some(Vec::new());
    }
    same(exactly).or_else(|| same(masked)).or_else(|| same(akin)).or_else(|| {
        (!leaves_out).then(|| lines.iter().map(|line| line.trim_end().to_owned()).collect())
    })
}

fn replace(lines: &mut Vec<String>, example: &Example, new: Vec<String>) {
    lines.splice(example.end()..example.end() + example.expected.len(), new);
}

/// Runs the examples of a page. Lists those with other output, or rewrites the page.
fn check(page: &Path, updates: bool) -> Vec<String> {
    let place = Place::new();
    for folder in ["demo", "examples", "machines", "crates/front/cli/tests/own"] {
        let folder = root().join(folder);
        let name = folder.file_name().unwrap().to_str().unwrap();
        std::os::unix::fs::symlink(&folder, place.path(name)).unwrap();
    }
    let text = std::fs::read_to_string(page).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let mut replaced = Vec::new();
    let mut failures = Vec::new();
    for example in examples(&text) {
        let has_needs = example.needs.iter().all(|name| is_there(name));
        if !has_needs || !is_transcript(page) && !is_possible(&example.command) {
            seatmap_needs::skipped!("{}", example.command);
            continue;
        }
        let printed = run(&place, &example);
        // Programs beside the tests decide how many blocks count.
        if example.varies && printed.contains("too few blocks") {
            seatmap_needs::skipped!("{}: other programs used the CPUs", example.command);
            continue;
        }
        let new = if updates { refreshed(&example, &printed) } else { None };
        if new.is_none() && !fits(&example, &printed) {
            failures.push(format!(
                "{}:{}: $ {}\nprints\n{printed}",
                page.display(),
                example.line,
                example.command
            ));
        }
        replaced.extend(new.map(|new| (example, new)));
    }
    // Starts at the end, to keep earlier line numbers valid.
    replaced.into_iter().rev().for_each(|(example, new)| replace(&mut lines, &example, new));
    if updates {
        std::fs::write(page, lines.join("\n") + "\n").unwrap();
    }
    failures
}

/// Number of parallel tests for the pages. A single one would outlast all others.
const SHARES: usize = 4;

fn check_share(share: usize) {
    let updates = std::env::var_os("SEATMAP_EXAMPLES").is_some_and(|wish| wish == "update");
    let pages = pages().into_iter().skip(share).step_by(SHARES);
    let failures: Vec<String> = pages.flat_map(|page| check(&page, updates)).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

#[test]
fn examples_of_first_share_behave_as_documented() {
    check_share(0);
}

#[test]
fn examples_of_second_share_behave_as_documented() {
    check_share(1);
}

#[test]
fn examples_of_third_share_behave_as_documented() {
    check_share(2);
}

#[test]
fn examples_of_last_share_behave_as_documented() {
    check_share(SHARES - 1);
}

#[test]
fn examples_contain_no_wildcards() {
    for page in pages() {
        let text = std::fs::read_to_string(&page).unwrap();
        assert!(
            !text.contains("[..]"),
            "{}: a reader sees [..]; show a line as it is printed",
            page.display()
        );
    }
}

#[cfg(test)]
mod matcher {
    use super::*;

    fn lines(text: &str) -> Vec<String> {
        text.lines().map(str::to_owned).collect()
    }

    fn example(expected: &str, varies: bool) -> Example {
        let needs = Vec::new();
        Example { line: 1, command: String::new(), expected: lines(expected), varies, needs }
    }

    #[test]
    fn varies_comment_applies_to_next_block() {
        let page =
            "```console\n$ one\n1\n```\n\n<!-- varies -->\n```console\n$ two\n2\n$ three\n```\n";
        let varies: Vec<bool> = examples(page).iter().map(|example| example.varies).collect();
        assert_eq!(varies, [false, true, true]);
        let named = "<!-- varies; needs: no-such-program sh -->\n```console\n$ one\n```\n";
        let both = &examples(named)[0];
        assert!(both.varies && both.needs == ["no-such-program", "sh"]);
        assert!(is_installed("sh") && !is_installed("no-such-program"));
        assert_eq!(examples(page)[1].line, 8);
    }

    #[test]
    fn exit_code_and_long_commands_are_read() {
        let page = "```console\n$ cat <<end\n> one\n> end\none\n$ two\n...\n[2]\n```\n";
        let both = examples(page);
        let (one, two) = (&both[0], &both[1]);
        assert_eq!((one.command.as_str(), one.end()), ("cat <<end\none\nend", 4));
        assert!(fits(one, "one") && !fits(one, "one\n[2]"));
        assert!(fits(two, "any\n[2]") && !fits(two, "any") && !fits(two, "any\n[1]"));
    }

    #[test]
    fn fixed_lines_are_compared_exactly() {
        assert!(fits(&example("a\n...\nd 1 f", false), "a\nb\nc\nd 1 f"));
        assert!(!fits(&example("a\n...\nd 1 f", false), "a\nb\nc\nd 2 f"));
        assert!(!fits(&example("a", false), "a\nb"));
        assert!(!fits(&example("a  b", false), "a b"));
    }

    #[test]
    fn varying_lines_are_compared_by_words() {
        let page =
            example("0      - 121.5*\nlongest 44.053 ms at 2026-11-22, 7.3 % of CPUs 0-3,8", true);
        assert!(fits(&page, "0  - 80.2\nlongest 501.2 us at 2026-12-01, -12 % of CPUs 4"));
        assert!(fits(&example("best (one way) 2", true), "best (another) 3"));
        assert!(fits(&example("8 blocks on CPUs 0,1 (2 CPUs)", true), "8 blocks on CPU 1 (1 CPU)"));
        assert!(!fits(&page, "0  - 80.2\nshortest 501.2 us at 2026-12-01, -12 % of CPUs 4"));
        assert!(!fits(&page, "0  - 80.2 81.7\nlongest 501.2 us at 2026-12-01, -12 % of CPUs 4"));
        assert!(!fits(&page, "0  - -\nlongest 501.2 us at 2026-12-01, -12 % of CPUs 4"));
    }

    #[test]
    fn update_refreshes_shown_lines() {
        assert_eq!(
            refreshed(&example("a 1\n...\nd 2", false), "a 3\nb\nd 4"),
            Some(lines("a 3\n...\nd 4"))
        );
        let renamed = refreshed(&example("best (old way) 2\n...", false), "best (new) 3\nrest");
        assert_eq!(renamed, Some(lines("best (new) 3\n...")));
        assert_eq!(refreshed(&example("gone", false), "new\nlines"), Some(lines("new\nlines")));
        assert_eq!(refreshed(&example("gone\n...", false), "new\nlines"), None);
        assert_eq!(refreshed(&example("", false), "anything"), Some(Vec::new()));
    }

    #[test]
    fn update_writes_below_the_command() {
        let mut page = lines("```console\n$ one\nold\nolder\n```\nend");
        let one = Example {
            line: 2,
            command: String::new(),
            expected: lines("old\nolder"),
            varies: false,
            needs: Vec::new(),
        };
        replace(&mut page, &one, lines("new"));
        assert_eq!(page, lines("```console\n$ one\nnew\n```\nend"));
    }
}
