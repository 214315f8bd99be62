//! libspe2 for this computer: the C library that programs for the Cell's SPEs call.
//!
//! The interface is the public one of libspe2 2.x, in `include/libspe2.h`; the core is
//! `seatmap-spe`. Each function returns what the interface says and sets `errno`; a failure that a
//! person should read (a transfer that breaks a rule, a program that does not fit) is one line on
//! the standard error. No panic leaves the library.
//!
//! | module | holds |
//! |---|---|
//! | [`context`], [`gang`] | creating SPEs, alone and in chains |
//! | [`image`], [`run`], [`callback`] | programs, runs, calls that the PPE answers |
//! | [`mailbox`], [`event`], [`dma`] | messages and signals; events; transfers by the PPE |
//! | [`info`], [`thread`] | how many SPEs there are; threads on a simulated Cell |
//! | [`handle`], [`call`] | pointers from C; the edge to C |
//! | [`types`] | the structures of the interface |
#![deny(missing_docs)]
#![expect(
    clippy::missing_safety_doc,
    reason = "the interface's rule for all: pointers are NULL or lead to what they say"
)]

pub mod call;
pub mod callback;
pub mod context;
pub mod dma;
pub mod event;
pub mod gang;
pub mod handle;
pub mod image;
pub mod info;
pub mod mailbox;
pub mod run;
pub mod thread;
pub mod types;
