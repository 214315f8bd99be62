//! One file per verb.

pub mod channels;
pub mod controller;
pub mod measure;
pub mod place;
pub mod rank;
pub mod stats;
pub mod study;
pub mod workers;
