//! Why a program could not be observed.

use crate::Method;
use crate::c2c::PerfDataError;
use crate::trace::TraceError;
use seatmap_data::document::Blame;
use seatmap_os::trusted::TrustError;
use seatmap_os::{Ending, Tid, rights};
use std::io;

/// A failed observation.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// No usable method is permitted.
    #[error(
        "this user may not observe programs here: {reasons}; run it {}, or as a user with \
         CAP_BPF and CAP_PERFMON",
        rights::as_root()
    )]
    Forbidden {
        /// The reason against each method.
        reasons: String,
    },
    /// The method does not exist here.
    #[error("the method {method} does not work here: {reason}")]
    Unavailable {
        /// The method.
        method: Method,
        /// The reason.
        reason: String,
    },
    /// The command could not be started.
    #[error("cannot start {program}")]
    Start {
        /// The program.
        program: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// No process has this number.
    #[error("there is no process {0}; 'ps -e' lists the running ones")]
    NoProcess(Tid),
    /// The process has ended and is still listed.
    #[error("process {0} has ended (a zombie: its parent has not reaped it)")]
    HasEnded(Tid),
    /// This user may not see the process's threads.
    #[error("the threads of process {pid} cannot be seen: {why}")]
    Hidden {
        /// The process.
        pid: Tid,
        /// The reason, in words.
        why: String,
    },
    /// The control group has no processes, or does not exist.
    #[error("the control group '{0}' has no processes; 'systemd-cgls' lists the groups")]
    NoGroup(String),
    /// The kernel refused to return results.
    #[error("cannot read the kernel's counts")]
    Kernel(#[from] io::Error),
    /// Another process or file was refused.
    #[error(transparent)]
    System(io::Error),
    /// The counting library cannot be loaded: a sentence.
    #[error("{0}")]
    NoLibrary(String),
    /// The folder for traces belongs to another user.
    #[error(transparent)]
    Traces(#[from] TrustError),
    /// A recording of perf(1) could not be read.
    #[error("{path}")]
    Recording {
        /// The file, as named.
        path: String,
        /// The problem.
        source: PerfDataError,
    },
    /// No thread was seen.
    #[error("the program ended before it was observed")]
    NothingSeen,
    /// An MPI job left no traces.
    #[error(
        "no rank recorded its messages; the program must call MPI_Finalize and load a shared MPI \
         library ('ldd PROGRAM' shows libmpi)"
    )]
    NoMessages,
    /// A program left no trace of its accesses.
    #[error(
        "the program recorded no accesses; compile it with -fsanitize=thread, and link it with \
         libseatmap_trace.a -ldl instead"
    )]
    NoAccesses,
    /// The traces of a program cannot be read.
    #[error(transparent)]
    Trace(TraceError),
    /// The user ended the observation first.
    #[error("interrupted while observing the program")]
    Interrupted,
    /// The program failed, or was ended early.
    #[error("the program {0} while it was observed")]
    Failed(Ending),
}

impl ObserveError {
    pub(crate) fn of_traces(error: TraceError, none: Self) -> Self {
        if matches!(error, TraceError::None { .. }) { none } else { ObserveError::Trace(error) }
    }
}

seatmap_data::into_failure!(ObserveError);

impl Blame for ObserveError {
    fn is_input(&self) -> bool {
        matches!(
            self,
            ObserveError::NoProcess(_)
                | ObserveError::NoGroup(_)
                | ObserveError::Start { .. }
                | ObserveError::Unavailable { .. }
                | ObserveError::NoLibrary(_)
                | ObserveError::Traces(_)
                | ObserveError::Recording { .. }
                | ObserveError::NothingSeen
        )
    }
}
