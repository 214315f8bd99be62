//! Control groups with names from their owners: libvirt's domains, Slurm's jobs and steps.

use super::{ChoiceError, Chooser, Chosen, last_part, unit_of};
use seatmap_os::hierarchy::Hierarchies;
use seatmap_os::{FileError, Root};
use std::path::{Path, PathBuf};

/// The longest name of a machine, including its beginning `qemu-1-`
/// (`virDomainMachineNameAppendValid` of libvirt's `domain_driver.c`).
const MOST_MACHINE_BYTES: usize = 64;

/// The endings of a domain's group, with and without systemd (libvirt's `cgroups.html`).
const ENDINGS: [&str; 3] = [".scope", ".libvirt-qemu", ".libvirt-lxc"];

/// The groups of a running libvirt domain.
///
/// # Errors
/// [`FileError`]: the groups cannot be listed.
pub fn of_domain(root: &Root, name: &str) -> Result<Vec<PathBuf>, FileError> {
    let mut all = Hierarchies::read(root).all(root)?;
    all.retain(|folder| is_of_domain(&unit_of(folder), name));
    Ok(all)
}

/// The groups of a Slurm step, `123.0` or `123.batch`, or of a job, `123`.
///
/// # Errors
/// [`FileError`]: the groups cannot be listed.
pub fn of_step(root: &Root, step: &str) -> Result<Vec<PathBuf>, FileError> {
    let mut all = Hierarchies::read(root).all(root)?;
    all.retain(|folder| is_step(folder, step));
    Ok(all)
}

impl Chooser<'_> {
    pub fn of_domain(&mut self, name: &str) -> Chosen {
        let root = &self.files.root;
        let folders = of_domain(root, name)?;
        let looked_for = format!("control group of libvirt domain '{name}'");
        if folders.is_empty() {
            let all = Hierarchies::read(root).all(root)?;
            let names = all.iter().filter_map(|folder| Some(machine(&unit_of(folder))?.1));
            return Err(ChoiceError::absent(&looked_for, name, names));
        }
        self.members(folders, looked_for)
    }

    pub fn of_step(&mut self, step: &str) -> Chosen {
        let folders = of_step(&self.files.root, step)?;
        let looked_for = format!("control group of Slurm step '{step}'");
        if folders.is_empty() {
            return Err(ChoiceError::Nothing(format!("there is no {looked_for}")));
        }
        // In version 2 the step's daemon has a separate group next to that of the programs.
        let mut of_users: Vec<PathBuf> = folders.iter().map(|folder| folder.join("user")).collect();
        of_users.retain(|folder| self.files.root.of(folder).exists());
        self.members(if of_users.is_empty() { folders } else { of_users }, looked_for)
    }
}

fn is_of_domain(group: &str, name: &str) -> bool {
    let Some((before, domain)) = machine(group) else { return false };
    machine_name(name, MOST_MACHINE_BYTES.saturating_sub(before)) == domain && !domain.is_empty()
}

/// The name in a domain's group, `web` of `machine-qemu\x2d1\x2dweb.scope`, and the bytes before
/// it, `qemu-1-`.
fn machine(group: &str) -> Option<(usize, String)> {
    let whole = unescaped(group);
    let stem = ENDINGS.iter().find_map(|ending| whole.strip_suffix(ending))?;
    let stem = stem.strip_prefix("machine-").unwrap_or(stem);
    let (driver, rest) = stem.split_once('-')?;
    let (number, name) = rest.split_once('-')?;
    let is_driver = ["qemu", "lxc", "xen", "bhyve"].contains(&driver);
    let is_number = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    (is_driver && is_number).then(|| (stem.len() - name.len(), name.to_owned()))
}

/// Removes escapes of single bytes, `\x2d` (systemd.unit(5)).
fn unescaped(text: &str) -> String {
    let mut parts = text.split("\\x");
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let byte = part.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
        match byte.filter(u8::is_ascii) {
            Some(byte) => {
                whole.push(char::from(byte));
                whole += &part[2..];
            }
            None => {
                whole += "\\x";
                whole += part;
            }
        }
    }
    whole
}

fn machine_name(name: &str, most: usize) -> String {
    let mut machine = String::new();
    let mut is_separated = true;
    for letter in name.chars() {
        if machine.len() >= most {
            break;
        }
        if letter == '.' || letter == '-' {
            if !is_separated {
                machine.push(letter);
                is_separated = true;
            }
        } else if letter.is_ascii_alphanumeric() {
            machine.push(letter);
            is_separated = false;
        }
    }
    machine.trim_end_matches(['-', '.']).to_owned()
}

