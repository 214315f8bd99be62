//! A machine: this host, a profile, a description or a model.

use crate::catalog::bundled;
use crate::catalog::capability::{Capability, Lacks};
use crate::host::remembered::{self, RememberedError};
use crate::host::topology::{self, Gathered, TopologyError};
use seatmap_data::document::{Blame, DocumentError, shell_escaped};
use seatmap_data::machine::import::{self, Format, ProfileNote};
use seatmap_data::machine::{MachineSheet, Origin, OriginKind, Profile, Topology, sheet, zoo};
use seatmap_os::state::host_name;
use seatmap_sim::{CoherentModel, ModelError, SimError, catalog, coherent};
use std::io;
use std::path::Path;
use std::sync::Arc;

/// The kind of a machine, which decides its capabilities.
#[derive(Clone, Debug)]
pub enum MachineKind {
    /// This computer.
    Host,
    /// A file of distances, measured earlier or imported.
    Profile(Box<Profile>),
    /// A description: distances by class, and a machine that runs programs if it gives a clock.
    Description(Box<Profile>, Option<Arc<CoherentModel>>),
    /// A model that runs programs in virtual time.
    Model(Arc<CoherentModel>),
}

/// A machine from the command line, opened once.
#[derive(Clone, Debug)]
pub struct Machine {
    /// Name of the host, of the bundled machine, or in the file.
    pub name: String,
    /// Kind of the machine.
    pub kind: MachineKind,
    /// Oddities of the file.
    pub notes: Vec<ProfileNote>,
    /// NUMA nodes that have memory and no CPU, if known.
    pub memory_nodes: Vec<u32>,
    /// Why a description cannot be run.
    flaw: Option<String>,
    given_name: String,
}

/// The inputs from outside this crate for opening a machine.
pub struct Surroundings<'a> {
    /// Today, as `YYYY-MM-DD`: the date of an imported profile.
    pub today: &'a str,
    /// This program with its version, for the record of a measurement.
    pub tool: &'a str,
    /// Reads a file; `-` is standard input.
    pub read: &'a dyn Fn(&Path) -> io::Result<Vec<u8>>,
}

