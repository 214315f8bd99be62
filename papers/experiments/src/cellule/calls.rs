//! The calls that both ways of running workers implement.

use seatmap_worker::{BorrowedWorker, ThreadContext, WorkerError, WorkerProgram};
use std::sync::Arc;

/// A controller's calls, with libspe2's meaning.
pub trait Calls {
    /// Loads a program.
    fn load(&mut self, program: Arc<dyn WorkerProgram>);

    /// Starts the program.
    ///
    /// # Errors
    /// The context's error.
    fn start(&mut self, argument: u64) -> Result<(), WorkerError>;

    /// Waits for its end, and returns its stop code.
    ///
    /// # Errors
    /// The context's error.
    fn wait(&mut self) -> Result<u32, WorkerError>;

    /// Writes its inbound mailbox.
    ///
    /// # Errors
    /// The context's error: nothing will read it.
    fn write(&mut self, value: u32) -> Result<(), WorkerError>;

    /// # Errors
    /// The context's error: nothing will write it.
    fn read(&mut self) -> Result<u32, WorkerError>;

    /// Whether its outbound mailbox has a message.
    ///
    /// # Errors
    /// The context's error: there is no message, and none will come.
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
