//! Seats the threads of unmodified programs, and checks that they sit there.
#![deny(missing_docs)]
