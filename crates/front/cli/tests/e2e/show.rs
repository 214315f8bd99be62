//! `seatmap show`.

use crate::common::{Json, Place, assert_contains, stdout};

#[test]
fn machine_is_drawn_in_terminal() {
    let place = Place::new();
    insta::assert_snapshot!(place.stdout("show core-i9-12900k --width 100 --near 16"));
}

#[test]
fn colours_appear_on_terminals_or_request() {
    let place = Place::new();
    let shown = |arguments: &str| place.stdout(("show graviton3", arguments));
    assert!(!shown("").contains('\u{1b}'));
    assert!(shown("--colour true").contains("\u{1b}[38;2;"));
    assert!(shown("--colour 256").contains("\u{1b}[38;5;"));
    assert!(!shown("--color never").contains('\u{1b}'));
    assert_ne!(shown("--order os"), "");
}

#[test]
fn html_page_loads_no_other_resource() {
    let place = Place::new();
    place.stdout("show epyc-7r13-2s --html x.html");
    let page = place.read("x.html");
    assert!(page.starts_with("<!DOCTYPE html>"));
    for forbidden in ["src=\"", "href=\"http", "@import", "url(http", "<link rel=\"stylesheet"] {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
    assert!(page.contains("SMT siblings") && page.contains("<canvas"));
}

#[test]
fn json_contains_shown_findings() {
    let shown = Place::new().json("show epyc-7r13-2s --json");
    assert_eq!(shown["pus"], 192);
    assert_eq!(shown["groups"].elements().len(), 12);
    assert_eq!(shown["classes"][0]["name"], "SMT siblings");
    assert!(shown["findings"][0]["finding"]["far_home"]["far_ns"].number() > 390.0);
}

#[test]
fn files_of_other_tools_are_shown() {
    let Some(matrix) = seatmap_needs::published("core-to-core/xeon-8375c-2s-128.csv") else {
        return;
    };
    let page = Place::new().stdout(["show", matrix.to_str().unwrap()]);
    assert_contains(&page, "Inside the groups each distance is the sum of two figures, one per PU");
}

#[test]
fn machine_is_read_from_stdin() {
    let place = Place::new();
    place.file("x.csv", ",\n30,\n");
    let file = std::fs::File::open(place.path("x.csv")).unwrap();
    let output = place.command("show -").stdin(file).output().unwrap();
    assert!(stdout(&output).contains("60.0"), "{output:?}");
}

#[test]
fn html_and_json_do_not_share_stdout() {
    let place = Place::new();
    let both = "show graviton3 --json --html";
    place.refuses((both, "-"), "--html - both print to stdout");
    assert_eq!(place.json((both, "x.html"))["pus"], 64);
    let page = place.run("show graviton3 --html -");
    assert!(page.stderr.is_empty() && page.stdout == place.read("x.html").as_bytes());
}

#[test]
fn plan_is_shown_as_printed() {
    let place = Place::new();
    let options = "--pattern ring:4 --kicks 50 -o plan.json";
    let printed = place.stdout(("place --on graviton3", options));
    let shown = place.stdout("show plan.json");
    assert!(shown.starts_with("ring:4: 4 tasks on graviton3") && printed.starts_with(&shown));
    assert_eq!(place.json("show plan.json --json")["format"], "seatmap-plan/1");
}

/// Plans contain no messages, so only costs and seats are drawn.
#[test]
fn saved_plan_is_drawn() {
    let place = Place::new();
    let options = "--pattern ring:4 --kicks 50 -o plan.json";
    place.stdout(("place --on graviton3", options));
    place.stdout("show plan.json --html page.html --svg plan.svg");
    let page = place.read("page.html");
    for part in ["ring:4 on graviton3", "OS order", "60 CPUs without a task"] {
        assert!(page.contains(part), "{part}");
    }
    let picture = place.read("plan.svg");
    assert!(picture.starts_with("<svg") && picture.contains("ring:4 on graviton3"), "{picture}");
    assert_eq!(place.stdout("show plan.json --svg -"), picture);
    place.refuses("show plan.json --html - --svg -", "--html - and --svg - both print to stdout");
}

/// The machine is unknown, and its name opens no file.
#[test]
fn plan_of_unknown_machine_is_drawn() {
    let place = Place::new();
    for machine in ["rack 7", "./secret.json", "/dev/zero"] {
        let seats = r#""placement":[3,1,900000],"names":["a","b","c"]"#;
        let plan = format!(r#"{{"format":"seatmap-plan/1","machine":"{machine}",{seats}}}"#);
        place.file("plan.json", plan);
        let page = place.stdout("show plan.json --html -");
        assert!(page.contains(&format!("a placement on {machine}")), "{machine}");
        assert!(page.contains("CPU 900000"), "{machine}");
        assert!(place.stdout("show plan.json --svg -").starts_with("<svg"));
    }
}

#[test]
fn svg_draws_only_machines_and_plans() {
    let place = Place::new();
    let picture = place.stdout("show graviton3 --svg -");
    assert_eq!(picture, place.stdout("export --format svg graviton3"));
    place.file("seating.json", r#"{"format":"seatmap-seating/1"}"#);
    place.refuses("show seating.json --svg x.svg", "--svg draws machines and plans of tasks");
    assert!(!place.path("x.svg").exists());
}
