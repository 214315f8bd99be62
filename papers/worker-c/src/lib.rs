//! Pinned workers for C and C++: `libseatmap_worker` and its header.
//!
//! The header `include/seatmap_worker.h` is the product, and its text is the documentation comments
//! below; a test generates it anew and compares. Its calls follow libspe2, so that programs written
//! for a Cell's SPEs find the same notions here. Arguments from C are checked where they enter, and
//! no panic leaves the library (`seatmap-c-abi`).
//!
//! | module | holds |
//! |---|---|
//! | [`runtime`], [`context`], [`mailbox`] | workers; a borrowed one; messages to it and from it |
//! | [`inside`] | what a program written in C sees |
//! | [`channel`] | files for a program that may open none |
//! | [`status`], [`failure`], [`message`] | how a call ends, why, and the words for it |
//! | [`version`] | what a program can check before it calls anything else |
#![deny(missing_docs)]
#![expect(
    clippy::missing_safety_doc,
    reason = "C reads the rules for pointers once, at the head of the header"
)]

pub mod channel;
pub mod context;
mod failure;
pub mod inside;
pub mod mailbox;
mod message;
pub mod runtime;
pub mod status;
pub mod version;
