//! Settings of control groups, other than quotas, that hold their members back
//! (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-util-clamp.rst).
//!
//! As with quotas, any group from a thread's own up to the root may have one.

use crate::group_quota;
use crate::mounts;
use crate::root::Root;
use crate::shell::shell_escaped;

/// The ways in which a group holds its members back.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BrakeKind {
    /// `cpu.idle`: the members run only while no other thread wants the CPU.
    Idle,
    /// `cpu.uclamp.max`: the kernel chooses speeds of CPUs as if the members never needed more than
    /// this share, in percent.
    Clamped {
        /// The share.
        percent: f64,
    },
    /// `memory.high`: the kernel stops the members that allocate, and takes memory back, while they
    /// have more.
    Memory {
        /// The bytes from which on.
        high_bytes: u64,
    },
    /// `cpu.rt_runtime_us`, `sched_rt_runtime_us`: the kernel stops threads with a real-time policy
    /// that have had this share of a period, in percent.
    RealTime {
        /// The share.
        percent: f64,
    },
    /// `freezer.state`, `cgroup.freeze`: no member runs, and none notices.
    Frozen,
}

/// The limit on the real-time threads of the whole computer; -1 means none, also for groups
/// (`rt_bandwidth_enabled`).
const REAL_TIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const REAL_TIME_PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";

/// One such setting.
#[derive(Clone, Debug, PartialEq)]
pub struct Brake {
    /// The group's path below the mounted hierarchy; `/` for the group that is mounted.
    pub group: String,
    /// The file that holds it.
    pub file: String,
    /// The setting.
    pub kind: BrakeKind,
    /// The number of times that it stopped a member since the group was made; `None` where the
    /// kernel does not count.
    pub stops: Option<u64>,
    /// The unit of systemd that sets it, where there is one.
    pub unit: Option<String>,
    /// Whether the file cannot be written from here.
    pub is_read_only: bool,
}

impl Brake {
    /// The brakes on the CPU time of the group in this folder.
    pub(crate) fn on_time(root: &Root, folder: &str) -> Vec<Self> {
        let idle = is_set(root, folder, "cpu.idle")
            .then(|| Brake::new(root, folder, "cpu.idle", BrakeKind::Idle));
        // Without a limit the file says "max".
        let clamp = root.read(&format!("{folder}/cpu.uclamp.max")).ok();
        let percent: Option<f64> = clamp.and_then(|text| text.trim().parse().ok());
        let clamped = percent.filter(|percent| *percent < 100.0);
        let clamped = clamped.map(|percent| {
            Brake::new(root, folder, "cpu.uclamp.max", BrakeKind::Clamped { percent })
        });
        idle.into_iter().chain(clamped).collect()
    }

    /// That on the memory of the group of version 2 in this folder.
    pub(crate) fn on_memory(root: &Root, folder: &str) -> Option<Self> {
        let high_bytes: u64 =
            root.read(&format!("{folder}/memory.high")).ok()?.trim().parse().ok()?;
        let events = root.read(&format!("{folder}/memory.events")).unwrap_or_default();
        let stops = events.lines().find_map(|line| line.strip_prefix("high ")?.trim().parse().ok());
        Some(Brake {
            stops,
            ..Brake::new(root, folder, "memory.high", BrakeKind::Memory { high_bytes })
        })
    }

    /// That on the real-time threads of the group of version 1 in this folder. A group with nothing
    /// has none.
    pub(crate) fn on_real_time(root: &Root, folder: &str) -> Option<Self> {
        let percent = share(
            root,
            &format!("{folder}/cpu.rt_runtime_us"),
            &format!("{folder}/cpu.rt_period_us"),
        )?;
        Some(Brake::new(root, folder, "cpu.rt_runtime_us", BrakeKind::RealTime { percent }))
    }

    /// That on all real-time threads; `None` where there is no limit at all.
    pub(crate) fn on_real_time_of_all(root: &Root) -> Option<Self> {
        let percent = share(root, REAL_TIME, REAL_TIME_PERIOD)?;
        Some(Brake {
            group: "/".to_owned(),
            file: REAL_TIME.to_owned(),
            kind: BrakeKind::RealTime { percent },
            stops: None,
            unit: None,
            is_read_only: mounts::is_read_only(root, REAL_TIME),
        })
    }

    /// That by which the group in this folder is frozen itself: the members of a group below cannot
    /// run either, but its own file does not thaw them.
    pub(crate) fn on_running(root: &Root, folder: &str) -> Option<Self> {
        // Documentation/admin-guide/cgroup-v1/freezer-subsystem.rst.
        let name = if is_set(root, folder, "freezer.self_freezing") {
            "freezer.state"
        } else if is_set(root, folder, "cgroup.freeze") {
            "cgroup.freeze"
        } else {
            return None;
        };
        Some(Brake::new(root, folder, name, BrakeKind::Frozen))
    }

