//! Seats that other tools have written down, read from their files: services with their CPUs, for a
//! `services.toml` and a plan "as it is written".
//!
//! | module | reads | a service is |
//! |---|---|---|
//! | `kubelet` | `cpu_manager_state`, `memory_manager_state`, the configuration | a pod |
//! | `systemd` | unit files, drop-ins, `systemctl show`, our own export | a unit |
//! | `libvirt` | domain XML | a domain |
//! | `lists` | sets of CPUs and nodes in the spelling of each | |
//! | [`gather`] | the files of a folder | |
//! | [`written`] | entries of `services.toml`, and a plan | |
//!
//! A file is recognised by its content. All files of a call are read together, since the settings
//! of one unit may lie in several, and two of them may claim the same CPUs.

pub mod gather;
mod kubelet;
mod libvirt;
mod lists;
mod systemd;
pub mod written;

use crate::file::{MOST_SERVICES, Service};
use lists::ListSpelling;
use seatmap_data::document::{Blame, Position, too_long};
use seatmap_os::{CpuSet, Root};
use serde::Serialize;

/// The format's name, in the `format` key.
pub const FORMAT: &str = "seatmap-services-import/1";

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
    /// Its path, which also names the unit; `-` for stdin.
    pub name: &'a str,
    /// Its text.
    pub text: &'a str,
    /// Whether it was found in a folder: then it may well say nothing about seats.
    pub is_from_folder: bool,
}

/// The way in which kubelet names the groups of pods (`cgroupDriver` of its configuration).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum CgroupDriver {
    /// `/kubepods.slice/kubepods-podUID.slice`
    #[default]
    Systemd,
    /// `/kubepods/podUID`
    Cgroupfs,
}

impl CgroupDriver {
    /// The driver of this computer's kubelet: its groups say it. Where there are none, the systemd
    /// driver, which kubelet's documentation recommends.
    #[must_use]
    pub fn here(root: &Root) -> Self {
        let folders = seatmap_os::hierarchy::Hierarchies::read(root).folders(root, "/kubepods");
        if folders.is_empty() { CgroupDriver::Systemd } else { CgroupDriver::Cgroupfs }
    }

    /// The group of a guaranteed pod, the only kind that gets CPUs of its own.
    fn pod(self, uid: &str) -> String {
        match self {
            // systemd takes a hyphen for a level of slices.
            CgroupDriver::Systemd => {
                format!("/kubepods.slice/kubepods-pod{}.slice", uid.replace('-', "_"))
            }
            CgroupDriver::Cgroupfs => format!("/kubepods/pod{uid}"),
        }
    }
}

/// A service with the CPUs that a file gives it.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct WrittenSeat {
    /// Its entry.
    pub service: Service,
    /// Its CPUs, as a list; null where the files name none.
    pub cpus: Option<String>,
    /// The NUMA nodes of its memory, as a list; null where the files name none.
    pub nodes: Option<String>,
    /// The files that say so.
    pub sources: Vec<String>,
    /// Its parts, where the file seats each: containers, vCPUs, I/O threads.
    pub details: Vec<String>,
}

