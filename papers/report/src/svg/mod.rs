//! Pictures for papers and slides.

pub(crate) mod channels;
mod charts;
pub(crate) mod ranking;
pub(crate) mod stats;
mod study;

pub use channels::channels;
pub use charts::{Chart, charts};
pub use ranking::ranking;
pub use stats::stats;
pub use study::study;
