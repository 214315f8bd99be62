//! Runs the steps of `action.yml` with bash, as GitHub Actions does.

use crate::common::Place;
use crate::gate::script;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

#[derive(Debug, Default)]
struct Step {
    id: String,
    variables: BTreeMap<String, String>,
    script: String,
}

#[derive(Debug, Default)]
struct Action {
    inputs: BTreeMap<String, String>,
    outputs: BTreeMap<String, String>,
    steps: Vec<Step>,
}

fn indentation(line: &str) -> usize {
    line.len() - line.trim_start().len()
}

fn unquoted(text: &str) -> String {
    text.trim().trim_matches('"').to_owned()
}

impl Action {
    /// Understands only this part of YAML: two blanks per level, scalars on one line, blocks after
    /// `|`.
    fn read() -> Self {
        let text = std::fs::read_to_string(format!("{}/action.yml", crate::REPOSITORY)).unwrap();
        let mut action = Action::default();
        let mut section = "";
        let mut entry = String::new();
        let mut lines = text.lines().peekable();
        while let Some(line) = lines.next() {
            let indent = indentation(line);
            let trimmed = line.trim();
            let (key, value) = trimmed.split_once(':').unwrap_or((trimmed, ""));
            match (indent, section) {
                (0, _) => section = key,
                (2, "inputs" | "outputs") => entry = key.to_owned(),
                (4, "inputs") if key == "default" => {
                    action.inputs.insert(entry.clone(), unquoted(value));
                }
                (4, "outputs") if key == "value" => {
                    action.outputs.insert(entry.clone(), unquoted(value));
                }
                (4, "runs") if trimmed.starts_with("- id:") => {
                    action.steps.push(Step { id: value.trim().to_owned(), ..Step::default() });
                }
                (8, "runs") => {
                    let step = action.steps.last_mut().unwrap();
                    step.variables.insert(key.to_owned(), unquoted(value));
                }
                (6, "runs") if key == "run" => {
                    let step = action.steps.last_mut().unwrap();
                    while lines
                        .peek()
                        .is_some_and(|next| next.trim().is_empty() || indentation(next) >= 8)
                    {
                        let next = lines.next().unwrap();
                        step.script += next.get(8..).unwrap_or_default();
                        step.script.push('\n');
                    }
                }
                _ => {}
            }
        }
        action
    }
}

struct ActionRunner {
    place: Place,
    action: Action,
    server: String,
    path: String,
}

struct StepResults {
    output: Output,
    outputs: BTreeMap<String, String>,
    summary: String,
}

impl ActionRunner {
    fn new() -> Self {
        ActionRunner {
            place: Place::new(),
            action: Action::read(),
            server: "https://github.invalid".to_owned(),
            path: std::env::var("PATH").unwrap(),
        }
    }

    fn run(&self, typed: &[(&str, &str)]) -> StepResults {
        let mut inputs = self.action.inputs.clone();
        for (name, value) in typed {
            assert!(inputs.insert((*name).to_owned(), (*value).to_owned()).is_some(), "{name}");
        }
        let mut known: BTreeMap<String, String> = inputs
            .into_iter()
            .map(|(name, value)| (format!("${{{{ inputs.{name} }}}}"), value))
            .collect();
        let summary = self.place.path("summary.md");
        let _ = std::fs::remove_file(&summary);
        let mut last = None;
        for step in &self.action.steps {
            let outputs = self.place.path(&format!("{}.outputs", step.id));
            std::fs::write(&outputs, "").unwrap();
            let mut bash = Command::new("bash");
            bash.args(["--noprofile", "--norc", "-e", "-o", "pipefail", "-c", &step.script])
                .current_dir(self.place.folder())
                .env("HOME", self.place.folder())
                .env("RUNNER_TEMP", self.place.folder())
                .env("PATH", &self.path)
                .env("GITHUB_SERVER_URL", &self.server)
                .env("GITHUB_ACTION_REPOSITORY", "owner/seatmap")
                .env("GITHUB_SHA", "0123abc")
                .env("GITHUB_STEP_SUMMARY", &summary)
                .env("GITHUB_OUTPUT", &outputs);
            for (name, value) in &step.variables {
                assert!(known.contains_key(value), "nobody sets {value}");
                bash.env(name, &known[value]);
            }
            let output = bash.output().unwrap();
            let succeeded = output.status.success();
            last = Some(output);
            for line in std::fs::read_to_string(&outputs).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                known.insert(
                    format!("${{{{ steps.{}.outputs.{name} }}}}", step.id),
                    value.to_owned(),
                );
            }
            if !succeeded {
                break;
            }
        }
        let outputs = self.action.outputs.iter();
        let outputs = outputs
            .map(|(name, value)| (name.clone(), known.get(value).cloned().unwrap_or_default()))
            .collect();
        let summary = std::fs::read_to_string(summary).unwrap_or_default();
        StepResults { output: last.unwrap(), outputs, summary }
    }
}

