//! This computer's CPUs, and why a CPU is unavailable.

use crate::holder::Holder;
use crate::root::Root;
use crate::{CpuList, CpuSet};
use crate::{affinity, cpu_list, isolated, layout, rights, starved};

/// Why a CPU cannot be used.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum CpuError {
    /// The CPU does not exist.
    #[error(
        "CPU {cpu} does not exist: this machine has {}; 'seatmap show host' lists them",
        cpu_list::named(.present)
    )]
    Absent {
        /// Requested CPU.
        cpu: u32,
        /// Present CPUs.
        present: String,
    },
    /// The CPU is present, but offline.
    #[error(
        "CPU {cpu} is offline; run '{}' {}", bring_online(&CpuSet::single(*.cpu)), rights::as_root()
    )]
    Offline {
        /// Requested CPU.
        cpu: u32,
    },
    /// Online, but outside this process's cpuset or affinity mask.
    #[error(
        "CPU {cpu} is outside the CPUs that this process may use, {allowed}: {}",
        .holder.or("its cpuset or a taskset forbids it")
    )]
    Forbidden {
        /// Requested CPU.
        cpu: u32,
        /// Allowed CPUs.
        allowed: String,
        /// Its cell, if any.
        holder: Holder,
    },
}

/// The present, online and allowed CPUs of this computer.
#[derive(Debug, Default, PartialEq)]
pub struct Cpus {
    /// Physically present CPUs.
    pub present: Vec<u32>,
    /// Running CPUs.
    pub online: Vec<u32>,
    /// CPUs of this process's mask.
    pub allowed: Vec<u32>,
    /// CPUs that this process may use by name, although kernel parameters (`isolcpus=`,
    /// `nohz_full=`) exclude them from all initial masks. Empty if a taskset has narrowed the mask.
    pub set_apart: Vec<u32>,
}

/// The running CPUs in this process's cpuset, regardless of its mask.
///
/// # Errors
/// The mask cannot be read.
pub fn in_cpuset() -> std::io::Result<CpuSet> {
    let own: CpuSet = affinity::current()?.into_iter().collect();
    let online: CpuSet = Cpus::read()?.online.into_iter().collect();
    // If a filter of system calls forbids the request, use the mask.
    let granted = affinity::granted().map(|granted| granted.within(&online)).unwrap_or_default();
    Ok(own.with(&granted))
}

/// The command that brings these CPUs online.
pub fn bring_online(cpus: &CpuSet) -> String {
    let each = cpus.iter().map(|cpu| format!("echo 1 > /sys/devices/system/cpu/cpu{cpu}/online"));
    each.collect::<Vec<_>>().join("; ")
}

impl Cpus {
    /// Reads the CPUs from `/sys`; the affinity mask replaces missing files.
    ///
    /// # Errors
    /// The mask cannot be read.
    pub fn read() -> std::io::Result<Self> {
        let allowed = affinity::current()?;
        let root = Root::new("/");
        let online = layout::online(&root).unwrap_or_else(|_| set(&allowed));
        let present =
            root.cpus("/sys/devices/system/cpu/present").unwrap_or_default().with(&online).list().0;
        let online = online.list().0;
        let set_apart = set_apart(&root);
        let granted = if set_apart.is_empty() { None } else { affinity::granted().ok() };
        let mut cpus = Cpus { present, online, allowed, set_apart: Vec::new() };
        if let Some(granted) = granted {
            cpus.set_apart = cpus.open_of(&set_apart, &granted);
        }
        Ok(cpus)
    }

    /// The excluded CPUs that the cpuset grants. None if the mask lacks others too, because a
    /// taskset is binding.
    fn open_of(&self, set_apart: &CpuSet, granted: &CpuSet) -> Vec<u32> {
        let open = granted.within(&set(&self.online));
        let allowed = set(&self.allowed);
        if !open.without(set_apart).is_subset(&allowed) {
            return Vec::new();
        }
        open.within(set_apart).without(&allowed).list().0
    }

    /// All CPUs that this process may use, sorted.
    pub fn reachable(&self) -> Vec<u32> {
        let all = self.allowed.iter().chain(&self.set_apart);
        all.copied().collect::<CpuSet>().list().0
    }

