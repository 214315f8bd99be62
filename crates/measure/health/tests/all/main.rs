//! All integration tests in one binary, which links only once.

mod doctor;
mod noise;
