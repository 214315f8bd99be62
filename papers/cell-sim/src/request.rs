//! The calls of a task on a simulated Cell.

use crate::channels::{Atomic, Ea, Element, OsService, SignalNumber, TransferOrder};
use crate::session::SessionCall;
use seatmap_data::statistics::words::counted;
use std::fmt;

#[derive(Clone, Copy, Debug)]
pub enum ChannelCall {
    Transfer {
        is_get: bool,
        local: u32,
        ea: Ea,
        size: u32,
        tag: u8,
        order: TransferOrder,
    },
    /// The elements stay in place while the task is suspended.
    List {
        is_get: bool,
        local: u32,
        elements: *const Element,
        count: usize,
        tag: u8,
        order: TransferOrder,
    },
    WaitTags(u32),
    MailboxWrite {
        to: u16,
        value: u32,
    },
    MailboxRead,
    OutboxWrite(u32),
    OutboxRead {
        from: u16,
    },
    Signal {
        to: u16,
        register: SignalNumber,
        value: u32,
    },
    SignalRead(SignalNumber),
    Atomic {
        operation: Atomic,
        at: Ea,
        value: u32,
    },
    Compute(u64),
    Service(OsService),
    Program(SessionCall),
}

impl ChannelCall {
    pub fn name(&self) -> &'static str {
        match self {
            ChannelCall::Transfer { is_get: true, .. } => "get",
            ChannelCall::Transfer { .. } => "put",
            ChannelCall::List { is_get: true, .. } => "get list",
            ChannelCall::List { .. } => "put list",
            ChannelCall::WaitTags(_) => "wait for tags",
            ChannelCall::MailboxWrite { .. } => "write mailbox",
            ChannelCall::MailboxRead => "read mailbox",
            ChannelCall::OutboxWrite(_) => "write outbox",
            ChannelCall::OutboxRead { .. } => "read outbox",
            ChannelCall::Signal { .. } => "signal",
            ChannelCall::SignalRead(_) => "read signal",
            ChannelCall::Atomic { .. } => "atomic",
            ChannelCall::Compute(_) => "compute",
            ChannelCall::Service(_) => "system",
            ChannelCall::Program(call) => call.name(),
        }
    }
}

impl fmt::Display for ChannelCall {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            ChannelCall::Transfer { is_get, size, tag, .. } => {
                write!(
                    f,
                    "hands its MFC a {} of {size}, tag {tag}",
                    if *is_get { "get" } else { "put" },
                    size = counted(size, "byte")
                )
            }
            ChannelCall::List { count, tag, .. } => {
                write!(
                    f,
                    "hands its MFC a list of {count}, tag {tag}",
                    count = counted(count, "element")
                )
            }
            ChannelCall::WaitTags(tags) => write!(f, "waits for its transfers of tags {tags:#x}"),
            ChannelCall::MailboxWrite { to, .. } => write!(f, "writes the mailbox of task {to}"),
            ChannelCall::MailboxRead => f.write_str("waits for a message in its mailbox"),
            ChannelCall::OutboxWrite(_) => f.write_str("waits for its outbound mailbox to be read"),
            ChannelCall::OutboxRead { from } => {
                write!(f, "waits for the outbound mailbox of task {from}")
            }
            ChannelCall::Signal { to, register, .. } => {
                write!(f, "signals task {to}, register {}", number(*register))
            }
            ChannelCall::SignalRead(register) => {
                write!(f, "waits for a signal in its register {}", number(*register))
            }
            ChannelCall::Atomic { at, .. } => write!(f, "works on the word at {at}"),
            ChannelCall::Compute(cycles) => {
                write!(f, "computes for {cycles}", cycles = counted(cycles, "cycle"))
            }
            ChannelCall::Service(_) => f.write_str("is in the operating system"),
            ChannelCall::Program(call) => call.fmt(f),
        }
    }
}

fn number(register: SignalNumber) -> u8 {
    match register {
        SignalNumber::One => 1,
        SignalNumber::Two => 2,
    }
}
