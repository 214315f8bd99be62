//! `seatmap machines`.

use crate::common::{Json, Place, assert_contains, stderr};

#[test]
fn host_is_compared_after_measurement() {
    let Some(cpus) = crate::common::two_cpus() else { return };
    let place = Place::new();
    place.refuses("compare graviton3", "'seatmap measure' measures them");
    let measured = place.run(format!("measure --quick --cpus {cpus}"));
    let said = stderr(&measured);
    if !measured.status.success() || !place.path("state/seatmap").exists() {
        return seatmap_needs::skipped!("nothing is remembered of this computer: {said}");
    }
    // The second machine defaults to this computer.
    assert!(place.stdout("compare graviton3").contains("graviton3 and "));
    assert!(place.stdout("compare host graviton3").contains(" and graviton3"));
}

#[test]
fn machine_argument_suggests_show() {
    Place::new().refuses("machines graviton3", "'seatmap show graviton3' draws one machine");
}

#[test]
fn every_listed_machine_can_be_shown() {
    let place = Place::new();
    let listed = place.json("machines --json");
    let listed = listed["machines"].elements();
    assert!(listed.len() >= 10);
    for machine in listed {
        let name = machine["machine"].text();
        assert!(!machine["sources"].elements().is_empty(), "{name}");
        let page = place.stdout(["show", name]);
        assert_contains(&page, &format!("{} PUs", machine["pus"]));
        assert!(place.stdout("machines").contains(name));
    }
}
