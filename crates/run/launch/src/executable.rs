//! Finds and checks the program before anything starts.

use seatmap_data::document::shell_word;
use seatmap_os::mempolicy::MemoryPolicy;
use seatmap_os::private_files::PrivateFiles;
use std::ffi::{CString, OsStr, OsString};
use std::fs::Metadata;
use std::io;
use std::os::fd::RawFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The search path if `PATH` is not set, as in `execvp(3)`.
const USUAL_PATH: &str = "/bin:/usr/bin";

/// glibc's settings; malloc's transparent huge pages (glibc 2.35).
const TUNABLES: &str = "GLIBC_TUNABLES";
const HUGE_MALLOC: &str = "glibc.malloc.hugetlb";

/// An executable program with its arguments.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Executable {
    /// The file.
    pub path: CString,
    /// The arguments; the first is the name as typed.
    pub arguments: Vec<CString>,
    pub(crate) variables: Vec<(OsString, OsString)>,
    /// Its separate control group's list of members, if any.
    pub group: Option<PathBuf>,
    /// Standard streams to close first.
    pub closed: Vec<RawFd>,
    /// Its own initial memory policy, if any.
    pub memory: Option<MemoryPolicy>,
    /// Whether transparent huge pages are allowed, if set.
    pub huge_pages: Option<bool>,
    /// Files shown to it in place of this computer's.
    pub files: Option<PrivateFiles>,
}

/// Why a program cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ProgramError {
    /// The program's name is empty.
    #[error("no program to run; put it after --")]
    Empty,
    /// It is not in `PATH`, or not a file.
    #[error("{name}: there is no such program{}", hint(.name))]
    Absent {
        /// Its name.
        name: String,
    },
    /// A folder, or a file that this user may not execute.
    #[error("{path}: {reason}")]
    NotExecutable {
        /// The file.
        path: String,
        /// The problem.
        reason: &'static str,
    },
    /// The program would run with another user's rights, which the kernel denies to traced
    /// programs.
    #[error(
        "{} needs the rights of its file (set-user-ID, set-group-ID or file capabilities), which \
         the kernel denies to traced programs; {}",
        .0, in_front(.0)
    )]
    Privileged(String),
    /// An argument contains a zero byte.
    #[error("an argument contains a zero byte")]
    Zero,
}

fn in_front(path: &str) -> String {
    let name = path.rsplit('/').next().unwrap_or_default();
    match name {
        "sudo" | "doas" => format!("type it in front: {name} seatmap ..."),
        _ => "run seatmap as root, or run the program without it".to_owned(),
    }
}

impl Executable {
    /// Finds the program like a shell, and checks that it can be executed.
    ///
    /// # Errors
    /// [`ProgramError`]; no process was started.
    pub fn find(command: &[OsString]) -> Result<Self, ProgramError> {
        let name = command.first().filter(|name| !name.is_empty()).ok_or(ProgramError::Empty)?;
        let path = if name.as_bytes().contains(&b'/') {
            checked(PathBuf::from(name))?
        } else {
            in_path(name)?
        };
        let arguments = command.iter().cloned().map(c_text).collect::<Result<Vec<_>, _>>()?;
        let path = c_text(path.into_os_string())?;
        Ok(Executable { path, arguments, ..Executable::default() })
    }

    /// Adds an environment variable.
    pub fn with_variable(mut self, name: &str, value: impl Into<OsString>) -> Self {
        self.variables.push((name.into(), value.into()));
        self
    }

    /// Allows or forbids transparent huge pages (`PR_SET_THP_DISABLE` of prctl(2)). If allowed,
    /// glibc's malloc also requests them, by `glibc.malloc.hugetlb` in `GLIBC_TUNABLES`.
    pub fn with_huge_pages(mut self, allowed: bool) -> Self {
        self.huge_pages = Some(allowed);
        if !allowed {
            return self;
        }
        let own = std::env::var(TUNABLES).unwrap_or_default();
        if own.contains(HUGE_MALLOC) {
            return self;
        }
        let before = if own.is_empty() { own } else { own + ":" };
        self.with_variable(TUNABLES, format!("{before}{HUGE_MALLOC}=1"))
    }

    /// The file as a path.
    pub fn file(&self) -> &Path {
        Path::new(OsStr::from_bytes(self.path.to_bytes()))
    }

