//! Disturbances of a computer: its settings, and the time that the system takes from programs.
//!
//! | module | holds |
//! |---|---|
//! | [`doctor`] | settings that disturb a measurement or a cell, and their remedies |
//! | [`noise`] | the time that the system takes from a program, CPU by CPU |
#![deny(missing_docs)]

pub mod doctor;
pub mod noise;
