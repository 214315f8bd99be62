//! The files in which a program sees some of this computer's CPUs: those CPUs' own, under their own
//! numbers.
//!
//! `possible`, `present` and `/proc/stat` stay: tables indexed by CPU are sized by the first, and
//! every monitor reads the last.

use super::cpuinfo;
use seatmap_os::private_files::{FileStep, PrivateFiles};
use seatmap_os::quota::GroupQuota;
use seatmap_os::{CpuSet, FileError, Root};
use std::ffi::CString;

const CPUS: &str = "/sys/devices/system/cpu";
const CPUINFO: &str = "/proc/cpuinfo";

pub struct FitFiles {
    pub steps: Vec<FileStep>,
    pub replaced: Vec<String>,
}

impl FitFiles {
    /// Shows these of the online CPUs, and quotas of as many whole CPUs.
    ///
    /// # Errors
    /// The CPUs of this computer cannot be read.
    pub fn of(
        root: &Root,
        seen: &CpuSet,
        online: &CpuSet,
        quotas: &[GroupQuota],
    ) -> Result<Self, FileError> {
        let hides = seen != online;
        let cover = c_text(CPUS);
        let steps = vec![FileStep::Enter(cover.clone()), FileStep::Cover(cover.clone())];
        let mut files = FitFiles { steps, replaced: Vec::new() };
        if hides {
            files.show_folders(root, seen)?;
            files.replace(CPUINFO, cpuinfo::of_cpus(&text(root, CPUINFO)?, seen));
        }
        let other = quotas.iter().filter(|quota| quota.cpus != seen.len() as f64);
        other.for_each(|quota| files.replace(&quota.file, whole_periods(quota, seen.len())));
        files.steps.push(if hides { FileStep::Seal(cover) } else { FileStep::Uncover(cover) });
        Ok(files)
    }

    pub fn into_private(self) -> PrivateFiles {
        PrivateFiles::new(self.steps)
    }

    fn show_folders(&mut self, root: &Root, seen: &CpuSet) -> Result<(), FileError> {
        let folders = root.folders(CPUS)?;
        for name in root.names(CPUS)? {
            let path = c_text(&format!("{CPUS}/{name}"));
            if name == "online" {
                self.steps.push(FileStep::File(path, format!("{seen}\n").into_bytes()));
                continue;
            }
            let number = name.strip_prefix("cpu").and_then(|number| number.parse().ok());
            if number.is_some_and(|cpu| !seen.contains(cpu)) {
                continue;
            }
            self.steps.push(if folders.contains(&name) {
                FileStep::Folder(path.clone())
            } else {
                FileStep::File(path.clone(), Vec::new())
            });
            self.steps.push(FileStep::Bind(c_text(&name), path));
        }
        self.replaced.push(format!("{CPUS}/online"));
        self.replaced.push(format!("{CPUS}/cpuN"));
        Ok(())
    }

    /// The text is a file without a name, below the cover.
    fn replace(&mut self, path: &str, text: String) {
        let written = c_text(&format!("{CPUS}/.seatmap"));
        self.steps.push(FileStep::File(written.clone(), text.into_bytes()));
        self.steps.push(FileStep::Bind(written.clone(), c_text(path)));
        self.steps.push(FileStep::Remove(written));
        self.replaced.push(path.to_owned());
    }
}

/// Untrimmed, unlike [`Root::read`]: programs count the blank lines between blocks.
fn text(root: &Root, path: &str) -> Result<String, FileError> {
    std::fs::read_to_string(root.path(path))
        .map_err(|source| FileError { path: path.to_owned(), source })
}

fn whole_periods(quota: &GroupQuota, cpus: usize) -> String {
    let quota_us = quota.period_us.saturating_mul(cpus as u64);
    if quota.file.ends_with("/cpu.max") {
        format!("{quota_us} {}\n", quota.period_us)
    } else {
        format!("{quota_us}\n")
    }
}

/// Paths of the kernel contain no zero.
fn c_text(text: &str) -> CString {
    CString::new(text).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn computer() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        let root = Root::new(folder.path());
        for (path, text) in [
            ("/sys/devices/system/cpu/online", "0-2\n"),
            ("/sys/devices/system/cpu/possible", "0-7\n"),
            ("/sys/devices/system/cpu/cpu0/online", "1\n"),
            ("/sys/devices/system/cpu/cpu1/online", "1\n"),
            ("/sys/devices/system/cpu/cpu2/online", "1\n"),
            ("/sys/devices/system/cpu/cpufreq/boost", "1\n"),
            ("/proc/cpuinfo", "processor\t: 0\n\nprocessor\t: 1\n\nprocessor\t: 2\n\n"),
        ] {
            let path = root.path(path);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        folder
    }

    fn files(seen: &[u32], quotas: &[GroupQuota]) -> FitFiles {
        let folder = computer();
        let seen = seen.iter().copied().collect();
        FitFiles::of(&Root::new(folder.path()), &seen, &(0..3).collect(), quotas).unwrap()
    }

    fn written(files: &FitFiles) -> Vec<String> {
        let texts = files.steps.iter().filter_map(|step| match step {
            FileStep::File(_, text) => String::from_utf8(text.clone()).ok(),
            _ => None,
        });
        texts.filter(|text| !text.is_empty()).collect()
    }

    #[test]
    fn chosen_cpus_keep_their_numbers_and_folders() {
        let files = files(&[0, 2], &[]);
        assert_eq!(written(&files), ["0,2\n", "processor\t: 0\n\nprocessor\t: 2\n\n"]);
        for (name, is_bound) in [
            ("cpu0", true),
            ("cpu1", false),
            ("cpu2", true),
            ("cpufreq", true),
            ("possible", true),
            ("online", false),
        ] {
            let over = c_text(&format!("{CPUS}/{name}"));
            let step = FileStep::Bind(c_text(name), over);
            assert_eq!(files.steps.contains(&step), is_bound, "{name}");
        }
        assert!(matches!(files.steps.last(), Some(FileStep::Seal(_))));
    }

    fn quota(name: &str, cpus: f64) -> GroupQuota {
        let file = format!("/sys/fs/cgroup/{name}");
        GroupQuota { file, cpus, period_us: 50_000, ..GroupQuota::default() }
    }

    #[test]
    fn quotas_become_whole_periods_and_leave_the_cpus() {
        let quotas = [quota("a/cpu.max", 1.5), quota("cpu.cfs_quota_us", 7.0), quota("b", 3.0)];
        let files = files(&[0, 1, 2], &quotas);
        assert_eq!(written(&files), ["150000 50000\n", "150000\n"]);
        assert_eq!(files.replaced, ["/sys/fs/cgroup/a/cpu.max", "/sys/fs/cgroup/cpu.cfs_quota_us"]);
        assert!(matches!(files.steps.last(), Some(FileStep::Uncover(_))));
    }
}
