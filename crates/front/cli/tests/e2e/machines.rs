//! `seatmap machines`.

use crate::common::Place;

#[test]
fn all_that_are_listed_can_be_shown() {
    let place = Place::new();
    let listed = place.json(&["machines", "--json"]);
    let listed = listed["machines"].as_array().unwrap();
    assert!(listed.len() >= 10);
    for machine in listed {
        let name = machine["machine"].as_str().unwrap();
        assert!(!machine["sources"].as_array().unwrap().is_empty(), "{name}");
        let page = place.stdout(&["show", name]);
        assert!(page.contains(&format!("{} PUs", machine["pus"])), "{page}");
        assert!(place.stdout(&["machines"]).contains(name));
    }
}
