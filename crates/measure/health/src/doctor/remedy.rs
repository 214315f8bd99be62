//! Ways to fix a finding.
//!
//! A command works as printed, and afterwards the same check finds nothing. An argument for the
//! kernel's command line has this effect after the next start. Everything else is advice. A test
//! executes each.

use seatmap_data::statistics::words::joined;
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
    /// Stops the kernel from moving pages between nodes.
    TurnNumaBalancingOff,
    /// Raises CPU quotas.
    RaiseQuota,
    /// Removes another control group setting that slows its members.
    ReleaseGroup,
    /// Starts offline CPUs.
    BringOnline,
    /// Starts the second threads of all cores, which the kernel keeps offline.
    AllowSmt,
    /// Lets real-time threads run without limit.
    TurnThrottlingOff,
    /// Moves deferred kernel work to other CPUs.
    MoveWorkqueues,
    /// Moves the watchdog to other CPUs.
    MoveWatchdog,
    /// Makes the kernel gather statistics less often.
    GatherSeldom,
    /// Gives transparent huge pages only to programs that request them.
    HugePagesOnRequest,
    /// Adds huge pages to a node's pool.
    FillHugePages,
    /// Stops CPUs that share cores with others.
    TakeOffline,
    /// Stops daemons that change settings.
    StopDaemon,
    /// Selects a clock that is read without a system call.
    ChooseClock,
    /// Turns off the fair servers that interrupt real-time threads.
    StopFairServer,
    /// Removes variables from a shell's environment.
    UnsetVariables,
    /// `nohz_full=` on the kernel's command line.
    BootNohzFull,
    /// `rcu_nocbs=` on the kernel's command line.
    BootRcuNocbs,
    /// `isolcpus=` on the kernel's command line.
    BootIsolcpus,
    /// `irqaffinity=` on the kernel's command line.
    BootIrqaffinity,
    /// A sentence: no command or kernel argument helps.
    Advice,
}

/// A way to fix a finding.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Remedy {
    /// Its kind.
    pub kind: DoctorRemedyKind,
    /// Command, the kernel argument or the sentence.
    pub text: String,
}

impl Remedy {
    pub(crate) fn new(kind: DoctorRemedyKind, text: impl Into<String>) -> Self {
        Remedy { kind, text: text.into() }
    }

    pub(crate) fn advice(sentence: impl Into<String>) -> Self {
        Remedy::new(DoctorRemedyKind::Advice, sentence)
    }

    pub(crate) fn write(root: &Root, kind: DoctorRemedyKind, path: &str, value: &str) -> Self {
        Remedy::write_all(root, kind, &[path.to_owned()], value)
    }

    pub(crate) fn write_all(
        root: &Root,
        kind: DoctorRemedyKind,
        paths: &[String],
        value: &str,
    ) -> Self {
        if paths.iter().any(|path| is_read_only(root, path)) {
            return Remedy::ask(root, &format!("write {value} to {}", paths.join(" and ")));
        }
        let commands = paths.iter().map(|path| format!("echo {value} > {path}"));
        Remedy::new(kind, joined(commands, "; "))
    }

    pub(crate) fn write_matching(
        root: &Root,
        kind: DoctorRemedyKind,
        pattern: &str,
        value: &str,
    ) -> Self {
        if is_read_only(root, pattern) {
            return Remedy::ask(root, &format!("write {value} to {pattern}"));
        }
        Remedy::new(kind, format!("for file in {pattern}; do echo {value} > $file; done"))
    }

    /// Most containers have read-only kernel files, so no command inside helps.
    pub(crate) fn ask(root: &Root, deed: &str) -> Self {
        Remedy::advice(format!("ask {} to {deed}", rights::whom_to_ask(root)))
    }
}

#[cfg(test)]
mod tests;
