//! A simulated Cell on which programs in C run: SPU programs and threads of the PPE, in virtual
//! time.
//!
//! A session is the machine alone. Its driver keeps the programs: it asks the session whose
//! [turn](CellBeSession::advance) it is, lets that program run on this computer until its next
//! call, hands the [call](CellBeSession::call) over, and asks again. Time passes in calls only.
//! Contexts and threads come and go meanwhile.
//!
//! Effective addresses are pointers of the process, or addresses that stand for an SPE's registers.
//! A transfer moves its bytes line by line, each when it arrives. The timings are those of the
//! model that the session was made of.

mod account;
mod call;
pub(crate) mod context;
pub(crate) mod process;

pub use account::{SpeAccount, Spent};
pub use call::{
    CommandKind, ListElement, MailboxCount, Outbound, ProgramCommand, ReadChannel, SessionCall,
    TagCondition, WatchedEvents,
};
pub use context::{ppe_event, spu_event};
pub use process::{LocalStore, REGISTER_BYTES};

pub(crate) use context::ChannelState;
pub(crate) use process::AddressSpace;

use crate::counters::CellBeCounters;
use crate::model::CellModel;
use crate::trace::{EventTrace, TrackGroup};
use crate::world::CellBeMachine;
use seatmap_sim::engine::SimulatedMachine;
use std::sync::Arc;

/// The ring's elements from one SPE to the next, along which a chain of contexts lies: the kernel's
/// order of the SPEs (Linux, arch/powerpc/platforms/cell/spu_manage.c: `qs20_reg_idxs`).
const CHAIN: [u8; 8] = [0, 2, 4, 6, 7, 5, 3, 1];

/// A program's turn: it goes on with the answer to its call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTurn {
    /// The task.
    pub task: u16,
    /// The answer to its last call.
    pub answer: u64,
}

/// The next step of a session.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// It is a task's turn.
    Turn(ProgramTurn),
    /// Bytes have arrived in memory or in a local store.
    Store,
}

/// A context to be added.
#[derive(Clone, Copy, Debug)]
pub struct NewContext {
    /// The number by which errors and traces name it.
    pub number: u32,
    /// Its local store.
    pub store: LocalStore,
    /// The first of the [`REGISTER_BYTES`] addresses of its registers.
    pub registers: u64,
    /// Whether each signal register gathers bits instead of keeping the last value.
    pub gathers: [bool; 2],
    /// The SPE that it takes if that can be had; `None` for any.
    pub seat: Option<u16>,
    /// The chip whose SPEs it takes if one can be had; `None` for any.
    pub chip: Option<u8>,
}

/// A Cell at work for the programs of one process.
#[derive(Clone, Debug)]
pub struct CellBeSession {
    model: Arc<CellModel>,
    world: CellBeMachine,
    threads: Vec<Thread>,
}

/// A thread of the PPE.
#[derive(Clone, Copy, Debug)]
struct Thread {
    task: u16,
    /// The number by which errors and traces name it.
    number: u32,
    /// The key at which others wait for its end.
    key: u64,
}

