//! Machines as pure data: the PUs and their places, how far apart they are, and the files that say
//! so.
//!
//! It measures nothing and runs nothing. All other crates share its [`Profile`], so that a machine
//! measured a minute ago, one imported from a ten-year-old CSV and one written down by hand look
//! the same to a program that places threads on them.
//!
//! | module | holds |
//! |---|---|
//! | [`topology`], [`pu`], [`level`] | the hardware threads and what they share |
//! | [`speed`] | which cores are faster: performance and efficiency cores |
//! | [`seat_speed`] | how fast each PU works, relative to the fastest |
//! | [`wakeups`] | what it costs to wake a thread that sleeps |
//! | [`square`], [`nanoseconds`] | square matrices, on file as rows; lists of times on file |
//! | [`core_distance`], [`home_model`], [`loaded`] | what was measured |
//! | [`status`] | how far a pair can be trusted |
//! | [`origin`], [`environment`], [`clock`] | the source of a profile, and how far to trust it |
//! | [`profile`] | all of it together: `seatmap-profile/1` |
//! | [`shared`] | a profile without anything that names a person or a host |
//! | [`description`], [`catalog`] | machines written by hand in TOML; those that Seatmap brings |
//! | [`import`], [`export`] | other tools' files |
//!
//! Words and units follow the design: a *PU* is a hardware thread named by its OS index; a *core
//! distance* is the round trip of one cache line, in nanoseconds; a name ends in its unit.

pub mod catalog;
pub mod clock;
pub mod core_distance;
pub mod description;
pub mod environment;
pub mod export;
pub mod home_model;
mod homes_checked;
pub mod import;
pub mod level;
pub mod loaded;
pub mod nanoseconds;
pub mod origin;
pub mod profile;
pub mod pu;
pub mod seat_speed;
pub mod shared;
pub mod speed;
pub mod square;
pub mod status;
pub mod topology;
pub mod wakeups;

pub use clock::Clock;
pub use core_distance::{CoreDistance, Deciles, PairRegimes, Protocol, Regime};
pub use description::{Description, DescriptionError};
pub use environment::{Environment, smt_word};
pub use home_model::{HomeLines, HomeModel};
pub use homes_checked::{HomesChecked, Rate};
pub use level::Level;
pub use loaded::LoadedPoint;
pub use origin::{Origin, OriginKind};
pub use profile::Profile;
pub use pu::{CoreKind, Pu};
pub use seat_speed::{SeatSpeed, WorkTimes};
pub use shared::SharedProfile;
pub use speed::Speed;
pub use square::{Matrix, Square};
pub use status::PairStatus;
pub use topology::Topology;
pub use wakeups::{Nearness, WakeupClass, WakeupPair, Wakeups};
