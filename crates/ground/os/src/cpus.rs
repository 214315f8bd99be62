//! The CPUs of this computer, and why one of them is not available.

use crate::CpuList;
use crate::{affinity, small};

/// Why a CPU cannot be measured on.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CpuError {
    /// There is no such CPU.
    #[error("CPU {cpu} does not exist: this machine has CPUs {present}; 'seatmap show host' lists them")]
    Absent {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs that are present.
        present: String,
    },
    /// The CPU is present, but offline.
    #[error("CPU {cpu} is offline; 'echo 1 > /sys/devices/system/cpu/cpu{cpu}/online' brings it back, as root")]
    Offline {
        /// The CPU asked for.
        cpu: u32,
    },
    /// Online, but outside this process's cpuset or affinity mask.
    #[error("CPU {cpu} is outside the CPUs that this process may use, {allowed}: its cpuset or a taskset forbids it")]
    Forbidden {
        /// The CPU asked for.
        cpu: u32,
        /// The CPUs that are allowed.
        allowed: String,
    },
}

/// The CPUs of this computer in the kernel's three circles.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cpus {
    /// The CPUs that are plugged in.
    pub present: Vec<u32>,
    /// The CPUs that run.
    pub online: Vec<u32>,
    /// Open to this process.
    pub allowed: Vec<u32>,
}

impl Cpus {
    /// Reads them from `/sys`. The affinity mask stands in for files that are missing there.
    ///
    /// # Errors
    /// The affinity mask could not be read.
    pub fn read() -> std::io::Result<Self> {
        let allowed = affinity::current()?;
        let circle = |name: &str| listed(&format!("/sys/devices/system/cpu/{name}"));
        let online = circle("online").unwrap_or_else(|| allowed.clone());
        let present = circle("present").unwrap_or_else(|| online.clone());
        Ok(Cpus { present, online, allowed })
    }

    /// CPUs that are present and not online.
    #[must_use]
    pub fn offline(&self) -> Vec<u32> {
        self.present.iter().filter(|cpu| !self.online.contains(cpu)).copied().collect()
    }

    /// Checks that each of these can be had.
    ///
    /// # Errors
    /// [`CpuError`] for the first that cannot, with the innermost circle it fails.
    pub fn check(&self, wanted: &[u32]) -> Result<(), CpuError> {
        wanted.iter().try_for_each(|cpu| self.check_one(*cpu))
    }

    fn check_one(&self, cpu: u32) -> Result<(), CpuError> {
        if self.allowed.contains(&cpu) {
            Ok(())
        } else if !self.present.contains(&cpu) {
            Err(CpuError::Absent { cpu, present: CpuList(self.present.clone()).to_string() })
        } else if !self.online.contains(&cpu) {
            Err(CpuError::Offline { cpu })
        } else {
            Err(CpuError::Forbidden { cpu, allowed: CpuList(self.allowed.clone()).to_string() })
        }
    }
}

fn listed(path: &str) -> Option<Vec<u32>> {
    small::read(path)?.parse::<CpuList>().ok().map(|list| list.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_circle_has_its_word() {
        let cpus = Cpus { present: vec![0, 1, 2, 3], online: vec![0, 1, 3], allowed: vec![0, 3] };
        assert_eq!(cpus.check(&[0, 3]), Ok(()));
        assert_eq!(cpus.check(&[0, 9]), Err(CpuError::Absent { cpu: 9, present: "0-3".into() }));
        assert_eq!(cpus.check(&[2]), Err(CpuError::Offline { cpu: 2 }));
        assert_eq!(cpus.check(&[1]), Err(CpuError::Forbidden { cpu: 1, allowed: "0,3".into() }));
        assert_eq!(cpus.offline(), [2]);
    }

    #[test]
    fn this_computer_allows_what_is_online() {
        let cpus = Cpus::read().unwrap();
        assert!(!cpus.allowed.is_empty());
        assert!(cpus.allowed.iter().all(|cpu| cpus.online.contains(cpu)));
    }
}
