//! Where the ranks of a job should run: on which node, and on which CPUs of it.

mod formats;
mod place;
