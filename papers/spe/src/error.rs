//! The errors of SPEs, with libspe2's error numbers.

use crate::transfer::TransferFault;
use std::io;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
pub enum SpeError {
    /// The environment requests a machine that does not exist or cannot start.
    #[error("{0}")]
    Machine(String),
    /// The kernel has no memory for a local store.
    #[error("cannot map a local store")]
    Store(#[source] io::Error),
    /// No thread could be started or pinned.
    #[error("cannot start a thread on CPU {cpu}")]
    Thread {
        /// The CPU's number.
        cpu: u32,
        /// The kernel's error.
        #[source]
        source: io::Error,
    },
    /// The file or the embedded image is not a program for SPUs.
    #[error("not an SPU program: {0}")]
    Image(String),
    /// The file cannot be read.
    #[error("cannot read '{name}'")]
    File {
        /// The file's name.
        name: String,
        /// The kernel's error.
        #[source]
        source: io::Error,
    },
    /// The program needs more than the store.
    #[error(
        "the program needs {needed_bytes} bytes and the local store has {store_bytes}; \
             build it with --ls-size, set SEATMAP_SPE_LS_KIB, or make it smaller"
    )]
    TooLarge {
        /// The program's bytes and the least stack.
        needed_bytes: usize,
        /// Bytes of the store.
        store_bytes: usize,
    },
    /// A run without a program.
    #[error("context {0} has no program")]
    NoProgram(u32),
    /// The context already runs.
    #[error("context {0} is running")]
    Running(u32),
    /// Another thread has destroyed the context.
    #[error("context {0} was destroyed")]
    Closed(u32),
    /// An argument is invalid.
    #[error("{0}")]
    Argument(String),
    /// The context lacks an option that the call needs.
    #[error("{0}")]
    Unsupported(String),
    /// A transfer for the PPE failed.
    #[error(transparent)]
    Transfer(#[from] TransferFault),
}

impl SpeError {
    /// libspe2's error number.
    pub fn errno(&self) -> i32 {
        match self {
            SpeError::Machine(_) => libc::ENODEV,
            SpeError::Store(_) => libc::ENOMEM,
            SpeError::Thread { .. } => libc::EFAULT,
            SpeError::Image(_) | SpeError::TooLarge { .. } => libc::ENOEXEC,
            SpeError::File { source, .. } => source.raw_os_error().unwrap_or(libc::EIO),
            SpeError::NoProgram(_) | SpeError::Argument(_) => libc::EINVAL,
            SpeError::Running(_) => libc::EAGAIN,
            SpeError::Closed(_) => libc::ESRCH,
            SpeError::Unsupported(_) => libc::ENOTSUP,
            SpeError::Transfer(_) => libc::EIO,
        }
    }
}
