//! Pinned workers for C and C++: `libseatmap_worker` and its header.
//!
//! The header `include/seatmap_worker.h` is generated from the documentation comments below, and a
//! test compares them. Its calls follow libspe2, for programs of the Cell. Arguments from C are
//! checked, and no panic leaves the library (`seatmap-c-abi`).
//!
//! | module | contents |
//! |---|---|
//! | [`runtime`], [`context`], [`mailbox`] | workers; a borrowed one; messages to it and from it |
//! | [`inside`] | the functions for a program in C |
//! | [`channel`] | files for a program that may open none |
//! | [`status`], [`failure`], [`message`] | the outcome of a call, its reason, and the error text |
//! | [`version`] | the version, for a check before other calls |
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
