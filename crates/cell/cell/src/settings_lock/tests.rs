//! Noise meters that enter a cpuset. Requires v1 cpusets and root; otherwise skipped.

use crate::settings_lock;
use seatmap_health::noise::{Error, NoiseOptions, measure};
use seatmap_os::cpus::Cpus;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

const ROOT: &str = "/sys/fs/cgroup/cpuset";

/// A non-exclusive cpuset of one CPU, removed when dropped.
struct Group(PathBuf);

impl Group {
    fn of(cpu: u32) -> std::io::Result<Self> {
        let folder = PathBuf::from(ROOT).join(format!("seatmap-inside-{}", std::process::id()));
        std::fs::create_dir(&folder)?;
        let group = Group(folder);
        let mems = std::fs::read_to_string(PathBuf::from(ROOT).join("cpuset.mems"))?;
        std::fs::write(group.0.join("cpuset.mems"), mems)?;
        std::fs::write(group.0.join("cpuset.cpus"), cpu.to_string())?;
        Ok(group)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        // A joined thread may still be in its groups.
        while let Err(error) = std::fs::remove_dir(&self.0) {
            assert_eq!(error.kind(), std::io::ErrorKind::ResourceBusy, "{error}");
            std::thread::sleep(Duration::from_millis(1));
        }
    }
}

#[test]
fn meter_enters_and_obeys_only_the_cpuset() {
    let cpus = Cpus::read().unwrap().online;
    let _held = settings_lock::take().unwrap();
    let group = match Group::of(cpus[0]) {
        Ok(group) => group,
        Err(error) => return seatmap_needs::skipped!("no v1 cpuset can be made: {error}"),
    };
    let options = NoiseOptions {
        duration: Duration::from_millis(40),
        enter: vec![group.0.join("tasks")],
        ..NoiseOptions::default()
    };
    let measured = |cpu| measure(&[cpu], &options, &mut |_| ControlFlow::Continue(()));
    assert_eq!(measured(cpus[0]).unwrap().cpus[0].cpu, cpus[0]);
    if let Some(other) = cpus.get(1) {
        let told = measured(*other).unwrap_err();
        assert!(
            matches!(&told, Error::Cpuset { cpu, cpuset, .. }
                if cpu == other && cpuset.contains("inside")),
            "{told}"
        );
    }
    assert!(matches!(measured(500_000), Err(Error::Cpu(_))));
}
