//! Quiet rooms for programs on a computer that runs other things as well.
//!
//! | module | gives |
//! |---|---|
//! | [`noise`] | what the system takes from a program on each CPU, by two meters, and where it comes from |
//! | [`doctor`] | what stands between a set of CPUs and quiet, found by writing and reading back |
//!
//! Quiet is a measured figure here, never a setting: a CPU is as quiet as a busy loop on it finds it to be.
#![deny(missing_docs)]

pub mod doctor;
pub mod noise;
