//! The committed header matches the sources.
//!
//! `SEATMAP_HEADER=write cargo test -p seatmap-place-c --test programs header` renews it. Review
//! the difference before committing it, because C programs were compiled against it.

/// In the order of the header.
const SOURCES: [&str; 9] = [
    "src/version.rs",
    "src/status.rs",
    "src/message.rs",
    "src/machine.rs",
    "src/pattern.rs",
    "src/options.rs",
    "src/place.rs",
    "src/answer.rs",
    "src/channels.rs",
];

#[test]
fn header_matches_sources() {
    crate::made::assert_made_of(&SOURCES);
}
