//! Mistakes of callers.

use crate::installed::{can_compile, library};

#[test]
fn every_mistake_returns_status_and_message() {
    if !can_compile() {
        return;
    }
    insta::assert_snapshot!(library().run_all_ways("tests/programs/refusals.c"));
}
