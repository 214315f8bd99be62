//! Runs workloads on a coherent model.

use crate::coherent::CoherentModel;
use crate::coherent::counters::CoherentCounters;
use crate::coherent::port::CoherentPort;
use crate::coherent::world::CoherentMachine;
use crate::engine::{self, TaskStacks};
use crate::error::SimError;
use seatmap_data::port::{Testbed, WORDS_PER_LINE, Workload};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A coherent machine that runs workloads, one after the other. Its caches are cold at the start of
/// each.
pub struct CoherentBed {
    model: Arc<CoherentModel>,
    world: RefCell<CoherentMachine>,
    stage: TaskStacks,
    pus: Vec<u32>,
    /// Seed of the tasks' start times; with 0, all start at once.
    pub seed: u64,
    counters: CoherentCounters,
}

impl CoherentBed {
    /// A machine built from the model.
    pub fn new(model: Arc<CoherentModel>) -> Self {
        CoherentBed {
            world: RefCell::new(CoherentMachine::new(Arc::clone(&model.layout))),
            stage: TaskStacks::default(),
            pus: model.topology.os_indices().collect(),
            seed: 0,
            counters: CoherentCounters::default(),
            model,
        }
    }

    /// Sets the limit of events of a run.
    pub fn limit_events(&mut self, most_events: u64) {
        self.stage.most_events = most_events;
    }

    /// The model.
    pub fn model(&self) -> &Arc<CoherentModel> {
        &self.model
    }

    /// The counts of the last run.
    pub fn counters(&self) -> &CoherentCounters {
        &self.counters
    }

    /// Clears the memory, which otherwise keeps its contents from run to run.
    pub fn clear_memory(&mut self) {
        self.world.get_mut().clear_memory();
    }

    fn caches(&self, seats: &[u32], tasks: usize) -> Result<Vec<u16>, SimError> {
        engine::one_seat_each(seats, tasks)?;
        let mut taken = std::collections::HashSet::new();
        // A hardware thread of the model runs one task, because it has one request under way.
        if let Some(twice) = seats.iter().find(|pu| !taken.insert(**pu)) {
            return Err(SimError::Seat(format!("PU {twice} has two tasks, but can run one")));
        }
        seats
            .iter()
            .map(|pu| {
                self.model.layout.cache_of(*pu).ok_or_else(|| {
                    let known = seatmap_os::CpuList(self.pus.clone());
                    SimError::Seat(format!("{} has PUs {known}, but no PU {pu}", self.model.name))
                })
            })
            .collect()
    }
}

impl Testbed for CoherentBed {
    type Error = SimError;

    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, SimError> {
        let caches = self.caches(seats, workload.tasks())?;
        self.world.get_mut().reset(&caches, workload.lines(), self.seed);
        let clock = Cell::new(0);
        let words = workload.lines() * WORDS_PER_LINE;
        let world = &self.world;
        let ticks_per_ns = 1.0 / self.model.ns_per_tick();
        let looks = &self.model.layout.looks;
        let ticks_per_cycle = self.model.ticks_per_cycle.into();
        let outputs = self.stage.play(world, &clock, ticks_per_ns, seats.len(), |rank, yielder| {
            let look = looks[caches[rank] as usize];
            workload.task(
                &CoherentPort {
                    clock: &clock,
                    yielder,
                    pu: seats[rank],
                    words,
                    look,
                    ticks_per_cycle,
                },
                rank,
            )
        });
        let world = self.world.get_mut();
        // Also after a failure: the counts of a deadlock help to find its cause.
        self.counters = CoherentCounters::of(world);
        // A run that ended early leaves messages under way.
        if outputs.is_ok() {
            world.assert_idle();
        }
        outputs
    }

    fn pus(&self) -> &[u32] {
        &self.pus
    }

    fn ns_per_tick(&self) -> f64 {
        self.model.ns_per_tick()
    }

    fn ticks_per_cycle(&self) -> u32 {
        self.model.ticks_per_cycle
    }

    fn clock_step_ns(&self) -> f64 {
        self.model.ns_per_tick()
    }
}
