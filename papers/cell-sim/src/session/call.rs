//! The calls of a program in C: those of an SPU's channels, and those of threads on the PPE.

use crate::channels::{SignalNumber, TransferOrder};
use seatmap_data::statistics::words::counted;
use std::fmt;

/// A command for an MFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramCommand {
    /// The name that programs know it by, for error texts.
    pub name: &'static str,
    /// The sort.
    pub kind: CommandKind,
    /// The local-store address.
    pub local: u32,
    /// The effective address: a pointer of the process, or an address that stands for an SPE's
    /// register.
    pub effective: u64,
    /// The number of bytes.
    pub bytes: u32,
    /// The tag, from 0 to 31.
    pub tag: u8,
}

/// The sort of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Bytes from the effective address into the local store.
    Get(TransferOrder),
    /// Bytes from the local store to the effective address; a signal is four bytes to a register.
    Put(TransferOrder),
    /// A line with a reservation (getllar).
    Reserve,
    /// The line back, if the reservation is valid (putllc).
    StoreConditional,
    /// The line back in any case (putlluc).
    Store,
    /// The line back in any case, queued and without a status (putqlluc).
    StoreQueued,
    /// Later commands of all tags wait for the earlier ones (mfcbarrier, mfceieio, mfcsync).
    Barrier,
}

impl CommandKind {
    /// Whether it is for the atomic unit, which takes one command at a time.
    pub(crate) fn is_atomic(self) -> bool {
        use CommandKind::{Reserve, Store, StoreConditional, StoreQueued};
        matches!(self, Reserve | StoreConditional | Store | StoreQueued)
    }
}

/// One element of a program's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListElement {
    /// The effective address.
    pub effective: u64,
    /// The number of bytes, more than 0.
    pub bytes: u32,
}

/// A channel that an SPU reads and at which it waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadChannel {
    /// The inbound mailbox.
    Mailbox,
    /// A signal register.
    Signal(SignalNumber),
    /// The answer to the last tag-status update.
    TagStatus,
    /// Tags with stalled lists.
    StallStatus,
    /// The status of the last atomic command.
    AtomicStatus,
    /// Events of the mask.
    Events,
}

/// A mailbox that an SPU writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outbound {
    /// The one that the PPE polls.
    Plain,
    /// The one that interrupts the PPE.
    Interrupting,
}

/// A count that a thread on the PPE looks at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxCount {
    /// Free entries of the inbound mailbox.
    InboundRoom,
    /// Messages in a mailbox of the SPU.
    Waiting(Outbound),
    /// The status register of all mailboxes: interrupting << 16 | free inbound << 8 | outbound.
    Status,
}

/// A set of events of one context for which a thread waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedEvents {
    /// The context's task.
    pub context: u16,
    /// Bits of [`ppe_event`](super::ppe_event).
    pub events: u32,
}

/// When a wait for tags is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagCondition {
    /// At once.
    Immediate,
    /// When the commands of one tag of the mask are complete.
    Any,
    /// When those of all are.
    All,
}