/// Something that a person should know about the files.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum ImportRemark {
    /// A file that was named says nothing about CPUs or memory.
    NothingToSeat {
        /// The file.
        file: String,
    },
    /// A file of a folder cannot be read; the others were.
    UnreadFile {
        /// The file.
        file: String,
        /// Why not, as a sentence.
        problem: String,
    },
    /// systemd ignores a range of a list, as its last index is before its first.
    ReversedRange {
        /// The unit.
        unit: String,
        /// The setting.
        key: String,
        /// The range.
        range: String,
    },
    /// A setting of a unit is not a list, or follows from things that are known when it starts.
    UnreadSetting {
        /// The unit.
        unit: String,
        /// The setting.
        key: String,
        /// Its value.
        value: String,
    },
    /// kubelet gives no CPUs away.
    NoPolicy {
        /// The file.
        file: String,
    },
    /// A state of kubelet has keys of a release that is not known here, and CPUs may be in them.
    UnreadKeys {
        /// The file.
        file: String,
        /// The keys.
        keys: Vec<String>,
    },
    /// The CPUs of all pods that have none of their own.
    SharedPool {
        /// The CPUs.
        cpus: String,
    },
    /// The file of a template or of many units.
    ManyUnits {
        /// Its name.
        unit: String,
    },
    /// The CPUs of a unit follow from its nodes when it starts.
    CpusOfNodes {
        /// The unit.
        unit: String,
    },
    /// A unit asks for CPUs that its group does not allow.
    AffinityOutside {
        /// The unit.
        unit: String,
        /// The CPUs that it asks for.
        affinity: String,
        /// The CPUs that are allowed.
        allowed: String,
    },
    /// The CPUs of a domain are chosen when it starts.
    AutoPlacement {
        /// The domain.
        domain: String,
    },
    /// Some vCPUs of a domain are pinned, and the others may run anywhere.
    PartlyPinned {
        /// The domain.
        domain: String,
        /// The vCPUs that are pinned.
        pinned: u32,
        /// All of them.
        vcpus: u32,
    },
    /// The vCPUs of a domain are pinned, and its emulator may run anywhere.
    EmulatorAnywhere {
        /// The domain.
        domain: String,
    },
    /// Two services have some CPUs in common.
    SharedCpus {
        /// The first service.
        first: String,
        /// The second one.
        second: String,
        /// The CPUs.
        cpus: String,
        /// Whether one of them is to have its CPUs alone.
        is_claimed: bool,
    },
}

impl ImportRemark {
    /// The file or setting that could not be read, and why; `None` for other remarks.
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

/// Everything that the files say.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct ImportedSeats {
    /// Name and version of the format.
    pub format: &'static str,
    /// CPUs that no service gets, as a list; null where no file names some.
    pub housekeeping: Option<String>,
    /// The services.
    pub seats: Vec<WrittenSeat>,
    /// Remarks for the person who reads the files in.
    pub remarks: Vec<ImportRemark>,
    /// The CPUs that kubelet gives to no pod.
    #[serde(skip)]
    reserved: Option<CpuSet>,
}

/// Two files that give one service different CPUs or nodes.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error(
    "'{service}' has {key} {first} in {first_file} and {second} in {second_file}; read one of them"
)]
pub struct SeatContradiction {
    /// The service.
    pub service: String,
    /// CPUs or nodes.
    pub key: &'static str,
    /// The first list.
    pub first: String,
    /// Its file.
    pub first_file: String,
    /// The second list.
    pub second: String,
    /// Its file.
    pub second_file: String,
}

