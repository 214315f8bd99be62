//! The output of the examples.

use crate::installed::{can_compile, library};

#[test]
fn sum_example_prints_correct_sum() {
    if !can_compile() {
        return;
    }
    assert_eq!(library().run_all_ways("examples/sum.c"), "the sum is 2147450880\n");
}

#[test]
fn messages_example_exchanges_both_ways() {
    if !can_compile() {
        return;
    }
    let expected = "room for 4\n4 of 6 fit\nthe worker has doubled 1 2 3 4 5 6: 2 4 6 8 10 12\nsignalled with 5\nit ended with 7\n";
    assert_eq!(library().run_all_ways("examples/messages.c"), expected);
}
