//! Commands that fix a finding.
//!
//! A remedy works as printed; afterwards the same check finds nothing. A test executes each kind.

use crate::judge::Sitter;
use seatmap_data::document::shell_escaped;
use seatmap_data::words::joined;
use seatmap_os::{CpuSet, Tid, brake, cpus, quota};
use serde::{Deserialize, Serialize};

mod undo;

pub use undo::undo_of;

/// The kind of a remedy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum SeatingRemedyKind {
    /// Binds threads, or a process (`taskset`).
    Bind,
    /// Seats each thread on a separate CPU (`seatmap run --pid`).
    Seat,
    /// Moves memory to other nodes (`migratepages`).
    MoveMemory,
    /// Raises a quota of CPU time in a file of cgroup version 1.
    RaiseQuotaV1,
    /// Raises a quota of CPU time in a file of cgroup version 2.
    RaiseQuotaV2,
    /// Raises the quota of a unit (`systemctl set-property`).
    RaiseQuotaOfUnit,
    /// Removes another setting that holds back a control group.
    ReleaseGroup,
    /// Gives a control group more CPUs.
    WidenGroup,
    /// Gives a unit more CPUs (`systemctl set-property`).
    WidenUnit,
    /// Continues a stopped process (`kill -CONT`).
    Continue,
    /// Removes the real-time policy of a thread (`chrt`).
    OrdinaryPolicy,
    /// Sends an interrupt to other CPUs.
    MoveInterrupt,
    /// Removes the limit on real-time threads.
    LiftThrottling,
    /// Brings CPUs online.
    BringOnline,
}

impl SeatingRemedyKind {
    fn by(self, command: impl Into<String>) -> SeatingRemedy {
        SeatingRemedy { kind: self, command: command.into() }
    }
}

pub(crate) struct SeatingRemedy {
    pub kind: SeatingRemedyKind,
    pub command: String,
}

impl SeatingRemedy {
    pub fn joined(remedies: impl IntoIterator<Item = SeatingRemedy>) -> Option<Self> {
        let mut remedies = remedies.into_iter();
        let first = remedies.next()?;
        let command = remedies.fold(first.command, |all, next| format!("{all}; {}", next.command));
        Some(SeatingRemedy { kind: first.kind, command })
    }

    pub fn bind(cpus: &CpuSet, sitters: &[&Sitter]) -> Self {
        let each = sitters.iter().map(|one| format!("taskset -cp {cpus} {}", one.tid));
        SeatingRemedyKind::Bind.by(joined(each, "; "))
    }

    pub fn bind_all(cpus: &CpuSet, pid: Tid) -> Self {
        SeatingRemedyKind::Bind.by(format!("taskset -acp {cpus} {pid}"))
    }

    pub fn seat(cpus: &str, pids: impl IntoIterator<Item = Tid>) -> Self {
        let pids = joined(pids.into_iter().map(|pid| format!("--pid {pid}")), " ");
        SeatingRemedyKind::Seat.by(format!("seatmap run --cpus {cpus} {pids}"))
    }

    pub fn move_memory(pid: Tid, from: &str, to: &str) -> Self {
        SeatingRemedyKind::MoveMemory.by(format!("migratepages {pid} {from} {to}"))
    }

    pub fn raise_quota(file: &str, period_us: u64, unit: Option<&str>, cpus: usize) -> Self {
        let kind = match unit {
            Some(_) => SeatingRemedyKind::RaiseQuotaOfUnit,
            None if file.ends_with("/cpu.max") => SeatingRemedyKind::RaiseQuotaV2,
            None => SeatingRemedyKind::RaiseQuotaV1,
        };
        kind.by(quota::raise(file, period_us, unit, cpus))
    }

    pub fn release_group(file: &str, unit: Option<&str>) -> Self {
        SeatingRemedyKind::ReleaseGroup.by(brake::release(file, unit))
    }

    /// Removes the limit on real-time threads in a file of a control group or of the computer.
    pub fn lift_throttling(file: &str) -> Self {
        SeatingRemedyKind::LiftThrottling.by(brake::release(file, None))
    }

    pub fn widen_group(file: &str, cpus: &CpuSet) -> Self {
        SeatingRemedyKind::WidenGroup.by(format!("echo {cpus} > {}", shell_escaped(file)))
    }

    pub fn widen_unit(unit: &str, cpus: &CpuSet) -> Self {
        let unit = shell_escaped(unit);
        let command = format!("systemctl set-property --runtime {unit} AllowedCPUs={cpus}");
        SeatingRemedyKind::WidenUnit.by(command)
    }

