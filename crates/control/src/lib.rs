//! The controller of cells.
#![deny(missing_docs)]
pub mod policy;
pub mod queue;
pub mod ticket;
pub mod usage;
pub mod wants;
