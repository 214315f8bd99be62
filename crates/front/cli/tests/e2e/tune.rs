//! `seatmap tune`, on commands that print fixed figures: nothing here depends on how fast anything runs.

use crate::common::{Place, files, two_cpus};
use serde_json::Value;

/// Prints 9 where it may run on one CPU alone, and 10 else.
const BEST_ALONE: &str = "grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/self/status && echo took 9 || echo took 10";

/// Prints 10 where it may run on one CPU alone, and 9 else.
const BEST_FREE: &str = "grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/self/status && echo took 10 || echo took 9";

fn race(place: &Place, options: &[&str], script: &str) -> std::process::Output {
    let metric = ["tune", "--metric", "regex:took ([0-9]+)", "--lower-is-better"];
    place.run(&[&metric, options, &["--", "sh", "-c", script]].concat())
}

fn document(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn better_seats_are_found_and_written() {
    if two_cpus().is_none() {
        return eprintln!("skipped: one CPU");
    }
    let place = Place::new();
    let options = ["--budget", "70", "-o", "plan.json", "--html", "p.html", "--json"];
    let found = document(&race(&place, &options, BEST_ALONE));
    let verdict = &found["verdict"];
    assert_eq!((&found["candidates"][0]["seats"], &verdict["safe"]), (&"free".into(), &true.into()), "{found}");
    assert!((verdict["confirmed"][0]["percent"].as_f64().unwrap() + 10.0).abs() < 1e-9, "{verdict}");
    assert!(found["runs"].as_array().unwrap().len() <= 70);
    let kept: Value = serde_json::from_str(&place.read("seatmap-tune.json")).unwrap();
    assert_eq!(kept, found);
    assert!(place.read("p.html").contains("is better than 'default' by 10.0 %"));
    let winner = &found["candidates"][verdict["winner"].as_u64().unwrap() as usize];
    // A mask is told, and an order is a plan.
    assert_eq!(winner["seats"]["order"].is_string(), files(&place).contains(&"plan.json".to_owned()), "{winner}");
}

#[test]
fn the_default_is_not_replaced_by_what_is_worse() {
    if two_cpus().is_none() {
        return eprintln!("skipped: one CPU");
    }
    let place = Place::new();
    let output = race(&place, &["--budget", "70", "-o", "plan.json"], BEST_FREE);
    let (text, said) = (String::from_utf8(output.stdout).unwrap(), String::from_utf8(output.stderr).unwrap());
    assert!(text.contains("No candidate was better than the default."), "{text}");
    assert!(output.status.success() && said.contains("no plan is written"), "{said}");
    assert_eq!(files(&place), ["seatmap-tune.json"]);
}

#[test]
fn a_race_that_failed_goes_on_with_its_runs() {
    if two_cpus().is_none() {
        return eprintln!("skipped: one CPU");
    }
    let place = Place::new();
    // Fails at the thirtieth run until a file says that all is well.
    let script = "echo x >> n; test -e well || test $(wc -l < n) -lt 30 || exit 3; echo took 5";
    let options = ["--budget", "60", "--candidates", "2", "--json"];
    let failed = race(&place, &options, script);
    assert_eq!(failed.status.code(), Some(1), "{failed:?}");
    let kept = |place: &Place| -> Value { serde_json::from_str(&place.read("seatmap-tune.json")).unwrap() };
    assert_eq!((kept(&place)["runs"].as_array().unwrap().len(), &kept(&place)["verdict"]), (29, &Value::Null));
    place.file("well", "");
    let resumed = document(&race(&place, &[&options[..], &["--resume"]].concat(), script));
    let runs = resumed["runs"].as_array().unwrap().len();
    // The failed run and no other was made twice.
    assert_eq!(place.read("n").lines().count(), runs + 1);
    assert_eq!(resumed["begun"], kept(&place)["begun"]);
    let other = race(&place, &[&options[..], &["--resume", "--seed", "2"]].concat(), script);
    let said = String::from_utf8(other.stderr).unwrap();
    assert!(other.status.code() == Some(2) && said.contains("the seed: 2, then 1"), "{said}");
}

#[test]
fn mistakes_are_told_before_anything_runs() {
    let place = Place::new();
    place.file("broken.json", "{}");
    let mut cases = vec![
        (&["--metric", "regex:(1)"][..], "--higher-is-better"),
        (&["--cpus", "1023"], "may not use"),
        (&["--record", "-"], "--record needs a file"),
    ];
    if two_cpus().is_some() {
        cases.extend([
            (&["--budget", "20"][..], "at least"),
            (&["--resume"], "seatmap-tune.json"),
            (&["--resume", "--record", "broken.json"], "broken.json"),
            (&["--pattern", "nothing:3"], "nothing"),
        ]);
    }
    for (options, said) in cases {
        let refusal = place.refusal(&[&["tune"], options, &["--", "touch", "made"]].concat());
        assert!(refusal.contains(said), "{options:?}: {refusal}");
    }
    assert_eq!(files(&place), ["broken.json"]);
}

#[test]
fn a_program_that_is_observed_first_is_placed_by_what_was_seen() {
    let Some(cpus) = two_cpus() else { return eprintln!("skipped: one CPU") };
    let place = Place::new();
    place.stdout(&["measure", "--quick"]);
    let script = "head -c 300000 /dev/zero | cat | wc -c";
    let options = ["tune", "--observe", "--cpus", &cpus, "--candidates", "3", "--budget", "57", "--json"];
    let output = place.run(&[&options[..], &["--", "sh", "-c", script]].concat());
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    if said.contains("not allowed") || said.contains("no thread was seen") {
        return eprintln!("skipped: {said}");
    }
    let found = document(&output);
    let best = &found["candidates"][1];
    assert_eq!((&best["name"], best["seats"]["placement"].is_array()), (&"best".into(), true), "{found}");
    assert!(best["predicted"].is_number() && found["verdict"].is_object(), "{found}");
}
