//! Messages between caches and homes. Each carries all that its receiver needs.

use crate::coherent::fabric::Lane;
use crate::coherent::request::LineCall;
use std::fmt;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageKind {
    /// A cache asks the home for a missing line, or for the right to write a shared line (step 1 of
    /// figure 6 of Liu et al. 2015).
    LineCall {
        /// Whether the cache asks to write.
        writes: bool,
    },
    /// The home asks the owner to send the line home (step 2).
    Forward,
    /// The home makes a cache give the line up.
    Invalidate {
        /// Whether the requester lacks the line, so that the owner sends it home.
        wants_line: bool,
    },
    /// A cache sends the line home (step 3).
    Data,
    /// A cache has given the line up.
    InvAck,
    /// The home passes the line to the requester (step 4).
    Line {
        /// Whether the requester becomes the line's only sharer, and may write it.
        exclusive: bool,
    },
    /// The home lets the requester continue with its copy.
    Grant {
        /// Whether the requester is now the line's only sharer, and may write it.
        exclusive: bool,
    },
    /// The home is full and sends the request back; the cache asks again.
    Nack {
        /// Whether the request asked to write.
        writes: bool,
    },
}

impl MessageKind {
    #[inline]
    pub fn lane(self) -> Lane {
        match self {
            MessageKind::LineCall { .. }
            | MessageKind::Forward
            | MessageKind::Invalidate { .. } => Lane::Address,
            MessageKind::Data | MessageKind::Line { .. } => Lane::Data,
            MessageKind::InvAck | MessageKind::Grant { .. } | MessageKind::Nack { .. } => {
                Lane::Acknowledge
            }
        }
    }

    /// Whether homes receive it; caches receive the others.
    #[inline]
    pub fn is_to_home(self) -> bool {
        matches!(self, MessageKind::LineCall { .. } | MessageKind::Data | MessageKind::InvAck)
    }
}

/// The operation of a request to a message buffer, or the value of its answer.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Parcel {
    Operation(LineCall),
    /// The value of an answer: that of the word before the operation.
    Value(u64),
}

pub const NO_PARCEL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Message {
    pub kind: MessageKind,
    /// Cache that sends or receives it.
    pub cache: u16,
    /// Hardware thread of that cache whose request it serves; 0 in a snoop and its answer.
    pub thread: u16,
    /// Node that sent it first.
    pub from: u16,
    pub at: u16,
    pub to: u16,
    pub line: u32,
    /// The number of its parcel; [`NO_PARCEL`] between caches and directories.
    pub parcel: u32,
}

impl fmt::Display for Message {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Message { kind, cache, thread, from, at, to, line, .. } = self;
        write!(
            f,
            "{kind:?} of line {line}, cache {cache}, thread {thread}, at node {at} from {from} to \
             {to}"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn message_has_20_bytes() {
        assert_eq!(size_of::<Option<Message>>(), 20);
    }
}
