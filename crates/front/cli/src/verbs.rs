//! One file per verb.

pub mod advise;
pub mod bench;
pub mod cell;
pub mod check;
pub mod cluster;
pub mod compare;
pub mod cpus;
pub mod doctor;
pub mod export;
pub mod gallery;
pub mod guardian;
pub mod import;
pub mod machines;
pub mod measure;
pub mod model;
pub mod noise;
pub mod observe;
pub mod pattern;
pub mod place;
pub mod pretend;
pub mod run;
pub mod services;
pub mod show;
pub mod top;
pub mod tune;
