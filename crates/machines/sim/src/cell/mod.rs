//! The Cell Broadband Engine: SPEs with their MFCs on the EIB, one chip or two.
//!
//! | module | is |
//! |---|---|
//! | [`model`] | a machine as written down, each figure with its source |
//! | `ring`, `ways` | the data rings and their arbiter; the same as nodes and links |
//! | `flow`, `line` | a line's way: command, snoop, memory, rings, the link between chips |
//! | `mfc`, `mic` | the queue of commands, cut into lines; the memory controller |
//! | `messages`, `atomic`, `calls` | mailboxes and signals; reservations; what a task's calls do, PPE included |
//! | `world`, `turns`, [`bed`] | the state and its events, as the engine sees them; the [`Bed`](seatmap_port::channels::Bed) that runs programs |
//! | [`mod@profile`] | topology and distances, as of any other machine |
//! | [`counters`] | what a PMU would count |

mod atomic;
pub mod bed;
mod calls;
pub mod counters;
mod flow;
pub(crate) mod line;
mod memory;
mod messages;
mod mfc;
mod mic;
pub mod model;
mod port;
pub mod profile;
mod request;
mod ring;
mod timing;
mod turns;
mod ways;
mod world;

pub use bed::CellBed;
pub use counters::Counters;
pub use model::{CellModel, Figures};
pub use profile::profile;
