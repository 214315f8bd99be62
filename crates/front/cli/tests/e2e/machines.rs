//! `seatmap machines`.

use crate::common::{Place, stderr};

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
