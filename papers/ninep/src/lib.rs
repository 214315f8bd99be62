//! Files and a console for programs that may open none: 9P2000.L over any byte stream.
//!
//! If a program in a quiet cell uses files, the kernel works on its CPU: page cache, file system,
//! interrupts of the disk. Gupta et al. 2010 ("Control Channel") propose, but did not build, to ask
//! a program outside the cell over 9P, the protocol of Plan 9. Linux's dialect 9P2000.L needs only
//! a small server, and Linux has a client.
//!
//! | module | does |
//! |---|---|
//! | [`frame`], [`wire`] | messages as bytes, and malformed bytes |
//! | [`request`], [`reply`] | the messages |
//! | [`qid`], [`attributes`], [`space`], [`entry`] | parts of messages |
//! | [`session`], [`server`] | serving a client a folder, a console and an input |
//! | `host`, [`name`] | files of the host by descriptors; their single names |
//! | `fids` | a client's numbers of files |
//! | [`refusal`] | the reasons of refusals |
//! | [`client`] | the client for programs |
//! | [`fence`] | taking a program's I/O rights |
//!
//! Existing crates are unsuitable: `p9` 0.3 resolves `..` and `/` in names, does not limit fids,
//! and has no client; `rs9p` and `jetstream_9p` need an asynchronous runtime, too much for programs
//! on a quiet CPU.
#![deny(missing_docs)]

pub mod attributes;
pub mod client;
pub mod entry;
pub mod fence;
mod fids;
pub mod frame;
mod host;
pub mod name;
pub mod qid;
pub mod refusal;
pub mod reply;
pub mod request;
pub mod server;
pub mod session;
pub mod space;
pub mod wire;

pub use client::{FileClient, OpenMode};
pub use fence::Fence;
pub use fids::MOST_FIDS;
pub use refusal::Refusal;
pub use reply::Reply;
pub use request::FileRequest;
pub use server::serve;
pub use session::{ExportedFolder, FileSession};
