//! Imports seats from the files of other tools, for a `services.toml` and a plan "as it is
//! written".
//!
//! | module | reads | a service is |
//! |---|---|---|
//! | `kubelet` | `cpu_manager_state`, `memory_manager_state`, the configuration | a pod |
//! | `systemd` | unit files, drop-ins, `systemctl show`, our own export | a unit |
//! | `libvirt` | domain XML | a domain |
//! | `lists` | sets of CPUs and nodes in each tool's notation | |
//! | [`gather`] | the files of a folder | |
//! | [`written`] | entries of `services.toml`, and a plan | |
//!
//! Files are recognised by content, and read together, because several may have settings of one
//! unit.

pub mod gather;
mod kubelet;
mod libvirt;
mod lists;
mod systemd;
pub mod written;

use crate::Service;
use crate::file::MOST_SERVICES;
use lists::ListSpelling;
use seatmap_data::document::{Failure, too_long, unfit};
use seatmap_os::{CpuSet, Root};
use serde::Serialize;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-import/1";

const UNRECOGNISED: &str = "unrecognised format; expected one of: cpu_manager_state, \
                            memory_manager_state or the configuration of kubelet, a unit file or \
                            drop-in of systemd, the output of 'systemctl show', a libvirt domain \
                            in XML";

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SeatsFormat {
    /// kubelet's states and configuration.
    Kubelet,
    /// systemd's units.
    Systemd,
    /// libvirt's domains.
    Libvirt,
}

/// One file to read.
#[derive(Clone, Copy, Debug)]
pub struct SourceFile<'a> {
    /// Its path, which names the unit too; `-` for stdin.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it comes from a folder, and may not be about seats.
    pub is_from_folder: bool,
}

/// kubelet's names for the groups of pods (`cgroupDriver` of its configuration).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CgroupDriver {
    /// `/kubepods.slice/kubepods-podUID.slice`
    #[default]
    Systemd,
    /// `/kubepods/podUID`
    Cgroupfs,
}

impl CgroupDriver {
    /// The driver of this computer's kubelet, according to its groups; by default systemd, as
    /// kubelet's documentation recommends.
    pub fn here(root: &Root) -> Self {
        let folders = seatmap_os::hierarchy::Hierarchies::read(root).folders(root, "/kubepods");
        if folders.is_empty() { CgroupDriver::Systemd } else { CgroupDriver::Cgroupfs }
    }

    /// The group of a guaranteed pod; other pods have no CPUs of their own.
    fn pod(self, uid: &str) -> String {
        match self {
            // A hyphen separates levels of slices.
            CgroupDriver::Systemd => {
                format!("/kubepods.slice/kubepods-pod{}.slice", uid.replace('-', "_"))
            }
            CgroupDriver::Cgroupfs => format!("/kubepods/pod{uid}"),
        }
    }
}

/// A service with its CPUs according to a file.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenSeat {
    /// Its entry.
    pub service: Service,
    /// Its CPUs, as a list; null if the files have none.
    pub cpus: Option<String>,
    /// The NUMA nodes of its memory, as a list; null if the files have none.
    pub nodes: Option<String>,
    /// The source files.
    pub sources: Vec<String>,
    /// Its parts, if seated: containers, vCPUs, I/O threads.
    pub details: Vec<String>,
}

/// A fact about the files that the user should know.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ImportRemark {
    /// A file from the command line has nothing about CPUs or memory.
    NothingToSeat {
        /// The file.
        file: String,
    },
    /// A file of a folder cannot be read.
    UnreadFile {
        /// The file.
        file: String,
        /// The reason, as a sentence.
        problem: String,
    },
    /// systemd ignores a range whose last index is before its first.
    ReversedRange {
        /// The unit.
        unit: String,
        /// The setting.
        key: String,
        /// The range.
        range: String,
    },
    /// A setting of a unit is not a list, or is known only when the unit starts.
    UnreadSetting {
        /// The unit.
        unit: String,
        /// The setting.
        key: String,
        /// Its value.
        value: String,
    },
    /// kubelet gives no pod its own CPUs.
    NoPolicy {
        /// The file.
        file: String,
    },
    /// A state of kubelet has unknown keys, which may contain CPUs.
    UnreadKeys {
        /// The file.
        file: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// The CPUs of all pods without their own.
    SharedPool {
        /// The CPUs.
        cpus: String,
    },
    /// The file is for a template or for several units.
    ManyUnits {
        /// Its name.
        unit: String,
    },
    /// The CPUs of a unit depend on its nodes when it starts.
    CpusOfNodes {
        /// The unit.
        unit: String,
    },
    /// A unit requests CPUs that its group does not allow.
    AffinityOutside {
        /// The unit.
        unit: String,
        /// The requested CPUs.
        affinity: String,
        /// The allowed CPUs.
        allowed: String,
    },
    /// The CPUs of a domain are chosen when it starts.
    AutoPlacement {
        /// The domain.
        domain: String,
    },
    /// The other vCPUs of a domain may run anywhere.
    PartlyPinned {
        /// The domain.
        domain: String,
        /// The number of pinned vCPUs.
        pinned: u32,
        /// The number of all vCPUs.
        vcpus: u32,
    },
    /// The emulator of a pinned domain may run anywhere.
    EmulatorAnywhere {
        /// The domain.
        domain: String,
    },
    /// Two services have some CPUs in common.
    SharedCpus {
        /// The first service.
        first: String,
        /// The second service.
        second: String,
        /// The CPUs.
        cpus: String,
        /// Whether one of them needs its CPUs for itself.
        is_claimed: bool,
    },
}

