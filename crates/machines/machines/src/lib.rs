//! Machines to open and run workloads on: this computer, a profile, a model.
//!
//! | module | holds |
//! |---|---|
//! | [`catalog`] | Every machine by name or file, opened once, and its capabilities |
//! | [`host`] | Port on pinned threads; the host's topology, clock and environment |
//! | [`workload`] | Programs written once, generic over Port |
#![deny(missing_docs)]

pub mod catalog;
pub mod host;
pub mod workload;