/// A call that takes time.
#[derive(Clone, Copy, Debug)]
pub enum SessionCall {
    /// SPU: hands its MFC a command. The answer is the number of the command's entry in the queue.
    Command(ProgramCommand),
    /// SPU: hands its MFC a list, whose elements stay where they are until the call ends. If it is
    /// open, further elements follow after an acknowledgement.
    List {
        /// The list's command; its size and effective address do not count.
        command: ProgramCommand,
        /// The first element.
        elements: *const ListElement,
        /// The number of elements.
        count: usize,
        /// Whether further elements follow.
        is_open: bool,
    },
    /// SPU: reads a channel; the answer is its value.
    Read(ReadChannel),
    /// SPU: writes a mailbox; waits while it is full.
    Write(Outbound, u32),
    /// Any: works for this many core cycles.
    Work(u64),
    /// SPU: reads a channel or a count that never waits.
    Look,
    /// SPU: its program was found to wait for a change of its local store, without a call: waits
    /// until bytes arrive there.
    AwaitStore,
    /// PPE: reads the time base; the answer is its ticks.
    TimeBase,
    /// PPE: reads the clock; the answer is core cycles.
    Clock,
    /// PPE: writes an SPE's inbound mailbox if it has room. The answer says whether.
    Send {
        /// The context.
        to: u16,
        /// The message.
        value: u32,
        /// Whether the operating system writes it.
        by_kernel: bool,
    },
    /// PPE: reads a mailbox of an SPE. The answer is the message with bit 32 set, or 0 for none.
    Receive {
        /// The context.
        from: u16,
        /// The mailbox.
        mailbox: Outbound,
        /// Looks before it gives up; each takes its time.
        looks: u32,
    },
    /// PPE: looks at a count, up to `looks` times while it is 0. The answer is the count.
    Count {
        /// The context.
        of: u16,
        /// The count.
        what: MailboxCount,
        /// Looks before it gives up.
        looks: u32,
    },
    /// PPE: writes a signal register.
    Signal {
        /// The context.
        to: u16,
        /// The register.
        register: SignalNumber,
        /// The value.
        value: u32,
        /// Whether the operating system writes it.
        by_kernel: bool,
    },
    /// PPE: waits in the operating system until a count is not 0.
    Await {
        /// The context.
        of: u16,
        /// The count.
        what: MailboxCount,
    },
    /// PPE: waits for events until a time in core cycles. The answer is 1, or 0 if the time came
    /// first. The sets stay where they are until the call ends.
    AwaitEvents {
        /// The first set.
        watched_events: *const WatchedEvents,
        /// The number of sets.
        count: usize,
        /// When the wait is given up.
        until: Option<u64>,
    },
    /// PPE: hands a context's MFC a proxy command.
    Proxy(u16, ProgramCommand),
    /// PPE: waits for proxy commands. The answer has the bits of the tags that are complete.
    AwaitProxies {
        /// The context.
        of: u16,
        /// The tags.
        mask: u32,
        /// The condition.
        condition: TagCondition,
    },
    /// PPE: runs a context until its program stops; waits for an SPE.
    Run {
        /// The context.
        context: u16,
        /// Whether it begins; otherwise it goes on from where it stopped.
        is_fresh: bool,
    },
    /// PPE: ends a context when its transfers are complete.
    Destroy(u16),
    /// PPE: waits until another thread [wakes](super::CellBeSession::wake) the waiters of this key,
    /// or until a time in core cycles. The answer is 1, or 0 if the time came first.
    Park {
        /// The key: an address.
        key: u64,
        /// When the wait is given up.
        until: Option<u64>,
    },
}

impl SessionCall {
    /// Whether it waits for changes that others make, and is then tried again.
    pub(crate) fn waits(&self) -> bool {
        match self {
            SessionCall::Read(_)
            | SessionCall::Write(..)
            | SessionCall::AwaitStore
            | SessionCall::Await { .. }
            | SessionCall::AwaitEvents { .. }
            | SessionCall::Proxy(..)
            | SessionCall::AwaitProxies { .. }
            | SessionCall::Run { .. }
            | SessionCall::Destroy(_) => true,
            SessionCall::Command(command) => command.kind.is_atomic(),
            _ => false,
        }
    }

    /// The name of the call in traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            SessionCall::Command(command) | SessionCall::List { command, .. } => command.name,
            SessionCall::Read(ReadChannel::Mailbox) => "read mailbox",
            SessionCall::Read(ReadChannel::Signal(_)) => "read signal",
            SessionCall::Read(ReadChannel::TagStatus) => "wait for tags",
            SessionCall::Read(ReadChannel::StallStatus) => "wait for a list to stall",
            SessionCall::Read(ReadChannel::AtomicStatus) => "wait for an atomic",
            SessionCall::Read(ReadChannel::Events) => "wait for events",
            SessionCall::Write(..) => "write mailbox",
            SessionCall::Work(_) => "work",
            SessionCall::AwaitStore => "spin",
            SessionCall::Look | SessionCall::TimeBase | SessionCall::Clock => "look",
            SessionCall::Send { .. } => "write SPE mailbox",
            SessionCall::Receive { .. } | SessionCall::Count { .. } => "look at SPE mailbox",
            SessionCall::Signal { .. } => "signal",
            SessionCall::Await { .. } => "wait for a mailbox",
            SessionCall::AwaitEvents { .. } => "wait for events",
            SessionCall::Proxy(_, command) => command.name,
            SessionCall::AwaitProxies { .. } => "wait for tags",
            SessionCall::Run { .. } => "run",
            SessionCall::Destroy(_) => "destroy",
            SessionCall::Park { .. } => "wait for a thread",
        }
    }
}

