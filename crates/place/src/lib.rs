//! Where threads should sit.
#![deny(missing_docs)]
