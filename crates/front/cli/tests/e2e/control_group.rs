//! Control groups of tests' own.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::atomic::{AtomicU32, Ordering};

/// Tests that run beside each other have groups of their own.
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A control group of a test's own, in version 1 or 2; removed when it is dropped.
pub struct Group(pub PathBuf);

impl Group {
    /// A group below the mount of a controller.
    pub fn new(controller: &str) -> Option<Self> {
        let mounts = [format!("/sys/fs/cgroup/{controller}"), "/sys/fs/cgroup".to_owned()];
        let file = if controller == "cpu" {
            ["cpu.cfs_quota_us", "cgroup.procs"]
        } else {
            ["cpuset.cpus", "cgroup.procs"]
        };
        let mount = mounts
            .into_iter()
            .find(|mount| file.iter().all(|file| Path::new(mount).join(file).exists()));
        let path = Path::new(&mount?).join(format!(
            "seatmap-check-{}-{controller}-{}",
            std::process::id(),
            NEXT.fetch_add(1, Ordering::Relaxed)
        ));
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    /// A group whose members may use this share of a CPU, in periods of 10 ms; `None`, and a word
    /// about it, where this user can make none.
    pub fn with_quota(percent: u32) -> Option<Self> {
        let quota_us = (100 * percent).to_string();
        let set = |group: &Group| {
            group
                .set("cpu.cfs_period_us", "10000")
                .and_then(|()| group.set("cpu.cfs_quota_us", &quota_us))
        };
        let group = Group::new("cpu").filter(|group| set(group).is_some());
        if group.is_none() {
            seatmap_needs::skipped!("no cpu controller of version 1 takes a quota here");
        }
        group
    }

    /// A group whose members may use one CPU, and the memory of the group above.
    pub fn of_cpu(cpu: u32) -> Option<Self> {
        let group = Group::new("cpuset")?;
        let nodes = std::fs::read_to_string(group.0.parent()?.join("cpuset.mems"));
        group.set("cpuset.mems", nodes.as_deref().map_or("0", str::trim));
        group.set("cpuset.cpus", &cpu.to_string())?;
        Some(group)
    }

    pub fn set(&self, file: &str, text: &str) -> Option<()> {
        std::fs::write(self.0.join(file), text).ok()
    }

    pub fn name(&self) -> &str {
        self.0.file_name().unwrap().to_str().unwrap()
    }

    /// The command as one that joins this group before it does anything else.
    pub fn joined_by(&self, command: &Command) -> Command {
        let mut shell = Command::new("sh");
        shell.args(["-c", "echo $$ >\"$0\"/cgroup.procs && exec \"$@\""]).arg(&self.0);
        shell.arg(command.get_program()).args(command.get_args());
        for (name, value) in command.get_envs() {
            match value {
                Some(value) => shell.env(name, value),
                None => shell.env_remove(name),
            };
        }
        shell.current_dir(command.get_current_dir().unwrap_or(Path::new(".")));
        shell
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // Its members have been killed and leave it in a moment.
        for _ in 0..1000 {
            // One that was never made is gone as well.
            if std::fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(std::thread::panicking(), "{} is still there", self.0.display());
    }
}