    /// The arguments as text.
    pub fn words(&self) -> Vec<String> {
        self.arguments.iter().map(|text| text.to_string_lossy().into_owned()).collect()
    }

    /// This process's variables and the added ones.
    pub fn environment(&self) -> Vec<CString> {
        let own = std::env::vars_os()
            .filter(|(name, _)| self.variables.iter().all(|(added, _)| added != name));
        // Neither contains a zero byte: the kernel's cannot, the others are checked.
        own.chain(self.variables.clone())
            .filter_map(|(name, value)| {
                CString::new([name, value].join(OsStr::new("=")).into_vec()).ok()
            })
            .collect()
    }
}

fn c_text(text: OsString) -> Result<CString, ProgramError> {
    CString::new(text.into_vec()).map_err(|_| ProgramError::Zero)
}

/// Whether a file lends its owner's or group's rights.
pub fn lends_rights(found: &Metadata, user: u32, group: u32) -> bool {
    // Without group execution the bit means mandatory locking (inode(7)).
    let of_group = libc::S_ISGID | libc::S_IXGRP;
    let lends_group = found.mode() & of_group == of_group && found.gid() != group;
    found.mode() & libc::S_ISUID != 0 && found.uid() != user || lends_group
}

/// The first executable file, or the first problem.
fn in_path(name: &OsStr) -> Result<PathBuf, ProgramError> {
    let folders = std::env::var_os("PATH").unwrap_or_else(|| USUAL_PATH.into());
    let mut refused = None;
    for folder in std::env::split_paths(&folders) {
        let path = if folder.as_os_str().is_empty() {
            Path::new(".").join(name)
        } else {
            folder.join(name)
        };
        match checked(path) {
            Ok(path) => return Ok(path),
            Err(error @ ProgramError::Privileged(_)) => return Err(error),
            Err(ProgramError::Absent { .. }) => {}
            Err(error) => refused = refused.or(Some(error)),
        }
    }
    Err(refused.unwrap_or_else(|| ProgramError::Absent { name: name.display().to_string() }))
}

fn hint(name: &str) -> String {
    if !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_digit()) {
        return format!(
            "; '--pid {name}' names a process, and a list of CPUs has no spaces: '--cpus 0,1'"
        );
    }
    if !name.contains('/') && Path::new(name).is_file() {
        return format!("; './{name}' names the file in this folder");
    }
    let first = name.split_whitespace().next().map(OsString::from);
    let is_line = name.contains(char::is_whitespace)
        && first.is_some_and(|first| Executable::find(&[first]).is_ok());
    if is_line && name.contains(['|', '<', '>', ';', '&', '$', '*', '`']) {
        return format!("; for a shell command, type sh -c {}", shell_word(name));
    }
    if is_line {
        return "; type its words separately, not in one pair of quotes".to_owned();
    }
    String::new()
}

fn checked(path: PathBuf) -> Result<PathBuf, ProgramError> {
    let shown = path.display().to_string();
    let reason = match std::fs::metadata(&path) {
        Err(error) if error.kind() == io::ErrorKind::PermissionDenied => {
            "this user may not enter its folder"
        }
        Err(_) => return Err(ProgramError::Absent { name: shown }),
        Ok(found) if found.is_dir() => "is a folder",
        Ok(found) if !may_execute(&path) && found.mode() & 0o111 == 0 => {
            "is not executable; 'chmod +x' makes it so"
        }
        Ok(_) if !may_execute(&path) => {
            "is executable only for other users, or is on a file system mounted 'noexec'; copy it \
             elsewhere"
        }
        // The kernel starts a traced program without the rights of its file's owner.
        Ok(found) if gains_rights(&path, &found) => return Err(ProgramError::Privileged(shown)),
        Ok(_) => return Ok(path),
    };
    Err(ProgramError::NotExecutable { path: shown, reason })
}

fn may_execute(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: `path` ends in a zero byte.
    unsafe { libc::faccessat(libc::AT_FDCWD, path.as_ptr(), libc::X_OK, libc::AT_EACCESS) == 0 }
}

fn gains_rights(path: &Path, found: &Metadata) -> bool {
    // SAFETY: neither call can fail or touches anything.
    let (user, group) = unsafe { (libc::geteuid(), libc::getegid()) };
    user != 0 && (lends_rights(found, user, group) || has_capabilities(path))
}

