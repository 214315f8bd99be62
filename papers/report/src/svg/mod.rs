//! Pictures for papers and slides.

pub(crate) mod channels;
pub(crate) mod ranking;

pub use channels::channels;
pub use ranking::ranking;
