//! Debian packages, unpacked into a cache.
//!
//! Packages of this release come through its own apt configuration. Those of other architectures,
//! and the newest kernel, come through package lists in the cache, from the same server.

use crate::error::LabError;
use crate::tool::{find, make_folder, output, run, write};
use std::path::{Path, PathBuf};
use std::process::Command;

const NEWEST_SUITE: &str = "sid";
const KEYRING: &str = "/usr/share/keyrings/debian-archive-keyring.gpg";

pub struct Archive {
    cache: PathBuf,
    architecture: String,
    options: Vec<String>,
}

impl Archive {
    /// Opens the lists with kernels of this series for this architecture.
    ///
    /// # Errors
    /// [`LabError`] if apt cannot read or fetch them.
    pub fn open(cache: &Path, architecture: &str, series: &str) -> Result<Self, LabError> {
        for tool in ["dpkg", "apt-get", "apt-cache", "depmod"] {
            find(tool)?;
        }
        let own = output(Command::new("dpkg").arg("--print-architecture"))?;
        let is_newest = series == "newest";
        let mut archive = Self {
            cache: cache.to_owned(),
            architecture: architecture.to_owned(),
            options: Vec::new(),
        };
        if is_newest {
            archive.fetch_lists(NEWEST_SUITE, true)?;
        } else if own.trim() != architecture {
            archive.fetch_lists("own", false)?;
        }
        Ok(archive)
    }

    /// Fetches the lists of one suite, or of all suites of this computer's packages, unless cached.
    /// Kernels also come from the security suite.
    fn fetch_lists(&mut self, suite: &str, is_suite: bool) -> Result<(), LabError> {
        let folder = self.cache.join(format!("apt-{suite}-{}", self.architecture));
        for name in ["lists/partial", "archives/partial", "state"] {
            make_folder(&folder.join(name))?;
        }
        let status = folder.join("status");
        write(&status, "")?;
        let mut settings = Vec::new();
        if is_suite {
            let sources = folder.join("sources.list");
            write(&sources, format!("deb [signed-by={KEYRING}] {} {suite} main\n", server()?))?;
            settings.push(("Dir::Etc::sourcelist", sources.display().to_string()));
            settings.push(("Dir::Etc::sourceparts", "-".to_owned()));
        }
        settings.extend([
            ("Dir::State", folder.join("state").display().to_string()),
            ("Dir::State::lists", folder.join("lists").display().to_string()),
            ("Dir::State::status", status.display().to_string()),
            ("Dir::Cache", folder.display().to_string()),
            ("APT::Architecture", self.architecture.clone()),
            ("APT::Architectures", self.architecture.clone()),
            ("APT::Sandbox::User", "root".to_owned()),
        ]);
        self.options = settings
            .into_iter()
            .flat_map(|(name, value)| ["-o".to_owned(), format!("{name}={value}")])
            .collect();
        let fetched = folder.join("fetched");
        if fetched.exists() {
            return Ok(());
        }
        run(Command::new("apt-get").args(&self.options).args(["--quiet", "update"]))?;
        write(&fetched, "")
    }

    /// The folder of the newest kernel of a series and flavour: `6.12`, `6.12-cloud`, `newest`.
    ///
    /// # Errors
    /// [`LabError::Missing`] if there is none in the lists.
    pub fn kernel(&self, kernel: &str) -> Result<PathBuf, LabError> {
        let (series, flavour) = kernel.split_once('-').unwrap_or((kernel, ""));
        let series = if series == "newest" { "[0-9]+" } else { &series.replace('.', "[.]") };
        let flavour = if flavour.is_empty() { String::new() } else { format!("-{flavour}") };
        let pattern = format!("^linux-image-{series}[.].*[0-9]{flavour}-{}$", self.architecture);
        let mut search = Command::new("apt-cache");
        search.args(&self.options).args(["search", "--names-only", &pattern]);
        let listed = output(&mut search)?;
        let newest = listed
            .lines()
            .filter_map(|line| line.split_whitespace().next())
            .max_by_key(|name| numbers(name))
            .ok_or_else(|| LabError::Missing(format!("a kernel {kernel} of Debian")))?;
        let folder = self.package(newest)?;
        let version = newest.trim_start_matches("linux-image-");
        if modules_of(&folder, version).is_some_and(|modules| !modules.join("modules.dep").exists())
        {
            run(Command::new("depmod").arg("-b").arg(&folder).arg(version))?;
        }
        // Newer packages contain neither; they depend on packages with the kernel and the modules.
        if modules_of(&folder, version).is_none() && !folder.join("boot").exists() {
            return self.package(&format!("linux-binary-{version}"));
        }
        Ok(folder)
    }

    /// An unpacked package's folder.
    ///
    /// # Errors
    /// [`LabError`] if the package cannot be fetched.
    pub fn package(&self, name: &str) -> Result<PathBuf, LabError> {
        let folder = self.cache.join(format!("{name}.{}", self.architecture));
        if folder.exists() {
            return Ok(folder);
        }
        let partial = self.cache.join(format!("partial-{}-{name}", std::process::id()));
        make_folder(&partial)?;
        let mut fetch = Command::new("apt-get");
        fetch.args(&self.options).args(["download", "--quiet", name]).current_dir(&partial);
        let unpacked = run(&mut fetch).and_then(|()| unpack(&partial));
        let placed = unpacked.and_then(|()| {
            std::fs::rename(partial.join("tree"), &folder).map_err(LabError::file(&folder))
        });
        let _ = std::fs::remove_dir_all(&partial);
        placed.map_err(|_| LabError::Missing(format!("Debian's package {name}")))?;
        Ok(folder)
    }
}

fn modules_of(folder: &Path, version: &str) -> Option<PathBuf> {
    let merged = ["lib/modules", "usr/lib/modules"];
    merged.iter().map(|place| folder.join(place).join(version)).find(|path| path.exists())
}

fn unpack(folder: &Path) -> Result<(), LabError> {
    let package = std::fs::read_dir(folder)
        .map_err(LabError::file(folder))?
        .filter_map(Result::ok)
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
        .ok_or_else(|| LabError::Missing("a package in the answer of apt".to_owned()))?;
    run(Command::new("dpkg").arg("-x").arg(package).arg(folder.join("tree")))
}

fn numbers(name: &str) -> Vec<u64> {
    let parts = name.split(|letter: char| !letter.is_ascii_digit());
    parts.filter_map(|digits| digits.parse().ok()).collect()
}

fn server() -> Result<String, LabError> {
    let policy = output(Command::new("apt-cache").arg("policy"))?;
    policy
        .split_whitespace()
        .find(|word| word.starts_with("http") && word.trim_end_matches('/').ends_with("/debian"))
        .map(str::to_owned)
        .ok_or_else(|| LabError::Missing("Debian's server among the sources of apt".to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_compared_by_number() {
        assert!(
            numbers("linux-image-6.12.100+deb12-amd64")
                > numbers("linux-image-6.12.99+deb12-amd64")
        );
    }
}
