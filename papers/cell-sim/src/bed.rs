//! A Cell model as a machine that runs programs.

use crate::CellModel;
use crate::channels::{Bed, ChannelProgram};
use crate::counters::CellBeCounters;
use crate::port::CellPort;
use crate::trace::EventTrace;
use crate::world::{CellBeMachine, TaskElement};
use seatmap_sim::SimError;
use seatmap_sim::engine::{self, TaskStacks};
use std::cell::{Cell, RefCell};
use std::sync::Arc;

/// A Cell machine that runs programs, one after another. PUs 0 to n - 1 are its SPEs, chip by chip;
/// PU n is the first chip's PPE, and PU n + 1 the second's.
pub struct CellBed {
    model: Arc<CellModel>,
    world: RefCell<CellBeMachine>,
    stage: TaskStacks,
    /// Whether the next run is traced.
    pub traces: bool,
    counters: CellBeCounters,
    trace: Option<EventTrace>,
}

impl CellBed {
    /// Creates a model's machine.
    ///
    /// # Panics
    /// Panics if the model was changed after its check, so that its ring lacks an element or a
    /// figure is out of range.
    pub fn new(model: Arc<CellModel>) -> Self {
        CellBed {
            world: RefCell::new(CellBeMachine::new(&model)),
            model,
            stage: TaskStacks::default(),
            traces: false,
            counters: CellBeCounters::default(),
            trace: None,
        }
    }

    /// Sets the number of events after which a run fails.
    pub fn limit_events(&mut self, most_events: u64) {
        self.stage.most_events = most_events;
    }

    /// The machine's model.
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// The last run's counts.
    pub fn counters(&self) -> &CellBeCounters {
        &self.counters
    }

    /// The last run's trace, if it was traced.
    pub fn trace(&self) -> Option<&EventTrace> {
        self.trace.as_ref()
    }

    fn seats(&self, seats: &[u32], tasks: usize) -> Result<Vec<TaskElement>, SimError> {
        let spes = self.model.ppe();
        engine::one_seat_each(seats, tasks)?;
        let mut taken = std::collections::HashSet::new();
        // The PPE runs several tasks, an SPE only one.
        if let Some(twice) = seats.iter().find(|pu| **pu < spes && !taken.insert(**pu)) {
            return Err(SimError::Seat(format!("SPE {twice} has two tasks, but can run one")));
        }
        seats
            .iter()
            .map(|pu| match *pu {
                pu if pu < spes => Ok(TaskElement::Spe(pu as u16)),
                pu if pu < spes + self.model.chips as u32 => {
                    Ok(TaskElement::Ppe((pu - spes) as u8))
                }
                pu => Err(SimError::Seat(format!(
                    "{} has SPEs 0 to {} and its PPE as PU {spes}, but no PU {pu}",
                    self.model.name,
                    spes - 1
                ))),
            })
            .collect()
    }

    fn drive<P: ChannelProgram>(
        &mut self,
        seats: &[TaskElement],
        program: &P,
        seed: u64,
    ) -> Result<Vec<P::Output>, SimError> {
        let world = &self.world;
        let now = Cell::new(0);
        let cycles_per_tick = self.model.figures.decrementer_ns.value * self.model.frequency_ghz;
        let skew = world.borrow().start_skew();
        for (start, task) in engine::starts(seats.len(), skew, seed) {
            world.borrow_mut().start(start, task);
        }
        self.stage.play(world, &now, self.model.frequency_ghz, seats.len(), |rank, yielder| {
            let port = CellPort {
                world,
                now: &now,
                yielder,
                rank: rank as u16,
                seat: seats[rank],
                cycles_per_tick,
            };
            program.task(&port, rank)
        })
    }
}

impl Bed for CellBed {
    type Error = SimError;

    fn run<P: ChannelProgram>(
        &mut self,
        seats: &[u32],
        program: &P,
        seed: u64,
    ) -> Result<Vec<P::Output>, SimError> {
        let shape = program.shape();
        let seats = self.seats(seats, shape.tasks)?;
        let mut world = self.world.borrow_mut();
        world.reset(&shape, self.model.chips, &seats);
        world.set_trace(self.traces.then(|| EventTrace::new(1000.0 * self.model.frequency_ghz)));
        // The borrow ends here, because each event of the run borrows the world.
        drop(world);
        let outputs = self.drive(&seats, program, seed);
        let world = self.world.get_mut();
        self.counters = world.count(&self.model);
        self.trace = world.take_trace();
        outputs
    }

    fn ns_per_tick(&self) -> f64 {
        self.model.figures.decrementer_ns.value
    }

    fn ns_per_cycle(&self) -> f64 {
        1.0 / self.model.frequency_ghz
    }

    fn modules(&self) -> usize {
        self.model.chips
    }
}
