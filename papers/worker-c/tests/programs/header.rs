//! The committed header is the generated one.
//!
//! `SEATMAP_HEADER=write cargo test -p seatmap-worker-c --test programs header` renews it. Check
//! the difference before committing, because existing C programs use the header.

/// The sources, in the order for readers of the header.
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
fn header_matches_sources() {
    crate::made::assert_made_of(&SOURCES);
}