fn is_step(folder: &Path, step: &str) -> bool {
    let path = folder.to_string_lossy();
    let ending = match step.split_once('.') {
        Some((job, step)) => format!("/job_{job}/step_{step}"),
        None => format!("/job_{step}"),
    };
    path.ends_with(&ending) && path.contains("slurm") && !last_part(&path).is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domain_is_matched_by_group_name() {
        for (group, name) in [
            (r"machine-qemu\x2d1\x2dweb.scope", "web"),
            (r"machine-qemu\x2d12\x2dweb\x2dserver.scope", "web-server"),
            (r"machine-qemu\x2d1\x2dwebserver.scope", "web_server"),
            (r"machine-lxc\x2d4711\x2dbuild.scope", "build"),
            ("qemu-3-web.libvirt-qemu", "web"),
        ] {
            assert!(is_of_domain(group, name), "{group}");
            assert!(!is_of_domain(group, "we"), "{group}");
        }
        for group in [
            r"machine-qemu\x2d1\x2dwebmail.scope",
            r"machine-qemu\x2dx\x2dweb.scope",
            "web.service",
            r"machine-\xzz.scope",
            "",
        ] {
            assert!(!is_of_domain(group, "web"), "{group}");
        }
        let long = "a".repeat(80);
        let cut = format!(r"machine-qemu\x2d1\x2d{}.scope", "a".repeat(57));
        assert!(is_of_domain(&cut, &long) && !is_of_domain(&cut, "aaa"));
    }

    #[test]
    fn slurm_step_is_matched_in_both_cgroup_versions() {
        for (path, step) in [
            ("/sys/fs/cgroup/system.slice/slurmstepd.scope/job_5/step_0", "5.0"),
            ("/sys/fs/cgroup/system.slice/node1_slurmstepd.scope/job_5/step_batch", "5.batch"),
            ("/sys/fs/cgroup/cpuset/slurm/uid_1000/job_5/step_0", "5.0"),
            ("/sys/fs/cgroup/cpuset/slurm/uid_1000/job_5", "5"),
        ] {
            assert!(is_step(Path::new(path), step), "{path}");
            assert!(!is_step(Path::new(path), "6"), "{path}");
        }
        assert!(!is_step(Path::new("/sys/fs/cgroup/slurm/job_55/step_0"), "5.0"));
        assert!(!is_step(Path::new("/sys/fs/cgroup/other/job_5"), "5"));
    }

    #[test]
    fn domain_and_step_groups_are_found_in_tree() {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        let scope = r"/cg/machine.slice/machine-qemu\x2d7\x2dweb.scope";
        let step = "/cg/system.slice/slurmstepd.scope/job_5/step_0";
        for (path, text) in [
            ("/proc/self/mountinfo".to_owned(), "25 30 0:26 / /cg rw - cgroup2 cgroup2 rw\n"),
            ("/cg/cgroup.controllers".to_owned(), "cpuset\n"),
            ("/cg/cgroup.procs".to_owned(), ""),
            ("/cg/machine.slice/cgroup.procs".to_owned(), ""),
            (format!("{scope}/cgroup.procs"), ""),
            ("/cg/system.slice/cgroup.procs".to_owned(), ""),
            ("/cg/system.slice/slurmstepd.scope/cgroup.procs".to_owned(), ""),
            ("/cg/system.slice/slurmstepd.scope/job_5/cgroup.procs".to_owned(), ""),
            (format!("{step}/cgroup.procs"), ""),
        ] {
            std::fs::create_dir_all(root.path(&path).parent().unwrap()).unwrap();
            std::fs::write(root.path(&path), text).unwrap();
        }
        assert_eq!(of_domain(&root, "web").unwrap(), [PathBuf::from(scope)]);
        assert!(of_domain(&root, "mail").unwrap().is_empty());
        assert_eq!(of_step(&root, "5.0").unwrap(), [PathBuf::from(step)]);
        let told =
            super::super::ProcessChoice::Domain("web".into()).pids(&root).unwrap_err().to_string();
        assert_eq!(told, "control group of libvirt domain 'web' has no processes now");
        let told =
            super::super::ProcessChoice::Step("6.0".into()).pids(&root).unwrap_err().to_string();
        assert_eq!(told, "there is no control group of Slurm step '6.0'");
    }
}
