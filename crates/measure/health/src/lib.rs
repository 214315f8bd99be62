//! Disturbances of a computer: its settings, and the time that the system takes from programs.
//!
//! | module | holds |
//! |---|---|
//! | [`doctor`] | disturbing settings, and remedies |
//! | [`noise`] | time that the system takes, by CPU |
#![deny(missing_docs)]

pub mod doctor;
pub mod noise;
