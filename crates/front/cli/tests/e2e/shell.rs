//! Completions in real shells, manual pages, and help.

use crate::common::{Place, stderr, stdout};
use std::path::Path;
use std::process::Command;

/// The exit code of timeout(1) if it does not find the program.
const NOT_FOUND: i32 = 127;

/// Runs a script in a shell. `None` if the shell is missing.
fn in_shell(place: &Place, shell: &[&str], script: &str) -> Option<String> {
    let binary = Path::new(env!("CARGO_BIN_EXE_seatmap")).parent().unwrap();
    let path = format!("{}:{}", binary.display(), std::env::var("PATH").unwrap());
    let mut command = place.command_of(shell[0]);
    command.args(&shell[1..]).arg("-c").arg(script).env("PATH", path);
    command.env("SEATMAP_RUN", place.path("run"));
    let output = command.output().ok().filter(|output| output.status.code() != Some(NOT_FOUND));
    let Some(output) = output else {
        seatmap_needs::skipped!("no {} here", shell.join(" "));
        return None;
    };
    assert!(output.status.success(), "{output:?}");
    Some(stdout(&output))
}

/// Lines to complete, an expected candidate, and unexpected ones.
const LINES: [(&str, &str, &str); 17] = [
    ("ma", "machines", "measure"),
    ("show xeon", "xeon-phi-5110p", "graviton3"),
    ("place --on scc", "scc-48", "host"),
    ("measure --on ho", "host", "graviton3"),
    ("model fit epyc-7", "epyc-7r13-2s", "epyc-9654-2s"),
    ("place --on graviton3 --pattern sten", "stencil2d:", "ring:"),
    ("export plan.json --format om", "omp-places", "csv"),
    ("export pl", "plan.json", "host"),
    ("place --before r", "random", "os"),
    ("import pl", "plan.json", "host"),
    ("run --cpus 0 -- slee", "sleep", "plan.json"),
    ("observe -- cat pl", "plan.json", "place"),
    ("cpus kind:p", "kind:performance", "kind:efficiency"),
    ("run --cpus kind:performance/no", "kind:performance/no-smt", "no-smt"),
    ("tune --cpus 0,not:cache:", "0,not:cache:biggest", "cache:biggest"),
    ("place --on host --cpus fa", "fast:", "first:"),
    ("pretend xeon-ph", "xeon-phi-5110p", "host"),
];

fn offered(place: &Place, line: &str) -> Option<Vec<String>> {
    let script = format!(
        "source <(seatmap completions bash); COMP_WORDS=(seatmap {line}); COMP_CWORD=$((${{#COMP_WORDS[@]}} - 1)); \
         COMP_TYPE=9; _clap_complete_seatmap seatmap \"${{COMP_WORDS[COMP_CWORD]}}\" ''; printf '%s\\n' \"${{COMPREPLY[@]}}\""
    );
    let lines = in_shell(place, &["bash", "--norc"], &script)?;
    Some(lines.lines().map(str::to_owned).collect())
}

#[test]
fn bash_completes_machines_patterns_formats_and_files() {
    let place = Place::new();
    place.file("plan.json", "");
    for (line, wanted, unwanted) in LINES {
        let Some(found) = offered(&place, line) else { return };
        let has = |candidate: &str| found.iter().any(|found| found == candidate);
        assert!(has(wanted) && !has(unwanted), "{line}: {found:?}");
    }
}

/// Users remember a process by its name, not by its number.
#[test]
fn processes_are_completed_by_number_and_name() {
    let place = Place::new();
    std::fs::copy("/bin/sleep", place.path("seated-sleeper")).unwrap();
    let mut program = Command::new(place.path("seated-sleeper")).arg("600").spawn().unwrap();
    let pid = program.id().to_string();
    let name = format!("/proc/{pid}/comm");
    while std::fs::read_to_string(&name).unwrap().trim() != "seated-sleeper" {}
    let lines = ["check --pid seated-sle", "run --cpus 0 --pid seated-", "top -p seated"];
    let by_name: Vec<_> = lines.iter().filter_map(|line| offered(&place, line)).collect();
    let by_number = offered(&place, &format!("advise --pid {pid}"));
    let names = offered(&place, "check --name seated-s");
    program.kill().unwrap();
    program.wait().unwrap();
    for found in by_name.into_iter().chain(by_number) {
        assert_eq!(found, [pid.as_str()]);
    }
    assert!(names.is_none_or(|names| names == ["seated-sleeper"]));
}

/// `check` must accept each offered group of this computer.
#[test]
fn control_groups_and_units_are_completed() {
    let place = Place::new();
    let Some(groups) = offered(&place, "check --cgroup /sys/fs/cgroup/") else { return };
    let Some(group) = groups.iter().find(|group| Path::new(group).join("cgroup.procs").exists())
    else {
        return seatmap_needs::skipped!("no control group can be seen here");
    };
    let said = place.run(["check", "--cgroup", group, "--seconds", "0.1"]);
    let said = stderr(&said);
    assert!(!said.contains("there is no control group"), "{group}: {said}");
    let units = offered(&place, "check --unit s").unwrap();
    let is_unit = |unit: &String| {
        unit.is_empty() || [".service", ".scope", ".slice"].iter().any(|end| unit.ends_with(end))
    };
    assert!(units.iter().all(is_unit), "{units:?}");
}

