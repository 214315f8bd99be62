//! Sleeping and waking.

use super::{BatchPlan, Primitive, PrimitiveThreads, SamplesResult};
use seatmap_machines::host::turn::TurnWord;

/// Two threads take turns by futex(2): each sleeps until the word holds its rank.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FutexPingPong;

impl Primitive for FutexPingPong {
    fn name(&self) -> String {
        "futex".into()
    }

    fn cpus(&self) -> std::ops::RangeInclusive<usize> {
        2..=2
    }

    fn takes_turns(&self) -> bool {
        true
    }

    fn attempt(&self, room: &mut PrimitiveThreads, cpus: &[u32], plan: BatchPlan) -> SamplesResult {
        let turn = TurnWord::default();
        let turn = &turn;
        room.time(self, cpus, plan, |rank| {
            let rank = rank as u32;
            move || {
                turn.wait_for(rank)?;
                turn.pass_to(1 - rank)
            }
        })
    }
}