impl CellBeSession {
    /// A machine without programs. Contexts that ask for no SPE take those of `seats`, in its
    /// order, or all in theirs if it is empty; a number beyond the machine's SPEs does not count.
    #[must_use]
    pub fn new(model: &Arc<CellModel>, seats: &[u16]) -> Self {
        let all = 0..model.spes() as u16;
        let mut order: Vec<u16> = seats.iter().copied().filter(|seat| all.contains(seat)).collect();
        // The other SPEs after the seats, so that a context finds one even where all seats are
        // taken.
        order.extend(all.filter(|seat| !seats.contains(seat)));
        let mut world = CellBeMachine::new(model);
        world.begin_programs(order, model.figures.decrementer_ns.value * model.frequency_ghz);
        CellBeSession { model: Arc::clone(model), world, threads: Vec::new() }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// The SPE at a place along a chain of contexts, in which neighbours are neighbours on the
    /// ring.
    #[must_use]
    pub fn chain_seat(model: &CellModel, place: usize) -> u16 {
        let each = model.spes.len();
        let order =
            CHAIN.iter().filter_map(|physical| model.spes.iter().position(|spe| spe == physical));
        let order: Vec<usize> = order.collect();
        let at = place % model.spes();
        // The chips follow each other, and the chain is the same on each.
        (at / each * each + order[at % each]) as u16
    }

    /// Adds a context. It has no SPE until it runs.
    pub fn add_context(&mut self, new: NewContext) -> u16 {
        let tick = self.world.tick();
        let task = self.world.add_task(Some(ChannelState::new(
            new.number,
            new.gathers,
            (new.seat, new.chip),
            tick,
        )));
        self.world.programs_mut().process.add(task, new.store, new.registers);
        task
    }

    /// Adds a thread of the PPE, with the number by which errors and traces name it.
    pub fn add_thread(&mut self, number: u32) -> u16 {
        let task = self.world.add_task(None);
        self.threads.push(Thread { task, number, key: 0 });
        self.world.name_thread(task, number);
        task
    }

    /// Sets the key at which others wait for a thread's end, for the report of a deadlock.
    pub fn set_key(&mut self, task: u16, key: u64) {
        self.threads
            .iter_mut()
            .filter(|thread| thread.task == task)
            .for_each(|thread| thread.key = key);
    }

    /// Removes a thread that has no call.
    pub fn remove_thread(&mut self, task: u16) {
        self.threads.retain(|thread| thread.task != task);
        self.world.remove_task(task);
    }

    /// Has a range of addresses lie in the memory of a chip; all others lie in the first chip's.
    pub fn place(&mut self, start: u64, bytes: u64, chip: u8) {
        let chip = chip.min(self.model.chips as u8 - 1);
        self.world.programs_mut().process.place(start, bytes, chip);
    }

    /// Lets a task have its turn now, without a call before: a new thread begins.
    pub fn begin(&mut self, task: u16) {
        self.world.start(self.world.now(), task);
    }

    /// Takes the call of a task whose turn it was, which begins after `work` core cycles.
    pub fn call(&mut self, task: u16, call: SessionCall, work: u64) {
        self.world.call_after(task, call, work);
    }

    /// Lets time pass until it is a task's turn. `None`: all tasks wait, and nothing is under way.
    pub fn advance(&mut self) -> Option<ProgramTurn> {
        let (_, task) = self.world.next_task()?;
        Some(ProgramTurn { task, answer: self.world.answer(task) })
    }

    /// Lets time pass until it is a task's turn, or bytes have arrived somewhere. `None`: all tasks
    /// wait, and nothing is under way.
    pub fn advance_to_store(&mut self) -> Option<Next> {
        let next = self.world.next_task_or_store()?;
        Some(next.map_or(Next::Store, |task| {
            Next::Turn(ProgramTurn { task, answer: self.world.answer(task) })
        }))
    }

    /// Nothing is under way: programs that spin look at what has arrived in their local stores.
    /// Returns whether there are any.
    pub fn look_at_arrivals(&mut self) -> bool {
        self.world.look_at_arrivals()
    }

    /// The program of a context has stopped, or has ended if `is_end`: the thread that ran it goes
    /// on.
    pub fn stopped(&mut self, context: u16, is_end: bool) {
        self.world.stopped(context, is_end);
    }

    /// The thread that runs a context.
    #[must_use]
    pub fn runner(&self, context: u16) -> Option<u16> {
        self.world.programs().context(context)?.runner
    }

    /// Forgets what an earlier program left in a context's channels: another one has been loaded.
    pub fn renew(&mut self, context: u16) {
        let tick = self.world.tick();
        if let Some(context) = self.world.programs_mut().context_mut(context) {
            context.renew(tick);
        }
    }

    /// Takes the fault that stops a context's program: a command with an address that cannot be
    /// read or written.
    pub fn take_fault(&mut self, context: u16) -> Option<ProgramCommand> {
        self.world.programs_mut().context_mut(context)?.fault.take()
    }

    /// Takes the fault of a context's proxy commands.
    pub fn take_proxy_fault(&mut self, context: u16) -> Option<ProgramCommand> {
        self.world.programs_mut().context_mut(context)?.proxy_fault.take()
    }

    /// Wakes up to `most` threads that are parked at a key, those first that came first. Returns
    /// how many.
    pub fn wake(&mut self, key: u64, most: usize) -> usize {
        self.world.wake(key, most)
    }

    /// The time, in core cycles.
    #[must_use]
    pub fn now(&self) -> u64 {
        self.world.now()
    }

    /// The time, in ticks of the time base.
    #[must_use]
    pub fn ticks(&self) -> u64 {
        self.world.tick()
    }

    /// The time, in nanoseconds.
    #[must_use]
    pub fn now_ns(&self) -> f64 {
        self.now() as f64 / self.model.frequency_ghz
    }

    /// The core cycle that lies this many nanoseconds after the machine's beginning.
    #[must_use]
    pub fn cycle_at(&self, ns: u64) -> u64 {
        (ns as f64 * self.model.frequency_ghz) as u64
    }

    /// Events until now.
    #[must_use]
    pub fn events(&self) -> u64 {
        self.world.events()
    }

    /// The counts until now.
    #[must_use]
    pub fn counters(&self) -> CellBeCounters {
        self.world.count(&self.model)
    }

    /// An account of what each SPE spent its time on until now.
    #[must_use]
    pub fn accounts(&self) -> &[SpeAccount] {
        &self.world.programs().accounts
    }

    /// Begins to keep a trace.
    pub fn begin_trace(&mut self) {
        let mut trace = EventTrace::new(1000.0 * self.model.frequency_ghz);
        let groups = [
            (TrackGroup::Spes, "SPEs"),
            (TrackGroup::Transfers, "transfers by SPE"),
            (TrackGroup::Mailboxes, "messages that wait by SPE"),
            (TrackGroup::Threads, "PPE threads"),
        ];
        for (group, name) in groups {
            trace.name(group, None, name.to_owned());
        }
        for spe in 0..self.model.spes() as u32 {
            for group in [TrackGroup::Spes, TrackGroup::Transfers, TrackGroup::Mailboxes] {
                trace.name(group, Some(spe), format!("SPE {spe}"));
            }
        }
        self.world.set_trace(Some(trace));
    }

    /// Takes the trace that was kept.
    pub fn take_trace(&mut self) -> Option<EventTrace> {
        self.world.take_trace()
    }

    /// The tasks that wait, each with what for: the report of a deadlock.
    #[must_use]
    pub fn waiting(&self) -> Vec<String> {
        let contexts = self
            .world
            .programs()
            .contexts()
            .map(|(task, context)| (task, "SPE context", context.number));
        let threads = self.threads.iter().map(|thread| (thread.task, "PPE thread", thread.number));
        threads
            .chain(contexts)
            .filter_map(|(task, what, number)| {
                Some(format!("{what} {number} {}", self.wait(self.world.calls(task)?)))
            })
            .collect()
    }

    /// Whether a task has a call.
    #[must_use]
    pub fn is_waiting(&self, task: u16) -> bool {
        self.world.calls(task).is_some()
    }

    /// Says that a thread spins until memory changes; `None` if the task is not a thread.
    #[must_use]
    pub fn spins(&self, task: u16) -> Option<String> {
        let thread = self.threads.iter().find(|thread| thread.task == task)?;
        Some(format!("PPE thread {} spins until memory changes", thread.number))
    }

    /// A call in words, with the number of the context that it is about.
    fn wait(&self, call: SessionCall) -> String {
        let about = call.context().map(|task| {
            format!(
                " SPE context {}",
                self.world.programs().context(task).map_or(0, |context| context.number)
            )
        });
        if let SessionCall::Park { key, .. } = call
            && let Some(thread) = self.threads.iter().find(|thread| thread.key == key && key != 0)
        {
            return format!("waits for the end of PPE thread {}", thread.number);
        }
        if self.world.waits_for_seat(call) {
            format!("waits for an SPE to run{}: all are taken", about.unwrap_or_default())
        } else {
            format!("{call}{}", about.unwrap_or_default())
        }
    }
}

/// The channels of an SPU that take no time beside the instruction itself.
impl CellBeSession {
    /// Sets the tags that updates look at.
    pub fn set_tag_mask(&mut self, context: u16, mask: u32) {
        self.world.context_for(context, |context| context.tag_mask = mask);
    }

