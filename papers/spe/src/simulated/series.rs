//! Messages that a PPE thread moves in one request to the driver.
//!
//! The driver makes the calls one after the other and wakes the thread after the last one, which
//! saves two switches between threads per call. The calls and their virtual times are those of a
//! thread that makes each call itself.

use crate::mailbox::Mailbox;
use crate::messages::MailboxWait;
use seatmap_cell_sim::session::{MailboxCount, Outbound, SessionCall};

/// The most looks in one request. A thread that polls in vain gets answers less often, for the same
/// virtual time.
pub const MOST_LOOKS: u32 = 1024;

/// Messages to or from one context.
#[derive(Clone, Debug)]
pub struct MessageSeries {
    /// The context's task.
    pub context: u16,
    /// The mailbox.
    pub mailbox: Mailbox,
    /// Whether the operating system moves them, and waits.
    pub by_kernel: bool,
    /// The messages to wait for.
    pub wait: MailboxWait,
    /// The messages to send, or the received ones.
    pub values: Vec<u32>,
    /// The messages to move.
    pub count: usize,
    /// The moved messages.
    pub done: usize,
    /// How often in a row to try the next message, unless the call waits for it.
    pub looks: u32,
    tries: u32,
    is_waiting: bool,
}

/// The outbound mailbox of a session.
pub fn outbound(mailbox: Mailbox) -> Outbound {
    if mailbox == Mailbox::OutInterrupting { Outbound::Interrupting } else { Outbound::Plain }
}

impl MessageSeries {
    /// A series of `count` messages. Each is tried once, unless the call waits for it.
    pub fn new(context: u16, mailbox: Mailbox, wait: MailboxWait, count: usize) -> Self {
        MessageSeries {
            context,
            mailbox,
            by_kernel: false,
            wait,
            values: Vec::new(),
            count,
            done: 0,
            looks: 1,
            tries: 0,
            is_waiting: false,
        }
    }

    /// The context, and the message that did not move, if it is known.
    pub fn unmoved(&self) -> (u16, Option<u32>) {
        let is_sent = self.mailbox == Mailbox::In;
        (self.context, self.values.get(self.done).copied().filter(|_| is_sent))
    }

    /// The call that moves the next message.
    pub fn call(&self) -> Option<SessionCall> {
        let context = self.context;
        Some(match self.mailbox {
            Mailbox::In => SessionCall::Send {
                to: context,
                value: *self.values.get(self.done)?,
                by_kernel: self.by_kernel,
            },
            mailbox => SessionCall::Receive {
                from: context,
                mailbox: outbound(mailbox),
                looks: self.looks,
            },
        })
    }

    /// The call after this answer; `None` after the last one.
    pub fn next(&mut self, answer: u64) -> Option<SessionCall> {
        if std::mem::take(&mut self.is_waiting) {
            self.looks = 1;
            return self.call();
        }
        if answer == 0 {
            return self.after_failure();
        }
        self.done += 1;
        (self.looks, self.tries) = (1, 0);
        if self.mailbox != Mailbox::In {
            self.values.push(answer as u32);
        }
        if self.done < self.count { self.call() } else { None }
    }

    fn after_failure(&mut self) -> Option<SessionCall> {
        let is_needed = self.wait.needs(self.done);
        // A received message's attempts are looks of one call.
        self.tries += 1;
        if !is_needed && self.mailbox == Mailbox::In && self.tries < self.looks {
            return self.call();
        }
        self.looks = (2 * self.looks).min(MOST_LOOKS);
        if !is_needed {
            return None;
        }
        self.is_waiting = self.by_kernel || self.mailbox == Mailbox::OutInterrupting;
        if !self.is_waiting {
            return self.call();
        }
        let what = match self.mailbox {
            Mailbox::In => MailboxCount::InboundRoom,
            mailbox => MailboxCount::Waiting(outbound(mailbox)),
        };
        Some(SessionCall::Await { of: self.context, what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUND: u64 = 1 << 32;

    fn word(call: SessionCall) -> String {
        format!("{call:?}").split(' ').next().unwrap().to_owned()
    }

    fn sending(wait: MailboxWait, by_kernel: bool) -> MessageSeries {
        MessageSeries {
            values: vec![7, 8, 9],
            by_kernel,
            ..MessageSeries::new(2, Mailbox::In, wait, 3)
        }
    }

    /// Answers the calls of a series in this order; returns the calls' first words.
    fn calls(series: &mut MessageSeries, answers: &[u64]) -> Vec<String> {
        let mut call = series.call();
        let mut seen = Vec::new();
        for answer in answers {
            seen.extend(call.map(word));
            call = series.next(*answer);
        }
        seen.extend(call.map(word));
        seen
    }

    #[test]
    fn sending_stops_at_a_full_mailbox_or_waits_for_room() {
        let mut never = sending(MailboxWait::Never, true);
        assert_eq!(calls(&mut never, &[1, 1, 0]), ["Send", "Send", "Send"]);
        assert_eq!((never.done, never.looks, never.unmoved()), (2, 2, (2, Some(9))));
        let mut all = sending(MailboxWait::All, true);
        assert_eq!(calls(&mut all, &[1, 0, 1, 1, 1]), ["Send", "Send", "Await", "Send", "Send"]);
        assert_eq!((all.done, all.unmoved()), (3, (2, None)));
        let mut polls = sending(MailboxWait::First, false);
        assert_eq!(calls(&mut polls, &[0, 0, 1, 0]), ["Send"; 4]);
        assert_eq!(polls.done, 1);
    }

    #[test]
    fn repeated_attempts_without_need_are_bounded() {
        let mut series = MessageSeries {
            values: vec![7],
            looks: 4,
            ..MessageSeries::new(2, Mailbox::In, MailboxWait::Never, 1)
        };
        assert_eq!(calls(&mut series, &[0; 4]), ["Send"; 4]);
        assert_eq!((series.done, series.looks), (0, 8));
    }

    #[test]
    fn received_messages_are_kept_in_order() {
        let mut series = MessageSeries::new(2, Mailbox::OutInterrupting, MailboxWait::First, 3);
        assert_eq!(
            calls(&mut series, &[0, 1, FOUND | 5, FOUND | 6, 0]),
            ["Receive", "Await", "Receive", "Receive", "Receive"]
        );
        assert_eq!((series.done, series.values), (2, vec![5, 6]));
    }
}
