//! Remedies, executed on the testing computer.

use seatmap_cell::settings_lock;
use seatmap_health::doctor::{Diagnosis, DoctorRemedyKind, Severity, isolation};
use seatmap_os::CpuSet;
use seatmap_os::cpus::Cpus;
use std::process::Command;

struct Setting {
    path: &'static str,
    before: String,
}

impl Setting {
    /// `None` if this is impossible.
    fn set(path: &'static str, value: &str) -> Option<Self> {
        let text = std::fs::read_to_string(path).ok()?;
        let chosen = text.split_once('[').and_then(|(_, rest)| rest.split_once(']'));
        let before = chosen.map_or(text.trim(), |(word, _)| word).to_owned();
        std::fs::write(path, format!("{value}\n")).ok()?;
        Some(Setting { path, before })
    }
}

impl Drop for Setting {
    fn drop(&mut self) {
        let written = std::fs::write(self.path, format!("{}\n", self.before));
        assert!(
            written.is_ok() || std::thread::panicking(),
            "{} is not {} again",
            self.path,
            self.before
        );
    }
}

fn of_kind(all: &[Diagnosis], kind: DoctorRemedyKind) -> Option<&Diagnosis> {
    all.iter().find(|found| found.remedy.as_ref().is_some_and(|remedy| remedy.kind == kind))
}

/// The lock prevents new cells, which change some settings too.
#[test]
fn settings_of_this_computer_are_repaired() {
    let online = Cpus::read().unwrap().online;
    let (Some(last), true) = (online.last(), online.len() > 1) else {
        return seatmap_needs::skipped!("isolation needs two CPUs");
    };
    let all: CpuSet = online.iter().copied().collect();
    let topology = seatmap_machines::host::topology::of_host().unwrap();
    let settings = [
        (
            DoctorRemedyKind::TurnThrottlingOff,
            "/proc/sys/kernel/sched_rt_runtime_us",
            "950000".to_owned(),
        ),
        (DoctorRemedyKind::MoveWorkqueues, "/sys/devices/virtual/workqueue/cpumask", all.to_mask()),
        (DoctorRemedyKind::MoveWatchdog, "/proc/sys/kernel/watchdog_cpumask", all.to_string()),
        (DoctorRemedyKind::GatherSeldom, "/proc/sys/vm/stat_interval", "1".to_owned()),
        (
            DoctorRemedyKind::HugePagesOnRequest,
            "/sys/kernel/mm/transparent_hugepage/enabled",
            "always".to_owned(),
        ),
        (
            DoctorRemedyKind::FillHugePages,
            "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages",
            "0".to_owned(),
        ),
    ];
    let _held = settings_lock::take().unwrap();
    for (kind, path, value) in settings {
        let Some(_setting) = Setting::set(path, &value) else {
            seatmap_needs::skipped!("{path} cannot be set here");
            continue;
        };
        let before = isolation::examine(&topology, &[*last], false);
        let Some(found) = of_kind(&before, kind) else {
            seatmap_needs::skipped!("{path} = {value} disturbs nothing here");
            continue;
        };
        let command = &found.remedy.as_ref().unwrap().text;
        assert!(Command::new("sh").args(["-c", command]).status().unwrap().success(), "{command}");
        let after = isolation::examine(&topology, &[*last], false);
        let again = after.iter().find(|other| other.subject == found.subject).unwrap();
        assert_eq!((again.level, &again.remedy), (Severity::Ok, &None), "{command}");
    }
}
