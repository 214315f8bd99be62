//! The output of every verb on narrow and wide terminals.

use crate::common::{
    Arguments, Json, Place, assert_contains, can_pretend, in_front_of, terminal, two_cpus,
};
use serde_json::Value;
use std::io::Read;
use std::process::{Command, Output, Stdio};

const WIDTHS: [usize; 3] = [60, 80, 120];

const LONG: &str = "a-machine-with-a-name-that-somebody-made-up-of-everything";

/// The text of both streams on a terminal of this width.
fn at(place: &Place, columns: usize, arguments: impl Arguments) -> String {
    let output: Output =
        place.command(arguments).env("COLUMNS", columns.to_string()).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8(text).unwrap()
}

/// A single word may be too long, because paths must be copyable.
fn too_long(text: &str, columns: usize) -> Vec<&str> {
    let long = text.lines().filter(|line| line.chars().count() > columns);
    long.filter(|line| line.trim().contains(' ')).collect()
}

fn fits(place: &Place, arguments: impl Arguments) {
    for columns in WIDTHS {
        let text = at(place, columns, &arguments);
        assert!(!text.is_empty(), "{arguments:?} prints nothing");
        let long = too_long(&text, columns);
        assert!(long.is_empty(), "{arguments:?} at {columns}: {long:#?}\n{text}");
    }
}

fn with_long_name(place: &Place) -> &'static str {
    place.stdout("export graviton3 --format json -o long.json");
    let mut profile = place.read_json("long.json");
    profile["name"] = LONG.into();
    place.file("long.json", profile.to_string())
}

#[test]
fn machines_and_plans_fit_any_terminal() {
    let place = Place::new();
    let long = with_long_name(&place);
    fits(&place, "machines");
    fits(&place, "show host");
    for machine in ["epyc-9654-2s", "epyc-7r13-2s", "xeon-phi-5110p", long] {
        fits(&place, ["show", machine]);
        fits(&place, format!("show {machine} --near 0"));
    }
    for machine in ["epyc-9654-2s", long] {
        for pattern in ["ring:8", "stencil2d:8x8"] {
            fits(&place, format!("place --on {machine} --pattern {pattern} --kicks 20"));
        }
    }
    fits(&place, "pattern list");
    fits(&place, "pattern show stencil2d:8x8");
    fits(&place, ["import", long, "-o", "again.json"]);
    fits(&place, ["model", "fit", long, "-o", "twin.toml"]);
}

/// `--width` applies to a pipe as well.
#[test]
fn every_machine_fits_requested_width() {
    let place = Place::new();
    let machines = place.json("machines --json");
    let machines = machines["machines"].elements();
    assert!(machines.len() >= 13, "{machines:?}");
    for machine in machines.iter().map(|machine| machine["machine"].text()) {
        for columns in [80, 120] {
            let width = ["--width", &columns.to_string()];
            let shown = place.stdout((&["show", machine, "--near", "0"], width));
            assert!(shown.starts_with(machine), "{shown}");
            let long = too_long(&shown, columns);
            assert!(long.is_empty(), "{machine} at {columns}: {long:#?}");
            let compared = at(&place, columns, format!("compare {machine} epyc-7r13-2s"));
            let long = too_long(&compared, columns);
            assert!(long.is_empty(), "{machine} compared at {columns}: {long:#?}");
        }
    }
    fits(&place, "machines");
    let drawn = place.stdout("pattern show stencil2d:8x8 --width 60");
    assert!(too_long(&drawn, 60).is_empty(), "{drawn}");
    let wide = place.stdout("--wide show graviton3 --width 60");
    assert!(!too_long(&wide, 60).is_empty(), "--wide leaves lines whole: {wide}");
}

#[test]
fn host_reports_fit_any_terminal() {
    let place = Place::new();
    let pid = std::process::id().to_string();
    fits(&place, "doctor");
    fits(&place, "noise --seconds 0.1");
    fits(&place, "check --all --seconds 0.1");
    fits(&place, format!("check --pid {pid} --rule one-per-core --seconds 0.1"));
    fits(&place, "top --once --interval 0.1");
    if let Some(cpus) = two_cpus() {
        fits(&place, format!("measure --quick --cpus {cpus}"));
    }
}

#[test]
fn program_reports_fit_any_terminal() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    let shell = ["sh", "-c", "sleep 0.01; : a shell with many words in its command line"];
    let run = [&["run", "--strict", "--cpus", &cpus, "--"], &shell[..]].concat();
    fits(&place, &run);
    let bench = ["bench", "--runs", "3", "--cpus", &cpus, "--compare", "sleep 0.012", "--"];
    fits(&place, (bench, shell));
    let tune = "tune --budget 24 --candidates 2 --record runs.json --";
    fits(&place, (tune, shell));
    let advise = ["advise", "--pid", &std::process::id().to_string()].map(str::to_owned);
    let advise: Vec<&str> = advise.iter().map(String::as_str).collect();
    let text = at(&place, 60, &advise);
    assert!(too_long(&text, 60).is_empty(), "{text}");
    if can_pretend() {
        let check = "pretend epyc-9654-2s --check one-per-core,no-irq --";
        fits(&place, (check, shell));
    }
}

