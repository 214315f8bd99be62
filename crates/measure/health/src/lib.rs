//! Disturbances of a computer: its settings, and the time that the system takes from programs.
//!
//! | module | holds |
//! |---|---|
//! | [`doctor`] | settings that disturb a measurement or a cell, and remedies |
//! | [`noise`] | the time that the system takes from a program, by CPU |
#![deny(missing_docs)]

pub mod doctor;
pub mod noise;
