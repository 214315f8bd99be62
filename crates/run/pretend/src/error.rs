//! Why no other machine can be shown.

use seatmap_data::document::Blame;
use seatmap_launch::ProgramError;
use std::io;
use std::path::PathBuf;

/// A failure to show a machine.
#[derive(Debug, thiserror::Error)]
pub enum PretendError {
    /// The cores are unknown, or there are no such CPUs or quotas: a sentence.
    #[error("{0}")]
    Machine(String),
    /// The program cannot run.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// The processor's calls are unknown.
    #[error("system calls can be answered only on x86-64 and 64-bit Arm")]
    Processor,
    /// The kernel allows no user namespace.
    #[error("the kernel allows no user namespace here: {remedy}")]
    UserNamespace {
        /// The remedy, as part of a sentence.
        remedy: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// The files could not be mounted.
    #[error(
        "cannot mount the files of another machine; a container may forbid it (run it outside)"
    )]
    Mounts(#[source] io::Error),
    /// The kernel reports no system calls.
    #[error(
        "the kernel passes no system calls to Seatmap: this needs Linux 5.5 and a container that \
         allows seccomp(2) (docker run --security-opt seccomp=unconfined)"
    )]
    Listener(#[source] io::Error),
    /// This process already sees a pretended machine.
    #[error(
        "'seatmap pretend' cannot run inside another one, because the kernel passes a program's \
         calls to only one listener; run it outside, or run the inner command without it"
    )]
    Nested,
    /// The program could not be executed.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// A machine's files could not be written.
    #[error("cannot write {}", path.display())]
    Written {
        /// The file or folder.
        path: PathBuf,
        /// The kernel's error.
        source: io::Error,
    },
    /// Another kernel error.
    #[error("cannot follow the program")]
    Kernel(#[from] io::Error),
}

impl Blame for PretendError {
    fn is_input(&self) -> bool {
        use PretendError::{Machine, Nested, Program, Written};
        match self {
            Machine(_) | Nested | Program(_) => true,
            Written { source, .. } => source.kind() == io::ErrorKind::AlreadyExists,
            _ => false,
        }
    }
}
