//! Counts of a run, as a PMU would report them.

use crate::coherent::cache::CacheCounts;
use crate::coherent::directory::CoherenceCounts;
use crate::coherent::fabric::{LANES, Lane};
use crate::coherent::intake::Intake;
use crate::coherent::world::{CoherentMachine, LineHomes};
use crate::engine::SimulatedMachine;
use serde::Serialize;

/// Counts of one run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct CoherentCounters {
    /// Events of the simulation.
    pub events: u64,
    /// Core cycles from the first task's start to the last one's end.
    pub cycles: u64,
    /// Accesses to a line to which the core's own cache had the right.
    pub hits: u64,
    /// Accesses that went to the line's home.
    pub misses: u64,
    /// Copies of lines that caches had to give up.
    pub invalidations: u64,
    /// Lines read from memory.
    pub memory_reads: u64,
    /// Snoops that arrived at a cache before the line itself, and waited for it.
    pub early_snoops: u64,
    /// Counts of each lane, over all links.
    pub lanes: Vec<LaneCounters>,
    /// Counts of each link.
    pub links: Vec<LinkCounters>,
    /// Counts of each directory that looked a line up.
    pub directories: Vec<DirectoryCounters>,
}

/// Counts of one lane of all links.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LaneCounters {
    /// Name of the lane.
    pub lane: &'static str,
    /// Hops of messages.
    pub grants: u64,
    /// Cycles for which links were busy.
    pub busy_cycles: u64,
    /// Cycles for which messages waited.
    pub wait_cycles: u64,
}

/// Counts of one link.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct LinkCounters {
    /// Node at which it begins.
    pub from: u16,
    /// Node at which it ends.
    pub to: u16,
    /// Messages on its address, data and acknowledge lanes.
    pub grants: [u64; LANES],
    /// Cycles for which these messages waited.
    pub wait_cycles: [u64; LANES],
}

/// Counts of one directory.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DirectoryCounters {
    /// Its stop, tile or level.
    pub node: u16,
    /// Messages that it looked up.
    pub lookups: u64,
    /// Cycles for which it was busy with look-ups.
    pub busy_cycles: u64,
    /// Cycles for which messages waited for it.
    pub wait_cycles: u64,
    /// Requests that it sent back because it was full.
    #[serde(rename = "bounces")]
    pub nacks: u64,
}

impl CoherentCounters {
    /// Messages on each link of the model's [fabric](crate::CoherentModel::fabric), over all lanes.
    pub fn link_messages(&self) -> Vec<f64> {
        self.links.iter().map(|link| link.grants.iter().sum::<u64>() as f64).collect()
    }

    pub(crate) fn of(world: &CoherentMachine) -> Self {
        let links = links(world);
        let (of_directories, intake) = match &world.homes {
            LineHomes::Directory(directory) => (directory.counts, &directory.intake),
            LineHomes::Buffers(buffers) => (CoherenceCounts::default(), &buffers.intake),
        };
        CoherentCounters {
            events: world.events(),
            cycles: world.now(),
            hits: of_caches(world, |counts| counts.hits),
            misses: of_caches(world, |counts| counts.misses),
            invalidations: of_directories.invalidations,
            memory_reads: of_directories.memory_reads,
            early_snoops: of_caches(world, |counts| counts.early_snoops),
            lanes: Lane::ALL.map(|lane| lane_counters(world, &links, lane)).to_vec(),
            directories: directories(intake, world.layout.timing.directory_busy),
            links,
        }
    }
}

fn of_caches(world: &CoherentMachine, count: fn(&CacheCounts) -> u64) -> u64 {
    world.cores.iter().map(|core| count(&core.cache.counts)).sum()
}

fn links(world: &CoherentMachine) -> Vec<LinkCounters> {
    let links = world.layout.fabric.links().iter().enumerate();
    links
        .map(|(at, link)| {
            let wires = Lane::ALL.map(|lane| world.outbox.network.wire(at, lane));
            LinkCounters {
                from: link.from,
                to: link.to,
                grants: wires.map(|wire| wire.grants),
                wait_cycles: wires.map(|wire| wire.waits),
            }
        })
        .collect()
}

fn lane_counters(world: &CoherentMachine, links: &[LinkCounters], lane: Lane) -> LaneCounters {
    let at = lane as usize;
    let taken = links.iter().zip(world.layout.fabric.links());
    LaneCounters {
        lane: lane.name(),
        grants: links.iter().map(|link| link.grants[at]).sum(),
        busy_cycles: taken.map(|(link, of)| link.grants[at] * u64::from(of.busy[at])).sum(),
        wait_cycles: links.iter().map(|link| link.wait_cycles[at]).sum(),
    }
}

fn directories(intake: &Intake, busy_cycles: u64) -> Vec<DirectoryCounters> {
    let used = intake.pipelines.iter().enumerate().filter(|(_, pipeline)| pipeline.lookups > 0);
    let counters = used.map(|(node, pipeline)| DirectoryCounters {
        node: node as u16,
        lookups: pipeline.lookups,
        busy_cycles: pipeline.lookups * busy_cycles,
        wait_cycles: pipeline.waits,
        nacks: pipeline.nacks,
    });
    counters.collect()
}
