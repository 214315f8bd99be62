//! The calls of a program in C: those of an SPU's channels, and those of threads on the PPE.

use seatmap_data::port::channels::{Order, Register};
use seatmap_data::statistics::words::counted;
use std::fmt;

/// A command for an MFC.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Command {
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
    Get(Order),
    /// Bytes from the local store to the effective address; a signal is four bytes to a register.
    Put(Order),
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
pub enum Reading {
    /// The inbound mailbox.
    Mailbox,
    /// A signal register.
    Signal(Register),
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
pub enum Count {
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
pub enum Call {
    /// SPU: hands its MFC a command. The answer is the number of the command's entry in the queue.
    Command(Command),
    /// SPU: hands its MFC a list, whose elements stay where they are until the call ends. If it is
    /// open, further elements follow after an acknowledgement.
    List {
        /// The list's command; its size and effective address do not count.
        command: Command,
        /// The first element.
        elements: *const ListElement,
        /// The number of elements.
        count: usize,
        /// Whether further elements follow.
        is_open: bool,
    },
    /// SPU: reads a channel; the answer is its value.
    Read(Reading),
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
        what: Count,
        /// Looks before it gives up.
        looks: u32,
    },
    /// PPE: writes a signal register.
    Signal {
        /// The context.
        to: u16,
        /// The register.
        register: Register,
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
        what: Count,
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
    Proxy(u16, Command),
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
    /// PPE: waits until another thread [wakes](super::Session::wake) the waiters of this key, or
    /// until a time in core cycles. The answer is 1, or 0 if the time came first.
    Park {
        /// The key: an address.
        key: u64,
        /// When the wait is given up.
        until: Option<u64>,
    },
}

impl Call {
    /// Whether it waits for changes that others make, and is then tried again.
    pub(crate) fn waits(&self) -> bool {
        match self {
            Call::Read(_)
            | Call::Write(..)
            | Call::AwaitStore
            | Call::Await { .. }
            | Call::AwaitEvents { .. }
            | Call::Proxy(..)
            | Call::AwaitProxies { .. }
            | Call::Run { .. }
            | Call::Destroy(_) => true,
            Call::Command(command) => command.kind.is_atomic(),
            _ => false,
        }
    }

    /// The name of the call in traces.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Call::Command(command) | Call::List { command, .. } => command.name,
            Call::Read(Reading::Mailbox) => "read mailbox",
            Call::Read(Reading::Signal(_)) => "read signal",
            Call::Read(Reading::TagStatus) => "wait for tags",
            Call::Read(Reading::StallStatus) => "wait for a list to stall",
            Call::Read(Reading::AtomicStatus) => "wait for an atomic",
            Call::Read(Reading::Events) => "wait for events",
            Call::Write(..) => "write mailbox",
            Call::Work(_) => "work",
            Call::AwaitStore => "spin",
            Call::Look | Call::TimeBase | Call::Clock => "look",
            Call::Send { .. } => "write SPE mailbox",
            Call::Receive { .. } | Call::Count { .. } => "look at SPE mailbox",
            Call::Signal { .. } => "signal",
            Call::Await { .. } => "wait for a mailbox",
            Call::AwaitEvents { .. } => "wait for events",
            Call::Proxy(_, command) => command.name,
            Call::AwaitProxies { .. } => "wait for tags",
            Call::Run { .. } => "run",
            Call::Destroy(_) => "destroy",
            Call::Park { .. } => "wait for a thread",
        }
    }
}

/// Says what a task does in this call, for the report of a deadlock. Contexts have the numbers of
/// their tasks here; [`Session::waiting`](super::Session::waiting) replaces them.
impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Call::Command(Command { name, tag, bytes, .. }) => {
                write!(
                    f,
                    "hands its MFC {name} of {bytes}, tag {tag}",
                    bytes = counted(bytes, "byte")
                )
            }
            Call::List { command, count, .. } => {
                write!(
                    f,
                    "hands its MFC {} of {count}, tag {}",
                    command.name,
                    command.tag,
                    count = counted(count, "element")
                )
            }
            Call::Read(Reading::Mailbox) => f.write_str("waits for a message in its mailbox"),
            Call::Read(Reading::Signal(Register::One)) => {
                f.write_str("waits for a signal in its register 1")
            }
            Call::Read(Reading::Signal(Register::Two)) => {
                f.write_str("waits for a signal in its register 2")
            }
            Call::Read(Reading::TagStatus) => f.write_str("waits for its transfers"),
            Call::Read(Reading::StallStatus) => f.write_str("waits for a list to stall"),
            Call::Read(Reading::AtomicStatus) => f.write_str("waits for its atomic unit"),
            Call::Read(Reading::Events) => f.write_str("waits for an event"),
            Call::Write(Outbound::Plain, _) => {
                f.write_str("waits for its outbound mailbox to be read")
            }
            Call::Write(Outbound::Interrupting, _) => {
                f.write_str("waits for its interrupting mailbox to be read")
            }
            Call::Work(cycles) => {
                write!(f, "works for {cycles}", cycles = counted(cycles, "cycle"))
            }
            Call::Look => f.write_str("reads a channel"),
            Call::AwaitStore => f.write_str("spins until its local store changes"),
            Call::TimeBase | Call::Clock => f.write_str("reads the time"),
            Call::Send { .. } => f.write_str("writes the mailbox of an SPE"),
            Call::Receive { .. } | Call::Count { .. } => {
                f.write_str("looks at the mailbox of an SPE")
            }
            Call::Signal { .. } => f.write_str("signals an SPE"),
            Call::Await { what: Count::InboundRoom, .. } => {
                f.write_str("waits for room in the mailbox of")
            }
            Call::Await { .. } => f.write_str("waits for a message of"),
            Call::AwaitEvents { .. } => f.write_str("waits for events of contexts"),
            Call::Proxy(..) => f.write_str("waits for the transfer unit of"),
            Call::AwaitProxies { mask, .. } => {
                write!(f, "waits for its transfers of tags {mask:#x} by")
            }
            Call::Run { .. } => f.write_str("waits for the end of"),
            Call::Destroy(_) => f.write_str("waits for the transfers of"),
            Call::Park { .. } => f.write_str("waits for another thread"),
        }
    }
}

impl Call {
    /// The context that a thread's call is about.
    pub(crate) fn context(&self) -> Option<u16> {
        match *self {
            Call::Await { of, .. }
            | Call::Proxy(of, _)
            | Call::AwaitProxies { of, .. }
            | Call::Run { context: of, .. }
            | Call::Destroy(of) => Some(of),
            _ => None,
        }
    }
}