impl ImportRemark {
    /// Why a file or setting could not be read; `None` for other remarks.
    fn unread(&self) -> Option<String> {
        match self {
            ImportRemark::UnreadFile { file, problem } => Some(format!("{file}: {problem}")),
            ImportRemark::ReversedRange { unit, key, range } => {
                Some(format!("{key}= of {unit}: '{range}' ends before it begins"))
            }
            ImportRemark::UnreadSetting { unit, key, value } => {
                Some(format!("{key}= of {unit}: '{value}' is not a list such as 0-3,8"))
            }
            _ => None,
        }
    }
}

/// All data from the files.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedSeats {
    /// Name and version of the format.
    pub format: &'static str,
    /// CPUs that no service gets, as a list; null if none.
    pub housekeeping: Option<String>,
    /// The services.
    pub seats: Vec<WrittenSeat>,
    /// Remarks for the user.
    pub remarks: Vec<ImportRemark>,
    #[serde(skip)]
    reserved: Option<CpuSet>,
}

/// Reads all files. With a given format, files from the command line must have it. An unreadable
/// file of a folder only adds a remark; `unopened` are such remarks.
///
/// # Errors
/// [`Failure`]: a file from the command line cannot be read, or no file names a service.
pub fn read(
    files: &[SourceFile<'_>],
    unopened: Vec<ImportRemark>,
    format: Option<SeatsFormat>,
    driver: CgroupDriver,
) -> Result<ImportedSeats, Failure> {
    let mut seats = ImportedSeats {
        format: FORMAT,
        housekeeping: None,
        seats: Vec::new(),
        remarks: unopened,
        reserved: None,
    };
    let mut units = systemd::UnitFiles::new();
    for file in files {
        let before = [seats.seats.len(), seats.remarks.len()];
        let read = chosen(file, format).and_then(|format| match format {
            Some(SeatsFormat::Kubelet) => kubelet::read(file, driver, &mut seats),
            Some(SeatsFormat::Systemd) => systemd::read(file, &mut units, &mut seats),
            Some(SeatsFormat::Libvirt) => libvirt::read(file, &mut seats),
            None => Ok(()),
        });
        if let Err(problem) = read {
            if !file.is_from_folder {
                return unfit(format!("{}: {problem}", file.name));
            }
            seats.seats.truncate(before[0]);
            seats.remarks.truncate(before[1]);
            let file = file.name.to_owned();
            seats.remarks.push(ImportRemark::UnreadFile { file, problem });
        }
    }
    systemd::seat(&units, &mut seats).map_err(Failure::input)?;
    if seats.seats.is_empty() {
        return unfit(seats.emptiness());
    }
    seats.keep_house();
    seats.compare();
    Ok(seats)
}

type IsKind = fn(&str) -> bool;

/// `None` for other files of a folder.
fn chosen(
    file: &SourceFile<'_>,
    format: Option<SeatsFormat>,
) -> Result<Option<SeatsFormat>, String> {
    let kinds: [(SeatsFormat, IsKind); 3] = [
        (SeatsFormat::Libvirt, libvirt::is_libvirt),
        (SeatsFormat::Kubelet, kubelet::is_kubelet),
        (SeatsFormat::Systemd, systemd::is_systemd),
    ];
    let recognised = kinds.iter().find(|(_, is_kind)| is_kind(file.text)).map(|(kind, _)| *kind);
    match (recognised, format) {
        (None, _) if file.is_from_folder => Ok(None),
        (None, None) => Err(UNRECOGNISED.to_owned()),
        (Some(found), Some(wanted)) if found != wanted && file.is_from_folder => Ok(None),
        (found, Some(wanted)) if found != Some(wanted) => {
            let tool = match wanted {
                SeatsFormat::Kubelet => "kubelet",
                SeatsFormat::Systemd => "systemd",
                SeatsFormat::Libvirt => "libvirt",
            };
            Err(format!("this is not a file of {tool}"))
        }
        (found, _) => Ok(found),
    }
}

fn list(place: &str, text: &str, spelling: ListSpelling) -> Result<CpuSet, String> {
    lists::parse(text, spelling).ok_or_else(|| not_a_list(place, text))
}

fn not_a_list(place: &str, text: &str) -> String {
    let list: String = text.chars().take(40).collect();
    format!("{place}: '{list}' is not a list of CPUs or nodes, such as 0-3,8")
}

/// `None` for the empty set: the file has none.
fn written(set: &CpuSet) -> Option<String> {
    (!set.is_empty()).then(|| set.to_string())
}

impl WrittenSeat {
    fn new(
        service: Service,
        cpus: &CpuSet,
        nodes: &CpuSet,
        sources: Vec<String>,
        details: Vec<String>,
    ) -> Self {
        WrittenSeat { service, cpus: written(cpus), nodes: written(nodes), sources, details }
    }

    /// Its CPUs; empty if the files have none.
    pub fn cpu_set(&self) -> CpuSet {
        self.cpus.as_deref().and_then(CpuSet::of_list).unwrap_or_default()
    }
}

impl ImportedSeats {
    fn add(&mut self, seat: WrittenSeat) -> Result<(), String> {
        let target = seat.service.target();
        let Some(known) = self.seats.iter_mut().find(|one| one.service.target() == target) else {
            if self.seats.len() == MOST_SERVICES {
                return Err(format!(
                    "the files name more than {MOST_SERVICES} services; read fewer files at once"
                ));
            }
            let place = target.map_or_else(String::new, |target| target.to_string());
            if let Some(problem) = too_long(&place) {
                let service = seat.service.name;
                return Err(format!("the target of service '{service}': {problem}"));
            }
            self.seats.push(seat);
            return Ok(());
        };
        for (key, own, new) in
            [("CPUs", &mut known.cpus, seat.cpus), ("nodes", &mut known.nodes, seat.nodes)]
        {
            let Some(second) = new else { continue };
            let first = own.get_or_insert_with(|| second.clone());
            if *first != second {
                return Err(format!(
                    "'{}' has {key} {first} in {} and {second} in {}; read one of them",
                    seat.service.name,
                    known.sources.join(", "),
                    seat.sources.join(", ")
                ));
            }
        }
        known.service.share &= seat.service.share;
        known.sources.extend(seat.sources);
        known.details.extend(seat.details);
        Ok(())
    }

    fn emptiness(&self) -> String {
        let mut why = "no service has CPUs or memory nodes in these files".to_owned();
        if let Some(cpus) = &self.reserved {
            why += &format!(
                "; they reserve CPUs {cpus}: write housekeeping = \"{cpus}\" in services.toml"
            );
        }
        if let Some(problem) = self.remarks.iter().find_map(ImportRemark::unread) {
            why += &format!("; not all are readable: {problem}");
        }
        why
    }

    /// The CPUs that kubelet reserves are also for services other than pods, whose CPUs are not
    /// housekeeping.
    fn keep_house(&mut self) {
        let Some(reserved) = &self.reserved else { return };
        let left =
            self.seats.iter().fold(reserved.clone(), |left, seat| left.without(&seat.cpu_set()));
        self.housekeeping = Some(left.to_string()).filter(|list| !list.is_empty());
    }

    /// Notes services that share some of their CPUs, but not all.
    fn compare(&mut self) {
        for (at, first) in self.seats.iter().enumerate() {
            for second in &self.seats[at + 1..] {
                let common = first.cpu_set().within(&second.cpu_set());
                let is_claimed = first.service.is_alone() || second.service.is_alone();
                if common.is_empty() || first.cpus == second.cpus && !is_claimed {
                    continue;
                }
                self.remarks.push(ImportRemark::SharedCpus {
                    first: first.service.name.clone(),
                    second: second.service.name.clone(),
                    cpus: common.to_string(),
                    is_claimed,
                });
            }
        }
    }

    /// Pairs of services that share CPUs which one of them needs for itself.
    pub fn claims(&self) -> usize {
        let claimed = self
            .remarks
            .iter()
            .filter(|remark| matches!(remark, ImportRemark::SharedCpus { is_claimed: true, .. }));
        claimed.count()
    }
}

#[cfg(test)]
mod tests;
