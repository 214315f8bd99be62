//! Settings of control groups, other than quotas, that slow or stop their members
//! (Documentation/admin-guide/cgroup-v2.rst, Documentation/scheduler/sched-util-clamp.rst). Any
//! group from a thread's own up to the root may have one.

use crate::group_quota;
use crate::mounts;
use crate::root::{Root, last_name};
use crate::shell::shell_escaped;

/// How a group slows its members.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum BrakeKind {
    /// `cpu.idle`: members run only while no other thread needs the CPU.
    Idle,
    /// `cpu.uclamp.max`: the kernel chooses CPU speeds as if members needed at most this share.
    Clamped {
        /// In percent.
        percent: f64,
    },
    /// `memory.high`: above this size, members that allocate are stopped and must reclaim memory.
    Memory {
        /// In bytes.
        high_bytes: u64,
    },
    /// `cpu.rt_runtime_us`, `sched_rt_runtime_us`: real-time threads get this share of a period.
    RealTime {
        /// In percent.
        percent: f64,
    },
    /// `freezer.state`, `cgroup.freeze`: no member runs.
    Frozen,
}

/// The limit on all real-time threads; -1 also disables groups' limits (`rt_bandwidth_enabled`).
const REAL_TIME: &str = "/proc/sys/kernel/sched_rt_runtime_us";
const REAL_TIME_PERIOD: &str = "/proc/sys/kernel/sched_rt_period_us";

/// One setting of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct Brake {
    /// Group's path below the mount point; `/` for the mounted group.
    pub group: String,
    /// Its file.
    pub file: String,
    /// Setting and its value.
    pub kind: BrakeKind,
    /// How often it has stopped a member; `None` if not counted.
    pub stops: Option<u64>,
    /// Systemd unit that sets it.
    pub unit: Option<String>,
    /// Whether the file is read-only here.
    pub is_read_only: bool,
}

impl Brake {
    pub(crate) fn on_time(root: &Root, folder: &str) -> Vec<Self> {
        let idle = is_set(root, folder, "cpu.idle")
            .then(|| Brake::new(root, folder, "cpu.idle", BrakeKind::Idle));
        let percent: Option<f64> = root.number(&format!("{folder}/cpu.uclamp.max"));
        let clamped = percent.filter(|percent| *percent < 100.0);
        let clamped = clamped.map(|percent| {
            Brake::new(root, folder, "cpu.uclamp.max", BrakeKind::Clamped { percent })
        });
        idle.into_iter().chain(clamped).collect()
    }

    pub(crate) fn on_memory(root: &Root, folder: &str) -> Option<Self> {
        let high_bytes = root.number(&format!("{folder}/memory.high"))?;
        let events = root.read(&format!("{folder}/memory.events")).unwrap_or_default();
        let stops = events.lines().find_map(|line| line.strip_prefix("high ")?.trim().parse().ok());
        Some(Brake {
            stops,
            ..Brake::new(root, folder, "memory.high", BrakeKind::Memory { high_bytes })
        })
    }

    /// `None` also for a group without real-time runtime.
    pub(crate) fn on_real_time(root: &Root, folder: &str) -> Option<Self> {
        let percent = share(
            root,
            &format!("{folder}/cpu.rt_runtime_us"),
            &format!("{folder}/cpu.rt_period_us"),
        )?;
        Some(Brake::new(root, folder, "cpu.rt_runtime_us", BrakeKind::RealTime { percent }))
    }

    /// `None` if unlimited.
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

    /// Whether the group itself is frozen: its file cannot thaw a frozen group above.
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

    /// Describes the setting: `idle (cpu.idle)`.
    pub fn words(&self) -> String {
        match self.kind {
            BrakeKind::Idle => "idle (cpu.idle)".to_owned(),
            BrakeKind::Clamped { percent } => {
                format!("clamped to {percent} % of the speed (cpu.uclamp.max)")
            }
            BrakeKind::Memory { high_bytes } => {
                format!("slowed down above {} MiB of memory (memory.high)", high_bytes >> 20)
            }
            BrakeKind::Frozen => format!("frozen ({})", last_name(&self.file)),
            BrakeKind::RealTime { percent } => format!(
                "limited to {percent} % of a CPU for threads with a real-time policy ({})",
                last_name(&self.file)
            ),
        }
    }

    /// The command that removes it, through systemd if the group's unit has such a property.
    pub fn release(&self) -> String {
        release(&self.file, self.unit.as_deref())
    }
}

fn share(root: &Root, runtime: &str, period: &str) -> Option<f64> {
    let runtime_us: i64 = root.number(runtime)?;
    let period_us: i64 = root.number(period)?;
    (0 < runtime_us && runtime_us < period_us).then(|| 100.0 * runtime_us as f64 / period_us as f64)
}

fn is_set(root: &Root, folder: &str, name: &str) -> bool {
    root.read(&format!("{folder}/{name}")).is_ok_and(|text| text.trim() == "1")
}

/// The command that removes the setting in this file.
pub fn release(file: &str, unit: Option<&str>) -> String {
    let name = last_name(file);
    // systemd writes a dash of a unit's name as `\x2d`.
    let file = shell_escaped(file);
    match (name, unit.map(shell_escaped)) {
        ("cpu.idle", Some(unit)) => {
            format!("systemctl set-property --runtime {unit} CPUWeight=100")
        }
        ("memory.high", Some(unit)) => {
            format!("systemctl set-property --runtime {unit} MemoryHigh=infinity")
        }
        // `systemctl thaw` refuses units that it has not frozen.
        ("cpu.idle", None) | ("cgroup.freeze", _) => format!("echo 0 > {file}"),
        ("freezer.state", _) => format!("echo THAWED > {file}"),
        // A group cannot exceed those above.
        ("cpu.rt_runtime_us" | "sched_rt_runtime_us", _) => format!("echo -1 > {REAL_TIME}"),
        _ => format!("echo max > {file}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_brake_is_read_and_released_separately() {
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