#[test]
fn existing_cells_are_completed() {
    let place = Place::new();
    std::fs::create_dir(place.path("run")).unwrap();
    let boot = std::fs::read_to_string("/proc/sys/kernel/random/boot_id").unwrap();
    let line = |mut entry: serde_json::Value| {
        entry["boot_id"] = boot.trim().into();
        entry.to_string() + "\n"
    };
    let header = serde_json::json!({"entry": "begin", "format": "seatmap-cell-journal/1", "cell": "quiet", "cpus": "1", "serial": 1});
    place.file("run/quiet.journal", line(header) + &line(serde_json::json!({"entry": "done"})));
    let record = serde_json::json!({
        "format": "seatmap-cell/1", "name": "quiet", "cpus": [1], "backend": "affinity", "degraded": [], "noise_before": null,
        "noise_after": null, "state": "ready", "group": null, "irqs_left": [], "kernel_threads_left": 0, "threads_left": 0,
        "processes_left": [], "memory": null, "expires_s": null,
    });
    place.file("run/quiet.json", record.to_string());
    for verb in ["show", "run", "verify", "destroy", "renew"] {
        let Some(found) = offered(&place, &format!("cell {verb} q")) else { return };
        assert_eq!(found, ["quiet"], "{verb}");
    }
    assert_eq!(offered(&place, "cell create q").unwrap(), [""], "a new cell has a new name");
    assert_eq!(std::fs::read_dir(place.path("run")).unwrap().count(), 2, "to look changes nothing");
}

#[test]
fn fish_completes_like_bash() {
    let place = Place::new();
    place.file("plan.json", "");
    for (line, wanted, unwanted) in LINES {
        let script = format!("seatmap completions fish | source; complete -C 'seatmap {line}'");
        let Some(found) = in_shell(&place, &["fish", "--no-config"], &script) else { return };
        let has = |candidate: &str| {
            found.lines().any(|found| found.split('\t').next() == Some(candidate))
        };
        assert!(has(wanted) && !has(unwanted), "{line}: {found}");
    }
}

/// Presses the key twice: with the script read by `.zshrc`, and with it found in the function path.
#[test]
fn zsh_completes_on_first_key_press() {
    let place = Place::new();
    std::fs::create_dir(place.path("functions")).unwrap();
    place.file("functions/_seatmap", place.stdout("completions zsh"));
    let begin = "autoload -Uz compinit; compinit -u -D";
    for setup in [
        format!("{begin}; source <(seatmap completions zsh)"),
        format!("fpath=($PWD/functions $fpath); {begin}"),
    ] {
        let script = format!(
            "zmodload zsh/zpty; zpty z \"PS1='>' TERM=dumb zsh -f -i\"; zpty -w z '{setup}'; zpty -w z \"echo rea''dy\"; \
             zpty -r z out '*ready*'; zpty -w -n z $'seatmap show xeon-ph\\t'; zpty -r z out '*xeon-phi-5110p*'; print done"
        );
        // Missing output would hang the test.
        let Some(told) = in_shell(&place, &["timeout", "300", "zsh", "-f"], &script) else {
            return;
        };
        assert_eq!(told, "done\n");
    }
}

#[test]
fn shells_find_installed_completions() {
    let place = Place::new();
    let install = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../scripts/install-shell"));
    let mut command = Command::new(install);
    command.arg(env!("CARGO_BIN_EXE_seatmap")).args(["share", "man"]).current_dir(place.folder());
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert!(stdout(&output).contains("fpath=(share/zsh/site-functions $fpath)"), "{output:?}");
    for (file, shell) in [
        ("share/bash-completion/completions/seatmap", "bash"),
        ("share/zsh/site-functions/_seatmap", "zsh"),
        ("share/fish/vendor_completions.d/seatmap.fish", "fish"),
    ] {
        assert_eq!(place.read(file), place.stdout(["completions", shell]), "{file}");
    }
    assert!(place.read("man/man1/seatmap-place.1").contains(".TH"));
    let loader = "source /usr/share/bash-completion/bash_completion && _completion_loader seatmap; complete -p seatmap";
    if !Path::new("/usr/share/bash-completion/bash_completion").exists() {
        return seatmap_needs::skipped!("no bash-completion here");
    }
    let loaded =
        in_shell(&place, &["bash", "--norc"], &format!("XDG_DATA_HOME=$PWD/share; {loader}"));
    assert!(loaded.is_none_or(|loaded| loaded.contains("_clap_complete_seatmap seatmap")));
}
