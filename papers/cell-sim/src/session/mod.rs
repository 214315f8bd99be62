//! A simulated Cell that runs C programs: SPU programs and PPE threads, in virtual time.
//!
//! A session simulates only the machine; its driver runs the programs. The driver asks whose
//! [turn](CellBeSession::advance) it is, runs that program on this computer until its next call,
//! passes the [call](CellBeSession::call) on, and asks again. Time passes only in calls.
//!
//! Effective addresses are pointers of the process, or addresses of an SPE's registers. A transfer
//! moves its bytes line by line, each when it arrives.

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

/// Ring elements along a chain of contexts, SPE by SPE. The order is the kernel's (Linux,
/// arch/powerpc/platforms/cell/spu_manage.c: `qs20_reg_idxs`).
const CHAIN: [u8; 8] = [0, 2, 4, 6, 7, 5, 3, 1];

/// A program's turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramTurn {
    /// The task.
    pub task: u16,
    /// The answer to its last call.
    pub answer: u64,
}

/// A session's next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Next {
    /// A task has its turn.
    Turn(ProgramTurn),
    /// Bytes have arrived in memory or a local store.
    Store,
}

/// A new context's properties.
#[derive(Clone, Copy, Debug)]
pub struct NewContext {
    /// Its number in errors and traces.
    pub number: u32,
    /// Its local store.
    pub store: LocalStore,
    /// The first of the [`REGISTER_BYTES`] addresses of its registers.
    pub registers: u64,
    /// Whether each signal register gathers bits instead of keeping the last value.
    pub gathers: [bool; 2],
    /// The preferred SPE, if any.
    pub seat: Option<u16>,
    /// The preferred chip, if any.
    pub chip: Option<u8>,
}

/// A Cell that runs the programs of one process.
#[derive(Clone, Debug)]
pub struct CellBeSession {
    model: Arc<CellModel>,
    world: CellBeMachine,
    threads: Vec<Thread>,
}

#[derive(Clone, Copy, Debug)]
struct Thread {
    task: u16,
    number: u32,
    key: u64,
}

impl CellBeSession {
    /// Creates a machine without programs. Contexts without a preferred SPE take those of `seats`
    /// in this order, or all in theirs if `seats` is empty. Numbers beyond the SPEs are ignored.
    pub fn new(model: &Arc<CellModel>, seats: &[u16]) -> Self {
        let all = 0..model.spes() as u16;
        let mut order: Vec<u16> = seats.iter().copied().filter(|seat| all.contains(seat)).collect();
        // The other SPEs follow, in case all `seats` are taken.
        order.extend(all.filter(|seat| !seats.contains(seat)));
        let mut world = CellBeMachine::new(model);
        world.begin_programs(order, model.figures.decrementer_ns.value * model.frequency_ghz);
        CellBeSession { model: Arc::clone(model), world, threads: Vec::new() }
    }

    /// The session's model.
    pub fn model(&self) -> &Arc<CellModel> {
        &self.model
    }

    /// The SPE at this place of a chain of contexts; neighbours on the chain are neighbours on the
    /// ring.
    pub fn chain_seat(model: &CellModel, place: usize) -> u16 {
        let each = model.spes.len();
        let order =
            CHAIN.iter().filter_map(|physical| model.spes.iter().position(|spe| spe == physical));
        let order: Vec<usize> = order.collect();
        let at = place % model.spes();
        // The chain continues from chip to chip, with the same order on each.
        (at / each * each + order[at % each]) as u16
    }

    /// Adds a context. It gets an SPE when it runs.
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

    /// Adds a PPE thread with its number in errors and traces.
    pub fn add_thread(&mut self, number: u32) -> u16 {
        let task = self.world.add_task(None);
        self.threads.push(Thread { task, number, key: 0 });
        self.world.name_thread(task, number);
        task
    }

    /// Sets the key that other threads wait for to join this one, for the deadlock report.
    pub fn set_key(&mut self, task: u16, key: u64) {
        self.threads
            .iter_mut()
            .filter(|thread| thread.task == task)
            .for_each(|thread| thread.key = key);
    }

