//! Machines with coherent caches: rings and meshes with tag directories, and hierarchies of caches,
//! dies and packages.
//!
//! A line is kept coherent at its home. A core that misses a line sends a request to the home; it
//! asks the line's owner, and the answer returns through it (figure 6 of Liu et al. 2015). The home
//! serves one request for a line at a time, looks up one message after the other, and sends
//! requests back when it is full. Messages take one link after the other; each link has lanes for
//! addresses, data and acknowledgements. Waiting tasks cost nothing until their line changes.
//!
//! The model omits evictions (a cache keeps every line), store buffers (a task waits until its
//! store is done), issue slots (threads of a core do not slow each other down), and the bandwidth
//! of memory.
//!
//! The parts are components, types with private state: `Directory` or `Buffers`, `Core` with its
//! `Cache`, and `Network`. They only exchange messages (and two notices, which `outbox` explains),
//! and check themselves at every transition: an undefined one stops the simulation, with component,
//! time and message. Start with `message`, then `directory` and `cache`.
//!
//! | module | contents |
//! |---|---|
//! | `message`, `request` | messages between caches and homes; the calls of tasks |
//! | `directory`, `lines` | the homes of cached lines: transactions; owner and sharers |
//! | `intake` | the entrance of a home |
//! | `buffers` | homes that keep their lines: the message buffers of the SCC |
//! | `cache`, `cores` | a cache and its states; the threads of a core |
//! | `copy` | loads and stores in one call |
//! | `network`, `outbox` | links and lanes; the output of components |
//! | `memory`, `slab` | the contents of memory; a table that reuses its entries |
//! | `world`, `port` | all components together; a task's view |
//! | [`bed`] | the [`Testbed`](seatmap_data::port::Testbed) |
//! | [`model`], `figures` | a machine, ready to run; its figures |
//! | `read`, `written` | reads a machine; a machine as its file |
//! | [`NetworkShape`] | the shape of a machine's network |
//! | [`hierarchy`] | a machine of caches, dies and packages, such as the twin of a computer |
//! | [`fabric`], [`homes`] | nodes, links and routes; the home of a line |
//! | `layout` | the part of a model for a run |
//! | `distance`, [`mod@profile`] | an unloaded round trip by formula; the machine's profile |
//! | [`counters`] | the counts of a PMU |

pub mod bed;
mod buffers;
mod cache;
mod copy;
mod cores;
pub mod counters;
mod directory;
mod distance;
pub mod fabric;
mod figures;
pub mod hierarchy;
pub mod homes;
mod intake;
mod layout;
mod lines;
mod memory;
mod message;
pub mod model;
mod network;
mod outbox;
#[cfg(test)]
mod parts_for_tests;
mod port;
pub mod profile;
mod read;
mod request;
mod shape;
mod slab;
mod world;
mod written;

pub use bed::CoherentBed;
pub use counters::CoherentCounters;
pub use figures::CoherentFigures;
pub use hierarchy::{DistanceParts, Hierarchy, HierarchyHomes, MEASURED_LINE};
pub use model::CoherentModel;
pub use profile::profile;
pub use shape::NetworkShape;
pub use written::FORMAT;
