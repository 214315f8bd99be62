//! The header that is checked in is the one that the sources make.
//!
//! `SEATMAP_HEADER=write cargo test -p seatmap-worker-c --test programs header` renews it; look at
//! the difference before it is committed: C programs were compiled against it.

/// In the order in which a reader meets them.
const SOURCES: [&str; 8] = [
    "src/version.rs",
    "src/status.rs",
    "src/message.rs",
    "src/runtime.rs",
    "src/context.rs",
    "src/mailbox.rs",
    "src/inside.rs",
    "src/channel.rs",
];

#[test]
fn the_header_is_made_of_the_sources() {
    crate::made::assert_made_of(&SOURCES);
}
