//! Creating threads.

use super::{BatchPlan, Primitive, PrimitiveThreads, SamplesResult};
use std::io;

/// Creates a thread that does nothing, and joins it. It inherits its creator's CPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ThreadCreateJoin;

impl Primitive for ThreadCreateJoin {
    fn name(&self) -> String {
        "thread create, join".into()
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        1..=1
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        room.time(self, cpus, plan, |_| {
            || {
                let thread = std::thread::Builder::new().spawn(|| {})?;
                thread.join().map_err(|_| io::Error::other("the thread panicked"))
            }
        })
    }
}
