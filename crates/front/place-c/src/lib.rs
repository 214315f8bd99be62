//! Placement for C and C++: `libseatmap_place` and its header.
//!
//! The doc comments below are the text of the header `include/seatmap_place.h`; a test compares
//! them. Arguments are checked here, and no panic leaves the library (`seatmap-c-abi`).
//!
//! | module | holds |
//! |---|---|
//! | [`machine`], [`pattern`], [`options`] | the inputs: handles that the caller owns |
//! | [`place`], [`answer`] | the placement and its result |
//! | [`channels`] | CPUs for the threads of the calling program |
//! | [`status`], [`failure`], [`message`] | the result of a call, its cause, and its message |
//! | [`argument`], [`file`] | the arguments from C |
//! | [`version`] | the version, which a program can check first |
//!
//! Handles are boxes owned by C. Every function accepts NULL without a crash.
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