/// Why a machine could not be opened.
#[derive(Debug, thiserror::Error)]
pub enum OpenError {
    /// No machine has this name.
    #[error("no machine called '{name}' comes with Seatmap; {}", hint(name, *.nearest))]
    Unknown {
        /// Given name.
        name: String,
        /// Most similar name, if one is similar enough.
        nearest: Option<&'static str>,
    },
    /// The file does not exist.
    #[error("{0}: there is no such file; 'seatmap machines' lists the bundled machines")]
    NoSuchFile(String),
    /// A file, folder or archive cannot be read or understood.
    #[error("{path}")]
    Unreadable {
        /// File, folder or archive.
        path: String,
        /// Operating system's error, or the mistake in the file.
        source: Box<dyn std::error::Error + Send + Sync>,
    },
    /// A file of a model is wrong.
    #[error(transparent)]
    Model(#[from] ModelError),
}

impl OpenError {
    pub(crate) fn unreadable<E>(path: &str) -> impl FnOnce(E) -> Self
    where
        E: std::error::Error + Send + Sync + 'static,
    {
        move |source| OpenError::Unreadable { path: path.to_owned(), source: Box::new(source) }
    }
}

/// Whether a file is an archive: bzip2 begins with `BZh`, a tar header has `ustar` at byte 257.
pub fn is_archive(bytes: &[u8]) -> bool {
    bytes.starts_with(b"BZh") || bytes.get(257..262) == Some(b"ustar")
}

fn hint(name: &str, nearest: Option<&str>) -> String {
    if name.starts_with("cell-") {
        return catalog::SUCCESSOR.to_owned();
    }
    let listed = "'seatmap machines' lists those that do";
    nearest
        .map_or_else(|| listed.to_owned(), |nearest| format!("did you mean '{nearest}'? {listed}"))
}

/// Why a machine has no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The remembered profile of this host cannot be used.
    #[error(transparent)]
    Remembered(#[from] RememberedError),
    /// This host's topology cannot be read.
    #[error(transparent)]
    Topology(#[from] TopologyError),
    /// The model cannot be run.
    #[error(transparent)]
    Sim(#[from] SimError),
}

impl Blame for ProfileError {
    fn is_input(&self) -> bool {
        matches!(self, ProfileError::Remembered(_))
    }
}

impl Machine {
    /// Opens a machine: `host`, a file (`-` is standard input), or a bundled machine's name.
    ///
    /// # Errors
    /// [`OpenError`]: there is no such machine or file, or the file cannot be understood.
    pub fn open(name: &str, around: &Surroundings) -> Result<Self, OpenError> {
        if name == "host" {
            return Ok(Machine::new(name, host_name(), MachineKind::Host));
        }
        // Before the bundled names, because a file of that name in the current folder takes
        // precedence.
        if Path::new(name).is_dir() {
            let gathered = topology::read_folder(Path::new(name));
            let gathered = gathered.map_err(OpenError::unreadable(name))?;
            return Ok(Machine::gathered(name, gathered, around.today));
        }
        // In a folder that the user may not search, the file may exist: reading it gives the right
        // error.
        let exists = Path::new(name).try_exists().unwrap_or_else(|_| looks_like_a_path(name));
        if name == "-" || exists {
            let bytes = (around.read)(Path::new(name)).map_err(OpenError::unreadable(name))?;
            return Machine::read(name, &bytes, around.today);
        }
        // A mistyped path gets no suggestions of machines.
        if looks_like_a_path(name) {
            return Err(OpenError::NoSuchFile(name.to_owned()));
        }
        Machine::bundled(name)
    }

    /// Opens a bundled machine, or one of the zoo.
    ///
    /// # Errors
    /// [`OpenError::Unknown`], with the nearest name.
    pub fn bundled(name: &str) -> Result<Self, OpenError> {
        if let Some(sheet) = zoo::find(name) {
            return Machine::of_sheet(name, sheet);
        }
        let text = bundled::find(name).ok_or_else(|| OpenError::Unknown {
            name: name.to_owned(),
            nearest: bundled::suggest(name),
        })?;
        // Only imported measurements have a date.
        Machine::read(name, text.as_bytes(), "")
    }

    /// Reads the machine in a file.
    ///
    /// # Errors
    /// [`OpenError`]: the file cannot be understood.
    pub fn read(name: &str, bytes: &[u8], today: &str) -> Result<Self, OpenError> {
        // First, because an archive is not text.
        if is_archive(bytes) {
            let gathered = topology::read_gathered(bytes);
            return Ok(Machine::gathered(
                name,
                gathered.map_err(OpenError::unreadable(name))?,
                today,
            ));
        }
        // A byte-order mark would hide the format on the first line.
        let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
        let text = std::str::from_utf8(bytes).ok();
        if let Some(text) = text.filter(|text| catalog::is_model(text)) {
            let model = catalog::from_toml(name, text)?;
            return Ok(Machine::new(name, model.name.clone(), MachineKind::Model(model)));
        }
        if let Some(text) = text.filter(|text| sheet::is_sheet(text)) {
            return Machine::of_sheet(name, MachineSheet::from_toml(text));
        }
        let mut imported =
            import::read_with(bytes, name, Some(today), &import::ImportOptions::default())
                .map_err(OpenError::unreadable(name))?;
        // The import, whose --cpus can name the rows, has already reported that they were numbered.
        imported.notes.retain(|note| !matches!(note, import::ProfileNote::RowsInOrder { .. }));
        let profile = Box::new(imported.profile);
        let described = text
            .filter(|text| Format::recognise(text, name) == Some(Format::Description))
            .map(|text| catalog::from_toml(name, text));
        let known = profile.name.clone();
        let flaw = described
            .as_ref()
            .and_then(|model| model.as_ref().err())
            .map(|error| error.message.clone());
        let kind = match described {
            // Without a clock, a description holds distances and cannot be run.
            Some(model) => MachineKind::Description(profile, model.ok()),
            None => MachineKind::Profile(profile),
        };
        Ok(Machine { notes: imported.notes, flaw, ..Machine::new(name, known, kind) })
    }

    fn of_sheet(
        given_name: &str,
        sheet: Result<MachineSheet, DocumentError>,
    ) -> Result<Self, OpenError> {
        let sheet = sheet.map_err(OpenError::unreadable(given_name))?;
        let kind = MachineKind::Profile(Box::new(sheet.to_profile()));
        let memory_nodes = sheet.nodes_without_cpus;
        Ok(Machine { memory_nodes, ..Machine::new(given_name, sheet.name, kind) })
    }

    fn gathered(given_name: &str, gathered: Gathered, today: &str) -> Self {
        let file = given_name.trim_end_matches('/').rsplit('/').next().unwrap_or(given_name);
        let stem = file.trim_end_matches(".bz2").trim_end_matches(".tar");
        let origin = Origin {
            kind: OriginKind::Imported,
            source: file.to_owned(),
            date: Some(today.to_owned()),
            tool: Some("hwloc-gather-topology".to_owned()),
        };
        let profile = Profile::new(stem, origin, gathered.topology);
        let kind = MachineKind::Profile(Box::new(profile));
        Machine { notes: gathered.notes, ..Machine::new(given_name, stem.to_owned(), kind) }
    }

    fn new(given_name: &str, name: String, kind: MachineKind) -> Self {
        let given_name = given_name.to_owned();
        Machine { name, kind, notes: Vec::new(), memory_nodes: Vec::new(), flaw: None, given_name }
    }

    /// The name or path that the user gave.
    pub fn given_name(&self) -> &str {
        &self.given_name
    }

    /// Whether it is this computer.
    pub fn is_host(&self) -> bool {
        matches!(self.kind, MachineKind::Host)
    }

    /// The machine as data. A model computes its distances in virtual time; this host uses its last
    /// measurement, or its topology alone.
    ///
    /// # Errors
    /// [`ProfileError`].
    pub fn profile(&self, around: &Surroundings) -> Result<Profile, ProfileError> {
        match &self.kind {
            MachineKind::Host => host_profile(around),
            MachineKind::Profile(profile) | MachineKind::Description(profile, _) => {
                Ok((**profile).clone())
            }
            MachineKind::Model(model) => Ok(coherent::profile(model)?),
        }
    }

    /// The machine's parts, which need no run of a model.
    ///
    /// # Errors
    /// As [`Machine::profile`].
    pub fn topology(&self, around: &Surroundings) -> Result<Topology, ProfileError> {
        match &self.kind {
            MachineKind::Model(model) => Ok(model.topology.clone()),
            _ => Ok(self.profile(around)?.topology),
        }
    }

    /// The model that runs programs in the machine's place, if any.
    pub fn model(&self) -> Option<&CoherentModel> {
        self.shared_model().map(|model| &**model)
    }

    fn shared_model(&self) -> Option<&Arc<CoherentModel>> {
        match &self.kind {
            MachineKind::Model(model) | MachineKind::Description(_, Some(model)) => Some(model),
            _ => None,
        }
    }

    /// The machine's capabilities. This host certainly runs programs; for the rest see its profile.
    pub fn capabilities(&self) -> Vec<Capability> {
        Capability::ALL.into_iter().filter(|capability| self.has(*capability)).collect()
    }

    fn has(&self, capability: Capability) -> bool {
        let profile = match &self.kind {
            _ if matches!(capability, Capability::RunsLines | Capability::RunsChannels) => {
                return self.is_host() || self.model().is_some();
            }
            MachineKind::Host => return false,
            MachineKind::Model(model) => {
                return capability != Capability::Homes || model.homes() > 1;
            }
            MachineKind::Profile(profile) | MachineKind::Description(profile, _) => profile,
        };
        match capability {
            Capability::Homes => profile.home_model.as_ref().is_some_and(|model| model.homes() > 1),
            Capability::Loaded => !profile.loaded.is_empty(),
            _ => profile.core_distance.is_some(),
        }
    }

    /// Checks that the machine has a capability.
    ///
    /// # Errors
    /// [`Lacks`], which names the machine's kind and the remedy.
    pub fn require(&self, capability: Capability) -> Result<(), Lacks> {
        if self.has(capability) { Ok(()) } else { Err(self.lacks(capability)) }
    }

    /// The model on which to run programs that need this capability; `None` for this computer.
    ///
    /// # Errors
    /// [`Lacks`], if the machine cannot run them.
    pub fn runner(&self, capability: Capability) -> Result<Option<Arc<CoherentModel>>, Lacks> {
        self.require(capability)?;
        Ok(self.shared_model().cloned())
    }

    /// The error of a machine that lacks a capability.
    pub fn lacks(&self, capability: Capability) -> Lacks {
        Lacks {
            machine: self.given_name.clone(),
            kind: self.kind(),
            lacks: capability,
            remedy: self.remedy(capability),
        }
    }

    /// The kind of the machine, with its article.
    pub fn kind(&self) -> &'static str {
        match &self.kind {
            MachineKind::Host => "this computer",
            MachineKind::Profile(_) => "a profile",
            MachineKind::Description(..) => "a description",
            MachineKind::Model(_) => "a model",
        }
    }

    fn remedy(&self, capability: Capability) -> String {
        let given_name = &self.given_name;
        match (capability, &self.kind) {
            (Capability::RunsLines | Capability::RunsChannels, MachineKind::Profile(_)) => {
                let given_name = shell_escaped(given_name);
                format!("'seatmap model fit {given_name} -o twin.toml' makes a model that can")
            }
            (Capability::RunsLines | Capability::RunsChannels, MachineKind::Description(..)) => {
                self.flaw.clone().unwrap_or_default()
            }
            (_, MachineKind::Host) => "'seatmap measure' measures them".to_owned(),
            _ => format!("'seatmap machines' marks suitable ones '{}'", capability.word()),
        }
    }
}

fn host_profile(around: &Surroundings) -> Result<Profile, ProfileError> {
    if let Some(profile) = remembered::latest()? {
        remembered::of_this_computer(&profile)?;
        return Ok(profile);
    }
    let origin = Origin {
        kind: OriginKind::Measured,
        source: host_name(),
        date: Some(around.today.to_owned()),
        tool: Some(around.tool.to_owned()),
    };
    let mut profile = Profile::new(host_name(), origin, topology::reachable()?);
    profile.environment = crate::host::environment::read();
    Ok(profile)
}

fn looks_like_a_path(name: &str) -> bool {
    name.contains('/') || Path::new(name).extension().is_some_and(|extension| extension.len() <= 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(head: &str, cores: u32) -> String {
        format!(
            "{head}format = \"seatmap-machine/1\"
            name = \"pair\"
            summary = \"cores that share an L3\"
            sources = [\"made up\"]
            topology = {{ packages = 1, cores_per_l3 = {cores} }}
            [distance]
            same_l3 = {{ round_trip_ns = 45.0, kind = \"assumption\", source = \"usual\" }}"
        )
    }

    fn refusal(text: &str) -> String {
        let machine = Machine::read("x.toml", text.as_bytes(), "2026-01-01").unwrap();
        machine.require(Capability::RunsChannels).unwrap_err().to_string()
    }

    #[test]
    fn description_that_cannot_run_says_why() {
        let texts =
            [pair("", 2), pair("frequency_ghz = 0.05\n", 2), pair("frequency_ghz = 3\n", 1025)];
        insta::assert_snapshot!(texts.map(|text| refusal(&text)).join("\n"), @"
        x.toml is a description: it cannot run programs; give frequency_ghz
        x.toml is a description: it cannot run programs; frequency_ghz must be from 0.1 to 100
        x.toml is a description: it cannot run programs; 1025 cores; give 2 to 1024
        ");
    }

    #[test]
    fn unreadable_file_is_not_called_missing() {
        let around = Surroundings { today: "", tool: "", read: &|path| std::fs::read(path) };
        let missing = Machine::open("none/x.json", &around).unwrap_err();
        assert!(matches!(missing, OpenError::NoSuchFile(_)), "{missing:?}");
        // Root can search every folder, so a file takes the folder's place.
        let hidden = Machine::open("Cargo.toml/x.json", &around).unwrap_err();
        assert!(matches!(hidden, OpenError::Unreadable { .. }), "{hidden:?}");
    }

    #[test]
    fn byte_order_mark_is_skipped() {
        let clocked = pair("", 2).replace("sources", "frequency_ghz = 3.0\nsources");
        let text = format!("\u{feff}{clocked}");
        let machine = Machine::read("x", text.as_bytes(), "2026-01-01").unwrap();
        assert!(machine.require(Capability::RunsChannels).is_ok(), "{machine:?}");
        let refused = Machine::read("x", "\u{feff}format = \"seatmap-model/1\"".as_bytes(), "");
        assert!(matches!(refused, Err(OpenError::Model(_))), "{refused:?}");
    }
}
