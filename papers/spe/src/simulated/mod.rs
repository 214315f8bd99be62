//! The simulated Cell as the machine below libspe2: the same programs, in virtual time.
//!
//! One thread, the driver, owns the [session](seatmap_cell_sim::session::CellBeSession). SPU
//! programs run on it as coroutines, each until its next call. Threads of the PPE are the process's
//! own. A thread's call goes to the driver and waits there until its virtual time has come; then
//! the thread runs on this computer until its next call. While it does, virtual time stands still
//! and nothing else runs, so that the same program gives the same times.
//!
//! | module | holds |
//! |---|---|
//! | [`mod@machine`] | which machine the environment asks for |
//! | [`layout`] | where contexts and memory lie on it |
//! | [`driver`] | the thread that owns the session: turns, and their ends |
//! | [`compute`] | what is charged for the work between two calls |
//! | [`finish`] | the trace and the summary at the end |
//! | [`bell`] | how they wake each other |
//! | [`desk`] | where a thread of the PPE hands in its calls and waits |
//! | [`request`] | what it hands in |
//! | [`channels`], [`commands`] | the channels of an SPU; its commands for the transfer unit |
//! | [`call`] | how an SPU program makes a call, and waits for its turn |
//! | [`watch`], [`spin`] | threads and SPU programs that wait for memory without a call |
//! | [`spu`] | what an SPU's state has for this machine |
//! | [`ppe`], [`thread`] | what threads do with a context; their waits for each other |

pub mod bell;
pub mod call;
pub mod channels;
pub mod commands;
pub mod compute;
pub mod desk;
pub mod driver;
pub mod finish;
pub mod layout;
pub mod machine;
pub mod ppe;
pub mod request;
pub mod spin;
pub mod spu;
pub mod thread;
pub mod watch;

pub use machine::{SpeMachine, machine};
