//! The calls that both ways of running workers answer.

use seatmap_worker::{BorrowedWorker, ThreadContext, WorkerError, WorkerProgram};
use std::sync::Arc;

/// The calls that a controller makes, by libspe2's sense of them.
pub trait Calls {
    /// Loads a program.
    fn load(&mut self, program: Arc<dyn WorkerProgram>);

    /// Starts it.
    ///
    /// # Errors
    /// As the context's own.
    fn start(&mut self, argument: u64) -> Result<(), WorkerError>;

    /// Waits for its end, and returns its stop code.
    ///
    /// # Errors
    /// As the context's own.
    fn wait(&mut self) -> Result<u32, WorkerError>;

    /// Writes its inbound mailbox.
    ///
    /// # Errors
    /// As the context's own: nobody is there to read it.
    fn write(&mut self, value: u32) -> Result<(), WorkerError>;

    /// Reads its outbound mailbox.
    ///
    /// # Errors
    /// As the context's own: nobody is there to write it.
    fn read(&mut self) -> Result<u32, WorkerError>;

    /// Whether a message waits there.
    ///
    /// # Errors
    /// As the context's own: none waits, and none will come.
    fn has_mail(&self) -> Result<bool, WorkerError>;
}

macro_rules! answered_by {
    ($context:ty) => {
        impl Calls for $context {
            fn load(&mut self, program: Arc<dyn WorkerProgram>) {
                <$context>::load(self, program);
            }

            fn start(&mut self, argument: u64) -> Result<(), WorkerError> {
                <$context>::start(self, argument)
            }

            fn wait(&mut self) -> Result<u32, WorkerError> {
                <$context>::wait(self)
            }

            fn write(&mut self, value: u32) -> Result<(), WorkerError> {
                self.mailbox_write(value)
            }

            fn read(&mut self) -> Result<u32, WorkerError> {
                self.mailbox_read()
            }

            fn has_mail(&self) -> Result<bool, WorkerError> {
                self.mailbox_poll()
            }
        }
    };
}

answered_by!(BorrowedWorker);
answered_by!(ThreadContext);