#[test]
fn services_fit_any_terminal() {
    let place = Place::new();
    let mut program = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = program.id();
    place.file(
        "services.toml",
        format!(
            "format = \"seatmap-services/1\"\n\n[[service]]\nname = \"{LONG}\"\npid = {pid}\n\n\
             [[service]]\nname = \"the-other\"\npid = {}\n",
            std::process::id()
        ),
    );
    let shown = at(&place, 80, "services show");
    for verb in ["services show", "services observe --seconds 0.3", "services plan --seconds 0.3"] {
        fits(&place, verb);
    }
    program.kill().unwrap();
    program.wait().unwrap();
    assert_contains(&shown, "the-other");
}

#[test]
fn clusters_fit_any_terminal() {
    let place = Place::new();
    let names = |node| format!("compute-standard-of-the-second-hall-{node:04}");
    for nodes in [6, 40] {
        let mut cluster: Value =
            serde_json::from_str(&crate::cluster::two_switches(nodes, names)).unwrap();
        for pair in cluster["pairs"].as_array_mut().unwrap() {
            if pair["nodes"].elements().contains(&1.into()) {
                pair["rate_mbps"] = serde_json::json!([300.0, 300.0]);
            }
        }
        let file = place.file("cluster.json", cluster.to_string());
        fits(&place, ["show", file]);
        fits(&place, ["cluster", "doctor", file]);
        fits(&place, ["place", "--on", file, "--pattern", "ring:12"]);
        let shown = place.stdout(["show", file, "--width", "80"]);
        assert!(too_long(&shown, 80).is_empty(), "{shown}");
    }
}

/// Two busy processes produce more advice than a sleeping one.
#[test]
fn advice_for_busy_program_fits_any_terminal() {
    let place = Place::new();
    let shell = ["advise", "--", "timeout", "20", "sh", "-c", "yes | cat > /dev/null"];
    for columns in [80, 120] {
        let text = at(&place, columns, shell);
        let facts = ["observed", "messages", "bottleneck", "bound by", "why", "confidence"];
        assert!(facts.iter().all(|fact| text.contains(fact)), "{text}");
        let long = too_long(&text, columns);
        assert!(long.is_empty(), "at {columns}: {long:#?}\n{text}");
    }
}

#[test]
fn omitted_columns_are_named_and_wide_shows_them() {
    let place = Place::new();
    let narrow = at(&place, 60, "noise --seconds 0.1");
    assert!(narrow.contains("(left out: ") && narrow.contains("--wide"), "{narrow}");
    let wide = at(&place, 60, "noise --seconds 0.1 --wide");
    assert!(!wide.contains("left out") && wide.contains("p99.9"), "{wide}");
    let piped = place.stdout("noise --seconds 0.1");
    assert!(piped.contains("p99.9"), "a pipe has room for all: {piped}");
}

#[test]
fn comparison_fits_any_terminal() {
    let place = Place::new();
    let long = with_long_name(&place);
    for (first, second) in [("epyc-7r13-2s", "epyc-9654-2s"), ("graviton3", long)] {
        fits(&place, format!("compare {first} {second}"));
    }
    let text = place.stdout("compare epyc-7r13-2s epyc-9654-2s");
    assert_contains(&text, "times as far on epyc-9654-2s");
    place.refuses("compare epyc-7r13-2s nowhere.json", "nowhere.json");
}

fn on_terminal(command: &mut Command) -> String {
    let (mut screen, programs) = terminal();
    in_front_of(programs.try_clone().unwrap(), command);
    let mut child = command.stdout(Stdio::null()).stderr(programs).spawn().unwrap();
    // Only the command has the terminal open now, so reading ends with it.
    command.stdin(Stdio::null()).stderr(Stdio::null());
    let mut shown = Vec::new();
    let mut buffer = [0; 4096];
    // On Linux, reading fails with EIO after the last program has exited.
    while let Ok(count @ 1..) = screen.read(&mut buffer) {
        shown.extend_from_slice(&buffer[..count]);
    }
    child.wait().unwrap();
    String::from_utf8_lossy(&shown).into_owned()
}

#[test]
fn long_work_shows_progress() {
    if !crate::common::can_observe() {
        return;
    }
    let place = Place::new();
    let mut program = Command::new("sleep").arg("600").spawn().unwrap();
    let pid = program.id().to_string();
    let look = on_terminal(&mut place.command(format!("advise --pid {pid}")));
    let observe = ["observe", "--pid", &pid, "--seconds", "4"];
    let observation = on_terminal(&mut place.command(observe));
    let auto = ["run", "--auto", "--seconds", "4", "--pid", &pid];
    let seeking = on_terminal(&mut place.command(auto));
    let command = on_terminal(&mut place.command("observe -- sleep 0.3"));
    program.kill().unwrap();
    program.wait().unwrap();
    assert_contains(&look, "observing");
    assert_contains(&observation, "observing");
    assert_contains(&command, "observing 'sleep' until it ends");
    if two_cpus().is_some() {
        assert_contains(&seeking, "trying seats");
    }
}

#[test]
fn written_file_is_named_on_terminal() {
    let place = Place::new();
    let plan = "place --on graviton3 --pattern ring:4 --kicks 5 -o p.json";
    let shown = on_terminal(&mut place.command(plan));
    assert!(shown.contains("wrote ") && shown.contains("p.json"), "{shown}");
    let Some(cpus) = two_cpus() else { return };
    let shown = on_terminal(&mut place.command("measure --quick --wakeups 0"));
    let file = place.path("state/seatmap");
    let is_whole = file.exists();
    assert_eq!(shown.contains("saved for other commands"), is_whole, "{cpus}: {shown}");
}
