//! `seatmap place`.

use crate::common::{Json, Place, assert_contains, in_front_of, stdout, terminal, two_cpus};
use serde_json::Value;
use std::io::Read;
use std::process::Stdio;

fn placement(plan: &Value) -> Vec<u64> {
    plan["placement"].elements().iter().map(|os| os.whole()).collect()
}

#[test]
fn cost_matches_profile_distances() {
    let place = Place::new();
    place.stdout("export xeon-e5-2680-2s --format json -o machine.json");
    let plan = place.json("place --on machine.json --pattern random:20:3:5 --kicks 500 --json");
    let machine = place.read_json("machine.json");
    let pattern = place.json("pattern show random:20:3:5 --json");
    let seats = placement(&plan);
    let at = |edge: &Value, end: &str| seats[edge[end].whole() as usize] as usize;
    let cost: f64 = pattern["edges"]
        .elements()
        .iter()
        .map(|edge| {
            machine["core_distance"]["median_ns"][at(edge, "from")][at(edge, "to")].number()
        })
        .sum();
    assert!((cost - plan["cost"].number()).abs() < 1e-6 * cost, "{cost} {plan}");
}

/// If two vCPUs took turns, a plan avoids them or names them.
#[test]
fn vcpus_sharing_a_host_cpu_are_named() {
    let place = Place::new();
    place.stdout("export ryzen-5950x --format json -o guest.json");
    let mut guest = place.read_json("guest.json");
    for [i, j] in [[0, 1], [1, 0]] {
        guest["core_distance"]["median_ns"][i][j] = 3.1e6.into();
        guest["core_distance"]["status"][i][j] = "stacked".into();
    }
    place.file("guest.json", guest.to_string());
    let ask =
        |cpus: &str| place.stdout(format!("place --on guest.json --pattern ring:4 --cpus {cpus}"));
    assert!(ask("0-3").contains("CPUs 0 and 1 shared one CPU of the host"), "{}", ask("0-3"));
    assert!(!ask("0-4").contains("of the host"), "{}", ask("0-4"));
}

const PIZZA: &str = "place --on xeon-phi-5110p --pattern clusters:4x9 --method pizza --sections 4 --objective simulated --rounds 1 --kicks 6 --threads 1 --svg";

#[test]
fn guide_picture_is_current() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/pictures/pizza-5110p.svg");
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/placing.md");
    assert!(
        std::fs::read_to_string(guide).unwrap().contains(PIZZA),
        "the guide has another command"
    );
    let printed = Place::new().stdout((PIZZA, "-"));
    assert!(
        printed == std::fs::read_to_string(kept).unwrap(),
        "make it anew: seatmap {PIZZA} {kept}"
    );
}

/// In a model of distances, messages between tasks that share a CPU cost nothing.
#[test]
fn single_cpu_is_not_reported_as_no_messages() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    if !place.run(format!("measure --quick --cpus {cpus}")).status.success() {
        return seatmap_needs::skipped!("nothing can be measured");
    }
    let cpu = cpus.split(',').next().unwrap_or_default();
    let mut command = place.command_of("taskset");
    command.args(["-c", cpu, crate::PROGRAM, "place", "--pattern", "ring:2"]);
    let Ok(output) = command.output() else { return seatmap_needs::skipped!("no taskset") };
    let table = stdout(&output);
    assert_contains(&table, "all tasks share one CPU");
    assert!(!table.contains("no messages"), "{table}");
}

/// The message appears after two seconds, and no proof ends this search sooner.
#[test]
fn long_search_shows_progress_on_terminal() {
    let place = Place::new();
    let search = "place --on epyc-7r13-2s --pattern random:64:4:1 --threads 1 --seconds 3";
    let told = |stderr: Option<Stdio>| {
        let (mut screen, programs) = terminal();
        let mut command = place.command(search);
        command
            .env("TERM", "xterm")
            .stdout(Stdio::null())
            .stderr(stderr.unwrap_or_else(|| programs.try_clone().unwrap().into()));
        in_front_of(programs, &mut command);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut text = Vec::new();
        // After the last program has exited, reading is an error.
        let _ = screen.read_to_end(&mut text);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&text).into_owned()
    };
    assert!(told(None).contains("searching"));
    assert_eq!(told(Some(Stdio::null())), "", "only a terminal is drawn on");
}