/// A repository whose commits take 100 and then `head`, checked out as `base` and as the folder
/// itself.
fn repository(place: &Place, head: u32) {
    let git = |arguments: &[&str]| {
        let mut git = Command::new("git");
        git.args(["-c", "user.name=x", "-c", "user.email=x@example.com"]).args(arguments);
        let done = git.current_dir(place.folder()).env("HOME", place.folder()).output().unwrap();
        assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    };
    git(&["init", "-q"]);
    git(&["remote", "add", "origin", "https://github.invalid/owner/seatmap"]);
    for took in [100, head] {
        script(place, "app", &format!("echo took {took} for \"$*\""));
        git(&["add", "."]);
        git(&["commit", "-q", "--allow-empty", "-m", "app"]);
    }
    git(&["worktree", "add", "-q", "base", "HEAD~1"]);
}

const BENCH: &str = "format = \"seatmap-benchmarks/1\"\nruns = 8\n[[benchmark]]\nname = \"app\"\n\
    command = \"{binary} 'two words'\"\nmetric = \"regex:took ([0-9]+)\"\nbetter = \"lower\"\n";

const VERSIONS: [(&str, &str); 4] =
    [("seatmap", crate::PROGRAM), ("base", "base/app"), ("head", "./app"), ("fail-above", "3%")];

#[test]
fn slower_head_fails_job_with_summary() {
    if !seatmap_needs::tool("git") {
        return;
    }
    let runner = ActionRunner::new();
    repository(&runner.place, 110);
    runner.place.file("bench.toml", BENCH);
    let history = [("file", "bench.toml"), ("history", "history.jsonl")];
    let ended = runner.run(&[&VERSIONS[..], &history].concat());
    let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
    assert_eq!(ended.output.status.code(), Some(1), "{error}");
    assert_eq!(ended.outputs["exit-code"], "1");
    assert!(
        ended.outputs["verdict"].starts_with("Failed: 'app' is at least"),
        "{:?}",
        ended.outputs
    );
    assert!(ended.summary.contains("| benchmark | base | head |"), "{}", ended.summary);
    assert!(runner.place.read("history.jsonl").contains("\"label\":\"0123abc\""));
    for output in ["report", "page", "markdown"] {
        assert!(std::path::Path::new(&ended.outputs[output]).is_file(), "{output}");
    }
}

#[test]
fn equal_head_passes() {
    if !seatmap_needs::tool("git") {
        return;
    }
    let runner = ActionRunner::new();
    repository(&runner.place, 100);
    runner.place.file("bench.toml", BENCH);
    let ended =
        runner.run(&[&VERSIONS[..], &[("file", "bench.toml"), ("strict", "true")]].concat());
    let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
    assert_eq!(
        (ended.output.status.code(), &*ended.outputs["exit-code"]),
        (Some(0), "0"),
        "{error}"
    );
    assert!(ended.summary.starts_with("**Passed: 1 benchmark"), "{}", ended.summary);
}

#[test]
fn zoo_step_runs_alone_and_fails_on_findings() {
    let runner = ActionRunner::new();
    let zoo = |line: &str| {
        let inputs = [("seatmap", crate::PROGRAM), ("machines", "kvm-guest"), ("zoo", line)];
        runner.run(&inputs)
    };
    let right = zoo("sh -c 'test $(nproc) -ge 1'");
    if crate::common::is_no_pretence(&right.output) {
        return;
    }
    assert!(right.output.status.success(), "{}", right.summary);
    assert!(right.summary.contains("Nothing is wrong in 5 runs on 1 machine"), "{}", right.summary);
    assert!(Path::new(&right.outputs["junit"]).is_file() && right.outputs["report"].is_empty());
    let wrong = zoo("sh -c 'test $(nproc) = 2'");
    assert_eq!(wrong.output.status.code(), Some(1));
    assert!(wrong.summary.contains("crash"), "{}", wrong.summary);
    assert!(std::fs::read_to_string(&wrong.outputs["zoo-page"]).unwrap().contains("<html"));
    assert_eq!(zoo("sh -c 'open").output.status.code(), Some(2));
}

