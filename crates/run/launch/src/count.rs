//! How many CPUs a program gets here, and how many threads fit them.

use seatmap_data::words::{agreeing, counted};
use seatmap_os::cpus::Cpus;
use seatmap_os::quota::Quotas;
use seatmap_os::{CpuSet, Root};
use serde::Serialize;
use std::io;

/// The CPUs that this process and its commands get: those of its mask, for the time that the
/// tightest quota of its control groups grants.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuCount {
    /// CPUs of the mask, which excludes offline CPUs and those outside the cpuset.
    pub mask: usize,
    /// The tightest quota, in CPUs; null if there is none.
    pub quota: Option<f64>,
    /// The file of this quota.
    pub quota_file: Option<String>,
    /// Why there may be tighter quotas; null if every group was visible.
    pub unseen: Option<String>,
    /// Online CPUs.
    pub online: usize,
    /// CPUs that may ever exist.
    pub possible: usize,
}

impl CpuCount {
    /// The count of this process.
    ///
    /// # Errors
    /// The mask cannot be read.
    pub fn of_self() -> io::Result<Self> {
        let root = Root::new("/");
        let cpus = Cpus::read()?;
        let quotas = Quotas::of_self(&root);
        let tightest = quotas.tightest();
        let possible = root.read("/sys/devices/system/cpu/possible").ok();
        let possible = possible.and_then(|list| CpuSet::of_list(&list));
        Ok(CpuCount {
            mask: cpus.allowed.len(),
            quota: tightest.map(|quota| quota.cpus),
            quota_file: tightest.map(|quota| quota.file.clone()),
            unseen: quotas.unseen.clone(),
            online: cpus.online.len(),
            possible: possible.map_or(cpus.present.len(), |set| set.len()),
        })
    }

    /// The CPU time that a program gets, in CPUs.
    pub fn cpus(&self) -> f64 {
        self.quota.map_or(self.mask as f64, |quota| quota.min(self.mask as f64))
    }

    /// The threads that fit these CPUs: rounded half up, and at least one, as in gnulib's `nproc`
    /// module with quotas.
    pub fn threads(&self) -> usize {
        self.threads_on(self.mask)
    }

    /// The threads that fit some CPUs of the mask.
    pub fn threads_on(&self, cpus: usize) -> usize {
        let by_time = self.quota.map_or(usize::MAX, |quota| (quota + 0.5).floor() as usize);
        cpus.min(by_time.max(1))
    }

    /// Whether the quota rather than the mask limits the threads.
    pub fn is_limited_by_quota(&self) -> bool {
        self.quota.is_some_and(|quota| quota < self.mask as f64)
    }

    /// A sentence about a program with more threads than fit a quota.
    pub fn excess(&self, threads: usize) -> Option<String> {
        let fit = self.threads();
        (self.is_limited_by_quota() && threads > fit).then(|| {
            format!(
                "{} of {} {} the quota; 'seatmap run --fit -- PROGRAM' shows it no more CPUs",
                fit,
                counted(threads, "thread"),
                agreeing(fit, "fits", "fit")
            )
        })
    }

    fn rounded(&self, least: usize, round: fn(f64) -> f64) -> usize {
        let by_time = self.quota.map(|quota| (round(quota) as usize).max(least));
        by_time.map_or(self.mask, |by_time| by_time.min(self.mask))
    }

    /// The numbers that other programs compute here: the rule, its users, the number.
    pub fn of_others(&self) -> [OtherCount; 6] {
        [
            (
                "online CPUs",
                "C++ hardware_concurrency, Python 3.11 os.cpu_count, nginx",
                self.online,
            ),
            ("possible CPUs", "7z, nproc --all", self.possible),
            ("the mask", "nproc 9.1, OpenMP, OpenBLAS, MKL", self.mask),
            (
                "mask and quota, rounded down",
                "Rust, Node.js 24, cargo",
                self.rounded(1, f64::floor),
            ),
            ("mask and quota, rounded up", "Java, .NET, DuckDB", self.rounded(1, f64::ceil)),
            ("mask and quota, rounded up, at least 2", "Go 1.25", self.rounded(2, f64::ceil)),
        ]
        .map(|(rule, programs, count)| OtherCount { rule, programs, count })
    }
}

/// The number of CPUs that other programs compute by one rule.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct OtherCount {
    /// The rule.
    pub rule: &'static str,
    /// Programs that use it.
    pub programs: &'static str,
    /// The number.
    pub count: usize,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn count(mask: usize, quota: Option<f64>) -> CpuCount {
        CpuCount { mask, quota, online: 8, possible: 16, ..CpuCount::default() }
    }

    #[test]
    fn threads_are_the_quota_to_the_nearest_within_the_mask() {
        for (mask, quota, threads) in [
            (4, None, 4),
            (4, Some(0.5), 1),
            (4, Some(0.2), 1),
            (4, Some(1.49), 1),
            (4, Some(1.5), 2),
            (4, Some(2.5), 3),
            (2, Some(7.0), 2),
            (1, Some(1.5), 1),
        ] {
            assert_eq!(count(mask, quota).threads(), threads, "{mask} {quota:?}");
        }
        assert_eq!(count(4, Some(1.5)).threads_on(1), 1);
    }

    #[test]
    fn only_threads_beyond_a_quota_are_in_excess() {
        assert_eq!(count(4, None).excess(9), None);
        assert_eq!(count(4, Some(1.5)).excess(2), None);
        let sentence = count(4, Some(1.5)).excess(8).unwrap();
        assert!(sentence.starts_with("2 of 8 threads fit the quota;"), "{sentence}");
    }

    #[test]
    fn other_programs_round_in_other_ways() {
        let counts = |mask, quota| count(mask, quota).of_others().map(|other| other.count);
        assert_eq!(counts(4, None), [8, 16, 4, 4, 4, 4]);
        assert_eq!(counts(4, Some(0.5)), [8, 16, 4, 1, 1, 2]);
        assert_eq!(counts(4, Some(2.5)), [8, 16, 4, 2, 3, 3]);
        assert_eq!(counts(1, Some(2.5)), [8, 16, 1, 1, 1, 1]);
    }
}
