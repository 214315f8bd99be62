//! Trials of the real program: races of seats, comparisons of versions, seats for a running
//! program.
//!
//! | module | contents |
//! |---|---|
//! | [`gate`] | Compares two versions of a program, judges a limit, and keeps their history |
//! | [`live`] | Seats the threads of a running program, and keeps only seats shown to be better |
//! | [`tune`] | Compares commands and placements by running them; claims only what the runs show |
#![deny(missing_docs)]

pub mod gate;
pub mod live;
pub mod tune;

/// Tests of sessions and of child processes run one at a time, because a run waits for all children
/// of this process.
#[cfg(test)]
fn alone() -> std::sync::MutexGuard<'static, ()> {
    static ALONE: std::sync::Mutex<()> = std::sync::Mutex::new(());
    ALONE.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
}
