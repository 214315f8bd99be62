//! What a PMU would have counted.

use crate::coherent::fabric::{LANES, Lane};
use crate::coherent::world::World;
use crate::engine::Machine;
use serde::Serialize;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Counters {
    /// Events of the simulation.
    pub events: u64,
    /// Core cycles from the first task's start to the last one's end.
    pub cycles: u64,
    /// Looks at a line that a core's own cache had.
    pub hits: u64,
    /// Looks that went to the line's home.
    pub misses: u64,
    /// Copies of lines that caches were told to forget.
    pub invalidations: u64,
    /// Lines that came from memory.
    pub memory_reads: u64,
    /// Snoops that came to a cache before the line itself did, and waited for it.
    pub early_snoops: u64,
    /// All links together, lane by lane.
    pub lanes: Vec<LaneCounters>,
    /// Every link's.
    pub links: Vec<LinkCounters>,
    /// Every directory's that looked something up.
    pub directories: Vec<DirectoryCounters>,
}

/// Counts of one lane of all links.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LaneCounters {
    /// What it carries.
    pub lane: &'static str,
    /// Hops of messages.
    pub grants: u64,
    /// Cycles for which links were busy.
    pub busy_cycles: u64,
    /// Cycles that messages waited.
    pub wait_cycles: u64,
}

/// Counts of one link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LinkCounters {
    /// Where it begins.
    pub from: u16,
    /// Where it ends.
    pub to: u16,
    /// Messages on its address, data and acknowledge lanes.
    pub grants: [u64; LANES],
    /// Cycles that they waited.
    pub wait_cycles: [u64; LANES],
}

/// Counts of one directory.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DirectoryCounters {
    /// Its stop, tile or level.
    pub node: u16,
    /// Messages that it looked up.
    pub lookups: u64,
    /// Cycles for which it was busy with that.
    pub busy_cycles: u64,
    /// Cycles that messages waited for it.
    pub wait_cycles: u64,
    /// Requests that found it full.
    pub bounces: u64,
}

impl Counters {
    /// Messages on each link of the model's [fabric](crate::CoherentModel::fabric), over all lanes.
    #[must_use]
    pub fn link_messages(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.grants.iter().sum::<u64>() as f64).collect()
    }

    pub(crate) fn of(world: &World) -> Self {
        let links = world.layout.fabric.links();
        let link = |(at, link): (usize, &super::fabric::Link)| {
            let wires = &world.wires[at * LANES..(at + 1) * LANES];
            let of_lane = |count: fn(&super::network::Wire) -> u64| [0, 1, 2].map(|lane: usize| count(&wires[lane]));
            LinkCounters {
                from: link.from,
                to: link.to,
                grants: of_lane(|wire| wire.grants),
                wait_cycles: of_lane(|wire| wire.waits),
            }
        };
        let links: Vec<LinkCounters> = links.iter().enumerate().map(link).collect();
        let counts = world.counts;
        Counters {
            events: world.events(),
            cycles: world.now(),
            hits: counts.hits,
            misses: counts.misses,
            invalidations: counts.invalidations,
            memory_reads: counts.memory_reads,
            early_snoops: counts.held,
            lanes: Lane::ALL.map(|lane| lane_counters(world, &links, lane)).to_vec(),
            directories: directories(world),
            links,
        }
    }
}

fn lane_counters(world: &World, links: &[LinkCounters], lane: Lane) -> LaneCounters {
    let at = lane as usize;
    let busy = |link: &super::fabric::Link| u64::from(link.busy[at]);
    let taken = links.iter().zip(world.layout.fabric.links());
    LaneCounters {
        lane: lane.name(),
        grants: links.iter().map(|link| link.grants[at]).sum(),
        busy_cycles: taken.map(|(link, of)| link.grants[at] * busy(of)).sum(),
        wait_cycles: links.iter().map(|link| link.wait_cycles[at]).sum(),
    }
}

fn directories(world: &World) -> Vec<DirectoryCounters> {
    let used = world.directories.iter().enumerate().filter(|(_, directory)| directory.lookups > 0);
    let counters = used.map(|(node, directory)| DirectoryCounters {
        node: node as u16,
        lookups: directory.lookups,
        busy_cycles: directory.lookups * world.layout.timing.directory_busy,
        wait_cycles: directory.waits,
        bounces: directory.bounces,
    });
    counters.collect()
}