fn has_capabilities(path: &Path) -> bool {
    let Ok(path) = CString::new(path.as_os_str().as_bytes()) else { return false };
    // SAFETY: both texts end in a zero byte, and with a length of 0 the call writes nothing.
    unsafe {
        libc::getxattr(path.as_ptr(), c"security.capability".as_ptr(), std::ptr::null_mut(), 0) > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(command: &[&str]) -> Result<Executable, ProgramError> {
        Executable::find(&command.iter().map(OsString::from).collect::<Vec<_>>())
    }

    #[test]
    fn programs_are_found_through_path() {
        let found = find(&["sh", "-c", "true"]).unwrap();
        assert!(found.path.to_bytes().ends_with(b"/sh"));
        assert_eq!(found.arguments.len(), 3);
        assert!(find(&["/bin/sh"]).is_ok());
    }

    #[test]
    fn added_variables_override_environment() {
        let program = find(&["sh"]).unwrap();
        let own = program.environment().len();
        let program = program.with_variable("PATH", "/x").with_variable("SEATMAP_TEST", "a=b");
        let found = program.environment();
        let has =
            |text: &str| found.iter().filter(|variable| variable.to_str() == Ok(text)).count();
        assert_eq!((has("PATH=/x"), has("SEATMAP_TEST=a=b"), found.len()), (1, 1, own + 1));
    }

    #[test]
    fn huge_pages_set_malloc_tunable() {
        let tunables = |program: Executable| {
            let found = program
                .environment()
                .into_iter()
                .filter_map(|variable| variable.into_string().ok());
            found.filter(|variable| variable.starts_with(TUNABLES)).collect::<Vec<_>>()
        };
        let allowed = find(&["sh"]).unwrap().with_huge_pages(true);
        assert!(tunables(allowed)[0].ends_with("glibc.malloc.hugetlb=1"));
        let kept_from = find(&["sh"]).unwrap().with_huge_pages(false);
        assert_eq!(
            (kept_from.huge_pages, tunables(kept_from)),
            (Some(false), tunables(find(&["sh"]).unwrap()))
        );
    }

    #[test]
    fn missing_execute_permission_is_reported_until_granted() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("program");
        std::fs::write(&file, "#!/bin/sh\n").unwrap();
        let found = || find(&[file.to_str().unwrap()]);
        assert!(found().unwrap_err().to_string().contains("'chmod +x' makes it so"));
        assert!(
            std::process::Command::new("chmod").arg("+x").arg(&file).status().unwrap().success()
        );
        found().unwrap();
    }

    #[test]
    fn set_id_bits_lend_only_foreign_rights() {
        use std::os::unix::fs::PermissionsExt;
        let file = tempfile::NamedTempFile::new().unwrap();
        let owner = std::fs::metadata(file.path()).unwrap();
        let lends = |mode: u32, user: u32, group: u32| {
            std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
            lends_rights(&std::fs::metadata(file.path()).unwrap(), user, group)
        };
        let user = owner.uid();
        let group = owner.gid();
        assert!(lends(0o4755, user + 1, group) && lends(0o2755, user, group + 1));
        assert!(!lends(0o4755, user, group + 1), "the owner's rights are this user's own");
        assert!(!lends(0o2755, user + 1, group) && !lends(0o2745, user, group + 1));
        assert!(!lends(0o755, user + 1, group + 1));
    }

    #[test]
    fn unusable_program_is_rejected_with_reason() {
        let refusal = |command: &[&str]| find(command).unwrap_err().to_string();
        assert_eq!(
            [
                refusal(&[]),
                refusal(&["no-such-program"]),
                refusal(&["1"]),
                refusal(&["Cargo.toml"]),
                refusal(&["sh -c true"]),
                refusal(&["no such program"]),
                refusal(&["/usr"]),
                refusal(&["/proc/version"]),
                refusal(&["sh", "a\0b"])
            ],
            [
                "no program to run; put it after --",
                "no-such-program: there is no such program",
                "1: there is no such program; '--pid 1' names a process, and a list of CPUs has no spaces: '--cpus 0,1'",
                "Cargo.toml: there is no such program; './Cargo.toml' names the file in this folder",
                "sh -c true: there is no such program; type its words separately, not in one pair of quotes",
                "no such program: there is no such program",
                "/usr: is a folder",
                "/proc/version: is not executable; 'chmod +x' makes it so",
                "an argument contains a zero byte",
            ]
        );
    }
}
