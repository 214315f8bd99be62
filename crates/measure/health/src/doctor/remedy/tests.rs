//! Executes each kind of remedy; afterwards the same examination finds nothing.

use super::DoctorRemedyKind;
use crate::doctor::fixture::Fixture;
use crate::doctor::{Diagnosis, Severity, isolation, measuring, seats};
use seatmap_data::machine::{Pu, Topology};
use seatmap_os::CpuSet;
use seatmap_os::cpus::Cpus;

enum Execution {
    Files(&'static [(&'static str, &'static str)]),
    Test(&'static str),
}

const SWITCHES: [&str; 2] =
    ["/sys/devices/system/cpu/cpu2/online", "/sys/devices/system/cpu/cpu3/online"];
const CONTROL: &str = "/sys/devices/system/cpu/smt/control";
const GOVERNORS: [&str; 2] = [
    "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor",
    "/sys/devices/system/cpu/cpu1/cpufreq/scaling_governor",
];
const CURRENT_CLOCK: &str = "/sys/devices/system/clocksource/clocksource0/current_clocksource";
const CLOCKS: &str = "/sys/devices/system/clocksource/clocksource0/available_clocksource";
const THP: &str = "/sys/kernel/mm/transparent_hugepage/enabled";
const WORKQUEUES: &str = "/sys/devices/virtual/workqueue/cpumask";

/// Each kind at its own place. A new kind fails to compile until added here.
const EXECUTIONS: [(DoctorRemedyKind, Execution); DoctorRemedyKind::Advice as usize + 1] = {
    use Execution::{Files, Test};
    [
        (
            DoctorRemedyKind::SetGovernor,
            Files(&[(GOVERNORS[0], "powersave"), (GOVERNORS[1], "performance")]),
        ),
        (DoctorRemedyKind::TurnTurboOff, Files(&[("/sys/devices/system/cpu/cpufreq/boost", "1")])),
        (
            DoctorRemedyKind::TurnNumaBalancingOff,
            Files(&[("/proc/sys/kernel/numa_balancing", "1")]),
        ),
        (DoctorRemedyKind::RaiseQuota, Test("raise_quota_remedy_lifts_quota")),
        (DoctorRemedyKind::ReleaseGroup, Test("release_group_remedy_ends_idle_policy")),
        (
            DoctorRemedyKind::BringOnline,
            Files(&[(SWITCHES[0], "0"), (SWITCHES[1], "0"), (CONTROL, "on")]),
        ),
        (
            DoctorRemedyKind::AllowSmt,
            Files(&[(SWITCHES[0], "0"), (SWITCHES[1], "0"), (CONTROL, "off")]),
        ),
        (
            DoctorRemedyKind::TurnThrottlingOff,
            Files(&[("/proc/sys/kernel/sched_rt_runtime_us", "950000")]),
        ),
        (DoctorRemedyKind::MoveWorkqueues, Files(&[(WORKQUEUES, "f")])),
        (
            DoctorRemedyKind::MoveWatchdog,
            Files(&[
                ("/proc/sys/kernel/watchdog", "1"),
                ("/proc/sys/kernel/watchdog_cpumask", "0-3"),
            ]),
        ),
        (DoctorRemedyKind::GatherSeldom, Files(&[("/proc/sys/vm/stat_interval", "1")])),
        (DoctorRemedyKind::HugePagesOnRequest, Files(&[(THP, "[always] madvise never")])),
        (DoctorRemedyKind::FillHugePages, Test("settings_of_this_computer_are_repaired")),
        (DoctorRemedyKind::TakeOffline, Files(&[(SWITCHES[0], "1"), (SWITCHES[1], "1")])),
        (DoctorRemedyKind::StopDaemon, Test("stop_daemon_remedy_ends_daemon")),
        (DoctorRemedyKind::ChooseClock, Files(&[(CURRENT_CLOCK, "hpet"), (CLOCKS, "tsc hpet")])),
        (
            DoctorRemedyKind::StopFairServer,
            Files(&[
                ("/sys/devices/system/cpu/nohz_full", "1"),
                ("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "50000000"),
            ]),
        ),
        (DoctorRemedyKind::UnsetVariables, Test("unset_variables_remedy_clears_findings")),
        (DoctorRemedyKind::BootNohzFull, Test("boot_words_make_the_computer_clean")),
        (DoctorRemedyKind::BootRcuNocbs, Test("boot_words_make_the_computer_clean")),
        (DoctorRemedyKind::BootIsolcpus, Test("boot_words_make_the_computer_clean")),
        (DoctorRemedyKind::BootIrqaffinity, Test("boot_words_make_the_computer_clean")),
        (DoctorRemedyKind::Advice, Test("advice_is_a_sentence")),
    ]
};

/// CPU 1 of four, with two threads per core and two nodes.
fn examined(fixture: &Fixture) -> Vec<Diagnosis> {
    let root = &fixture.root;
    let is_stopped = |cpu: u32| {
        let switch = root.read(&format!("/sys/devices/system/cpu/cpu{cpu}/online"));
        switch.is_ok_and(|text| text == "0")
    };
    let online: Vec<u32> = (0..4).filter(|cpu| !is_stopped(*cpu)).collect();
    let pu = |os: u32| Pu { os, core: Some(os % 2), numa: Some(os % 2), ..Pu::default() };
    let topology = Topology { pus: online.iter().map(|cpu| pu(*cpu)).collect() };
    let cpus = Cpus {
        present: vec![0, 1, 2, 3],
        online: online.clone(),
        allowed: online,
        set_apart: Vec::new(),
    };
    let cell = CpuSet::single(1);
    let mut all = measuring::of_settings(root, &topology).to_vec();
    all.push(measuring::offline(root, &cpus));
    all.extend(seats::examine(root, []));
    all.extend(isolation::settings::examine(root, &cell, None));
    all.extend(isolation::surroundings::examine(root, &topology, &cell));
    all
}

#[test]
fn every_remedy_kind_is_executed_by_a_test() {
    let tests = [
        include_str!("tests.rs"),
        include_str!("../isolation/boot.rs"),
        include_str!("../../../tests/all/doctor/live.rs"),
        include_str!("../../../../../front/cli/tests/e2e/doctor/remedies.rs"),
    ];
    for (at, (kind, execution)) in EXECUTIONS.into_iter().enumerate() {
        assert_eq!(kind as usize, at);
        match execution {
            Execution::Test(name) => {
                assert!(tests.iter().any(|text| text.contains(&format!("fn {name}()"))), "{kind:?}")
            }
            Execution::Files(files) => is_mended(kind, files),
        }
    }
}

fn is_mended(kind: DoctorRemedyKind, files: &[(&str, &str)]) {
    let fixture = Fixture::new(files);
    fixture.put("/sys/devices/system/cpu/online", "0-3");
    let before = examined(&fixture);
    let mut of_kind =
        before.iter().filter(|one| one.remedy.as_ref().is_some_and(|remedy| remedy.kind == kind));
    let found = of_kind.next().unwrap_or_else(|| panic!("{kind:?}: {before:?}"));
    assert!(of_kind.next().is_none(), "{kind:?}");
    fixture.execute(&found.remedy.as_ref().unwrap().text);
    // The kernel answers with all choices and the current one in brackets.
    if kind == DoctorRemedyKind::HugePagesOnRequest {
        assert_eq!(fixture.root.read(THP).unwrap(), "madvise");
        fixture.put(THP, "always [madvise] never");
    }
    if kind == DoctorRemedyKind::AllowSmt {
        assert_eq!(fixture.root.read(CONTROL).unwrap(), "on");
        SWITCHES.iter().for_each(|switch| fixture.put(switch, "1"));
    }
    let after = examined(&fixture);
    let again = after.iter().find(|one| one.subject == found.subject).unwrap();
    assert_eq!((again.level, &again.remedy), (Severity::Ok, &None), "{kind:?}: {again:?}");
}
