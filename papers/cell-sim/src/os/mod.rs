//! The Linux features that programs with local stores need on this computer.
//!
//! | module | gives |
//! |---|---|
//! | [`sample`] | a thread's state at an instant, as hashes |
//! | [`window`] | memory at addresses with a meaning |
//! | [`guarded`] | copies that survive bad addresses |
//! | [`registers`] | loads and stores at the addresses of simulated registers |
//! | [`barrier`] | memory fences that are cheap on one side |

pub mod barrier;
pub mod guarded;
pub mod registers;
pub mod sample;
pub mod window;
