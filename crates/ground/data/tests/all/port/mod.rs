//! What a task can do: cache lines, and what is built on them.

mod lines;
mod loom;
