//! Influences that move threads from their seats.

use crate::doctor::diagnosis::{fix, info, ok};
use crate::doctor::{Diagnosis, DoctorRemedyKind, Remedy};
use seatmap_data::statistics::words::{agreeing, joined};
use seatmap_os::CpuSet;
use seatmap_os::kernel::SchedulerSettings;
use seatmap_os::root::Root;
use seatmap_watch::variables;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;

/// The fair servers, which give other threads time alongside real-time ones (Linux 6.12); readable
/// only by root.
const FAIR_SERVERS: &str = "/sys/kernel/debug/sched/fair_server";

/// Two reasons; only the first means that all is well.
const UNANSWERED: &str = "not known: this kernel lacks it, or only root of the host can read it";

/// Examines the kernel below a root and the environment for new programs.
pub fn examine(
    root: &Root,
    environment: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<Diagnosis> {
    let kernel = SchedulerSettings::read(root);
    // The format of `/proc/PID/environ`, for `variables::binding`.
    let environ: Vec<u8> = environment
        .into_iter()
        .flat_map(|(name, value)| [name.as_bytes(), b"=", value.as_bytes(), b"\0"].concat())
        .collect();
    vec![scheduler(&kernel), cache_aware(&kernel), fair_server(root, &kernel), bound_by(&environ)]
}

/// It keeps to masks, but a bound thread may wait longer.
fn scheduler(kernel: &SchedulerSettings) -> Diagnosis {
    match &kernel.sched_ext {
        None => ok("scheduler", "the kernel's own"),
        Some(name) => {
            let found =
                format!("'{name}' is loaded (sched_ext): threads bound to one CPU may wait longer");
            let advice = "stop the program that loaded it; the kernel's own scheduler takes over";
            fix("scheduler", found, Remedy::advice(advice))
        }
    }
}

fn cache_aware(kernel: &SchedulerSettings) -> Diagnosis {
    let subject = "cache-aware";
    match kernel.cache_aware {
        None => info(subject, UNANSWERED),
        Some(false) => ok(subject, "off (SCHED_CACHE)"),
        Some(true) => {
            let found = "on (SCHED_CACHE): the kernel pulls the threads of a process to one cache; \
                         seats override this only if every thread has one";
            info(subject, found)
        }
    }
}

/// It takes part of each period from real-time threads. On a CPU without a tick its timer is noise.
fn fair_server(root: &Root, kernel: &SchedulerSettings) -> Diagnosis {
    let subject = "fair server";
    let quiet = CpuSet::of_list(&kernel.no_hz_full).unwrap_or_default();
    if quiet.is_empty() {
        return ok(subject, "no CPU runs without a tick (nohz_full)");
    }
    let runtime = |cpu| root.number::<u64>(&format!("{FAIR_SERVERS}/cpu{cpu}/runtime"));
    if quiet.iter().all(|cpu| runtime(cpu).is_none()) {
        return info(subject, UNANSWERED);
    }
    let active: CpuSet =
        quiet.iter().filter(|cpu| runtime(*cpu).is_some_and(|ns| ns > 0)).collect();
    if active.is_empty() {
        return ok(subject, format!("off on the CPUs without a tick ({quiet})"));
    }
    let has = agreeing(active.len(), "has", "have");
    let found = format!(
        "active on {}, which {has} no tick: it interrupts real-time threads there",
        active.named()
    );
    let cpus = joined(active.iter(), " ");
    let remedy = format!("for cpu in {cpus}; do echo 0 > {FAIR_SERVERS}/cpu$cpu/runtime; done");
    fix(subject, found, Remedy::new(DoctorRemedyKind::StopFairServer, remedy))
}

/// With such a variable a runtime binds its threads itself, after the launcher.
fn bound_by(environ: &[u8]) -> Diagnosis {
    let found = variables::binding(environ);
    let binding: Vec<&str> = found
        .iter()
        // A variable with only a thread count binds none.
        .filter(|variable| variable.threads.is_none())
        .map(|variable| variable.name.as_str())
        .collect();
    if binding.is_empty() {
        ok("variables", "no environment variable binds threads")
    } else {
        let found = format!(
            "{} will bind the threads of programs started here and override their seats",
            binding.join(", ")
        );
        let remedy =
            Remedy::new(DoctorRemedyKind::UnsetVariables, format!("unset {}", binding.join(" ")));
        fix("variables", found, remedy)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use crate::doctor::fixture::Fixture;

    fn found(
        files: &[(&str, &str)],
        environment: &[(&str, &str)],
    ) -> Vec<(&'static str, Severity, String)> {
        let fixture = Fixture::new(files);
        let environment =
            environment.iter().map(|(name, value)| (OsString::from(name), OsString::from(value)));
        let entries = examine(&fixture.root, environment).into_iter();
        entries
            .map(|entry| {
                (
                    entry.subject,
                    entry.level,
                    entry.remedy.map_or_else(String::new, |remedy| remedy.text),
                )
            })
            .collect()
    }

    #[test]
    fn plain_kernel_has_no_findings() {
        let all = found(&[], &[("HOME", "/"), ("OMP_NUM_THREADS", "4")]);
        assert_eq!(
            all.iter().map(|entry| entry.0).collect::<Vec<_>>(),
            ["scheduler", "cache-aware", "fair server", "variables"]
        );
        let levels: Vec<Severity> = all.iter().map(|entry| entry.1).collect();
        let unanswered = Severity::Info;
        assert_eq!(levels, [Severity::Ok, unanswered, Severity::Ok, Severity::Ok], "{all:?}");
    }

    #[test]
    fn thread_movers_are_named_with_a_remedy() {
        let all = found(
            &[
                ("/sys/kernel/sched_ext/state", "enabled\n"),
                (concat!("/sys/kernel/sched_ext/", "root/ops"), "lavd\n"),
                ("/sys/kernel/debug/sched/features", "SCHED_CACHE\n"),
                ("/sys/devices/system/cpu/nohz_full", "2-4\n"),
                ("/sys/kernel/debug/sched/fair_server/cpu2/runtime", "50000000\n"),
                ("/sys/kernel/debug/sched/fair_server/cpu3/runtime", "0\n"),
                ("/sys/kernel/debug/sched/fair_server/cpu4/runtime", "50000000\n"),
            ],
            &[("OMP_PLACES", "{0}"), ("GOMP_CPU_AFFINITY", "0-3")],
        );
        let levels: Vec<Severity> = all.iter().map(|entry| entry.1).collect();
        assert_eq!(levels, [Severity::Fix, Severity::Info, Severity::Fix, Severity::Fix]);
        assert_eq!(
            all[2].2,
            "for cpu in 2 4; do echo 0 > /sys/kernel/debug/sched/fair_server/cpu$cpu/runtime; done"
        );
        assert_eq!(all[3].2, "unset OMP_PLACES GOMP_CPU_AFFINITY");
    }

    #[test]
    fn disabled_fair_server_is_ok() {
        let files = [
            ("/sys/devices/system/cpu/nohz_full", "1\n"),
            ("/sys/kernel/debug/sched/fair_server/cpu1/runtime", "0\n"),
        ];
        assert_eq!(found(&files, &[])[2].1, Severity::Ok);
        assert_eq!(found(&files[..1], &[])[2].1, Severity::Info, "this user may not ask");
    }
}
