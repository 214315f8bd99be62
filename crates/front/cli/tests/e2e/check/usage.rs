//! The command line: choices, mistakes, files.

use super::{Checked, bind_all, check, check_pid, threads};
use crate::common::{Json, Place, stdout};
use crate::run::programs::{are_two, installed, two_cpus};
use seatmap_data::document::schema::refused;
use serde_json::Value;
use std::path::Path;
use std::process::Command;

#[test]
fn bound_programs_are_checked_by_default() {
    let [a, b] = two_cpus();
    let programs = (threads(1, "sleep"), threads(1, "sleep"));
    let (Some(bound), Some(free), true) = (programs.0, programs.1, are_two([a, b])) else { return };
    bind_all(bound.pid(), &[b]);
    let checked = check(&Place::new(), "--rule same-core");
    let has =
        |pid: i32| checked.document["processes"].elements().iter().any(|one| one["pid"] == pid);
    assert!(has(bound.pid()) && !has(free.pid()), "{}", checked.document);
}

#[test]
fn children_are_checked_unless_excluded() {
    let place = Place::new();
    let mut shell = Command::new("sh").args(["-c", "sleep 1000 & wait"]).spawn().unwrap();
    let pid = shell.id() as i32;
    let of = |options: &str| check_pid(&place, pid, options).document["processes"].elements().len();
    let children = format!("/proc/{pid}/task/{pid}/children");
    while std::fs::read_to_string(&children).unwrap().trim().is_empty() {}
    let counts = ["", "--children", "--no-children"].map(of);
    let page = place.run(format!("check --pid {pid} --seconds 0.1"));
    let child: i32 = std::fs::read_to_string(children).unwrap().trim().parse().unwrap();
    // SAFETY: the process is a child of this test's shell.
    unsafe { libc::kill(child, libc::SIGKILL) };
    shell.wait().unwrap();
    assert_eq!(counts, [2, 2, 1]);
    let headline = format!("2 processes: sh ({pid}) and 1 child process\n");
    assert!(stdout(&page).starts_with(&headline), "{}", stdout(&page));
}

#[test]
fn programs_are_found_by_name() {
    let Some(program) = threads(1, "sleep") else { return };
    let checked = check(&Place::new(), "--name threads-sp*");
    let pids: Vec<&Value> =
        checked.document["processes"].elements().iter().map(|one| &one["pid"]).collect();
    assert!(pids.contains(&&program.pid().into()), "{pids:?}");
}

fn schema() -> Value {
    let path =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/formats/seatmap-seating-1.schema.json");
    serde_json::from_str(&std::fs::read_to_string(Path::new(path)).unwrap()).unwrap()
}

#[test]
fn output_file_follows_schema() {
    let Some(program) = threads(1, "sleep") else { return };
    let place = Place::new();
    let pid = program.pid();
    bind_all(pid, &[two_cpus()[0]]);
    let checked = check_pid(&place, pid, "--rule one-per-cpu -o seating.json");
    checked.wrong("one-per-cpu");
    assert_eq!(refused(&schema(), &checked.document), Vec::<String>::new());
    let file = place.read_json("seating.json");
    assert_eq!(file, checked.document);
}

#[test]
fn plan_is_read_from_stdin() {
    let Some(program) = threads(1, "sleep").filter(|_| installed("sh")) else { return };
    let [a, _] = two_cpus();
    bind_all(program.pid(), &[a]);
    let place = Place::new();
    super::plan(&place, &[a, a]);
    let mut command =
        place.command(["check", "--json", "--pid", &program.pid().to_string(), "--expect", "-"]);
    command.stdin(std::fs::File::open(place.path("plan.json")).unwrap());
    Checked::of(command.output().unwrap()).assert_healthy();
}
