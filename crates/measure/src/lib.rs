//! Protocols, statistics and fits of core distance.
#![deny(missing_docs)]

pub mod classes;
pub mod findings;
pub mod fit;
pub mod homes;
pub mod regimes;
pub mod statistics;