    fn new(root: &Root, folder: &str, name: &str, kind: BrakeKind) -> Self {
        Brake {
            group: String::new(),
            file: format!("{folder}/{name}"),
            kind,
            stops: None,
            unit: group_quota::unit(root, folder),
            is_read_only: false,
        }
    }

    /// The setting in words: `idle (cpu.idle)`.
    #[must_use]
    pub fn words(&self) -> String {
        match self.kind {
            BrakeKind::Idle => "idle (cpu.idle)".to_owned(),
            BrakeKind::Clamped { percent } => {
                format!("clamped to {percent} % of the speed (cpu.uclamp.max)")
            }
            BrakeKind::Memory { high_bytes } => {
                format!("slowed down above {} MiB of memory (memory.high)", high_bytes >> 20)
            }
            BrakeKind::Frozen => {
                let name = self.file.rsplit('/').next().unwrap_or_default();
                format!("frozen ({name})")
            }
            BrakeKind::RealTime { percent } => {
                let name = self.file.rsplit('/').next().unwrap_or_default();
                format!(
                    "limited to {percent} % of a CPU for threads with a real-time policy ({name})"
                )
            }
        }
    }

    /// The command that takes it away, through systemd where a unit of it owns the group and has
    /// such a property.
    #[must_use]
    pub fn release(&self) -> String {
        release(&self.file, self.unit.as_deref())
    }
}

/// A share of a period, in percent; `None` where it is nothing, all, or not told.
fn share(root: &Root, runtime: &str, period: &str) -> Option<f64> {
    let runtime_us = number(root, runtime)?;
    let period_us = number(root, period)?;
    (0 < runtime_us && runtime_us < period_us).then(|| 100.0 * runtime_us as f64 / period_us as f64)
}

fn is_set(root: &Root, folder: &str, name: &str) -> bool {
    root.read(&format!("{folder}/{name}")).is_ok_and(|text| text.trim() == "1")
}

fn number(root: &Root, file: &str) -> Option<i64> {
    root.read(file).ok()?.trim().parse::<i64>().ok()
}

/// The command that takes the setting in this file away.
#[must_use]
pub fn release(file: &str, unit: Option<&str>) -> String {
    let name = file.rsplit('/').next().unwrap_or_default();
    // Users choose the names of groups, and systemd writes a dash in that of a unit as `\x2d`.
    let file = shell_escaped(file);
    match (name, unit.map(shell_escaped)) {
        ("cpu.idle", Some(unit)) => {
            format!("systemctl set-property --runtime {unit} CPUWeight=100")
        }
        ("memory.high", Some(unit)) => {
            format!("systemctl set-property --runtime {unit} MemoryHigh=infinity")
        }
        // `systemctl thaw` refuses where systemd has not frozen the unit itself.
        ("cpu.idle", None) | ("cgroup.freeze", _) => format!("echo 0 > {file}"),
        ("freezer.state", _) => format!("echo THAWED > {file}"),
        // A group gets no more than the group above it has, so that the limit is taken from all.
        ("cpu.rt_runtime_us" | "sched_rt_runtime_us", _) => format!("echo -1 > {REAL_TIME}"),
        _ => format!("echo max > {file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_setting_is_read_and_released_in_its_own_file() {
        let folder = tempfile::tempdir().unwrap();
        let group = folder.path().join(r"it's a\x2dgroup");
        std::fs::create_dir(&group).unwrap();
        let path = group.display().to_string();
        let root = Root::new("/");
        let write = |name: &str, text: &str| std::fs::write(group.join(name), text).unwrap();
        let read = || {
            let memory = Brake::on_memory(&root, &path);
            let frozen = Brake::on_running(&root, &path);
            Brake::on_time(&root, &path).into_iter().chain(memory).chain(frozen).collect::<Vec<_>>()
        };
        assert_eq!(read(), []);
        write("cpu.idle", "1\n");
        write("cpu.uclamp.max", "20.00\n");
        write("memory.high", "67108864\n");
        write("memory.events", "low 0\nhigh 9\nmax 0\n");
        write("cgroup.freeze", "1\n");
        let found = read();
        let words: Vec<String> = found.iter().map(Brake::words).collect();
        let expected = [
            "idle (cpu.idle)",
            "clamped to 20 % of the speed (cpu.uclamp.max)",
            "slowed down above 64 MiB of memory (memory.high)",
            "frozen (cgroup.freeze)",
        ];
        assert_eq!(words, expected);
        assert_eq!(found[2].stops, Some(9));
        for brake in &found {
            assert!(
                std::process::Command::new("sh")
                    .args(["-c", &brake.release()])
                    .status()
                    .unwrap()
                    .success()
            );
        }
        assert_eq!(read(), []);
        let by_unit = release("/c/a.service/memory.high", Some("a.service"));
        assert_eq!(by_unit, "systemctl set-property --runtime a.service MemoryHigh=infinity");
        let escaped = release("/c/x/cpu.idle", Some(r"a\x2db.slice"));
        assert_eq!(escaped, r"systemctl set-property --runtime a\\x2db.slice CPUWeight=100");
    }
}