    /// Removes a thread. It must not be in a call.
    pub fn remove_thread(&mut self, task: u16) {
        self.threads.retain(|thread| thread.task != task);
        self.world.remove_task(task);
    }

    /// Places a range of addresses in a chip's memory; all others are in the first chip's.
    pub fn place(&mut self, start: u64, bytes: u64, chip: u8) {
        let chip = chip.min(self.model.chips as u8 - 1);
        self.world.programs_mut().process.place(start, bytes, chip);
    }

    /// Gives a new thread its first turn now, without a call.
    pub fn begin(&mut self, task: u16) {
        self.world.start(self.world.now(), task);
    }

    /// Accepts the call of a task that had its turn; the call begins after `work` core cycles.
    pub fn call(&mut self, task: u16, call: SessionCall, work: u64) {
        self.world.call_after(task, call, work);
    }

    /// Advances time until a task has its turn. Returns `None` if all tasks wait and no event is
    /// pending.
    pub fn advance(&mut self) -> Option<ProgramTurn> {
        let (_, task) = self.world.next_task()?;
        Some(ProgramTurn { task, answer: self.world.answer(task) })
    }

    /// As [`advance`](Self::advance), but also stops if bytes arrive somewhere.
    pub fn advance_to_store(&mut self) -> Option<Next> {
        let next = self.world.next_task_or_store()?;
        Some(next.map_or(Next::Store, |task| {
            Next::Turn(ProgramTurn { task, answer: self.world.answer(task) })
        }))
    }

    /// Lets spinning programs look at new bytes in their stores, if any, when no event is pending.
    pub fn look_at_arrivals(&mut self) -> bool {
        self.world.look_at_arrivals()
    }

    /// Continues the thread that runs a context: the context's program has stopped, or has ended if
    /// `is_end`.
    pub fn stopped(&mut self, context: u16, is_end: bool) {
        self.world.stopped(context, is_end);
    }

    /// The thread that runs a context.
    pub fn runner(&self, context: u16) -> Option<u16> {
        self.world.programs().context(context)?.runner
    }

    /// Clears an earlier program's state of a context's channels, before a newly loaded program
    /// runs.
    pub fn renew(&mut self, context: u16) {
        let tick = self.world.tick();
        if let Some(context) = self.world.programs_mut().context_mut(context) {
            context.renew(tick);
        }
    }

    /// Takes the fault that stops a context's program: a command whose address cannot be read or
    /// written.
    pub fn take_fault(&mut self, context: u16) -> Option<ProgramCommand> {
        self.world.programs_mut().context_mut(context)?.fault.take()
    }

    /// Takes the fault of a context's proxy commands.
    pub fn take_proxy_fault(&mut self, context: u16) -> Option<ProgramCommand> {
        self.world.programs_mut().context_mut(context)?.proxy_fault.take()
    }

    /// Wakes up to `most` threads that wait for a key, in order of arrival. Returns their number.
    pub fn wake(&mut self, key: u64, most: usize) -> usize {
        self.world.wake(key, most)
    }

    /// The time in core cycles.
    pub fn now(&self) -> u64 {
        self.world.now()
    }

    /// The time in ticks of the time base.
    pub fn ticks(&self) -> u64 {
        self.world.tick()
    }

    /// The time in nanoseconds.
    pub fn now_ns(&self) -> f64 {
        self.now() as f64 / self.model.frequency_ghz
    }

    /// The core cycle at this many nanoseconds after the start.
    pub fn cycle_at(&self, ns: u64) -> u64 {
        (ns as f64 * self.model.frequency_ghz) as u64
    }

    /// Events so far.
    pub fn events(&self) -> u64 {
        self.world.events()
    }

    /// The counts so far.
    pub fn counters(&self) -> CellBeCounters {
        self.world.count(&self.model)
    }

    /// Each SPE's account so far.
    pub fn accounts(&self) -> &[SpeAccount] {
        &self.world.programs().accounts
    }

    /// Starts a trace.
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

    /// Ends the trace and returns it.
    pub fn take_trace(&mut self) -> Option<EventTrace> {
        self.world.take_trace()
    }

