//! `seatmap-papers channels`: the experiments of Liu et al. 2015 on their chip.

use crate::common::{Place, stderr};
use crate::product::product;

#[test]
fn curve_finds_directory_at_shortest_distance() {
    let place = Place::new();
    let curve = place.json("channels curve --line 9 --on xeon-phi-5110p --svg c.svg --json");
    assert_eq!(
        (&curve["nearest"], &curve["same_core"]["pu"], &curve["most_cycles"]),
        (&125.into(), &237.into(), &1564.0.into())
    );
    assert_eq!(curve["points"].as_array().map(Vec::len), Some(59));
    assert!(place.read("c.svg").starts_with("<svg"), "a picture");
}

#[test]
fn seats_near_home_repay_their_search() {
    let place = Place::new();
    let ask = "channels producer-consumer --iterations 3 --on xeon-phi-5110p --json";
    let gain = place.json(ask);
    let figure = |name: &str| gain[name].as_f64().unwrap_or_default();
    assert!(figure("mean") > 1.0 && figure("mean_without_search") > figure("mean"), "{gain}");
    assert_eq!(gain, place.json(ask), "the same each time");
}

/// This computer's figures vary, so the test checks their presence and the errors.
#[test]
fn host_can_be_measured() {
    let place = Place::new();
    let cpus = std::thread::available_parallelism().map_or(1, usize::from);
    let curve = place.run("channels curve --from 999999 --json");
    assert_eq!(curve.status.code(), Some(2), "{}", stderr(&curve));
    if cpus < 2 {
        return seatmap_needs::skipped!("one CPU");
    }
    let slices = "channels slices --pairs 1 --sections 1 --runs 1 --json";
    let found = place.run(slices);
    match found.status.code() {
        Some(0) => {
            let found: serde_json::Value = serde_json::from_slice(&found.stdout).unwrap();
            assert!(
                found["random"]["median_cycles"].as_f64().is_some_and(|cycles| cycles > 0.0),
                "{found}"
            );
            assert_eq!(found["load"], serde_json::Value::Null, "nobody counts");
            let gain = "channels producer-consumer --iterations 2 --values 50 --json";
            assert_eq!(place.json(gain)["speed_ups"].as_array().map(Vec::len), Some(2));
        }
        // Two hardware threads of one core.
        code => assert_eq!(code, Some(2), "{}", stderr(&found)),
    }
}

/// A fitted model counts time in fractions of a cycle.
#[test]
fn twin_cycles_follow_its_clock() {
    let place = Place::new();
    if product(&place, "model fit ryzen-5950x -o twin.toml").is_none() {
        return;
    }
    let curve = place.json("channels curve --on twin.toml --json");
    let per_cycle = curve["nanoseconds_per_cycle"].as_f64().unwrap_or_default();
    let siblings_ns = curve["same_core"]["cycles"].as_f64().unwrap_or_default() * per_cycle;
    assert!((per_cycle - 1.0 / 3.0).abs() < 1e-9 && (siblings_ns - 15.6).abs() < 0.5, "{curve}");
}

#[test]
fn lines_without_homes_have_no_home_share() {
    let place = Place::new();
    let ask = "channels slices --pairs 4 --sections 2 --runs 1 --on xeon-e5-2680-2s";
    assert!(place.stdout(ask).contains("no homes are found"));
    let told = place.json((ask, "--json"));
    assert_eq!(told.get("at_home_share"), Some(&serde_json::Value::Null), "{told}");
}

#[test]
fn producer_consumer_and_line_are_drawn() {
    let place = Place::new();
    let ask = "channels producer-consumer --iterations 1 --on xeon-phi-5110p";
    assert!(place.stdout((ask, "--html page.html")).contains("1 comparison,"));
    let page = place.read("page.html");
    assert!(
        page.contains("near the homes") && page.contains("channels on a link, clockwise outside"),
        "{page}"
    );
    assert_eq!(page.matches("class=\"taken\"").count(), 4, "two threads, before and after");
    assert_eq!(page.matches(": the lines of 0 to 1<").count(), 2, "one line, before and after");
    let slices = "channels slices --runs 1 --pairs 8 --on xeon-phi-5110p --html -";
    assert_eq!(place.stdout(slices).matches("class=\"taken\"").count(), 2 * 16);
    assert!(place.refusal((ask, "--html - --json")).contains("only one of"));
}

#[test]
fn mismatched_options_are_refused() {
    let place = Place::new();
    let refusal = |words: &str| place.refusal(("channels", words, "--on xeon-phi-5110p"));
    assert!(refusal("slices --sections 7").contains("7 sections do not divide 60 cores"));
    assert!(refusal("slices --lines 7").contains("60 channels need a line each, but there are 7"));
    assert!(
        refusal("mandelbrot --workers 20")
            .contains("21 threads need a core each, but a section has 15")
    );
    assert!(refusal("curve --from 999").contains("there is no CPU 999 here"));
}
