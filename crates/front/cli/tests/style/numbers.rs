//! Numbers in sentences, in everything that a test has kept of what is printed.

use super::{assert_none, texts};
use seatmap_statistics::words::faults;

/// Snapshots of the C programs' own output, in which the number of a status stands before a name.
const OF_STATUSES: &str = "-c/tests/programs/snapshots/";

/// Recorded timings, whose rows are named for what runs (`queue of 2 line by line`), and sentences of no one.
const OF_TIMINGS: &str = "__reference__timings_are_as_recorded.snap";

/// A table has two spaces between its columns.
const IN_TABLES: &str = "two spaces: ";

/// `1 threads`, `2 thread` and `-0 %` are in no snapshot.
#[test]
fn numbers_and_nouns_agree() {
    let snapshots = texts(&[".snap"]);
    let printed = snapshots.iter().filter(|(name, _)| !name.contains(OF_STATUSES) && !name.ends_with(OF_TIMINGS));
    let wrong = printed.flat_map(|(name, text)| {
        let found = faults(text).into_iter().filter(|fault| !fault.starts_with(IN_TABLES));
        found.map(move |fault| format!("{name}: {fault}"))
    });
    assert_none("sentences with a wrong number word", &wrong.collect::<Vec<_>>());
}
