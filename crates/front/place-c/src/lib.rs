//! Placing for C and C++: `libseatmap_place` and its header.
//!
//! The header `include/seatmap_place.h` is the product, and its text is the documentation comments
//! below; a test generates it anew and compares. Arguments from C are checked where they enter, and
//! a panic in Rust never leaves the library (`seatmap-c-abi`), so that the crates below need to
//! know of neither.
//!
//! | module | holds |
//! |---|---|
//! | [`machine`], [`pattern`], [`options`] | what goes in: handles that the caller owns |
//! | [`place`], [`answer`] | what comes out |
//! | [`channels`] | seats for the threads of the calling program |
//! | [`status`], [`failure`], [`message`] | how a call ends, why, and the words for it |
//! | [`argument`], [`file`] | what C hands in |
//! | [`version`] | what a program can check before it calls anything else |
//!
//! Handles are boxes given away; NULL is an answer everywhere, never a crash.
#![deny(missing_docs)]
#![expect(
    clippy::missing_safety_doc,
    reason = "C reads the rules for pointers once, at the head of the header"
)]

pub mod answer;
mod argument;
pub mod channels;
mod failure;
mod file;
pub mod machine;
mod message;
pub mod options;
pub mod pattern;
pub mod place;
pub mod status;
pub mod version;
