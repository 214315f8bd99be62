//! Which interrupts can be moved away from the CPUs.

use crate::doctor::diagnosis::{info, no, ok};
use crate::doctor::{Diagnosis, Remedy};
use seatmap_cell::settings_lock::SettingsLock;
use seatmap_data::statistics::words::joined;
use seatmap_os::{CpuSet, Root, irq, rights};
use std::io;

const NAMED: usize = 6;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmovable {
    pub name: String,
    pub cpus: CpuSet,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Irqs {
    pub movable: usize,
    /// Managed by the kernel (one queue per CPU) or fixed by the hardware.
    pub unmovable: Vec<Unmovable>,
    /// Interrupts not tried, for lack of rights or permission.
    pub untried: usize,
    pub may_try: bool,
    /// Whether no interrupt is visible, for example because a container hides `/proc/irq`.
    pub is_hidden: bool,
}

impl Irqs {
    pub fn examine(cpus: &CpuSet, held: Option<&SettingsLock>) -> Self {
        let root = Root::new("/");
        let mut irqs = Irqs { may_try: held.is_some(), ..Irqs::default() };
        irqs.is_hidden = irq::all(&root).map_or(true, |all| all.is_empty());
        // Timers cannot move and belong to no device.
        let mut all = irq::of_devices(&root).unwrap_or_default();
        all.sort_by_key(|number| number.parse::<u32>().ok());
        for number in all {
            let here = irq::goes_to(&root, &number).within(cpus);
            match held {
                _ if here.is_empty() => {}
                None => irqs.untried += 1,
                Some(_) => irqs.count(irq::try_to_move(&root, &number), || Unmovable {
                    name: irq::name(&root, &number),
                    cpus: here,
                }),
            }
        }
        irqs
    }

    fn count(&mut self, written: io::Result<()>, irq: impl FnOnce() -> Unmovable) {
        match written {
            Ok(()) => self.movable += 1,
            // EACCES: another user's file; EROFS: a container's file. A process with write access
            // gets EIO or, on newer kernels, EPERM.
            Err(error) if matches!(error.raw_os_error(), Some(libc::EACCES | libc::EROFS)) => {
                self.untried += 1
            }
            Err(_) => self.unmovable.push(irq()),
        }
    }

    pub fn diagnosis(&self) -> Diagnosis {
        let subject = "interrupts";
        if self.is_hidden {
            return info(subject, "not known: /proc/irq lists none");
        }
        match (self.untried, self.may_try) {
            (0, _) => {}
            (count, false) => {
                let found = format!(
                    "{count} on these CPUs; whether they can be moved was not tried (use --try)"
                );
                return info(subject, found);
            }
            (count, true) => {
                let found =
                    format!("{count} on these CPUs; only root can try whether they can be moved");
                return info(subject, found).with(Remedy::advice(format!(
                    "run 'seatmap doctor --try' {}",
                    rights::as_root()
                )));
            }
        }
        if self.unmovable.is_empty() {
            let found = match self.movable {
                0 => "none on these CPUs".to_owned(),
                count => format!("{count} on these CPUs; all can be moved"),
            };
            return ok(subject, found);
        }
        let named = self.unmovable.iter().take(NAMED);
        let more = self.unmovable.len().saturating_sub(NAMED);
        let more = if more > 0 { format!(", and {more} more") } else { String::new() };
        let found = format!(
            "{} can be moved, {} cannot: {}{more}",
            self.movable,
            self.unmovable.len(),
            joined(named.map(|irq| format!("{} ({})", irq.name, irq.cpus.named())), ", ")
        );
        let remedy = "choose CPUs without them, or give the device fewer queues (ethtool -L)";
        no(subject, found, remedy)
    }

    pub fn bound_cpus(&self) -> CpuSet {
        self.unmovable.iter().flat_map(|irq| &irq.cpus).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::doctor::Severity;
    use seatmap_cell::settings_lock;

    fn after(errors: &[Option<i32>]) -> Irqs {
        let mut irqs = Irqs { may_try: true, ..Irqs::default() };
        for (at, error) in errors.iter().enumerate() {
            let written = error.map_or(Ok(()), |code| Err(io::Error::from_raw_os_error(code)));
            irqs.count(written, || Unmovable {
                name: format!("{at} nvme0q{at}"),
                cpus: [2, at as u32].into_iter().collect(),
            });
        }
        irqs
    }

    #[test]
    fn managed_interrupts_are_named_with_their_cpus() {
        let irqs = after(&[None, Some(libc::EIO), None, Some(libc::EPERM)]);
        let found = irqs.diagnosis();
        assert_eq!(found.level, Severity::No);
        assert_eq!(
            found.found,
            "2 can be moved, 2 cannot: 1 nvme0q1 (CPUs 1,2), 3 nvme0q3 (CPUs 2,3)"
        );
        assert_eq!(irqs.bound_cpus().to_string(), "1-3");
    }

    #[test]
    fn movable_interrupts_are_ok_and_untried_ones_reported() {
        assert_eq!(after(&[None, None]).diagnosis().level, Severity::Ok);
        assert_eq!(after(&[None, Some(libc::EACCES)]).diagnosis().level, Severity::Info);
        assert_eq!(after(&[Some(libc::EROFS)]).untried, 1);
    }

    #[test]
    fn long_interrupt_list_is_shortened() {
        assert!(after(&[Some(libc::EIO); 9]).diagnosis().found.ends_with(", and 3 more"));
    }

    #[test]
    fn examination_keeps_affinities() {
        let held = settings_lock::take().unwrap();
        let root = Root::new("/");
        let all = || {
            irq::all(&root)
                .unwrap()
                .into_iter()
                .map(|number| root.read(&irq::affinity_file(&number)).ok())
        };
        let unchanged = || {
            let before: Vec<_> = all().collect();
            Irqs::examine(&CpuSet::of_list("0,1").unwrap(), Some(&held));
            all().eq(before)
        };
        assert!((0..3).any(|_| unchanged()));
    }

    #[test]
    fn examination_without_try_changes_nothing() {
        let cpus = seatmap_os::layout::online(&Root::new("/")).unwrap();
        let irqs = Irqs::examine(&cpus, None);
        assert_eq!((irqs.movable, irqs.unmovable.len()), (0, 0));
        let found = Irqs { untried: 2, ..Irqs::default() }.diagnosis();
        assert_eq!(
            found.found,
            "2 on these CPUs; whether they can be moved was not tried (use --try)"
        );
        assert_eq!(Irqs::default().diagnosis().found, "none on these CPUs");
    }
}
