//! libspe2 for this computer: the C library for programs on the Cell's SPEs.
//!
//! The interface is the public one of libspe2 2.x, in `include/libspe2.h`; the core is
//! `seatmap-spe`. Failures set `errno`; those that need an explanation (a transfer that breaks a
//! rule, a program that does not fit) print a line on stderr. No panic leaves the library.
//!
//! | module | contents |
//! |---|---|
//! | [`context`], [`gang`] | creating SPEs, alone and in chains |
//! | [`image`], [`run`], [`callback`] | programs, runs, calls to the PPE |
//! | [`mailbox`], [`event`], [`dma`] | messages and signals; events; transfers by the PPE |
//! | [`info`], [`thread`] | the number of SPEs; threads on a simulated Cell |
//! | [`handle`], [`call`] | pointers from C; the border to C |
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
