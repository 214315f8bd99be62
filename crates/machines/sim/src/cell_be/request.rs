//! The calls of a task on a simulated Cell.

use seatmap_port::channels::{Atomic, Ea, Element, Order, Register, Service};
use std::fmt;

/// A call that takes time.
#[derive(Clone, Copy, Debug)]
pub enum Request {
    Transfer {
        is_get: bool,
        local: u32,
        ea: Ea,
        size: u32,
        tag: u8,
        order: Order,
    },
    /// The elements stay where they are while the task is suspended.
    List {
        is_get: bool,
        local: u32,
        elements: *const Element,
        count: usize,
        tag: u8,
        order: Order,
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
        register: Register,
        value: u32,
    },
    SignalRead(Register),
    Atomic {
        operation: Atomic,
        at: Ea,
        value: u32,
    },
    Compute(u64),
    Service(Service),
}

impl Request {
    /// The name of the call in traces.
    pub fn name(&self) -> &'static str {
        match self {
            Request::Transfer { is_get: true, .. } => "get",
            Request::Transfer { .. } => "put",
            Request::List { is_get: true, .. } => "get list",
            Request::List { .. } => "put list",
            Request::WaitTags(_) => "wait for tags",
            Request::MailboxWrite { .. } => "write mailbox",
            Request::MailboxRead => "read mailbox",
            Request::OutboxWrite(_) => "write outbox",
            Request::OutboxRead { .. } => "read outbox",
            Request::Signal { .. } => "signal",
            Request::SignalRead(_) => "read signal",
            Request::Atomic { .. } => "atomic",
            Request::Compute(_) => "compute",
            Request::Service(_) => "system",
        }
    }
}

impl fmt::Display for Request {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        match self {
            Request::Transfer { is_get, size, tag, .. } => {
                write!(f, "hands its MFC a {} of {size} bytes, tag {tag}", if *is_get { "get" } else { "put" })
            }
            Request::List { count, tag, .. } => write!(f, "hands its MFC a list of {count} elements, tag {tag}"),
            Request::WaitTags(tags) => write!(f, "waits for its transfers of tags {tags:#x}"),
            Request::MailboxWrite { to, .. } => write!(f, "writes the mailbox of task {to}"),
            Request::MailboxRead => f.write_str("waits for a message in its mailbox"),
            Request::OutboxWrite(_) => f.write_str("waits for its outbound mailbox to be read"),
            Request::OutboxRead { from } => write!(f, "waits for the outbound mailbox of task {from}"),
            Request::Signal { to, register, .. } => write!(f, "signals task {to}, register {}", number(*register)),
            Request::SignalRead(register) => write!(f, "waits for a signal in its register {}", number(*register)),
            Request::Atomic { at, .. } => write!(f, "works on the word at {at}"),
            Request::Compute(cycles) => write!(f, "computes for {cycles} cycles"),
            Request::Service(_) => f.write_str("is in the operating system"),
        }
    }
}

/// The number by which programmers know a signal register.
fn number(register: Register) -> u8 {
    match register {
        Register::One => 1,
        Register::Two => 2,
    }
}