/// Says what a task does in this call, for the report of a deadlock. Contexts have the numbers of
/// their tasks here; [`Session::waiting`](super::CellBeSession::waiting) replaces them.
impl fmt::Display for SessionCall {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            SessionCall::Command(ProgramCommand { name, tag, bytes, .. }) => {
                write!(
                    f,
                    "hands its MFC {name} of {bytes}, tag {tag}",
                    bytes = counted(bytes, "byte")
                )
            }
            SessionCall::List { command, count, .. } => {
                write!(
                    f,
                    "hands its MFC {} of {count}, tag {}",
                    command.name,
                    command.tag,
                    count = counted(count, "element")
                )
            }
            SessionCall::Read(ReadChannel::Mailbox) => {
                f.write_str("waits for a message in its mailbox")
            }
            SessionCall::Read(ReadChannel::Signal(SignalNumber::One)) => {
                f.write_str("waits for a signal in its register 1")
            }
            SessionCall::Read(ReadChannel::Signal(SignalNumber::Two)) => {
                f.write_str("waits for a signal in its register 2")
            }
            SessionCall::Read(ReadChannel::TagStatus) => f.write_str("waits for its transfers"),
            SessionCall::Read(ReadChannel::StallStatus) => f.write_str("waits for a list to stall"),
            SessionCall::Read(ReadChannel::AtomicStatus) => {
                f.write_str("waits for its atomic unit")
            }
            SessionCall::Read(ReadChannel::Events) => f.write_str("waits for an event"),
            SessionCall::Write(Outbound::Plain, _) => {
                f.write_str("waits for its outbound mailbox to be read")
            }
            SessionCall::Write(Outbound::Interrupting, _) => {
                f.write_str("waits for its interrupting mailbox to be read")
            }
            SessionCall::Work(cycles) => {
                write!(f, "works for {cycles}", cycles = counted(cycles, "cycle"))
            }
            SessionCall::Look => f.write_str("reads a channel"),
            SessionCall::AwaitStore => f.write_str("spins until its local store changes"),
            SessionCall::TimeBase | SessionCall::Clock => f.write_str("reads the time"),
            SessionCall::Send { .. } => f.write_str("writes the mailbox of an SPE"),
            SessionCall::Receive { .. } | SessionCall::Count { .. } => {
                f.write_str("looks at the mailbox of an SPE")
            }
            SessionCall::Signal { .. } => f.write_str("signals an SPE"),
            SessionCall::Await { what: MailboxCount::InboundRoom, .. } => {
                f.write_str("waits for room in the mailbox of")
            }
            SessionCall::Await { .. } => f.write_str("waits for a message of"),
            SessionCall::AwaitEvents { .. } => f.write_str("waits for events of contexts"),
            SessionCall::Proxy(..) => f.write_str("waits for the transfer unit of"),
            SessionCall::AwaitProxies { mask, .. } => {
                write!(f, "waits for its transfers of tags {mask:#x} by")
            }
            SessionCall::Run { .. } => f.write_str("waits for the end of"),
            SessionCall::Destroy(_) => f.write_str("waits for the transfers of"),
            SessionCall::Park { .. } => f.write_str("waits for another thread"),
        }
    }
}

impl SessionCall {
    /// The context that a thread's call is about.
    pub(crate) fn context(&self) -> Option<u16> {
        match *self {
            SessionCall::Await { of, .. }
            | SessionCall::Proxy(of, _)
            | SessionCall::AwaitProxies { of, .. }
            | SessionCall::Run { context: of, .. }
            | SessionCall::Destroy(of) => Some(of),
            _ => None,
        }
    }
}