#[test]
fn command_input_is_not_shell_expanded() {
    if !seatmap_needs::tool("git") {
        return;
    }
    let runner = ActionRunner::new();
    repository(&runner.place, 100);
    let ended = runner.run(
        &[
            &VERSIONS[..],
            &[("command", "{binary} 'two  words' $(touch made) ;"), ("seconds", "0.3")],
        ]
        .concat(),
    );
    let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
    // The duration of so short a script says nothing.
    let report =
        std::fs::read_to_string(&ended.outputs["report"]).unwrap_or_else(|_| panic!("{error}"));
    let report: serde_json::Value = serde_json::from_str(&report).unwrap();
    let words = &report["benchmarks"][0]["commands"][0]["command"];
    assert_eq!(words, &serde_json::json!(["./app", "two  words", "$(touch", "made)", ";"]));
    assert!(!runner.place.path("made").exists());
}

/// The words before an open quote must not be measured instead.
#[test]
fn command_with_unclosed_quote_is_refused() {
    let runner = ActionRunner::new();
    script(&runner.place, "app", "touch ran");
    for command in ["{binary} parse 'input file", "{binary} \"two words", "{binary} it's \nhere"] {
        let ended =
            runner.run(&[("seatmap", crate::PROGRAM), ("head", "./app"), ("command", command)]);
        let said = "The input 'command' ends within quotes, and nothing was run";
        assert_eq!((ended.output.status.code(), &*ended.outputs["exit-code"]), (Some(2), "2"));
        assert_eq!(ended.outputs["verdict"], said);
        assert_eq!(ended.summary, format!("{said}\n"));
        let log = String::from_utf8_lossy(&ended.output.stdout).into_owned();
        assert!(log.contains(&format!("::error::{said}")), "{log}");
        assert!(!runner.place.path("ran").exists(), "{command}");
    }
}

#[test]
fn wrong_input_sets_exit_code_2() {
    let runner = ActionRunner::new();
    let ended = runner.run(&[&VERSIONS[..], &[("file", "absent.toml")]].concat());
    assert_eq!((ended.output.status.code(), &*ended.outputs["exit-code"]), (Some(2), "2"));
    assert_eq!(
        (ended.outputs["verdict"].as_str(), &*ended.summary),
        ("seatmap bench ended without a result", "")
    );
}

/// Serves a folder as the only release and returns the address.
fn serve(folder: PathBuf, version: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().map_while(Result::ok) {
            answer(&stream, &folder, version);
        }
    });
    address
}