    pub fn bring_online(cpus: &CpuSet) -> Self {
        SeatingRemedyKind::BringOnline.by(cpus::bring_online(cpus))
    }

    pub fn go_on(pid: Tid) -> Self {
        SeatingRemedyKind::Continue.by(format!("kill -CONT {pid}"))
    }

    pub fn ordinary_policy(tid: Tid) -> Self {
        SeatingRemedyKind::OrdinaryPolicy.by(format!("chrt --other -p 0 {tid}"))
    }

    pub fn move_interrupts<'a>(
        irqs: impl IntoIterator<Item = &'a str>,
        cpus: &CpuSet,
    ) -> Option<Self> {
        SeatingRemedy::joined(irqs.into_iter().map(|irq| {
            SeatingRemedyKind::MoveInterrupt
                .by(format!("echo {cpus} > /proc/irq/{irq}/smp_affinity_list"))
        }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    fn run(command: &str) -> bool {
        Command::new("sh").args(["-c", command]).status().is_ok_and(|status| status.success())
    }

    #[test]
    fn widen_remedy_quotes_any_group_name() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join(r#"it's "my" a\x2db $HOME;"#);
        std::fs::write(&file, "").unwrap();
        let cpus = CpuSet::of_list("0-3").unwrap();
        assert!(run(&SeatingRemedy::widen_group(&file.display().to_string(), &cpus).command));
        assert_eq!(std::fs::read(&file).unwrap(), b"0-3\n");
        let unit = SeatingRemedy::widen_unit(r"a\x2db.slice", &cpus).command;
        assert_eq!(unit, r"systemctl set-property --runtime a\\x2db.slice AllowedCPUs=0-3");
    }

    #[test]
    fn remedy_clears_real_time_policy() {
        let started = Command::new("chrt").args(["-f", "1", "sleep", "60"]).spawn();
        let Ok(mut sleeper) = started else { return seatmap_needs::skipped!("there is no chrt") };
        let tid = sleeper.id().cast_signed();
        let mut proc =
            seatmap_os::proc_folder::ProcFolder::open(&seatmap_os::Root::new("/")).unwrap();
        let mut policy = || {
            let stat = seatmap_os::sched::Stat::parse(proc.stat(tid, tid).ok()?)?;
            Some((stat.policy, stat.has_ended()))
        };
        while policy() == Some((0, false)) {
            std::thread::yield_now();
        }
        if policy() == Some((1, false)) {
            assert!(run(&SeatingRemedy::ordinary_policy(tid).command));
            assert_eq!(policy(), Some((0, false)));
        } else {
            seatmap_needs::skipped!("this user may not have a real-time policy");
        }
        let _ = sleeper.kill();
        let _ = sleeper.wait();
    }

    /// Uses files below a folder, because few computers have an offline CPU.
    #[test]
    fn remedy_brings_cpus_online() {
        let folder = tempfile::tempdir().unwrap();
        let files = ["cpu3", "cpu5"].map(|cpu| {
            let file = folder.path().join("sys/devices/system/cpu").join(cpu).join("online");
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(&file, "0\n").unwrap();
            file
        });
        let remedy = SeatingRemedy::bring_online(&CpuSet::of_list("3,5").unwrap()).command;
        assert!(run(&remedy.replace("/sys/", &format!("{}/sys/", folder.path().display()))));
        assert_eq!(files.map(|file| std::fs::read(file).unwrap()), [b"1\n", b"1\n"]);
    }

    /// Uses files below a folder, because moving this computer's interrupts would disturb it.
    #[test]
    fn remedy_moves_interrupts() {
        let folder = tempfile::tempdir().unwrap();
        let root = seatmap_os::Root::new(folder.path());
        for irq in ["24", "25"] {
            let file = root.path(&seatmap_os::irq::affinity_file(irq));
            std::fs::create_dir_all(file.parent().unwrap()).unwrap();
            std::fs::write(file, "0-3\n").unwrap();
        }
        let remedy =
            SeatingRemedy::move_interrupts(["24", "25"], &CpuSet::of_list("0,2").unwrap()).unwrap();
        assert!(run(&remedy
            .command
            .replace("/proc/", &format!("{}/proc/", folder.path().display()))));
        for irq in ["24", "25"] {
            assert_eq!(seatmap_os::irq::goes_to(&root, irq).to_string(), "0,2");
        }
    }
}
