//! The program that the advice is about.

use seatmap_observe::{Subject, SubjectCommand};
use seatmap_os::Tid;
use seatmap_watch::Choice;

/// The program that the advice is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A command, which is started for the advice and runs on after it.
    Command(SubjectCommand),
    /// Processes that run, with those that they have started.
    Running(Choice),
}

impl Scope {
    /// The program in words, where its name is not known.
    #[must_use]
    pub fn words(&self) -> String {
        match self {
            Scope::Running(Choice::Processes { pids, .. }) if !pids.is_empty() => {
                format!("process {}", pids[0])
            }
            _ => "the program".to_owned(),
        }
    }

    /// The program as an observation takes it; `pids` are the processes of the choice.
    #[must_use]
    pub fn subject(&self, pids: &[Tid]) -> Subject {
        match self {
            Scope::Command(command) => Subject::Command(command.clone()),
            Scope::Running(_) => Subject::Survivors(pids.to_vec()),
        }
    }
}
