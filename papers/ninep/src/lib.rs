//! Files and a console for programs that may open none: 9P2000.L over any byte stream.
//!
//! A program in a quiet cell that reads and writes files has the kernel do it on its own CPU: page
//! cache, file system, interrupts of the disk. Gupta et al. 2010 ("Control Channel") propose that
//! it asks a program outside the cell over 9P, the protocol of Plan 9, and left that unbuilt. Linux
//! speaks a dialect of it, 9P2000.L, whose requests are those of its own file systems; a server for
//! it is small, and Linux itself is a client.
//!
//! | module | does |
//! |---|---|
//! | [`frame`], [`wire`] | messages as bytes, and bytes that are none |
//! | [`request`], [`reply`] | the messages |
//! | [`qid`], [`attributes`], [`space`], [`entry`] | what they carry |
//! | [`session`], [`server`] | answering one client: a folder, a console, nothing else |
//! | `host`, [`name`] | files of the host by descriptors; their single names |
//! | `fids` | the numbers that clients give them |
//! | [`refusal`] | why not |
//! | [`client`] | the other end, for programs |
//! | [`fence`] | taking a program its I/O rights |
//!
//! Ready crates were looked at first. `p9` 0.3 resolves `..` and `/` in names, puts no bound on
//! fids, and has no client; `rs9p` and `jetstream_9p` bring an asynchronous runtime. A server for
//! clients that are not trusted must do better than the first, and one for programs on a quiet CPU
//! wants less than the others.
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
