//! Several threads at once.

use crate::installed::library;

#[test]
fn threads_share_machines_and_keep_their_errors_apart() {
    assert_eq!(library().run_all_ways("tests/programs/threads.c"), "right\n");
}
