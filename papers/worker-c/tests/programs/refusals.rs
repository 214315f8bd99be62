//! Mistakes of callers.

use crate::installed::{can_compile, library};

#[test]
fn every_mistake_has_a_status_and_a_line() {
    if !can_compile() {
        return;
    }
    insta::assert_snapshot!(library().run_all_ways("tests/programs/refusals.c"));
}
