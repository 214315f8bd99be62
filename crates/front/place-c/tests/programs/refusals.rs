//! Checks the mistakes that a caller can make.

use crate::installed::{can_compile, library};

#[test]
fn every_mistake_has_a_status_and_a_line() {
    if !can_compile() {
        return;
    }
    std::fs::write(library().path("bad.json"), "{\"format\": \"seatmap-profile/1\",\n!").unwrap();
    insta::assert_snapshot!(library().run_all_ways("tests/programs/refusals.c"));
}
