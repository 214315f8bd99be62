//! Machines as data: the PUs and their positions, their distances, and the formats of files.
//!
//! Nothing here measures or runs anything. All other crates share its [`Profile`], so placement
//! treats measured, imported and described machines alike.
//!
//! | module | holds |
//! |---|---|
//! | [`topology`], [`pu`], [`level`] | the hardware threads and what they share |
//! | [`speed`] | which cores are faster: performance and efficiency cores |
//! | [`seat_speed`] | the speed of each PU, relative to the fastest |
//! | [`wakeups`] | the cost of waking a sleeping thread |
//! | [`bandwidth`] | memory bandwidth by number of threads |
//! | [`square`], [`nanoseconds`] | square matrices, as rows in files; lists of times in files |
//! | [`core_distance`], [`home_model`], [`loaded`] | the measured distances |
//! | [`status`] | how reliable a pair's distance is |
//! | [`origin`], [`environment`], [`clock`] | the source of a profile, and how reliable it is |
//! | [`profile`] | all of it together: `seatmap-profile/1` |
//! | [`shared`] | a profile without names of people or hosts |
//! | [`description`], [`catalog`] | machines handwritten in TOML; bundled machines |
//! | [`sheet`], [`zoo`] | the parts of a machine by counts, in TOML; bundled sheets |
//! | [`import`], [`export`] | other tools' files |
//!
//! A *PU* is a hardware thread, identified by its OS index; a *core distance* is the round trip of
//! one cache line, in nanoseconds; a name ends in its unit.

pub mod bandwidth;
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
pub mod sheet;
pub mod speed;
pub mod square;
pub mod status;
pub mod topology;
pub mod wakeups;
pub mod zoo;

pub use bandwidth::{Bandwidth, BandwidthGroup, BandwidthPoint, Knee, StreamKernel};
pub use clock::Clock;
pub use core_distance::{CoreDistance, Deciles, PairRegimes, Protocol, Regime};
pub use description::Description;
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
pub use sheet::MachineSheet;
pub use speed::Speed;
pub use square::{Matrix, Square};
pub use status::PairStatus;
pub use topology::Topology;
pub use wakeups::{Nearness, WakeupClass, WakeupPair, Wakeups};
