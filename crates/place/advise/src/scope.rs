//! The program that the advice is about.

use seatmap_data::document::shell_escaped;
use seatmap_observe::{Subject, SubjectCommand};
use seatmap_os::Tid;
use seatmap_watch::ProcessChoice;

/// The program that the advice is about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Scope {
    /// A command, which is started and runs on after the advice.
    Command(SubjectCommand),
    /// Running processes and their children.
    Running(ProcessChoice),
}

impl Scope {
    /// The program in words, if its name is unknown.
    pub fn words(&self) -> String {
        match self {
            Scope::Running(ProcessChoice::Processes { pids, .. }) if !pids.is_empty() => {
                format!("process {}", pids[0])
            }
            _ => "the program".to_owned(),
        }
    }

    /// The options that select the program, if any, quoted for a shell: `--name nginx`.
    pub fn options(&self) -> Option<String> {
        let Scope::Running(choice) = self else { return None };
        match choice {
            ProcessChoice::Processes { pids, .. } => {
                let pids: Vec<String> = pids.iter().map(|pid| format!("--pid {pid}")).collect();
                Some(pids.join(" "))
            }
            ProcessChoice::Group(group) => Some(format!("--cgroup {}", shell_escaped(group))),
            ProcessChoice::Unit(unit) => Some(format!("--unit {}", shell_escaped(unit))),
            ProcessChoice::Name(name) => Some(format!("--name {}", shell_escaped(name))),
            _ => None,
        }
    }

    /// The subject of an observation; `pids` are the selected processes.
    pub fn subject(&self, pids: &[Tid]) -> Subject {
        match self {
            Scope::Command(command) => Subject::Command(command.clone()),
            Scope::Running(_) => Subject::Survivors(pids.to_vec()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn options(choice: ProcessChoice) -> Option<String> {
        Scope::Running(choice).options()
    }

    #[test]
    fn process_choice_renders_as_shell_options() {
        let pids = ProcessChoice::Processes { pids: vec![7, 8], with_children: true };
        assert_eq!(options(pids).as_deref(), Some("--pid 7 --pid 8"));
        assert_eq!(options(ProcessChoice::Name("ng*".into())).as_deref(), Some(r"--name ng\*"));
        assert_eq!(options(ProcessChoice::Unit("redis".into())).as_deref(), Some("--unit redis"));
        assert_eq!(options(ProcessChoice::All), None);
    }
}
