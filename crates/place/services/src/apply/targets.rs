//! The settings that seat a service, by its kind.

use super::drop_in::DropIn;
use super::seat::refused;
use super::setting::{self, OPTIONS, PROPERTIES};
use super::{owners, virsh};
use crate::{PlannedService, ServiceTarget, living};
use seatmap_cell::{SettingChange, SettingKind};
use seatmap_data::document::{Failure, unfit};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::root::FileError;
use seatmap_os::task::{self, ThreadStat};
use seatmap_os::{CpuSet, Root, Tid, affinity, irq, rps};
use std::path::Path;

/// This folder exists if systemd runs the computer (sd_booted(3)).
const SYSTEMD: &str = "/run/systemd/system";

/// How a service gets its CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SeatingWay {
    /// A systemd unit, by its full name.
    Unit(String),
    /// A container of an engine.
    Container(&'static str, String),
    /// A libvirt domain, by its name.
    Domain(String),
    /// The files of a control group, by its folder.
    Group(String),
    /// The masks of its threads.
    Threads,
}

impl SeatingWay {
    /// The method for a service.
    ///
    /// # Errors
    /// [`Failure`]: the service or its owner does not exist.
    pub fn of(root: &Root, planned: &PlannedService) -> Result<Self, Failure> {
        let name = &planned.service.name;
        owners::check(&planned.service)?;
        Ok(match planned.service.target() {
            Some(ServiceTarget::Unit(unit)) => {
                if !root.has(SYSTEMD) || !setting::is_word(&unit) {
                    return unfit(format!(
                        "service '{name}' is a systemd unit, but systemd is not running here; name \
                         it by cgroup or pid"
                    ));
                }
                let has_kind = unit
                    .rsplit_once('.')
                    .is_some_and(|(_, kind)| ["service", "scope", "slice"].contains(&kind));
                SeatingWay::Unit(if has_kind { unit } else { format!("{unit}.service") })
            }
            Some(ServiceTarget::Container(container)) => {
                let (engine, pid) = living::of_container(name, &container)?;
                owners::check_container(root, name, pid)?;
                SeatingWay::Container(engine, container)
            }
            Some(ServiceTarget::Cgroup(path)) => {
                let folders = Hierarchies::read(root).folders(root, &path);
                // The root of a hierarchy cannot be changed.
                let own = folders.into_iter().find(|folder| {
                    root.has(&format!("{folder}/cpuset.cpus"))
                        && root.has(&format!("{}/cgroup.procs", above(folder)))
                });
                own.map_or(SeatingWay::Threads, SeatingWay::Group)
            }
            Some(ServiceTarget::Step(step)) => {
                // Slurm writes a step's group only when it starts.
                let folders = seatmap_watch::choice::of_step(root, &step).unwrap_or_default();
                let folders = folders.iter().filter_map(|folder| folder.to_str());
                let own = folders
                    .map(str::to_owned)
                    .find(|folder| root.has(&format!("{folder}/cpuset.cpus")));
                if let Some(folder) = &own {
                    owners::check_step(root, planned, folder)?;
                }
                own.map_or(SeatingWay::Threads, SeatingWay::Group)
            }
            Some(ServiceTarget::Domain(domain)) => {
                if !virsh::is_domain_name(&domain) {
                    return unfit(format!(
                        "service '{name}' is a libvirt domain with an unusable name (a number, or \
                         with other characters than letters, digits and - _ . @); rename it with \
                         'virsh domrename'"
                    ));
                }
                // Without virsh or a connection, nothing is changed.
                virsh::pins(&domain).map_err(|source| {
                    if virsh::is_missing(&source) {
                        return Failure::input(format!(
                            "service '{name}' is a libvirt domain, but 'virsh' is not installed; \
                             install it (libvirt-clients), or leave the service out of the plan"
                        ));
                    }
                    refused(planned, source)
                })?;
                SeatingWay::Domain(domain)
            }
            Some(ServiceTarget::Pid(_) | ServiceTarget::Command(_)) | None => SeatingWay::Threads,
        })
    }

