//! Which interrupts can be moved away from the CPUs.

use super::finding;
use super::text::{list, read, shown};
use crate::{Diagnosis, Level};
use std::io;
use std::path::Path;

/// Interrupts that are named one by one.
const NAMED: usize = 6;

/// One that stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Unmovable {
    /// Its number, and who asked for it.
    pub(super) name: String,
    /// Those of the CPUs in question that it comes to.
    pub(super) cpus: Vec<u32>,
}

/// The interrupts that may come to the CPUs in question.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Irqs {
    /// How many can be moved.
    pub(super) movable: usize,
    /// Those that cannot: the kernel manages them itself (one queue a CPU), or the hardware leaves no choice.
    pub(super) unmovable: Vec<Unmovable>,
    /// How many were not tried, for want of rights.
    pub(super) untried: usize,
}

/// Writes each interrupt's own CPUs back to it, which changes nothing and is refused where nothing can be changed. Hold the
/// [`super::lock`].
pub(super) fn probe(cpus: &[u32]) -> Irqs {
    let mut irqs = Irqs::default();
    let folders = std::fs::read_dir("/proc/irq").into_iter().flatten().flatten();
    let mut numbers: Vec<u32> = folders.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).collect();
    numbers.sort_unstable();
    for number in numbers {
        irqs.try_out(number, cpus);
    }
    irqs
}

impl Irqs {
    fn try_out(&mut self, number: u32, cpus: &[u32]) {
        let folder = Path::new("/proc/irq").join(number.to_string());
        let path = folder.join("smp_affinity_list");
        let Some(own) = read(&path) else { return };
        let mut comes = list(&own);
        comes.extend(list(&read(folder.join("effective_affinity_list")).unwrap_or_default()));
        let here: Vec<u32> = cpus.iter().filter(|cpu| comes.contains(cpu)).copied().collect();
        if !here.is_empty() {
            let written = std::fs::write(&path, &own);
            self.count(written, || Unmovable {
                name: format!("{number} {}", owner(&folder)).trim_end().to_owned(),
                cpus: here,
            });
        }
    }

    fn count(&mut self, written: io::Result<()>, irq: impl FnOnce() -> Unmovable) {
        match written {
            Ok(()) => self.movable += 1,
            // EACCES: the file is not ours; EROFS: a container's. Who may write is refused with EIO or, lately, EPERM.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EROFS)) => self.untried += 1,
            Err(_) => self.unmovable.push(irq()),
        }
    }

    pub(super) fn diagnosis(&self) -> Diagnosis {
        let subject = "interrupts";
        if self.untried > 0 {
            let found =
                format!("{} may come here; without root's rights it cannot be tried whether they move", self.untried);
            return finding(subject, Level::Info, found, Some("sudo seatmap doctor".into()));
        }
        if self.unmovable.is_empty() {
            return finding(subject, Level::Ok, format!("{} may come here, and all can be moved", self.movable), None);
        }
        let named: Vec<String> = self.unmovable.iter().take(NAMED).map(Unmovable::told).collect();
        let more = self.unmovable.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let found =
            format!("{} can be moved, {} cannot: {}{more}", self.movable, self.unmovable.len(), named.join(", "));
        let remedy = "choose CPUs that they do not come to, or let the device have fewer queues (ethtool -L)";
        finding(subject, Level::No, found, Some(remedy.into()))
    }

    /// Those of the CPUs that interrupts are bound to.
    pub(super) fn bound_cpus(&self) -> Vec<u32> {
        let mut cpus: Vec<u32> = self.unmovable.iter().flat_map(|irq| irq.cpus.iter().copied()).collect();
        cpus.sort_unstable();
        cpus.dedup();
        cpus
    }
}

impl Unmovable {
    fn told(&self) -> String {
        format!("{} (CPU {})", self.name, shown(&self.cpus))
    }
}

/// Who asked for the interrupt: a folder of that name lies in the interrupt's.
fn owner(folder: &Path) -> String {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names = entries.filter(|entry| entry.path().is_dir()).map(|entry| entry.file_name());
    names.next().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(errors: &[Option<i32>]) -> Irqs {
        let mut irqs = Irqs::default();
        for (at, error) in errors.iter().enumerate() {
            let written = error.map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)));
            irqs.count(written, || Unmovable { name: format!("{at} nvme0q{at}"), cpus: vec![2, at as u32] });
        }
        irqs
    }

    #[test]
    fn what_the_kernel_manages_is_named_with_its_cpus() {
        let irqs = after(&[None, Some(libc::EIO), None, Some(libc::EPERM)]);
        let found = irqs.diagnosis();
        assert_eq!(found.level, Level::No);
        assert_eq!(found.found, "2 can be moved, 2 cannot: 1 nvme0q1 (CPU 2,1), 3 nvme0q3 (CPU 2,3)");
        assert_eq!(irqs.bound_cpus(), [1, 2, 3]);
    }

    #[test]
    fn what_moves_is_well_and_what_was_not_tried_is_said() {
        assert_eq!(after(&[None, None]).diagnosis().level, Level::Ok);
        assert_eq!(after(&[None, Some(libc::EACCES)]).diagnosis().level, Level::Info);
        assert_eq!(after(&[Some(libc::EROFS)]).untried, 1);
    }

    #[test]
    fn many_are_not_all_named() {
        assert!(after(&[Some(libc::EIO); 9]).diagnosis().found.ends_with(", and 3 more"));
    }

    /// What is probed stays as it was.
    #[test]
    fn affinities_stay_as_they_were() {
        let _held = seatmap_cell::settings_lock::take().unwrap();
        let all = || {
            let folders = std::fs::read_dir("/proc/irq").into_iter().flatten().flatten();
            let mut lists: Vec<_> =
                folders.map(|entry| (entry.path(), read(entry.path().join("smp_affinity_list")))).collect();
            lists.sort();
            lists
        };
        let unchanged = || {
            let before = all();
            probe(&[0, 1]);
            all() == before
        };
        // Others may move one meanwhile.
        assert!((0..3).any(|_| unchanged()));
    }
}
