//! Seatmap's own trace instance in the kernel.

use super::CpuTrace;
use seatmap_os::CpuSet;
use seatmap_os::tracefs::Tracefs;
use std::fs::{File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

const PREFIX: &str = "seatmap-noise-";

/// KiB per measured CPU: a quarter of a million events, a minute of a busy CPU.
const BUFFER_KIB: &str = "8192";

/// Events of every kernel with tracing.
const EVENTS: [&str; 5] = [
    "sched/sched_switch",
    "irq/irq_handler_entry",
    "irq/irq_handler_exit",
    "irq/softirq_entry",
    "irq/softirq_exit",
];

/// Events of some architectures: x86's vectors, Arm's interprocessor interrupts.
const EVENTS_OF_SOME: [&str; 3] = ["irq_vectors", "ipi/ipi_entry", "ipi/ipi_exit"];

pub struct Instance {
    folder: PathBuf,
    /// In use while this process lives.
    _lock: File,
    /// The mount may exist only through this.
    _tracefs: Tracefs,
}

impl Instance {
    pub fn begin(cpus: &[u32]) -> io::Result<Self> {
        let tracefs = Tracefs::open()?;
        let instances = tracefs.folder().join("instances");
        // Serialises processes, so none removes a new, still unlocked instance.
        let turn = File::open(&instances)?;
        turn.lock()?;
        sweep(&instances)?;
        static MADE: AtomicU32 = AtomicU32::new(0);
        let number = MADE.fetch_add(1, Ordering::Relaxed);
        let folder = instances.join(format!("{PREFIX}{}-{number}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let lock = File::open(&folder)?;
        let instance = Instance { folder, _lock: lock, _tracefs: tracefs };
        instance._lock.lock()?;
        instance.start(cpus)?;
        Ok(instance)
    }

    fn start(&self, cpus: &[u32]) -> io::Result<()> {
        // A new instance traces at once, so it is off until completely set.
        self.write("tracing_on", "0")?;
        self.write("trace_clock", "mono")?;
        for cpu in cpus {
            self.write(&format!("per_cpu/cpu{cpu}/buffer_size_kb"), BUFFER_KIB)?;
        }
        for events in EVENTS {
            self.write(&format!("events/{events}/enable"), "1")?;
        }
        for events in
            EVENTS_OF_SOME.iter().filter(|events| self.folder.join("events").join(events).exists())
        {
            self.write(&format!("events/{events}/enable"), "1")?;
        }
        self.write("tracing_cpumask", &cpus.iter().copied().collect::<CpuSet>().to_mask())?;
        self.write("tracing_on", "1")
    }

    /// For a meter to identify itself. The trace cannot be removed while open.
    pub fn marker(&self) -> io::Result<File> {
        OpenOptions::new().write(true).open(self.folder.join("trace_marker"))
    }

    pub fn stop(&self) -> io::Result<()> {
        self.write("tracing_on", "0")
    }

    /// Tens of MB for a busy one.
    pub fn recording(&self, cpu: u32) -> io::Result<CpuTrace> {
        let folder = self.folder.join(format!("per_cpu/cpu{cpu}"));
        let stats = std::fs::read_to_string(folder.join("stats"))?;
        // The kernel counts overwritten events (ftrace.rst).
        let is_cut = !stats.lines().any(|line| line == "overrun: 0");
        Ok(CpuTrace { text: std::fs::read(folder.join("trace"))?, is_cut })
    }

    fn write(&self, name: &str, text: &str) -> io::Result<()> {
        std::fs::write(self.folder.join(name), text)
    }
}

impl Drop for Instance {
    fn drop(&mut self) {
        // The next trace removes a remaining instance.
        let _ = self.stop();
        let _ = std::fs::remove_dir(&self.folder);
    }
}

/// Instances of killed processes have free locks.
fn sweep(instances: &Path) -> io::Result<()> {
    for entry in std::fs::read_dir(instances)?.flatten() {
        let is_ours = entry.file_name().to_string_lossy().starts_with(PREFIX);
        if is_ours && File::open(entry.path()).is_ok_and(|folder| folder.try_lock().is_ok()) {
            // If another process is reading it, the next trace removes it.
            let _ = std::fs::remove_dir(entry.path());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `None`, with a message, if this computer does not allow tracing.
    fn begun() -> Option<Instance> {
        Instance::begin(&[0])
            .inspect_err(|error| seatmap_needs::skipped!("no trace here: {error}"))
            .ok()
    }

    #[test]
    fn trace_instance_is_removed() {
        let Some(instance) = begun() else { return };
        let tracefs = Tracefs::open().unwrap();
        let folder = tracefs.folder().join("instances").join(instance.folder.file_name().unwrap());
        assert!(folder.is_dir());
        drop(instance);
        assert!(!folder.exists());
    }

    #[test]
    fn stale_instance_is_removed_and_used_one_stays() {
        let Some(first) = begun() else { return };
        let tracefs = Tracefs::open().unwrap();
        let left = tracefs.folder().join("instances").join(format!("{PREFIX}left"));
        std::fs::create_dir(&left).unwrap();
        let second = Instance::begin(&[0]).unwrap();
        assert!(first.folder.is_dir() && second.folder.is_dir() && !left.exists());
    }

    #[test]
    fn stale_instance_with_a_reader_does_not_block() {
        let Some(_first) = begun() else { return };
        let tracefs = Tracefs::open().unwrap();
        let instances = tracefs.folder().join("instances");
        let left = instances.join(format!("{PREFIX}read"));
        // Locked, because other tests sweep too.
        let turn = File::open(&instances).unwrap();
        turn.lock().unwrap();
        std::fs::create_dir(&left).unwrap();
        let reader = File::open(left.join("trace")).unwrap();
        drop(turn);
        Instance::begin(&[0]).unwrap();
        drop(reader);
        let _ = std::fs::remove_dir(&left);
        assert!(!left.exists());
    }

    #[test]
    fn falling_asleep_is_recorded() {
        let cpus = seatmap_os::affinity::current().unwrap();
        let instance = match Instance::begin(&cpus) {
            Ok(instance) => instance,
            Err(error) => return seatmap_needs::skipped!("no trace here: {error}"),
        };
        std::thread::sleep(std::time::Duration::from_millis(1));
        instance.stop().unwrap();
        let texts = cpus.iter().map(|cpu| instance.recording(*cpu).unwrap().text);
        let switches: usize =
            texts.map(|text| String::from_utf8_lossy(&text).matches("sched_switch").count()).sum();
        assert!(switches > 0, "{} CPUs, and nobody fell asleep", cpus.len());
    }
}
