//! A computer of the lab: a file in `scripts/lab/computers`, and its QEMU arguments.

use crate::error::LabError;
use serde::Deserialize;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Architecture {
    /// Intel's and AMD's, on QEMU's `q35`.
    #[serde(rename = "x86_64")]
    X86,
    /// Arm's, on QEMU's `virt`.
    #[serde(rename = "aarch64")]
    Arm,
}

#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum CgroupVersion {
    #[default]
    V2,
    V1,
    None,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatedNode {
    /// Empty for a node with memory only.
    #[serde(default)]
    pub cpus: String,
    /// 0 for a node with CPUs only.
    pub memory_mib: u64,
    /// As in the ACPI's SLIT. If absent on all nodes: 10 and 20.
    #[serde(default)]
    pub distances: Vec<u8>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EmulatedComputer {
    #[serde(skip)]
    pub name: String,
    /// The real machine, or the question that it answers.
    pub stands_for: String,
    pub architecture: Architecture,
    /// The processor as a QEMU argument.
    pub cpu: String,
    pub sockets: u32,
    #[serde(default = "one")]
    pub dies: u32,
    #[serde(default = "one")]
    pub clusters: u32,
    pub cores: u32,
    #[serde(default = "one")]
    pub threads: u32,
    /// Debian's kernel: a series, or `newest` for unstable's, and a flavour: `6.12`, `6.12-cloud`,
    /// `6.1-rt`.
    pub kernel: String,
    #[serde(default)]
    pub groups: CgroupVersion,
    /// Further words for the kernel's command line.
    #[serde(default)]
    pub command_line: String,
    /// CPUs to take offline at the start, as a list.
    #[serde(default)]
    pub offline: String,
    /// Memory, if there are no nodes.
    #[serde(default)]
    pub memory_mib: u64,
    #[serde(default, rename = "node")]
    pub nodes: Vec<EmulatedNode>,
    /// Each CPU's relative speed; the fastest has 1024. On Arm, in the device tree.
    #[serde(default)]
    pub capacities: Vec<u32>,
    #[serde(default)]
    pub modules: Vec<String>,
    /// Further QEMU arguments, such as a disk.
    #[serde(default)]
    pub devices: Vec<String>,
}

fn one() -> u32 {
    1
}

impl EmulatedComputer {
    /// Reads a computer by its name.
    ///
    /// # Errors
    /// [`LabError`] if there is no such computer, or its file is invalid.
    pub fn read(folder: &Path, name: &str) -> Result<Self, LabError> {
        let file = folder.join(format!("{name}.toml"));
        let text = std::fs::read_to_string(&file).map_err(|_| LabError::UnknownComputer {
            name: name.to_owned(),
            folder: folder.to_owned(),
        })?;
        let mut computer: Self = toml::from_str(&text)
            .map_err(|source| LabError::Description { file, source: Box::new(source) })?;
        name.clone_into(&mut computer.name);
        Ok(computer)
    }

    /// The names of all computers, sorted.
    ///
    /// # Errors
    /// [`LabError::File`] if the folder cannot be read.
    pub fn names(folder: &Path) -> Result<Vec<String>, LabError> {
        let failed = LabError::file(folder);
        let mut names = Vec::new();
        for entry in std::fs::read_dir(folder).map_err(&failed)? {
            let path = entry.map_err(&failed)?.path();
            if path.extension().is_some_and(|extension| extension == "toml") {
                names.extend(path.file_stem().and_then(|stem| stem.to_str()).map(str::to_owned));
            }
        }
        names.sort();
        Ok(names)
    }

    pub fn cpus(&self) -> u32 {
        self.sockets * self.dies * self.clusters * self.cores * self.threads
    }

    pub fn emulator(&self) -> &'static str {
        match self.architecture {
            Architecture::X86 => "qemu-system-x86_64",
            Architecture::Arm => "qemu-system-aarch64",
        }
    }

    pub fn debian_architecture(&self) -> &'static str {
        match self.architecture {
            Architecture::X86 => "amd64",
            Architecture::Arm => "arm64",
        }
    }

    /// QEMU's arguments. Unless `is_parallel`, one host thread emulates all vCPUs: 32 CPUs then
    /// boot in seconds, while 32 threads on two CPUs hardly finish.
    pub fn hardware(&self, is_parallel: bool) -> Vec<String> {
        let thread = if is_parallel { "multi" } else { "single" };
        let mut words: Vec<String> = [
            "-nodefaults",
            "-no-user-config",
            "-display",
            "none",
            "-no-reboot",
            "-serial",
            "stdio",
            "-machine",
        ]
        .map(str::to_owned)
        .into();
        words.push(self.board().to_owned());
        words.extend(["-accel".to_owned(), format!("tcg,thread={thread},tb-size=256")]);
        words.extend(["-cpu".to_owned(), self.cpu.clone(), "-smp".to_owned(), self.smp()]);
        words.extend(["-m".to_owned(), format!("{}M", self.whole_memory_mib())]);
        words.extend(self.node_words());
        words.extend(self.devices.clone());
        words
    }

    fn board(&self) -> &'static str {
        match self.architecture {
            Architecture::X86 => "q35",
            Architecture::Arm => "virt,gic-version=3",
        }
    }

    fn smp(&self) -> String {
        let middle = match self.architecture {
            Architecture::X86 => format!("dies={}", self.dies),
            Architecture::Arm => format!("clusters={}", self.dies * self.clusters),
        };
        format!(
            "{},sockets={},{middle},cores={},threads={}",
            self.cpus(),
            self.sockets,
            self.cores,
            self.threads
        )
    }

    fn whole_memory_mib(&self) -> u64 {
        if self.nodes.is_empty() {
            self.memory_mib
        } else {
            self.nodes.iter().map(|node| node.memory_mib).sum()
        }
    }

    fn node_words(&self) -> Vec<String> {
        let mut words = Vec::new();
        for (id, node) in self.nodes.iter().enumerate() {
            let mut word = format!("node,nodeid={id}");
            for range in node.cpus.split(',').filter(|range| !range.is_empty()) {
                word += &format!(",cpus={range}");
            }
            if node.memory_mib > 0 {
                let size_mib = node.memory_mib;
                words.push("-object".to_owned());
                words.push(format!("memory-backend-ram,id=m{id},size={size_mib}M"));
                word += &format!(",memdev=m{id}");
            }
            words.extend(["-numa".to_owned(), word]);
        }
        for (from, node) in self.nodes.iter().enumerate() {
            for (to, distance) in node.distances.iter().enumerate() {
                words.push("-numa".to_owned());
                words.push(format!("dist,src={from},dst={to},val={distance}"));
            }
        }
        words
    }

    /// The kernel's command line, with these words for the guest's scripts.
    pub fn boot_words(&self, words: &[String]) -> String {
        let (console, own) = match self.architecture {
            Architecture::X86 => {
                ("ttyS0", "reboot=t tsc=unstable no_timer_check nokaslr mitigations=off")
            }
            Architecture::Arm => ("ttyAMA0", "nokaslr mitigations=off"),
        };
        let groups = match self.groups {
            CgroupVersion::V2 => "v2",
            CgroupVersion::V1 => "v1",
            CgroupVersion::None => "none",
        };
        // With fixed addresses of programs, QEMU can reuse its translations.
        let mut line = format!("console={console} quiet loglevel=3 panic=-1 norandmaps {own}");
        line += &format!(" lab_computer={} lab_groups={groups}", self.name);
        if !self.offline.is_empty() {
            line += &format!(" lab_offline={}", self.offline);
        }
        for word in [&self.command_line].into_iter().chain(words).filter(|word| !word.is_empty()) {
            line += &format!(" {word}");
        }
        line
    }
}