    /// Describes each waiting task, for the deadlock report.
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

    /// Whether a task is in a call.
    pub fn is_waiting(&self, task: u16) -> bool {
        self.world.calls(task).is_some()
    }

    /// Describes a thread that spins until memory changes; `None` if the task is not a thread.
    pub fn spins(&self, task: u16) -> Option<String> {
        let thread = self.threads.iter().find(|thread| thread.task == task)?;
        Some(format!("PPE thread {} spins until memory changes", thread.number))
    }

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

/// The channels of an SPU that take no time except the instruction itself.
impl CellBeSession {
    /// Sets the tag mask of updates.
    pub fn set_tag_mask(&mut self, context: u16, mask: u32) {
        self.world.context_for(context, |context| context.tag_mask = mask);
    }

    /// The tag mask of updates.
    pub fn tag_mask(&self, context: u16) -> u32 {
        self.world.programs().context(context).map_or(0, |context| context.tag_mask)
    }

    /// Requests a tag-status update.
    pub fn update_tags(&mut self, context: u16, condition: TagCondition) {
        self.world.update_tags(context, condition);
    }

    /// Sets the mask of events that the program reads.
    pub fn set_event_mask(&mut self, context: u16, mask: u32) {
        self.world.context_for(context, |context| context.event_mask = mask);
    }

    /// The mask of events that the program reads.
    pub fn event_mask(&self, context: u16) -> u32 {
        self.world.programs().context(context).map_or(0, |context| context.event_mask)
    }

    /// Clears events.
    pub fn acknowledge(&mut self, context: u16, events: u32) {
        self.world.context_for(context, |context| context.events &= !events);
    }

    /// Sets an event.
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
    pub fn decrementer(&self, context: u16) -> u32 {
        let tick = self.ticks();
        self.world.programs().context(context).map_or(0, |context| context.decrementer(tick))
    }

    /// Whether a read of a channel would return at once.
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
            // `Events` returned above.
            ReadChannel::Mailbox | ReadChannel::Events => context.inbound.filled() > 0,
        }
    }

    /// Messages in the inbound mailbox.
    pub fn messages(&self, context: u16) -> usize {
        self.world.programs().context(context).map_or(0, |context| context.inbound.filled())
    }

    /// Whether an outbound mailbox has room.
    pub fn has_room(&self, context: u16, mailbox: Outbound) -> bool {
        self.world
            .programs()
            .context(context)
            .is_some_and(|context| context.mailbox(mailbox).has_room())
    }

    /// Free entries in the queue of a context's MFC.
    pub fn queue_room(&mut self, context: u16) -> usize {
        self.world.queue_room(context)
    }

    /// Whether a read of a channel could never end, because only the program itself could fill it.
    pub fn is_hopeless(&self, context: u16, reading: ReadChannel) -> bool {
        let Some(context) = self.world.programs().context(context) else { return true };
        match reading {
            ReadChannel::TagStatus => context.tag_status.is_none() && context.tag_update.is_none(),
            ReadChannel::AtomicStatus => {
                context.atomic_status.is_none() && context.atomic.is_none()
            }
            _ => false,
        }
    }

    /// The entries of stalled lists with this tag.
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

    /// Resumes a stalled list with these elements. If `is_open`, more elements follow later.
    pub fn extend_list(
        &mut self,
        context: u16,
        entry: u8,
        elements: &[ListElement],
        is_open: bool,
    ) {
        self.world.extend_list(context, entry, elements, is_open);
    }

    /// Wakes SPUs that wait for the loss of a reservation or a change of their store, after
    /// possible writes of the PPE.
    pub fn memory_changed(&mut self) {
        self.world.lines_changed();
        self.world.stores_changed();
    }

    /// Sets the unread ends of a context's program.
    pub fn set_ends(&mut self, context: u16, ends: u32) {
        self.world.context_for(context, |context| context.ends = ends);
        self.world.nudge_waiting_threads();
    }

    /// The events of a context that a thread can wait for.
    pub fn happened(&self, context: u16) -> u32 {
        self.world.happened(context)
    }
}

#[cfg(test)]
mod tests;
