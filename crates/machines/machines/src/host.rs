//! This computer as a machine: pinned threads that run workloads, and the environment of a
//! measurement.
//!
//! | module | gives |
//! |---|---|
//! | [`topology`] | the PUs and what they share, from this computer's sysfs or gathered files |
//! | [`clock`] | the time-stamp counter if it can be trusted, its frequency and its step |
//! | [`arena`], [`port`] | shared lines; plain loads and stores on them |
//! | [`crew`], [`testbed`] | one pinned thread for each PU; a `Testbed` of them |
//! | [`together`] | threads that begin at one value of the clock and end with the last |
//! | [`work`] | a fixed piece of work, timed on given CPUs |
//! | [`streams`] | threads that stream through memory |
//! | [`wakeups`] | two threads that sleep and wake each other, on two CPUs or on one |
//! | [`turn`] | a word by which two threads take turns to sleep |
//! | [`remembered`] | the profile of this host from `seatmap measure` |
//! | [`environment`] | the environment of a measurement |

pub mod arena;
mod arm;
pub mod clock;
#[cfg(target_arch = "x86_64")]
mod cpuid;
pub mod crew;
pub mod environment;
pub mod port;
pub mod remembered;
pub mod streams;
pub mod testbed;
pub mod together;
pub mod topology;
pub mod turn;
pub mod wakeups;
pub mod work;

pub use clock::HostClock;
pub use streams::HostStreams;
pub use testbed::{HostError, HostTestbed};
pub use wakeups::{HostWakeups, WakeupError};
pub use work::HostWork;
