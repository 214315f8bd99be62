//! Synergistic processing elements (SPEs) in software: the core of `libspe2`.
//!
//! A [`SpeContext`] is one SPE as a program sees it: a local store, mailboxes, signal registers and
//! a transfer unit. A program is an ELF image that [`Image`] checks and loads into the store, with
//! its own copy of all variables and its stack at the store's end. [`SpeContext::run`] hands the
//! context to a pinned thread and waits until the program stops; the next run resumes it there. SPU
//! code reaches the core through one table of functions ([`hooks`]), so that another machine can
//! stand behind the same image.
//!
//! The files lie in layers. A file imports only files of the layers below its own, and of its own
//! layer those that do not import it, so that each can be read before those that use it.
//!
//! | layer | module | holds |
//! |---|---|---|
//! | a program's view | [`event`] | events of several contexts in one wait |
//! | | [`clock`] | the time base of the machine under the library |
//! | | [`context`] | an SPE, and what threads of the PPE do with it |
//! | machines | [`run`] | a program in a store, and how far it came |
//! | | [`pool`] | pinned threads that run programs |
//! | | [`simulated`] | the simulated Cell below the same calls |
//! | an SPU | [`hooks`] | the table of functions that a program calls |
//! | | [`channel`], [`command`] | an SPU's channels; its commands |
//! | | [`spu`], [`simulated::spu`] | the state that only its own program changes |
//! | transfers | [`atomic`], [`list`] | reservations on cache lines; lists |
//! | | [`mod@unit`] | DMA between a store and memory or registers |
//! | | [`faults`], `operand` | what an instruction does that this computer cannot |
//! | an SPE's parts | [`state`] | the state that a program shares with others |
//! | | [`image`], [`dynamic`] | a program, checked and loaded; its links |
//! | | [`symbols`] | the names of its functions |
//! | | [`store`], [`mailbox`] | the local store; mailboxes |
//! | | [`notify`], [`crowd`] | threads that wait; how long they look before they sleep |
//! | | [`stuck`] | waits that never end: who waits for whom |
//! | values | [`transfer`], [`proxy`] | transfers and their rules; the PPE's registers for them |
//! | | [`signal`], [`problem`] | signal registers; addresses that stand for registers |
//! | | [`stop`], [`options`] | why a program stopped; the choices of a new context |
//! | | [`error`] | failures, with libspe2's error numbers |
//! | | [`style`], [`time_base`] | the runtime's way of doing things, and Linux's; ticks |
//! | | [`elf`], [`biased`] | the file format; a lock that costs its usual thread nothing |
//!
//! Two traits let a layer call what lies above it: [`stop::Resumable`], so that a machine resumes a
//! program without knowing contexts, and [`problem::RegisterAccess`], so that a transfer reaches
//! another SPE's registers.
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
pub mod faults;
pub mod hooks;
pub mod image;
pub mod list;
pub mod mailbox;
pub mod notify;
#[cfg(target_arch = "x86_64")]
pub mod operand;
pub mod options;
pub mod pool;
pub mod problem;
pub mod proxy;
pub mod run;
pub mod signal;
pub mod simulated;
pub mod spu;
pub mod state;
pub mod stop;
pub mod store;
pub mod stuck;
pub mod style;
pub mod symbols;
pub mod time_base;
pub mod transfer;
pub mod unit;

pub use context::SpeContext;
pub use error::SpeError;
pub use event::EventHandler;
pub use image::Image;
pub use options::ContextOptions;
pub use seatmap_cell_sim::session::TagCondition;
pub use simulated::machine::processors;
pub use stop::{EntryPoint, RunStop};
