//! All integration tests of the library in one binary, which is linked once.

mod doctor;
mod noise;
