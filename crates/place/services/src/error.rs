//! Errors in reading, finding, recording, planning or seating services.

use seatmap_data::document::{Blame, Position};
use seatmap_data::statistics::words::counted;
use seatmap_os::Tid;
use seatmap_watch::ChoiceError;
use std::io;
use std::time::Duration;

/// A mistake in `services.toml`.
#[derive(Debug, thiserror::Error)]
pub enum ServicesFileError {
    /// The text is not valid TOML for this file.
    #[error("{position}: {problem}")]
    Syntax {
        /// Its position.
        position: Position,
        /// The parser's message.
        problem: String,
    },
    /// The parts do not fit together, or a value is impossible.
    #[error("{0}")]
    Wrong(String),
}

impl Blame for ServicesFileError {}

/// Services were not found or recorded.
#[derive(Debug, thiserror::Error)]
pub enum ServicesError {
    /// The processes of a service were not found.
    #[error("service '{name}'")]
    Absent {
        /// The service.
        name: String,
        /// The reason.
        source: ChoiceError,
    },
    /// A container engine did not find the container.
    #[error("service '{name}': {problem}")]
    Container {
        /// The service.
        name: String,
        /// The reason.
        problem: ContainerProblem,
    },
    /// A process belongs to two services.
    #[error(
        "services '{first}' and '{second}' both claim process {pid}; give each process to one of \
         them"
    )]
    Overlap {
        /// The first service.
        first: String,
        /// The second service.
        second: String,
        /// The process.
        pid: Tid,
    },
    /// A device does not exist.
    #[error(
        "service '{name}' has near = \"{device}\", but there is no such network card, disk or PCI \
         device"
    )]
    NoDevice {
        /// The service.
        name: String,
        /// The device.
        device: String,
    },
    /// The kernel's files cannot be read.
    #[error("cannot list the processes of this computer")]
    Proc(#[from] io::Error),
    /// The recording was stopped before its first sample.
    #[error("interrupted before the first sample")]
    Interrupted,
    /// Too few or too many samples.
    #[error(
        "recording {} with a sample every {} ms gives {}; 2 to 100000 are allowed",
        counted(.seconds.as_secs(), "second"),
        .interval.as_millis(),
        counted(.samples, "sample")
    )]
    Samples {
        /// The length of the recording.
        seconds: Duration,
        /// The interval between samples.
        interval: Duration,
        /// The resulting number of samples.
        samples: usize,
    },
}

/// A container was not found.
#[derive(Debug, thiserror::Error)]
pub enum ContainerProblem {
    /// Neither engine is installed.
    #[error("neither podman nor docker is installed; name the service by cgroup or pid instead")]
    NoEngine,
    /// The engine does not know the container, or does not answer.
    #[error("'{engine} inspect {container}' failed: {said}")]
    Refused {
        /// podman or docker.
        engine: &'static str,
        /// The container.
        container: String,
        /// The engine's message.
        said: String,
    },
    /// The container does not run.
    #[error("container '{0}' is not running; start it first")]
    NotRunning(String),
}

impl Blame for ServicesError {
    fn is_input(&self) -> bool {
        !matches!(self, ServicesError::Proc(_) | ServicesError::Interrupted)
    }
}
