//! The machine as a task sees it.

use crate::channels::{
    Atomic, Channels, DmaError, Ea, Element, OsService, SignalNumber, TransferOrder, dma,
};
use crate::request::ChannelCall;
use crate::world::{CellBeMachine, TaskElement};
use seatmap_sim::engine::{TaskMessage, TaskRefusal, TaskYielder};
use std::cell::{Cell, RefCell};

pub struct CellPort<'a> {
    pub world: &'a RefCell<CellBeMachine>,
    /// The time, outside `world` so that reading it costs nothing.
    pub now: &'a Cell<u64>,
    pub yielder: &'a TaskYielder<ChannelCall>,
    pub rank: u16,
    pub seat: TaskElement,
    pub cycles_per_tick: f64,
}

impl CellPort<'_> {
    fn call(&self, request: ChannelCall) -> u64 {
        self.yielder.suspend(TaskMessage::Call(request))
    }

    fn refuse(&self, error: DmaError) -> ! {
        // The engine drops a task with a refused call; the loop only satisfies the compiler.
        loop {
            self.yielder.suspend(TaskMessage::Refused(TaskRefusal(Box::new(error.clone()))));
        }
    }

    fn own(&self, local: u32) -> Ea {
        Ea::Local { rank: self.rank, offset: local }
    }

    fn has_mfc(&self) -> Result<(), DmaError> {
        match self.seat {
            TaskElement::Spe(_) => Ok(()),
            TaskElement::Ppe(_) | TaskElement::Stored => Err(DmaError::NoMfc(self.rank.into())),
        }
    }

    fn check(&self, local: u32, ea: Ea, size: u32, tag: u8) {
        let checked = self.has_mfc().and_then(|()| dma::check(local, ea, size, tag));
        let world = self.world.borrow();
        let memory = world.memory();
        let fits = checked
            .and_then(|()| memory.check(self.own(local), size))
            .and_then(|()| memory.check(ea, size));
        // `refuse` never returns, and the engine needs the borrow meanwhile.
        drop(world);
        if let Err(error) = fits {
            self.refuse(error);
        }
    }

    fn transfer(&self, is_get: bool, local: u32, ea: Ea, size: u32, tag: u8, order: TransferOrder) {
        self.check(local, ea, size, tag);
        self.call(ChannelCall::Transfer { is_get, local, ea, size, tag, order });
    }

    fn list(&self, is_get: bool, local: u32, list: &[Element], tag: u8, order: TransferOrder) {
        if list.is_empty() || list.len() > dma::LONGEST_LIST {
            self.refuse(DmaError::List(list.len()));
        }
        let mut at = local;
        for element in list {
            self.check(at, element.ea, element.size, tag);
            at += element.size;
        }
        self.call(ChannelCall::List {
            is_get,
            local,
            elements: list.as_ptr(),
            count: list.len(),
            tag,
            order,
        });
    }

    /// Checks that a task has mailboxes and signal registers; only tasks on SPEs have them.
    fn worker(&self, rank: usize) -> u16 {
        let world = self.world.borrow();
        let error = match world.seat(rank) {
            Some(TaskElement::Spe(_)) => return rank as u16,
            Some(TaskElement::Ppe(_) | TaskElement::Stored) => DmaError::NoRegisters(rank),
            None => DmaError::Rank { rank, tasks: world.tasks() },
        };
        drop(world);
        self.refuse(error)
    }

    fn call_own(&self, request: ChannelCall) -> u64 {
        match self.seat {
            TaskElement::Spe(_) => self.call(request),
            TaskElement::Ppe(_) | TaskElement::Stored => {
                self.refuse(DmaError::NoRegisters(self.rank.into()))
            }
        }
    }
}

impl Channels for CellPort<'_> {
    fn peek(&self, local: u32, bytes: &mut [u8]) {
        let size = bytes.len() as u32;
        let world = self.world.borrow();
        match world.memory().check(self.own(local), size) {
            Ok(()) => bytes.copy_from_slice(world.memory().at(self.own(local), size)),
            Err(error) => {
                drop(world);
                self.refuse(error);
            }
        }
    }

    fn poke(&self, local: u32, bytes: &[u8]) {
        let size = bytes.len() as u32;
        let mut world = self.world.borrow_mut();
        match world.memory().check(self.own(local), size) {
            Ok(()) => world.memory_mut().at_mut(self.own(local), size).copy_from_slice(bytes),
            Err(error) => {
                drop(world);
                self.refuse(error);
            }
        }
    }

    fn get(&self, local: u32, from: Ea, size: u32, tag: u8, order: TransferOrder) {
        self.transfer(true, local, from, size, tag, order);
    }

    fn put(&self, local: u32, to: Ea, size: u32, tag: u8, order: TransferOrder) {
        self.transfer(false, local, to, size, tag, order);
    }

    fn get_list(&self, local: u32, from: &[Element], tag: u8, order: TransferOrder) {
        self.list(true, local, from, tag, order);
    }

    fn put_list(&self, local: u32, to: &[Element], tag: u8, order: TransferOrder) {
        self.list(false, local, to, tag, order);
    }

    fn wait_tags(&self, tags: u32) {
        if let Err(error) = self.has_mfc() {
            self.refuse(error);
        }
        self.call(ChannelCall::WaitTags(tags));
    }

    fn mailbox_write(&self, to: usize, value: u32) {
        self.call(ChannelCall::MailboxWrite { to: self.worker(to), value });
    }

    fn mailbox_read(&self) -> u32 {
        self.call_own(ChannelCall::MailboxRead) as u32
    }

    fn outbox_write(&self, value: u32) {
        self.call_own(ChannelCall::OutboxWrite(value));
    }

    fn outbox_read(&self, from: usize) -> u32 {
        self.call(ChannelCall::OutboxRead { from: self.worker(from) }) as u32
    }

    fn signal(&self, to: usize, register: SignalNumber, value: u32) {
        self.call(ChannelCall::Signal { to: self.worker(to), register, value });
    }

    fn signal_read(&self, register: SignalNumber) -> u32 {
        self.call_own(ChannelCall::SignalRead(register)) as u32
    }

    fn atomic(&self, operation: Atomic, at: Ea, value: u32) -> u32 {
        // Atomics work on lines of main memory; local stores are not cached.
        let is_word = matches!(at, Ea::Memory { .. }) && at.offset().is_multiple_of(4);
        if !is_word {
            self.refuse(DmaError::Atomic(at));
        }
        let checked = self.has_mfc().and_then(|()| self.world.borrow().memory().check(at, 4));
        if let Err(error) = checked {
            self.refuse(error);
        }
        self.call(ChannelCall::Atomic { operation, at, value }) as u32
    }

    fn decrementer(&self) -> u32 {
        let ticks = (self.now.get() as f64 / self.cycles_per_tick) as u64;
        // A decrementer counts down, from 0 through the largest word.
        (ticks as u32).wrapping_neg()
    }

    fn cycles(&self) -> u64 {
        self.now.get()
    }

    fn compute(&self, cycles: u64) {
        // Even a call of zero cycles would suspend the task.
        if cycles > 0 {
            self.call(ChannelCall::Compute(cycles));
        }
    }

    fn service(&self, service: OsService) {
        self.call(ChannelCall::Service(service));
    }
}
