//! What disturbs a computer: its settings, and the time that the system takes from programs.
//!
//! | module | holds |
//! |---|---|
//! | [`doctor`] | What will disturb a measurement or a cell, and how to mend it |
//! | [`noise`] | What the system takes from a program: detours and fixed work, CPU by CPU |
#![deny(missing_docs)]

pub mod doctor;
pub mod noise;
