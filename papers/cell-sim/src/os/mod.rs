//! Linux, as programs with local stores need it on this computer.
//!
//! | module | gives |
//! |---|---|
//! | [`sample`] | what a thread of this process does at an instant, as a number |
//! | [`window`] | memory at addresses with meaning |
//! | [`guarded`] | copies that survive bad addresses |
//! | [`registers`] | loads and stores at addresses that stand for registers |
//! | [`barrier`] | order between threads, at the cost of one side |

pub mod barrier;
pub mod guarded;
pub mod registers;
pub mod sample;
pub mod window;
