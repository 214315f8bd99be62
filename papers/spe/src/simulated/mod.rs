//! The simulated Cell as the machine below libspe2: the same programs, in virtual time.
//!
//! One thread, the driver, owns the [session](seatmap_cell_sim::session::CellBeSession). SPU
//! programs run on it as coroutines, each until its next call. The PPE's threads are threads of the
//! process, and their calls wait at the driver for their virtual time. Between two calls a thread
//! runs on this computer; meanwhile virtual time stops and nothing else runs, so a program always
//! gives the same times.
//!
//! | module | contents |
//! |---|---|
//! | [`mod@machine`] | the choice of the machine by the environment |
//! | [`layout`] | the places of contexts and memory |
//! | [`driver`] | the thread that owns the session and its turns |
//! | [`compute`] | the charge for work between two calls |
//! | [`finish`] | the trace and the summary at the end |
//! | [`bell`] | wakeups between driver and threads |
//! | [`desk`] | the calls of the PPE's threads, and their waits |
//! | [`request`] | the requests to the driver |
//! | [`series`] | messages that one request moves |
//! | [`channels`], [`commands`] | the channels of an SPU; its commands for the transfer unit |
//! | [`call`] | the calls of an SPU program |
//! | [`watch`], [`spin`] | threads and SPU programs that wait for memory without a call |
//! | [`spu`] | this machine's part of an SPU's state |
//! | [`ppe`], [`thread`] | calls of threads on a context; their waits for each other |

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
pub mod series;
pub mod spin;
pub mod spu;
pub mod thread;
pub mod watch;

pub use machine::{SpeMachine, machine};