/// Why a file cannot be read.
#[derive(Debug, PartialEq, thiserror::Error)]
pub enum SeatsImportError {
    /// It is of none of the kinds.
    #[error(
        "unrecognised format; expected one of: cpu_manager_state, memory_manager_state or the \
         configuration of kubelet, a unit file or drop-in of systemd, the output of 'systemctl \
         show', a libvirt domain in XML"
    )]
    Unrecognised,
    /// It is not of the kind that was named.
    #[error("this is not a file of {0}")]
    OtherFormat(&'static str),
    /// The text that says where a service is has no end.
    #[error("the place of service '{service}': {problem}")]
    Place {
        /// The service.
        service: String,
        /// The reason.
        problem: String,
    },
    /// It is not such JSON.
    #[error("{problem}")]
    Json {
        /// The parser's sentence, with line and column.
        problem: String,
    },
    /// It is not such XML.
    #[error("{position}: {problem}")]
    Syntax {
        /// Where.
        position: Position,
        /// The parser's sentence.
        problem: String,
    },
    /// A list is not one.
    #[error("{place}: '{list}' is not a list of CPUs or nodes, such as 0-3,8")]
    List {
        /// The setting.
        place: String,
        /// Its text.
        list: String,
    },
    /// JSON that is not a state of kubelet.
    #[error(
        "this is not a state of kubelet: policyName with defaultCpuSet or machineState is missing"
    )]
    NoPolicy,
    /// A state of an old kubelet.
    #[error(
        "this state is from kubelet before 1.18, which names containers by their ids; read the \
         state of a later one"
    )]
    ContainerIds,
    /// The UID of a pod is not one.
    #[error("entries: '{uid}' is not the UID of a pod")]
    PodId {
        /// The text.
        uid: String,
    },
    /// The settings do not say whose they are.
    #[error(
        "these settings do not say of which unit they are: name the file NAME.service or \
         NAME.service.d/FILE.conf, or print the name too: 'systemctl show --property Id,...'"
    )]
    NoUnitName,
    /// A domain without a name.
    #[error("this <domain> has no <name>")]
    NoDomainName,
    /// Two files give one service different CPUs or nodes.
    #[error("{0}")]
    Contradiction(Box<SeatContradiction>),
    /// There are more services than are planned together.
    #[error("the files name more than {MOST_SERVICES} services; read fewer files at once")]
    TooMany,
    /// The files name no service.
    #[error(
        "the files seat no service{}{}",
        reserved.as_ref().map(|cpus| format!(
            "; they keep CPUs {cpus} from pods: housekeeping = \"{cpus}\" in services.toml"
        )).unwrap_or_default(),
        unread.as_ref().map(|problem| format!("; not all could be read: {problem}"))
            .unwrap_or_default()
    )]
    Empty {
        /// The CPUs that kubelet gives to no pod.
        reserved: Option<String>,
        /// The first file or setting that cannot be read, and why.
        unread: Option<String>,
    },
}

impl Blame for SeatsImportError {
    fn is_input(&self) -> bool {
        true
    }
}

/// A mistake in one of the files.
#[derive(Debug, PartialEq, thiserror::Error)]
#[error("{}{mistake}", file.as_ref().map_or_else(String::new, |file| format!("{file}: ")))]
pub struct SeatsFileError {
    /// The file; `None` where it is about all of them.
    pub file: Option<String>,
    /// The mistake.
    pub mistake: SeatsImportError,
}

impl Blame for SeatsFileError {
    fn is_input(&self) -> bool {
        true
    }
}

/// Reads all files. If a format is named, each file that is named must have it. A file of a folder
/// that cannot be read gets a remark, as do those that could not be opened, which come as remarks.
///
/// # Errors
/// [`SeatsFileError`]: a file that is named cannot be read, or no file names a service.
pub fn read(
    files: &[SourceFile<'_>],
    unopened: Vec<ImportRemark>,
    format: Option<SeatsFormat>,
    driver: CgroupDriver,
) -> Result<ImportedSeats, SeatsFileError> {
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
        match read {
            Ok(()) => {}
            Err(mistake) if file.is_from_folder => {
                seats.seats.truncate(before[0]);
                seats.remarks.truncate(before[1]);
                let file = file.name.to_owned();
                let problem = mistake.to_string();
                seats.remarks.push(ImportRemark::UnreadFile { file, problem });
            }
            Err(mistake) => {
                return Err(SeatsFileError { file: Some(file.name.to_owned()), mistake });
            }
        }
    }
    let mut seated = systemd::seat(&units, &mut seats);
    if seated.is_ok() && seats.seats.is_empty() {
        let reserved = seats.reserved.as_ref().map(CpuSet::to_string);
        let unread = seats.remarks.iter().find_map(ImportRemark::unread);
        seated = Err(SeatsImportError::Empty { reserved, unread });
    }
    seated.map_err(|mistake| SeatsFileError { file: None, mistake })?;
    seats.keep_house();
    seats.compare();
    Ok(seats)
}