pub fn folder() -> PathBuf {
    lab_folder().join("computers")
}

pub fn lab_folder() -> PathBuf {
    let own = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../scripts/lab"));
    own.canonicalize().unwrap_or_else(|_| own.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    const FOUR_NODES: &str = "stands_for = 'a test'\narchitecture = 'x86_64'\ncpu = 'x'\nsockets = 2\n\
        cores = 1\nthreads = 2\nkernel = '6.12'\n[[node]]\ncpus = '0-1'\nmemory_mib = 64\n\
        distances = [10, 21, 17]\n[[node]]\ncpus = '2,3'\nmemory_mib = 0\ndistances = [21, 10, 28]\n\
        [[node]]\nmemory_mib = 32\ndistances = [17, 28, 10]\n";

    fn of(text: &str) -> EmulatedComputer {
        toml::from_str(text).unwrap()
    }

    #[test]
    fn nodes_become_emulator_arguments() {
        let words = of(FOUR_NODES).hardware(false).join(" ");
        assert!(words.contains("-smp 4,sockets=2,dies=1,cores=1,threads=2 -m 96M"), "{words}");
        assert!(words.contains("-numa node,nodeid=1,cpus=2,cpus=3 "), "{words}");
        assert!(words.contains("size=32M -numa node,nodeid=2,memdev=m2 "), "{words}");
        assert!(words.contains("-numa dist,src=1,dst=2,val=28"), "{words}");
    }

    #[test]
    fn every_lab_computer_can_be_read() {
        let names = EmulatedComputer::names(&folder()).unwrap();
        assert!(names.len() >= 8, "{names:?}");
        for name in names {
            let computer = EmulatedComputer::read(&folder(), &name).unwrap();
            assert!(computer.stands_for.len() > 40, "{name} does not say why it exists");
            let nodes: Vec<&str> = computer.nodes.iter().map(|node| node.cpus.as_str()).collect();
            let mut held = crate::list::parse(&nodes.join(",")).unwrap();
            held.sort_unstable();
            let cpus = computer.cpus();
            assert!(held.is_empty() || held == (0..cpus).collect::<Vec<_>>(), "{name}: {held:?}");
            let capacities = computer.capacities.len();
            assert!(capacities == 0 || capacities == cpus as usize, "{name}: {capacities}");
            let offline = crate::list::parse(&computer.offline).unwrap();
            assert!(offline.iter().all(|cpu| (1..cpus).contains(cpu)), "{name}: {offline:?}");
        }
    }
}
