//! Control groups that tests create.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

static NEXT: AtomicU32 = AtomicU32::new(0);

/// A test's own group, of version 1 or 2; removed on drop.
pub struct Group(pub PathBuf);

impl Group {
    /// Below the controller's version 1 mount, or below the version 2 root if that delegates it.
    /// `None` if there is neither, or this user may not create a group.
    pub fn new(controller: &str) -> Option<Self> {
        let number = NEXT.fetch_add(1, Ordering::Relaxed);
        Self::named(
            controller,
            &format!("seatmap-check-{}-{controller}-{number}", std::process::id()),
        )
    }

    pub fn named(controller: &str, name: &str) -> Option<Self> {
        let file = if controller == "cpu" { "cpu.shares" } else { "cpuset.cpus" };
        let of_version_1 = PathBuf::from(format!("/sys/fs/cgroup/{controller}"));
        let of_version_2 = || Self::hands_down(controller).then(|| PathBuf::from("/sys/fs/cgroup"));
        let mount = Some(of_version_1).filter(|mount| mount.join(file).exists());
        let path = mount.or_else(of_version_2)?.join(name);
        std::fs::create_dir(&path).ok()?;
        Some(Group(path))
    }

    /// Whether the version 2 root delegates a controller.
    fn hands_down(controller: &str) -> bool {
        let given = std::fs::read_to_string("/sys/fs/cgroup/cgroup.subtree_control");
        given.is_ok_and(|given| given.split_whitespace().any(|word| word == controller))
    }

    /// Whether single threads can be members, as in version 1.
    pub fn takes_threads(&self) -> bool {
        self.0.join("tasks").exists()
    }

    /// A group with a quota. `None` if this user may create none.
    pub fn with_time(period_us: u32, quota_us: u32) -> Option<Self> {
        let group = Group::new("cpu").filter(|group| group.set_time(period_us, quota_us).is_some());
        let Some(group) = group else {
            seatmap_needs::skipped!("no cpu controller takes a quota here");
            return None;
        };
        // Next to busy programs its members would get less than their quota, which then never stops
        // them.
        let weight = group.set("cpu.weight", "10000");
        weight.or_else(|| group.set("cpu.shares", "262144"));
        Some(group)
    }

    /// A group with a quota in periods of 10 ms.
    pub fn with_quota(percent: u32) -> Option<Self> {
        Self::with_time(10_000, 100 * percent)
    }

    pub fn set_time(&self, period_us: u32, quota_us: u32) -> Option<()> {
        if self.0.join("cpu.max").exists() {
            return self.set("cpu.max", &format!("{quota_us} {period_us}"));
        }
        self.set("cpu.cfs_period_us", &period_us.to_string())?;
        self.set("cpu.cfs_quota_us", &quota_us.to_string())
    }

    pub fn quota_file(&self) -> &'static str {
        if self.0.join("cpu.max").exists() { "cpu.max" } else { "cpu.cfs_quota_us" }
    }

    pub fn quota_remedy(&self) -> &'static str {
        if self.0.join("cpu.max").exists() { "raise-quota" } else { "raise-quota-v1" }
    }

    /// A group whose members run only while no other thread needs their CPU.
    pub fn idle() -> Option<Self> {
        let group = Group::new("cpu").filter(|group| group.set("cpu.idle", "1").is_some());
        if group.is_none() {
            seatmap_needs::skipped!("no cpu controller has idle groups here");
        }
        group
    }

    /// A group of one CPU, with the memory nodes of its parent.
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

    /// Starts a program and waits until it has joined.
    pub fn begun(&self, command: &Command) -> Child {
        let mut child = self.joined_by(command).stdin(Stdio::null()).spawn().unwrap();
        let pid = child.id().to_string();
        let members = || std::fs::read_to_string(self.0.join("cgroup.procs")).unwrap();
        while !members().lines().any(|member| member == pid) {
            assert!(child.try_wait().unwrap().is_none(), "it ended before it had joined");
            std::thread::sleep(Duration::from_millis(1));
        }
        child
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        for _ in 0..1000 {
            if std::fs::remove_dir(&self.0).is_ok() || !self.0.exists() {
                return;
            }
            std::thread::sleep(std::time::Duration::from_millis(5));
        }
        assert!(std::thread::panicking(), "{} is still there", self.0.display());
    }
}