/// The kind of a file; `None` for one of a folder that is of none.
fn chosen(
    file: &SourceFile<'_>,
    format: Option<SeatsFormat>,
) -> Result<Option<SeatsFormat>, SeatsImportError> {
    let recognised = if libvirt::is_libvirt(file.text) {
        Some(SeatsFormat::Libvirt)
    } else if kubelet::is_kubelet(file.text) {
        Some(SeatsFormat::Kubelet)
    } else if systemd::is_systemd(file.text) {
        Some(SeatsFormat::Systemd)
    } else {
        None
    };
    match (recognised, format) {
        (None, _) if file.is_from_folder => Ok(None),
        (None, None) => Err(SeatsImportError::Unrecognised),
        (Some(found), Some(wanted)) if found != wanted && file.is_from_folder => Ok(None),
        (found, Some(wanted)) if found != Some(wanted) => {
            Err(SeatsImportError::OtherFormat(match wanted {
                SeatsFormat::Kubelet => "kubelet",
                SeatsFormat::Systemd => "systemd",
                SeatsFormat::Libvirt => "libvirt",
            }))
        }
        (found, _) => Ok(found),
    }
}

/// A list of a setting.
fn list(place: &str, text: &str, spelling: ListSpelling) -> Result<CpuSet, SeatsImportError> {
    lists::parse(text, spelling).ok_or_else(|| SeatsImportError::List {
        place: place.to_owned(),
        list: text.chars().take(40).collect(),
    })
}

/// A set as a list; `None` for the empty one, which means that a file names none.
fn written(set: &CpuSet) -> Option<String> {
    (!set.is_empty()).then(|| set.to_string())
}

impl WrittenSeat {
    fn new(
        service: Service,
        cpus: &CpuSet,
        nodes: &CpuSet,
        file: &str,
        details: Vec<String>,
    ) -> Self {
        let sources = vec![file.to_owned()];
        WrittenSeat { service, cpus: written(cpus), nodes: written(nodes), sources, details }
    }

    /// Its CPUs; empty where the files name none.
    #[must_use]
    pub fn cpu_set(&self) -> CpuSet {
        self.cpus.as_deref().and_then(CpuSet::of_list).unwrap_or_default()
    }
}

impl ImportedSeats {
    /// Adds a seat, or what it says of a service that is there.
    fn add(&mut self, seat: WrittenSeat) -> Result<(), SeatsImportError> {
        let target = seat.service.target();
        let Some(known) = self.seats.iter_mut().find(|one| one.service.target() == target) else {
            if self.seats.len() == MOST_SERVICES {
                return Err(SeatsImportError::TooMany);
            }
            let place = target.map_or_else(String::new, |target| target.to_string());
            if let Some(problem) = too_long(&place) {
                let service = seat.service.name;
                return Err(SeatsImportError::Place { service, problem });
            }
            self.seats.push(seat);
            return Ok(());
        };
        for (key, own, new) in
            [("CPUs", &mut known.cpus, &seat.cpus), ("nodes", &mut known.nodes, &seat.nodes)]
        {
            match (own.as_ref(), new) {
                (Some(first), Some(second)) if first != second => {
                    return Err(SeatsImportError::Contradiction(Box::new(SeatContradiction {
                        service: seat.service.name,
                        key,
                        first: first.clone(),
                        first_file: known.sources.join(", "),
                        second: second.clone(),
                        second_file: seat.sources.join(", "),
                    })));
                }
                (None, Some(second)) => *own = Some(second.clone()),
                _ => {}
            }
        }
        known.service.share &= seat.service.share;
        known.sources.extend(seat.sources);
        known.details.extend(seat.details);
        Ok(())
    }

    /// The CPUs that kubelet reserves are for the system and for services that are not pods: those
    /// of such services are not housekeeping.
    fn keep_house(&mut self) {
        let Some(reserved) = &self.reserved else { return };
        let left =
            self.seats.iter().fold(reserved.clone(), |left, seat| left.without(&seat.cpu_set()));
        self.housekeeping = Some(left.to_string()).filter(|list| !list.is_empty());
    }

    /// Notes services that have CPUs in common, where these are not the same for both.
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

    /// How many pairs of services claim CPUs that one of them is to have alone.
    #[must_use]
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
