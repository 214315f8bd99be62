//! The ways to mend a finding.
//!
//! A command works as it is printed, and after it the same check finds nothing. A word for the
//! kernel's command line does the same after the next start. Something that neither can do is
//! advice: a sentence. A test executes each kind.

use seatmap_os::Root;
use seatmap_os::mounts::is_read_only;
use seatmap_os::rights;
use serde::Serialize;

/// A kind of remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum DoctorRemedyKind {
    /// Sets the governor of all CPUs.
    SetGovernor,
    /// Turns off the speeds that depend on the number of busy cores.
    TurnTurboOff,
    /// Keeps the kernel from moving pages between nodes.
    TurnNumaBalancingOff,
    /// Raises quotas of CPU time.
    RaiseQuota,
    /// Takes away another setting of a control group that holds its members back.
    ReleaseGroup,
    /// Starts CPUs that are offline.
    BringOnline,
    /// Starts the second threads of all cores, which the kernel was told to leave offline.
    AllowSmt,
    /// Lets real-time threads run without end.
    TurnThrottlingOff,
    /// Sends work that the kernel puts off to other CPUs.
    MoveWorkqueues,
    /// Sends the watchdog to other CPUs.
    MoveWatchdog,
    /// Lets the kernel gather statistics less often.
    GatherSeldom,
    /// Leaves transparent huge pages to programs that ask for them.
    HugePagesOnRequest,
    /// Adds huge pages to the pool of a node.
    FillHugePages,
    /// Stops CPUs that share cores with others.
    TakeOffline,
    /// Ends daemons that change settings.
    StopDaemon,
    /// Chooses a clock that is read without a system call.
    ChooseClock,
    /// Turns off the servers that interrupt real-time threads.
    StopFairServer,
    /// Removes variables from the environment of a shell.
    UnsetVariables,
    /// `nohz_full=` on the kernel's command line.
    BootNohzFull,
    /// `rcu_nocbs=` on the kernel's command line.
    BootRcuNocbs,
    /// `isolcpus=` on the kernel's command line.
    BootIsolcpus,
    /// `irqaffinity=` on the kernel's command line.
    BootIrqaffinity,
    /// A sentence: neither a command nor a word on the command line does it.
    Advice,
}

impl DoctorRemedyKind {
    /// Every kind.
    pub const ALL: [DoctorRemedyKind; 23] = [
        DoctorRemedyKind::SetGovernor,
        DoctorRemedyKind::TurnTurboOff,
        DoctorRemedyKind::TurnNumaBalancingOff,
        DoctorRemedyKind::RaiseQuota,
        DoctorRemedyKind::ReleaseGroup,
        DoctorRemedyKind::BringOnline,
        DoctorRemedyKind::AllowSmt,
        DoctorRemedyKind::TurnThrottlingOff,
        DoctorRemedyKind::MoveWorkqueues,
        DoctorRemedyKind::MoveWatchdog,
        DoctorRemedyKind::GatherSeldom,
        DoctorRemedyKind::HugePagesOnRequest,
        DoctorRemedyKind::FillHugePages,
        DoctorRemedyKind::TakeOffline,
        DoctorRemedyKind::StopDaemon,
        DoctorRemedyKind::ChooseClock,
        DoctorRemedyKind::StopFairServer,
        DoctorRemedyKind::UnsetVariables,
        DoctorRemedyKind::BootNohzFull,
        DoctorRemedyKind::BootRcuNocbs,
        DoctorRemedyKind::BootIsolcpus,
        DoctorRemedyKind::BootIrqaffinity,
        DoctorRemedyKind::Advice,
    ];
}

/// A way to mend a finding, with its kind.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// The kind.
    pub kind: DoctorRemedyKind,
    /// The command, the word for the kernel's command line, or the sentence.
    pub text: String,
}

impl Remedy {
    pub(crate) fn new(kind: DoctorRemedyKind, text: impl Into<String>) -> Self {
        Remedy { kind, text: text.into() }
    }

    pub(crate) fn advice(sentence: impl Into<String>) -> Self {
        Remedy::new(DoctorRemedyKind::Advice, sentence)
    }

    /// Writes a value to a file of the kernel.
    pub(crate) fn write(root: &Root, kind: DoctorRemedyKind, path: &str, value: &str) -> Self {
        Remedy::write_all(root, kind, &[path.to_owned()], value)
    }

    /// Writes a value to several files of the kernel.
    pub(crate) fn write_all(
        root: &Root,
        kind: DoctorRemedyKind,
        paths: &[String],
        value: &str,
    ) -> Self {
        if paths.iter().any(|path| is_read_only(root, path)) {
            return Remedy::ask_outside(root, value, &paths.join(" and "));
        }
        let commands: Vec<String> =
            paths.iter().map(|path| format!("echo {value} > {path}")).collect();
        Remedy::new(kind, commands.join("; "))
    }

    /// Writes a value to all files of the kernel whose paths match a pattern of the shell.
    pub(crate) fn write_matching(
        root: &Root,
        kind: DoctorRemedyKind,
        pattern: &str,
        value: &str,
    ) -> Self {
        if is_read_only(root, pattern) {
            return Remedy::ask_outside(root, value, pattern);
        }
        Remedy::new(kind, format!("for file in {pattern}; do echo {value} > $file; done"))
    }

    /// Most containers and user namespaces see the kernel's files and cannot write to them: no
    /// command given inside helps there.
    fn ask_outside(root: &Root, value: &str, paths: &str) -> Self {
        Remedy::advice(format!("ask {} to write {value} to {paths}", rights::whom_to_ask(root)))
    }
}

#[cfg(test)]
mod tests;
