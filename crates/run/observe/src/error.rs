//! Why a program could not be observed.

use crate::Method;
use seatmap_os::Tid;
use std::io;

/// Why a program could not be observed.
#[derive(Debug, thiserror::Error)]
pub enum ObserveError {
    /// Nothing that could see it is allowed.
    #[error(
        "this user may not observe programs here: {reasons}; run it as root, or as a user with CAP_BPF and CAP_PERFMON"
    )]
    Forbidden {
        /// Each way with the reason against it.
        reasons: String,
    },
    /// The method does not exist yet, or not on this computer.
    #[error("the method {method} does not work here: {reason}")]
    Unavailable {
        /// The method.
        method: Method,
        /// The reason.
        reason: String,
    },
    /// The command could not be started.
    #[error("start {program}")]
    Start {
        /// The program.
        program: String,
        /// The kernel's error.
        source: io::Error,
    },
    /// No process has this number.
    #[error("there is no process {0}; 'ps -e' lists those that run")]
    NoProcess(Tid),
    /// The process is there, and this user is not shown its threads.
    #[error("the threads of process {pid} cannot be seen: {why}")]
    Hidden {
        /// The process.
        pid: Tid,
        /// The reason, in words.
        why: String,
    },
    /// The control group has no processes, or is not there.
    #[error("the control group '{0}' has no processes; 'systemd-cgls' lists the groups")]
    NoGroup(String),
    /// The kernel refused a look at what was seen.
    #[error("read what the kernel saw")]
    Kernel(#[from] io::Error),
}

impl ObserveError {
    /// Whether the user asked for something that is not there.
    #[must_use]
    pub fn is_input(&self) -> bool {
        matches!(
            self,
            ObserveError::NoProcess(_)
                | ObserveError::NoGroup(_)
                | ObserveError::Start { .. }
                | ObserveError::Unavailable { .. }
        )
    }
}