    /// The changes that seat the service, in order.
    ///
    /// # Errors
    /// A setting cannot be read.
    pub fn changes(
        &self,
        root: &Root,
        planned: &PlannedService,
    ) -> Result<Vec<SettingChange>, FileError> {
        let values = [planned.cpus.as_str(), planned.nodes.as_str()];
        let given = |names: [&'static str; 2]| {
            names.into_iter().zip(values).filter(|(_, value)| !value.is_empty())
        };
        let mut changes = Vec::new();
        match self {
            SeatingWay::Unit(unit) => {
                for (property, value) in given(PROPERTIES) {
                    let change = setting::of_owner(&format!("unit:{unit}:{property}"), value)?;
                    changes.extend(of_drop_in(root, &change, unit, property, false));
                    changes.push(change);
                }
            }
            SeatingWay::Container(engine, name) => {
                for (option, value) in given(OPTIONS) {
                    let path = format!("container:{engine}:{name}:{option}");
                    changes.push(setting::of_owner(&path, value)?);
                }
            }
            SeatingWay::Group(folder) => {
                for (file, value) in given(OPTIONS) {
                    of_group(root, folder, file, value, &mut changes)?;
                }
            }
            SeatingWay::Domain(domain) => {
                let cpus = planned.cpu_set();
                // The user's pins inside the set remain.
                let outside = virsh::pins(domain)?.into_iter().filter(|(_, pin)| {
                    CpuSet::of_list(pin).is_none_or(|pin| !pin.is_subset(&cpus))
                });
                changes.extend(outside.map(|(part, old)| {
                    let path = format!("domain:{domain}:{part}");
                    SettingChange::new(SettingKind::Cpus, path, old, &planned.cpus)
                }));
            }
            SeatingWay::Threads => {}
        }
        Ok(changes)
    }
}

/// Makes an undo remove the drop-in, unless it existed before.
pub fn of_drop_in(
    root: &Root,
    change: &SettingChange,
    name: &str,
    property: &str,
    is_kept: bool,
) -> Option<SettingChange> {
    let drop_in = DropIn { name, property, is_kept };
    (!drop_in.is_there(root)).then(|| SettingChange { path: drop_in.path(), ..change.clone() })
}

fn above(folder: &str) -> &str {
    folder.rsplit_once('/').map_or("", |(above, _)| above)
}

/// In version 1, inner groups change first: a group is never smaller than one inside.
fn of_group(
    root: &Root,
    folder: &str,
    file: &str,
    value: &str,
    changes: &mut Vec<SettingChange>,
) -> Result<(), FileError> {
    if root.has(&format!("{folder}/tasks")) {
        for inner in root.all_folders(Path::new(folder))? {
            let Some(inner) = inner.to_str() else { continue };
            let path = format!("{inner}/cpuset.{file}");
            let own = CpuSet::of_list(&root.read(&path)?).unwrap_or_default();
            let given = CpuSet::of_list(value).unwrap_or_default();
            if !own.is_empty() {
                of_group(root, inner, file, &inside(&own, &given).to_string(), changes)?;
            }
        }
    }
    let path = format!("{folder}/cpuset.{file}");
    changes.extend(setting::of_file(root, SettingKind::Cpus, &path, value)?);
    Ok(())
}

/// Allowed CPUs of a set, or all allowed ones if it has none.
fn inside(set: &CpuSet, allowed: &CpuSet) -> CpuSet {
    let both = set.within(allowed);
    if both.is_empty() { allowed.clone() } else { both }
}

/// The changes that keep devices' interrupts on CPUs of a set: those allowed before, or else the
/// whole set.
///
/// # Errors
/// The interrupts cannot be listed.
pub fn of_interrupts(root: &Root, allowed: &CpuSet) -> Result<Vec<SettingChange>, FileError> {
    let mut changes = Vec::new();
    for number in irq::of_devices(root)? {
        let path = irq::affinity_file(&number);
        let now = root.cpus(&path);
        if let Some(now) = now.filter(|now| !now.is_subset(allowed)) {
            let new = inside(&now, allowed).to_string();
            changes.extend(setting::of_file(root, SettingKind::Cpus, &path, &new).ok().flatten());
        }
    }
    Ok(changes)
}

/// The changes that steer queues' packets to CPUs of a set: those allowed before, or else the whole
/// set. Queues without steering follow their interrupts.
///
/// # Errors
/// The queues cannot be listed.
pub fn of_queues(root: &Root, allowed: &CpuSet) -> Result<Vec<SettingChange>, FileError> {
    let mut changes = Vec::new();
    for file in rps::files(root)? {
        let now = root.read(&file).ok().and_then(|text| CpuSet::of_mask(&text));
        if let Some(now) = now.filter(|now| !now.is_subset(allowed)) {
            let new = inside(&now, allowed).to_mask();
            changes.extend(setting::of_file(root, SettingKind::CpuMask, &file, &new)?);
        }
    }
    Ok(changes)
}

/// The changes of masks for threads without these CPUs. A thread with a narrower mask than its
/// process has chosen it, and keeps it.
pub fn of_threads(pids: impl IntoIterator<Item = Tid>, cpus: &CpuSet) -> Vec<SettingChange> {
    let mut changes = Vec::new();
    for pid in pids {
        let Ok(whole) = affinity::to_put_back(pid) else { continue };
        for tid in task::threads(pid).unwrap_or_default() {
            let Some(task) = ThreadStat::of(tid) else { continue };
            let Ok(own) = affinity::to_put_back(tid) else { continue };
            let is_seated = own == *cpus;
            let chose = own != whole && own.is_subset(&whole);
            if !is_seated && !chose {
                changes.push(SettingChange::of_mask(tid, task.started_ticks, own, cpus));
            }
        }
    }
    changes
}
