//! Several messages that a thread of the PPE moves in one call.

use crate::context::SpeContext;
use crate::mailbox::Mailbox;
use crate::stuck::{WaitReason, Waiter};

/// The messages that a call waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailboxWait {
    /// None. The call moves those that can move at once.
    Never,
    /// The first. The others move if they can move at once.
    First,
    /// All.
    All,
}

impl MailboxWait {
    /// Whether the call waits for the message after `done` others.
    pub fn needs(self, done: usize) -> bool {
        match self {
            MailboxWait::Never => false,
            MailboxWait::First => done == 0,
            MailboxWait::All => true,
        }
    }
}

impl SpeContext {
    /// Sends messages to the SPU. Returns their number, which is 0 in spite of a wait if no thread
    /// runs or could run the program.
    pub fn send_all(&self, values: &[u32], wait: MailboxWait) -> usize {
        if let Some(seat) = self.simulated() {
            return seat.send(values, wait);
        }
        self.repeat(Mailbox::In, values.len(), wait, |at| {
            values.get(at).is_some_and(|value| self.try_send(*value))
        })
    }

    /// Receives messages from one of the SPU's mailboxes. Returns their number, as
    /// [`send_all`](Self::send_all) does.
    pub fn receive_all(&self, mailbox: Mailbox, values: &mut [u32], wait: MailboxWait) -> usize {
        if let Some(seat) = self.simulated() {
            return seat.receive(mailbox, values, wait);
        }
        self.repeat(mailbox, values.len(), wait, |at| {
            let found = self.try_receive(mailbox);
            found.zip(values.get_mut(at)).map(|(value, place)| *place = value).is_some()
        })
    }

    fn repeat(
        &self,
        mailbox: Mailbox,
        count: usize,
        wait: MailboxWait,
        mut step: impl FnMut(usize) -> bool,
    ) -> usize {
        let reason = match mailbox {
            Mailbox::In => WaitReason::Room(self.number()),
            _ => WaitReason::MessageOf(self.number()),
        };
        for done in 0..count {
            let is_moved = if wait.needs(done) {
                let notify = self.state().notify();
                notify
                    .wait_for_others((Waiter::Thread, reason), || step(done).then_some(()))
                    .is_some()
            } else {
                step(done)
            };
            if !is_moved {
                return done;
            }
        }
        count
    }
}
