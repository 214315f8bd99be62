//! Where threads should run: objectives, bounds and searches.
//!
//! A [`PlaceRequest`] combines a machine's profile with a pattern. Its [`PlacementResult`] has the
//! costs of the usual placements and a lower bound on any cost. The core is a quadratic assignment
//! problem. Methods for trees of caches do badly on measured distances, and random starts on rings
//! and stencils, so a portfolio of starts is refined in parallel.
//!
//! ```
//! use seatmap_place::{PlaceRequest, machine::catalog, pattern::generate, search::SearchLimit};
//!
//! let (machine, pattern) = (catalog::load("graviton3")?, generate("ring:8")?);
//! let mut request = PlaceRequest::new(&machine, &pattern);
//! request.limit = SearchLimit::seconds(0.1);
//! let answer = request.place()?;
//! println!("task 0 sits on CPU {}", answer.placement[0]);
//! assert!(answer.lower_bound <= answer.cost && answer.cost <= answer.baselines.random.mean);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! | module | holds |
//! |---|---|
//! | [`request`], [`place`] | the request; how a placement is found |
//! | [`answer`], [`error`] | the answer, or the reason for having none |
//! | [`problem`], [`traffic`] | the same without names: slots, weights |
//! | [`zones`], [`pus`] | the same without names: constraints, PUs |
//! | [`seed`] | starts: bisection, greedy growth, spectral, RCM; cuts level by level |
//! | [`slot_groups`] | nested groups, without a table of distances |
//! | [`anneal`] | simulated annealing by swaps |
//! | [`search`] | engines with O(1) changes, iterated local search, tabu search |
//! | [`portfolio`], `cycles` | methods that use them |
//! | [`exact`], [`congestion`], [`solve`] | exact search; placements by link load; all methods |
//! | [`time`] | the time of the slowest seat, if PUs differ in speed and tasks in work |
//! | [`candidates`] | placements worth a run of the program |
//! | [`typical`] | a random placement for comparison |
//! | [`remark`] | facts about an answer that its cost does not show |
//! | `item_slots` | the slots of items during a search |
//! | `smt` | whether tasks share cores |
//! | `effect` | how much seats could change the program itself |
//! | `plain` | settings that work without a plan ([`PlainSettings`]) |
//! | `sharing` | the caches and cores that tasks share ([`CoreSharing`]) |
//! | [`trial`] | a search that judges placements by runs of the program |
//! | [`bound`], [`link_bound`], [`assignment`] | lower bounds on the cost of any placement |
//! | [`ranks`] | the ranks of a job on nodes and their CPUs |
//! | [`orders`], [`links`] | compact and scatter; links that tasks share |
#![deny(missing_docs)]

pub mod anneal;
pub mod answer;
mod as_problem;
pub mod assignment;
mod baselines;
mod beside;
pub mod bound;
mod build;
pub mod candidates;
mod channels;
pub mod congestion;
mod cycles;
mod effect;
pub mod error;
pub mod exact;
mod get_core;
mod item_slots;
mod kind;
pub mod link_bound;
pub mod links;
pub mod orders;
pub mod place;
mod plain;
pub mod portfolio;
mod prefer;
pub mod problem;
pub mod pus;
pub mod ranks;
pub mod remark;
pub mod request;
pub mod search;
mod sections;
pub mod seed;
mod sharing;
pub mod slot_groups;
mod smt;
pub mod solve;
pub mod time;
pub mod traffic;
pub mod trial;
pub mod typical;
pub mod zones;

pub use seatmap_data::machine;
pub use seatmap_data::pattern;

pub use answer::PlacementResult;
pub use error::PlaceError;
pub(crate) use error::{no_distances, too_few_groups, unfit};
pub use links::Links;
pub use plain::PlainSettings;
pub use problem::Problem;
pub use pus::Pus;
pub use remark::{LinkObjective, PlacementRemark};
pub use request::{MessageWait, PlaceMethod, PlaceRequest, SmtUse, Weight, knows_wakeups};
pub use seatmap_data::machine::Level;
pub use sharing::CoreSharing;
pub use slot_groups::SlotGroups;
pub use smt::OTHER_WAY_PART;
pub use time::Slowest;
pub use traffic::Traffic;
pub use trial::TrialJudge;
pub use zones::Zones;

#[cfg(test)]
mod for_tests;