fn answer(mut stream: &TcpStream, folder: &Path, version: &str) {
    let mut lines = BufReader::new(stream).lines().map_while(Result::ok);
    let request = lines.next().unwrap_or_default();
    lines.take_while(|line| !line.is_empty()).for_each(drop);
    let path = request.split(' ').nth(1).unwrap_or_default();
    let releases = "/owner/seatmap/releases";
    let latest = path.strip_prefix(&format!("{releases}/latest/download/"));
    let named = path.strip_prefix(&format!("{releases}/download/{version}/"));
    let body = named.and_then(|name| std::fs::read(folder.join(name)).ok());
    let head = match (latest, &body) {
        (Some(name), _) => format!("302 Found\r\nLocation: {releases}/download/{version}/{name}"),
        (None, Some(_)) => "200 OK".to_owned(),
        (None, None) => "404 Not Found".to_owned(),
    };
    let body = body.unwrap_or_default();
    let length = body.len();
    let _ =
        write!(stream, "HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all(&body);
}

/// A release as `scripts/package` packs it. Its program calls the tested one.
fn release(place: &Place) -> PathBuf {
    let folder = place.path("release");
    std::fs::create_dir_all(folder.join("seatmap")).unwrap();
    script(place, "release/seatmap/seatmap", &format!("exec {} \"$@\"", crate::PROGRAM));
    let pack = "name=seatmap-linux-$(uname -m).tar.gz; tar -czf $name seatmap; \
                sha256sum $name > $name.sha256";
    let packed = Command::new("sh").args(["-ec", pack]).current_dir(&folder).status().unwrap();
    assert!(packed.success());
    folder
}

/// The PATH without folders that contain a seatmap. `None` if curl is only there.
fn path_without_seatmap() -> Option<String> {
    let path = std::env::var("PATH").unwrap();
    let has = |folder: &str, name: &str| Path::new(folder).join(name).exists();
    let folders: Vec<&str> = path.split(':').filter(|folder| !has(folder, "seatmap")).collect();
    if !folders.iter().any(|folder| has(folder, "curl")) {
        seatmap_needs::skipped!("curl is absent, or a seatmap is installed beside it");
        return None;
    }
    Some(folders.join(":"))
}

fn with_release() -> Option<ActionRunner> {
    let mut runner = ActionRunner::new();
    runner.path = path_without_seatmap()?;
    runner.server = serve(release(&runner.place), "v0.1.0");
    for version in ["old", "new"] {
        script(&runner.place, version, "echo took 100");
    }
    runner.place.file("bench.toml", BENCH);
    Some(runner)
}

const FROM_RELEASE: [(&str, &str); 4] =
    [("file", "bench.toml"), ("base", "./old"), ("head", "./new"), ("fail-above", "3%")];

#[test]
fn program_is_downloaded_from_release() {
    for version in ["latest", "v0.1.0"] {
        let Some(runner) = with_release() else { return };
        let ended = runner.run(&[&FROM_RELEASE[..], &[("version", version)]].concat());
        let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
        assert_eq!(ended.outputs["exit-code"], "0", "{version}: {error}");
        assert!(ended.summary.starts_with("**Passed: 1 benchmark"), "{}", ended.summary);
    }
}

#[test]
fn absent_or_modified_release_is_not_run() {
    let Some(runner) = with_release() else { return };
    let ended = runner.run(&[&FROM_RELEASE[..], &[("version", "v9")]].concat());
    let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
    assert!(!ended.output.status.success() && error.contains("404"), "{error}");
    let archive = format!("release/seatmap-linux-{}.tar.gz", std::env::consts::ARCH);
    let mut bytes = std::fs::read(runner.place.path(&archive)).unwrap();
    bytes.push(0);
    std::fs::write(runner.place.path(&archive), bytes).unwrap();
    let ended = runner.run(&FROM_RELEASE);
    let error = String::from_utf8_lossy(&ended.output.stderr).into_owned();
    assert!(!ended.output.status.success() && error.contains("did NOT match"), "{error}");
    assert_eq!(ended.outputs["exit-code"], "", "nothing was compared");
}

/// A job for a real runner, which needs no network for a local action.
const WORKFLOW: &str = "on: push
jobs:
  bench:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
      - id: bench
        uses: ./
        continue-on-error: true
        with: { file: bench.toml, base: ./old, head: ./app, fail-above: 3%, seatmap: PROGRAM }
      - run: test '${{ steps.bench.outputs.exit-code }}' = 1
";

#[test]
fn action_runs_under_act() {
    if !seatmap_needs::tool("git") || !seatmap_needs::tool("act") {
        return;
    }
    let place = Place::new();
    std::fs::create_dir_all(place.path(".github/workflows")).unwrap();
    place.file(".github/workflows/b.yml", WORKFLOW.replace("PROGRAM", crate::PROGRAM));
    script(&place, "old", "echo took 100");
    place.file("bench.toml", BENCH.replace("{binary} 'two words'", "{binary}"));
    let action = format!("{}/action.yml", crate::REPOSITORY);
    std::fs::copy(action, place.path("action.yml")).unwrap();
    repository(&place, 110);
    let home = Place::new();
    let mut act = Command::new("act");
    act.args(["-P", "ubuntu-latest=-self-hosted", "--pull=false"]).current_dir(place.folder());
    let ended = act.env("HOME", home.folder()).output().unwrap();
    let printed = String::from_utf8_lossy(&ended.stdout).into_owned();
    assert!(ended.status.success() && printed.contains("Failed: 'app' is at least"), "{printed}");
}
