//! Synergistic processing elements (SPEs) in software: the core of `libspe2`.
//!
//! A [`SpeContext`] is one SPE: a local store, mailboxes, signal registers and a transfer unit.
//! [`Image`] checks a program's ELF file and loads it into the store, with its own copy of all
//! variables and its stack at the store's end. [`SpeContext::run`] runs it on a pinned thread until
//! it stops; the next run resumes it. SPU code calls the core through a table of functions
//! ([`hooks`]), so that one image runs on several machines.
//!
//! The files form layers. A file imports only from lower layers, and from its own without cycles.
//!
//! | layer | module | contents |
//! |---|---|---|
//! | a program's view | [`event`] | waits for events of several contexts |
//! | | [`clock`] | the time base of the machine |
//! | | [`context`] | an SPE and the PPE's operations on it |
//! | machines | [`run`] | a program in a store and its progress |
//! | | [`pool`] | the pinned threads of programs |
//! | | [`simulated`] | the same calls on the simulated Cell |
//! | an SPU | [`hooks`] | the functions that a program calls |
//! | | [`channel`], [`command`] | an SPU's channels; its commands |
//! | | [`spu`], [`simulated::spu`] | the state of the SPU alone |
//! | transfers | [`atomic`], [`list`] | reservations on cache lines; lists |
//! | | [`mod@unit`] | DMA between a store and memory or registers |
//! | | [`faults`], `operand` | emulation of instructions |
//! | an SPE's parts | [`state`] | the state shared with other threads |
//! | | [`image`], [`dynamic`] | checking and loading a program; its links |
//! | | [`symbols`] | the names of its functions |
//! | | [`store`], [`mailbox`] | the local store; mailboxes |
//! | | [`messages`] | several messages in one call |
//! | | [`notify`], [`crowd`] | waiting threads; how long they spin |
//! | | [`stuck`] | deadlocks |
//! | values | [`transfer`], [`proxy`] | transfers and their rules; the PPE's registers for them |
//! | | [`signal`], [`problem`] | signal registers; register addresses |
//! | | [`stop`], [`options`] | why a program stopped; options of a context |
//! | | [`error`] | failures, with libspe2's error numbers |
//! | | [`style`], [`time_base`] | this runtime's style and Linux's; ticks |
//! | | [`elf`], [`biased`] | the file format; a lock that is free for its usual thread |
//!
//! Two traits call higher layers: with [`stop::Resumable`] a machine resumes a program without a
//! context, and with [`problem::RegisterAccess`] a transfer reaches another SPE's registers.
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
pub mod messages;
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
pub use messages::MailboxWait;
pub use options::ContextOptions;
pub use seatmap_cell_sim::session::TagCondition;
pub use simulated::machine::processors;
pub use stop::{EntryPoint, RunStop};
