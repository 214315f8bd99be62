//! Machines of one to four PUs: pages must not mention differences between pairs if there are no
//! pairs, or if the measurement cannot repeat such small differences.

use crate::common::{Arguments, Json, Place, assert_contains, stderr};
use serde_json::{Value, json};

/// A machine of `pus` PUs under one cache, with pairs measured to `off_ns` nanoseconds.
fn machine(place: &Place, pus: usize, off_ns: f64) -> String {
    let name = format!("m{pus}-{off_ns}.json");
    let four = "0,,,\n40,0,,\n60,52,0,\n45,70,41,0\n";
    place.file("four.csv", four);
    place.stdout("import four.csv --cpus 0-3 -o four.json");
    let mut profile = place.read_json("four.json");
    profile["topology"]["pus"].as_array_mut().unwrap().truncate(pus);
    profile["home_model"] = Value::Null;
    profile["name"] = json!(format!("m{pus}"));
    let distance = profile["core_distance"].as_object_mut().unwrap();
    let cut = |rows: &Value, by: f64| -> Value {
        let rows = rows.elements().iter().take(pus).enumerate();
        let cells = rows.map(|(i, row)| {
            let cells = row.elements().iter().take(pus).enumerate();
            let cell = |(j, cell): (usize, &Value)| match cell.as_f64() {
                Some(ns) if i != j => json!(ns + by),
                _ => cell.clone(),
            };
            cells.map(cell).collect::<Vec<Value>>()
        });
        json!(cells.collect::<Vec<_>>())
    };
    let median = distance["median_ns"].clone();
    for (key, by) in [("median_ns", 0.0), ("ci95_low_ns", -off_ns), ("ci95_high_ns", off_ns)] {
        distance.insert(key.to_owned(), cut(&median, by));
    }
    let status = distance["status"].elements().iter().take(pus);
    let status = status.map(|row| row.elements()[..pus].to_vec()).collect::<Vec<_>>();
    distance.insert("status".to_owned(), json!(status));
    distance.insert("pus".to_owned(), json!((0..pus).collect::<Vec<_>>()));
    place.file(&name, profile.to_string());
    name
}

fn words(page: &str) -> String {
    let body = page.split("<body").nth(1).unwrap_or(page);
    let visible = body.split("<script").next().unwrap_or(body);
    let words = visible.split('<').filter_map(|part| part.split_once('>').map(|(_, text)| text));
    words.collect::<Vec<_>>().join("").split_whitespace().collect::<Vec<_>>().join(" ")
}

fn page(place: &Place, arguments: impl Arguments) -> String {
    let output = place.run((&arguments, "--html page.html"));
    let error = stderr(&output);
    assert!(output.status.success(), "{arguments:?}: {error}");
    let page = words(&place.read("page.html"));
    for wrong in ["NaN", "inf ", "-0.0", "100.0 % of the variance"] {
        assert!(!page.contains(wrong), "{arguments:?}: {wrong}: {page}");
    }
    page
}

#[test]
fn headline_fits_machines_with_few_pairs() {
    let place = Place::new();
    for pus in 1..=4 {
        // As on a shared virtual machine, one pair's passes differ more than pairs do.
        let noisy = machine(&place, pus, 70.0);
        let shown = page(&place, ["show", &noisy]);
        for advice in ["seat threads by measured", "seat communicating", "Distances in the class"] {
            assert!(!shown.contains(advice), "{pus} PUs: {shown}");
        }
        let said = match pus {
            1 => "This profile has no distances",
            2 => "80.0 ns apart. With a single pair",
            _ => "No pair of cores is measurably nearer than another",
        };
        assert!(shown.contains(said), "{pus} PUs: {said}: {shown}");
        page(&place, ["compare", &noisy, &noisy]);
        let sent = page(&place, ["place", "--on", &noisy, "--pattern", &format!("ring:{pus}")]);
        assert!(sent.contains("proven optimal"), "{pus} PUs: {sent}");
    }
    let clear = page(&place, ["show", &machine(&place, 4, 0.5)]);
    assert_contains(&clear, "seat communicating threads on near cores");
}
