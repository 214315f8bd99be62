//! The calls of a C program: SPU channels and calls of PPE threads.

use crate::channels::{SignalNumber, TransferOrder};
use seatmap_data::statistics::words::counted;
use std::fmt;

/// A command for an MFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramCommand {
    /// Its name in programs and error messages.
    pub name: &'static str,
    /// The sort.
    pub kind: CommandKind,
    /// The local-store address.
    pub local: u32,
    /// The effective address: a pointer of the process, or the address of an SPE register.
    pub effective: u64,
    /// Bytes.
    pub bytes: u32,
    /// The tag, from 0 to 31.
    pub tag: u8,
}

/// The sort of a command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandKind {
    /// Copies bytes from the effective address to the local store.
    Get(TransferOrder),
    /// Copies bytes from the local store to the effective address; a signal is a put of four bytes
    /// to a register.
    Put(TransferOrder),
    /// Reads a line and reserves it (getllar).
    Reserve,
    /// Writes the line if the reservation is still valid (putllc).
    StoreConditional,
    /// Writes the line unconditionally (putlluc).
    Store,
    /// As [`Self::Store`], through the queue and without a status (putqlluc).
    StoreQueued,
    /// Keeps later commands of all tags waiting for earlier ones (mfcbarrier, mfceieio, mfcsync).
    Barrier,
}

impl CommandKind {
    pub(crate) fn is_atomic(self) -> bool {
        use CommandKind::{Reserve, Store, StoreConditional, StoreQueued};
        matches!(self, Reserve | StoreConditional | Store | StoreQueued)
    }
}

/// An element of a program's list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ListElement {
    /// The effective address.
    pub effective: u64,
    /// Bytes, above 0.
    pub bytes: u32,
}

/// A channel whose read makes an SPU wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadChannel {
    /// The inbound mailbox.
    Mailbox,
    /// A signal register.
    Signal(SignalNumber),
    /// The result of the last tag-status update.
    TagStatus,
    /// Tags with stalled lists.
    StallStatus,
    /// The status of the last atomic command.
    AtomicStatus,
    /// Unmasked events.
    Events,
}

/// A mailbox written by an SPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outbound {
    /// The mailbox that the PPE polls.
    Plain,
    /// The mailbox that interrupts the PPE.
    Interrupting,
}

/// A count that a PPE thread can read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxCount {
    /// Free entries of the inbound mailbox.
    InboundRoom,
    /// Messages in a mailbox of the SPU.
    Waiting(Outbound),
    /// The mailbox status register: interrupting << 16 | free inbound << 8 | outbound.
    Status,
}

/// Events of one context that a thread waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WatchedEvents {
    /// The context's task.
    pub context: u16,
    /// Bits of [`ppe_event`](super::ppe_event).
    pub events: u32,
}

/// The condition that ends a wait for tags.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TagCondition {
    /// At once.
    Immediate,
    /// All commands of one tag in the mask are complete.
    Any,
    /// All commands of all tags in the mask are complete.
    All,
}

/// A call that takes time.
#[derive(Clone, Copy, Debug)]
pub enum SessionCall {
    /// SPU: hands its MFC a command. The answer is the command's queue entry.
    Command(ProgramCommand),
    /// SPU: hands its MFC a list, whose elements stay in place until the call ends.
    List {
        /// The list's command; its size and effective address are ignored.
        command: ProgramCommand,
        /// The first element.
        elements: *const ListElement,
        /// Elements.
        count: usize,
        /// Whether more elements follow after an acknowledgement.
        is_open: bool,
    },
    /// SPU: reads a channel. The answer is its value.
    Read(ReadChannel),
    /// SPU: writes a mailbox; waits while it is full.
    Write(Outbound, u32),
    /// Any task: works for this many core cycles.
    Work(u64),
    /// SPU: reads a channel or a count without waiting.
    Look,
    /// SPU: waits until bytes arrive in its local store, for programs that spin on their store.
    AwaitStore,
    /// PPE: reads the time base, in ticks.
    TimeBase,
    /// PPE: reads the clock, in core cycles.
    Clock,
    /// PPE: writes an SPE's inbound mailbox if it has room. The answer is whether it had.
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
        /// Reads before it gives up; each takes its time.
        looks: u32,
    },
    /// PPE: reads a count, up to `looks` times while it is 0.
    Count {
        /// The context.
        of: u16,
        /// The count.
        what: MailboxCount,
        /// Reads before it gives up.
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
    /// PPE: waits for events. The answer is 1, or 0 after a timeout. The sets stay in place until
    /// the call ends.
    AwaitEvents {
        /// The first set.
        watched_events: *const WatchedEvents,
        /// Sets.
        count: usize,
        /// The timeout in core cycles.
        until: Option<u64>,
    },
    /// PPE: hands a context's MFC a proxy command.
    Proxy(u16, ProgramCommand),
    /// PPE: waits for proxy commands. The answer is the mask of complete tags.
    AwaitProxies {
        /// The context.
        of: u16,
        /// The tags.
        mask: u32,
        /// The condition.
        condition: TagCondition,
    },
    /// PPE: waits for an SPE and runs a context until its program stops.
    Run {
        /// The context.
        context: u16,
        /// Whether the program starts; otherwise it continues where it stopped.
        is_fresh: bool,
    },
    /// PPE: removes a context when its transfers are complete.
    Destroy(u16),
    /// PPE: waits until another thread [wakes](super::CellBeSession::wake) this key's waiters. The
    /// answer is 1, or 0 after a timeout.
    Park {
        /// The key: an address.
        key: u64,
        /// The timeout in core cycles.
        until: Option<u64>,
    },
}

impl SessionCall {
    /// Whether the call waits for changes by others, which retry it.
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

/// Describes a task's call for the deadlock report. Contexts have their task numbers here;
/// [`Session::waiting`](super::CellBeSession::waiting) replaces them.
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