    /// The tags that updates look at.
    #[must_use]
    pub fn tag_mask(&self, context: u16) -> u32 {
        self.world.programs().context(context).map_or(0, |context| context.tag_mask)
    }

    /// Asks for a tag-status update.
    pub fn update_tags(&mut self, context: u16, condition: TagCondition) {
        self.world.update_tags(context, condition);
    }

    /// Sets the events that the program wants to know of.
    pub fn set_event_mask(&mut self, context: u16, mask: u32) {
        self.world.context_for(context, |context| context.event_mask = mask);
    }

    /// The events that the program wants to know of.
    #[must_use]
    pub fn event_mask(&self, context: u16) -> u32 {
        self.world.programs().context(context).map_or(0, |context| context.event_mask)
    }

    /// Forgets events.
    pub fn acknowledge(&mut self, context: u16, events: u32) {
        self.world.context_for(context, |context| context.events &= !events);
    }

    /// Lets an event happen.
    pub fn raise(&mut self, context: u16, event: u32) {
        self.world.context_for(context, |context| context.events |= event);
    }

    /// Writes the decrementer.
    pub fn set_decrementer(&mut self, context: u16, value: u32) {
        let tick = self.ticks();
        self.world.context_for(context, |context| {
            (context.decrementer, context.has_decremented) = ((value, tick), false)
        });
    }

