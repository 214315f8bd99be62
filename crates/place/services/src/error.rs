//! Errors in reading, finding, recording, planning or seating services.

use crate::file::{MOST_SERVICES, ServiceTarget};
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
    /// An unknown key.
    #[error("{position}: unknown key '{key}'; expected one of: {known}")]
    UnknownKey {
        /// Its position.
        position: Position,
        /// The key.
        key: String,
        /// The known keys.
        known: String,
    },
    /// Another format, or another version.
    #[error("the format is '{0}'; write format = \"seatmap-services/1\"")]
    Format(String),
    /// The file lists no service.
    #[error("the file lists no service; 'seatmap services init' writes the running ones")]
    Empty,
    /// The number of services exceeds the limit of a plan.
    #[error("the file lists {0} services; a plan has at most {MOST_SERVICES}")]
    TooMany(usize),
    /// The head-room is out of range.
    #[error("head_room_percent is {0}; write a number from 0 to 1000")]
    HeadRoom(f64),
    /// The housekeeping CPUs are not a list.
    #[error("housekeeping is '{0}'; write CPUs as a list, such as \"0-1,8\"")]
    Housekeeping(String),
    /// Two entries have the same name.
    #[error("two services are named '{0}'; give each a unique name")]
    SameName(String),
    /// Two entries name the same processes.
    #[error("two services name {0}; a process can only belong to one service")]
    SameTarget(ServiceTarget),
    /// An entry has an invalid name.
    #[error("'{0}' is not a valid service name; write 1 to 64 bytes")]
    Name(String),
    /// An entry has no target.
    #[error(
        "service '{0}' does not name its processes; add unit, cgroup, container, domain, step, pid \
         or command"
    )]
    NoTarget(String),
    /// An entry has several targets.
    #[error(
        "service '{0}' has more than one of unit, cgroup, container, domain, step, pid and \
         command; keep one"
    )]
    SeveralTargets(String),
    /// The limit of a race is out of range.
    #[error("limit_percent of service '{name}' is {limit}; write a number from 0 to 100")]
    Limit {
        /// The service.
        name: String,
        /// The limit.
        limit: f64,
    },
    /// A process number below 1.
    #[error("the pid of service '{0}' is below 1; 'ps -e' lists the running processes")]
    Pid(String),
    /// A size cannot be read.
    #[error(
        "{name}{} is '{size}'; write a size above 0 with k, m, g or t for powers of 1024, such as \
         64g",
        of.as_ref().map_or_else(String::new, |of| format!(" of service '{of}'"))
    )]
    Size {
        /// The key.
        name: &'static str,
        /// The service; `None` for a key of the computer.
        of: Option<String>,
        /// The text.
        size: String,
    },
    /// The nodes are not a list.
    #[error(
        "memory_nodes of service '{name}' is '{list}'; write NUMA nodes as a list, such as 0-1"
    )]
    Nodes {
        /// The service.
        name: String,
        /// The text.
        list: String,
    },
    /// The text is not a Slurm step.
    #[error("step of service '{name}' is '{step}'; write JOB.STEP, such as 123.0 or 123.batch")]
    Step {
        /// The service.
        name: String,
        /// The text.
        step: String,
    },
    /// `most_cpus` is 0.
    #[error("most_cpus of service '{0}' is 0; write at least 1")]
    MostIsZero(String),
    /// The limits exclude each other.
    #[error("service '{name}' has least_cpus = {least} above most_cpus = {most}")]
    LeastAboveMost {
        /// The service.
        name: String,
        /// Its `least_cpus`.
        least: u32,
        /// Its `most_cpus`.
        most: u32,
    },
}

impl Blame for ServicesFileError {
    fn is_input(&self) -> bool {
        true
    }
}

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
        counted(*.samples, "sample")
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
