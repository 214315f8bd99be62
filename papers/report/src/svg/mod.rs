//! Pictures for papers and slides.

pub(crate) mod channels;
mod charts;
pub(crate) mod ranking;

pub use channels::channels;
pub use charts::{Chart, charts};
pub use ranking::ranking;
