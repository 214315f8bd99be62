//! Measures how far apart cores are: protocols, statistics that summarise the results, and fits
//! that explain them.
//!
//! All protocols use [`probe::Probe`]: the host, a simulator or a recorded profile.
//!
//! | module | does |
//! |---|---|
//! | [`measurement`], [`source`] | a whole measurement, from the machine to the profile |
//! | [`probe`], [`testbed_probe`] | sources of round trips; a testbed as one |
//! | [`replay`] | a profile as one |
//! | [`plan`], [`schedule`] | how much to measure, and in which order |
//! | [`matrix`], [`samples`], [`journal`] | pairs in passes; all batches; a resumable file |
//! | [`screen`], [`regimes`] | trustworthy batches; drifting or flipping pairs |
//! | [`assemble`] | the matrices of a profile |
//! | [`fit`], [`homes`] | groups of PUs, d = B + a_i + a_j; lines sorted by home |
//! | [`home_scan`], [`busy_scan`] | candidate lines, on a quiet and on a busy machine |
//! | [`load`], [`interference`] | many pairs at once |
//! | [`speed`] | how fast each PU works, alone and together |
//! | [`wakeups`] | the cost of waking threads |
//! | [`bandwidth`] | memory bandwidth by number of threads |
//! | [`survey`], [`error`] | a whole survey; why it failed |
//! | [`past`] | this host's remembered measurement |
//! | [`classes`], [`findings`], [`change`] | a profile in short, and its change |
//! | [`appraise`], [`seats`] | a placement; seats for a program's own threads |
//! | [`gallery`] | many machines side by side |
//! | [`twin`] | fits a model to a measured profile |
//! | [`comparison`] | two machines compared |
#![deny(missing_docs)]

pub mod appraise;
pub mod assemble;
pub mod bandwidth;
pub mod busy_scan;
pub mod change;
pub mod classes;
pub mod comparison;
pub mod error;
pub mod findings;
pub mod fit;
pub mod gallery;
pub mod home_scan;
pub mod homes;
pub mod interference;
pub mod journal;
pub mod load;
pub mod matrix;
pub mod measurement;
pub mod past;
pub mod plan;
pub mod probe;
pub mod regimes;
pub mod replay;
pub mod samples;
pub mod schedule;
pub mod seats;
pub mod source;
pub mod speed;
pub mod survey;
pub mod testbed_probe;
pub mod twin;
pub mod wakeups;

mod floor;
#[cfg(test)]
mod profiles_for_tests;
pub mod screen;

pub use error::MeasureError;
