//! Machines with coherent caches: rings and meshes with tag directories, and levels of caches, dies and packages.
//!
//! A line is kept coherent at its home: a core that misses it asks there, the home asks the cache that has it, and what that
//! answers comes back the same way (figure 6 of Liu et al. 2015). The home serves one request for a line at a time, looks
//! up one message after the other, and sends requests back when it is full; messages take one link after the other, each
//! with lanes for addresses, data and acknowledgements. Tasks that wait for a line cost nothing until it changes.
//!
//! What is left out: caches never evict, stores wait until they are done, threads of a core do not take issue slots from each
//! other, and memory has latency and no bandwidth.
//!
//! | module | is |
//! |---|---|
//! | [`model`], `written`, [`levels`] | a machine as written down, and one of levels: a twin of a measured machine |
//! | [`fabric`] | nodes, links and ways: ring, mesh, tree |
//! | [`homes`] | where a line is kept: by a hash, or where all meet that hold it |
//! | `line`, `message`, `request` | who holds what, what travels, what tasks ask |
//! | `network`, `home`, `cache`, `buffer` | links and directories, and what each end does |
//! | `copy` | loads and stores in one call |
//! | `layout`, `world`, `port`, [`bed`] | the state and its events; the [`Testbed`](seatmap_port::Testbed) |
//! | `distance`, [`mod@profile`] | an unloaded round trip by formula; the machine as any other is seen |
//! | [`counters`] | what a PMU would count |
//! | [`Shape`] | how the nodes of a ring or mesh lie |

pub mod bed;
mod buffer;
mod cache;
mod copy;
pub mod counters;
mod distance;
pub mod fabric;
mod home;
pub mod homes;
mod layout;
pub mod levels;
mod line;
mod message;
pub mod model;
mod network;
mod port;
pub mod profile;
mod request;
mod shape;
mod world;
mod written;

pub use bed::CoherentBed;
pub use counters::Counters;
pub use levels::{Levels, LevelsHomes, MEASURED_LINE, Parts};
pub use model::CoherentModel;
pub use profile::profile;
pub use shape::Shape;
pub use written::{FORMAT, Figures};
