//! Seatmap for Rust programs: measure a machine, place threads on it, and check their CPUs.
//!
//! This crate re-exports the crates of Seatmap, without the command line:
//!
//! ```toml
//! [dependencies]
//! seatmap = { version = "0.1", default-features = false }
//! ```
//!
//! | module | question | begin with |
//! |---|---|---|
//! | [`catalog`], [`machine`] | which machine is it? | [`Machine`], [`Profile`] |
//! | [`measure`] | how far apart are this host's cores? | [`MeasurementRequest`] |
//! | [`pattern`] | which tasks communicate? | [`generate()`], [`Pattern`] |
//! | [`place`], [`appraise`] | which CPU should each task have? | [`PlaceRequest`] |
//! | [`plan`] | how are placements saved and exported? | [`Plan`] |
//! | [`check`] | do a program's threads run there? | [`CheckRequest`] |
//! | [`observe`] | which threads of a program communicate? | [`ObserveRequest`] |
//! | [`affinity`] | how is a thread pinned and verified? | [`affinity::pin`] |
//!
//! # A placement
//!
//! ```
//! use seatmap::{PlaceRequest, generate, machine};
//!
//! let profile = machine::catalog::load("xeon-e5-2680-2s")?;
//! let pattern = generate("stencil2d:4x4")?;
//! let answer = PlaceRequest::new(&profile, &pattern).place()?;
//! assert!(answer.lower_bound <= answer.cost && answer.cost <= answer.baselines.os);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Your own pattern, a plan, a pinned thread
//!
//! ```
//! use seatmap::pattern::Edge;
//! use seatmap::{CpuSet, Pattern, PlaceRequest, Plan, affinity, machine};
//!
//! let talk = |from, to| Edge { from, to, bytes: 64.0, messages: 1.0 };
//! let pattern = Pattern::gathered("pipeline", 3, [talk(0, 1), talk(1, 2)]);
//! let profile = machine::catalog::load("ryzen-5950x")?;
//! let request = PlaceRequest::new(&profile, &pattern);
//! let plan: Plan = request.plan(&request.place()?);
//! assert_eq!(Plan::from_json(&plan.to_json())?, plan);
//!
//! // The thread that is task 0 gives itself its seat: here one that every computer has.
//! let mine: Vec<u32> = CpuSet::of_thread(0)?.iter().take(1).collect();
//! affinity::pin(&mine)?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # A check
//!
//! ```
//! use seatmap::check::{CheckRequest, ProcessChoice, Standard};
//! use seatmap::machine::Topology;
//! use std::time::Duration;
//!
//! let request = CheckRequest {
//!     choice: ProcessChoice::Processes {
//!         pids: vec![std::process::id() as i32],
//!         with_children: false,
//!     },
//!     window: Duration::from_millis(50),
//!     trace: false,
//!     standard: Standard::default(),
//!     topology: Topology::unknown([0, 1]),
//!     machine: "here".to_owned(),
//!     again_every: None,
//! };
//! let mut check = request.begin()?;
//! if let Some(step) = check.next(&|| false)? {
//!     let findings = step.judged().map_or(0, |judged| judged.findings.len());
//!     println!("{findings} findings");
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Versions
//!
//! This crate follows semantic versioning: before 1.0 a minor version may break programs, and a
//! patch version does not. The promise covers all items that this crate exports; the crates
//! `seatmap-*` behind it promise nothing, and always have this crate's version. Documents have
//! their own versions: every later version of Seatmap reads `seatmap-plan/1`. The minimum Rust
//! version is `rust-version`; raising it is a minor version. Only Linux is supported, on x86-64 and
//! 64-bit Arm.
#![deny(missing_docs)]

pub use seatmap_data::machine;
pub use seatmap_data::pattern;
pub use seatmap_data::plan;
pub use seatmap_machines::catalog;
pub use seatmap_measure as measure;
pub use seatmap_measure::appraise;
pub use seatmap_observe as observe;
pub use seatmap_place as place;
pub use seatmap_watch as check;

pub use seatmap_data::machine::Profile;
pub use seatmap_data::pattern::{Pattern, generate};
pub use seatmap_data::plan::Plan;
pub use seatmap_machines::catalog::Machine;
pub use seatmap_measure::appraise::AppraisalRequest;
pub use seatmap_measure::measurement::MeasurementRequest;
pub use seatmap_observe::ObserveRequest;
pub use seatmap_os::{CpuList, CpuSet, affinity};
pub use seatmap_place::PlaceRequest;
pub use seatmap_watch::CheckRequest;
