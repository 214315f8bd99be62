//! Synergistic processing elements (SPEs) in software: the core of `libspe2`.
//!
//! A [`Context`] is one SPE as a program sees it: a local store, mailboxes, signal registers and a
//! transfer unit. A program is an ELF image that [`Image`] checks and loads into the store, with
//! its own copy of all variables and its stack at the store's end. [`Context::run`] hands the
//! context to a pinned thread and waits until the program stops; the next run resumes it there. SPU
//! code reaches the core through one table of functions ([`hooks`]), so that another machine can
//! stand behind the same image.
//!
//! | module | holds |
//! |---|---|
//! | [`context`], [`run`] | an SPE; one run of it and how it ended |
//! | [`store`], [`image`] | the local store; a program, checked and loaded |
//! | [`elf`], [`dynamic`] | the file format; what is linked at load |
//! | [`mailbox`], [`signal`], [`notify`] | mailboxes; signal registers; threads that wait for any of them |
//! | [`biased`] | a lock that costs its usual thread nothing |
//! | [`style`] | the runtime's way of doing things, and Linux's |
//! | [`transfer`], [`list`], [`atomic`] | DMA and its rules; lists; reservations on cache lines |
//! | [`spu`], [`channel`], [`hooks`] | an SPU's own state; its channels; the table that its program calls |
//! | [`event`] | events of several contexts in one wait |
//! | [`problem`], [`proxy`] | addresses that stand for registers; those for the PPE's transfers |
//! | [`pool`], [`clock`] | pinned threads that run contexts; the time base |
//! | [`simulated`] | the simulated Cell below the same calls |
//! | [`error`] | failures, with libspe2's error numbers |
#![deny(missing_docs)]

pub mod atomic;
pub mod biased;
pub mod channel;
pub mod clock;
pub mod command;
pub mod context;
pub mod crowd;
pub mod dynamic;
pub mod elf;
pub mod error;
pub mod event;
pub mod hooks;
pub mod image;
pub mod list;
pub mod mailbox;
pub mod notify;
pub mod options;
pub mod pool;
pub mod problem;
pub mod proxy;
pub mod run;
pub mod signal;
pub mod simulated;
pub mod spu;
pub mod stop;
pub mod store;
pub mod style;
pub mod time_base;
pub mod transfer;

pub use context::Context;
pub use error::SpeError;
pub use event::EventHandler;
pub use image::Image;
pub use options::ContextOptions;
pub use seatmap_sim::cell_be::session::TagCondition;
pub use simulated::machine::processors;
pub use stop::{Ended, Entry};