    /// Reads the decrementer.
    #[must_use]
    pub fn decrementer(&self, context: u16) -> u32 {
        let tick = self.ticks();
        self.world.programs().context(context).map_or(0, |context| context.decrementer(tick))
    }

    /// Whether a channel holds something, so that a read of it does not wait.
    pub fn has(&mut self, context: u16, reading: ReadChannel) -> bool {
        if reading == ReadChannel::Events {
            return self.world.pending_events(context) != 0;
        }
        let Some(context) = self.world.programs().context(context) else { return false };
        match reading {
            ReadChannel::Signal(register) => context.signals[context::index(register)].is_some(),
            ReadChannel::TagStatus => context.tag_status.is_some(),
            ReadChannel::StallStatus => context.stalled != 0,
            ReadChannel::AtomicStatus => context.atomic_status.is_some(),
            // Events are answered above.
            ReadChannel::Mailbox | ReadChannel::Events => context.inbound.filled() > 0,
        }
    }

    /// Messages in the inbound mailbox.
    #[must_use]
    pub fn messages(&self, context: u16) -> usize {
        self.world.programs().context(context).map_or(0, |context| context.inbound.filled())
    }

    /// Whether an outbound mailbox has room.
    #[must_use]
    pub fn has_room(&self, context: u16, mailbox: Outbound) -> bool {
        self.world
            .programs()
            .context(context)
            .is_some_and(|context| context.mailbox(mailbox).has_room())
    }

    /// Commands that the queue of a context's MFC has room for.
    pub fn queue_room(&mut self, context: u16) -> usize {
        self.world.queue_room(context)
    }

    /// Whether a read of a channel could never end, because only the program itself could fill it.
    #[must_use]
    pub fn is_hopeless(&self, context: u16, reading: ReadChannel) -> bool {
        let Some(context) = self.world.programs().context(context) else { return true };
        match reading {
            ReadChannel::TagStatus => context.tag_status.is_none() && context.tag_update.is_none(),
            ReadChannel::AtomicStatus => {
                context.atomic_status.is_none() && context.atomic.is_none()
            }
            // Something outside of the program can fill all other channels.
            _ => false,
        }
    }

    /// The entries of stalled lists with this tag.
    #[must_use]
    pub fn stalled_lists(&self, context: u16, tag: u32) -> Vec<u8> {
        let Some(context) = self.world.programs().context(context) else { return Vec::new() };
        context
            .stalled_entries
            .iter()
            .copied()
            .filter(|entry| {
                context.commands[usize::from(*entry)]
                    .is_some_and(|command| u32::from(command.tag) == tag)
            })
            .collect()
    }

    /// Lets the stalled list of an entry go on with these elements; if it is open, further ones
    /// follow.
    pub fn extend_list(
        &mut self,
        context: u16,
        entry: u8,
        elements: &[ListElement],
        is_open: bool,
    ) {
        self.world.extend_list(context, entry, elements, is_open);
    }

    /// The PPE may have stored to memory and to local stores: lets SPUs look that wait for the loss
    /// of a reservation, or for a change of their store.
    pub fn memory_changed(&mut self) {
        self.world.lines_changed();
        self.world.stores_changed();
    }

    /// Sets the number of ends of a context's program that wait to be taken.
    pub fn set_ends(&mut self, context: u16, ends: u32) {
        self.world.context_for(context, |context| context.ends = ends);
        self.world.nudge_waiting_threads();
    }

    /// The events of a context that have happened, for a thread that waits for them.
    #[must_use]
    pub fn happened(&self, context: u16) -> u32 {
        self.world.happened(context)
    }
}

#[cfg(test)]
mod tests;