    /// The present CPUs that are offline.
    pub fn offline(&self) -> Vec<u32> {
        self.present.iter().filter(|cpu| !self.online.contains(cpu)).copied().collect()
    }

    /// Checks that all these CPUs are available.
    ///
    /// # Errors
    /// [`CpuError`] for the first unavailable one.
    pub fn check(&self, cpus: &[u32]) -> Result<(), CpuError> {
        cpus.iter().try_for_each(|cpu| self.check_one(*cpu))
    }

    fn check_one(&self, cpu: u32) -> Result<(), CpuError> {
        if self.allowed.contains(&cpu) || self.set_apart.contains(&cpu) {
            Ok(())
        } else if !self.present.contains(&cpu) {
            Err(CpuError::Absent { cpu, present: CpuList(self.present.clone()).to_string() })
        } else if !self.online.contains(&cpu) {
            Err(CpuError::Offline { cpu })
        } else {
            let allowed = CpuList(self.reachable()).to_string();
            let holder = Holder::of(&CpuSet::single(cpu));
            Err(CpuError::Forbidden { cpu, allowed, holder })
        }
    }
}

fn set(cpus: &[u32]) -> CpuSet {
    cpus.iter().copied().collect::<CpuSet>()
}

/// CPUs kept free of tasks or of the tick: isolated ones and those of `nohz_full=`.
pub fn set_apart(root: &Root) -> CpuSet {
    isolated::beside_others(root).with(&starved::without_tick(root))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_unusable_cpu_has_its_error() {
        let present = vec![0, 1, 2, 3];
        let online = vec![0, 1, 3];
        let allowed = vec![0, 3];
        let cpus = Cpus { present, online, allowed, set_apart: Vec::new() };
        assert_eq!(cpus.check(&[0, 3]), Ok(()));
        assert_eq!(cpus.check(&[0, 9]), Err(CpuError::Absent { cpu: 9, present: "0-3".into() }));
        assert_eq!(cpus.check(&[2]), Err(CpuError::Offline { cpu: 2 }));
        assert_eq!(cpus.check(&[1]), Err(forbidden(1, "0,3")));
        assert_eq!(cpus.offline(), [2]);
    }

    fn forbidden(cpu: u32, allowed: &str) -> CpuError {
        CpuError::Forbidden { cpu, allowed: allowed.to_owned(), holder: Holder::default() }
    }

    fn open_of(allowed: &[u32], granted: &str) -> Vec<u32> {
        let online = (0..6).collect();
        let cpus = Cpus { online, allowed: allowed.to_vec(), ..Cpus::default() };
        cpus.open_of(&CpuSet::of_list("2-3").unwrap(), &CpuSet::of_list(granted).unwrap())
    }

    #[test]
    fn reserved_cpus_are_open_unless_excluded() {
        assert_eq!(open_of(&[0, 1, 4, 5], "0-7"), [2, 3], "6 and 7 are offline");
        assert_eq!(open_of(&[0, 1], "0-2"), [2], "the cpuset has no CPU 3");
        assert_eq!(open_of(&[0, 1], "0-1,4"), Vec::<u32>::new(), "a taskset left out CPU 4, too");
        assert_eq!(open_of(&[2], "0-5"), Vec::<u32>::new(), "a taskset onto one of them");
        assert_eq!(open_of(&[0, 1, 2, 4, 5], "0-5"), [3]);
    }

    #[test]
    fn reserved_cpu_can_be_requested() {
        let present = vec![0, 1, 2, 3];
        let online = vec![0, 1, 2, 3];
        let allowed = vec![0, 3];
        let cpus = Cpus { present, online, allowed, set_apart: vec![1] };
        assert_eq!((cpus.check(&[1, 3]), cpus.reachable()), (Ok(()), vec![0, 1, 3]));
        assert_eq!(cpus.check(&[2]), Err(forbidden(2, "0,1,3")));
    }

    #[test]
    fn allowed_cpus_are_online_here() {
        let cpus = Cpus::read().unwrap();
        assert!(!cpus.allowed.is_empty());
        assert!(cpus.allowed.iter().all(|cpu| cpus.online.contains(cpu)));
    }
}
