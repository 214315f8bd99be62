//! Several threads at once.

use crate::installed::{can_compile, library};

#[test]
fn threads_share_machines_and_keep_their_errors_apart() {
    if !can_compile() {
        return;
    }
    assert_eq!(library().run_all_ways("tests/programs/threads.c"), "right\n");
}
