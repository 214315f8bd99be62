//! Lets a program see the CPUs that it gets, by the weakest means that reach it.
//!
//! | means | reach |
//! |---|---|
//! | settings ([`crate::runtime::settings`]) | known runtimes |
//! | a mask, until the program's threads stand still | programs that read their mask |
//! | `online`, `/proc/cpuinfo` and the folders of CPUs | programs that read files |
//! | quotas of whole CPUs | runtimes that round a quota |
//!
//! The settings come first: they have no side effect. The mask is temporary, because it costs speed
//! beside a busy neighbour. Java, Node and Go read it again, so they get none.

mod cpuinfo;
mod files;
mod widening;

pub use widening::FitWatch;

use crate::count::CpuCount;
use crate::executable::Executable;
use crate::runtime::LanguageRuntime;
use crate::runtime::settings::COUNT_VARIABLES;
use files::FitFiles;
use seatmap_data::document::{Blame, visible};
use seatmap_data::words::{agreeing, counted};
use seatmap_os::busy::BusyCount;
use seatmap_os::private_files::{PrivateFiles, PrivateFilesPart, namespace_remedy};
use seatmap_os::quota::Quotas;
use seatmap_os::{CpuSet, FileError, Root, affinity, layout};
use serde::Serialize;
use std::io;
use std::time::Duration;

/// How long the CPUs are compared. A task's turn is 3 to 4 ms.
const COMPARED_FOR: Duration = Duration::from_millis(100);

/// The CPUs that a program is to see, and the means.
#[derive(Clone, Debug)]
pub struct CpuFit {
    report: CpuFitReport,
    seen: CpuSet,
    settings: Vec<(&'static str, String)>,
    files: Option<PrivateFiles>,
}

/// The CPUs that a program saw, by which means, and the threads that it had.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CpuFitReport {
    /// The number of threads and CPUs aimed at.
    pub threads: usize,
    /// The CPUs that the program saw.
    pub cpus: Vec<u32>,
    /// The limits of the launcher.
    pub limits: CpuCount,
    /// The variables set for the program, with their values.
    pub settings: Vec<String>,
    /// Whether the program began with a mask of these CPUs.
    pub masked: bool,
    /// The number of threads that got the launcher's mask later.
    pub widened: usize,
    /// The files that showed something else than this computer's.
    pub files: Vec<String>,
    /// Sentences about programs that no means reached.
    pub unreached: Vec<String>,
    /// The most threads alive at one look.
    pub most_threads: usize,
}

/// Why a number of CPUs cannot be shown.
#[derive(Debug, thiserror::Error)]
pub enum CpuFitError {
    /// The number is 0, or above the available CPUs.
    #[error(
        "--fit={threads}: give a number from 1 to {}, because {owner} has {}",
        .cpus.len(), .cpus.named()
    )]
    Threads {
        /// The number.
        threads: usize,
        /// The CPUs.
        cpus: CpuSet,
        /// Their owner, in words.
        owner: &'static str,
    },
    /// The CPUs of this process cannot be read.
    #[error("cannot read the CPUs of this process")]
    Limits(#[from] io::Error),
    /// The CPUs of this computer cannot be read.
    #[error(transparent)]
    Files(#[from] FileError),
}

impl Blame for CpuFitError {
    fn is_input(&self) -> bool {
        matches!(self, CpuFitError::Threads { .. })
    }
}

impl CpuFit {
    /// Finds the means for a program. `seats` are its seats' CPUs, which replace the mask, or none.
    ///
    /// # Errors
    /// [`CpuFitError`].
    pub fn of(
        program: &Executable,
        seats: &CpuSet,
        threads: Option<usize>,
    ) -> Result<Self, CpuFitError> {
        let limits = CpuCount::of_self()?;
        let mask: CpuSet = affinity::current()?.into_iter().collect();
        let (owner, usable) =
            if seats.is_empty() { ("this process", &mask) } else { ("the list of seats", seats) };
        let threads = threads.unwrap_or_else(|| limits.threads_on(usable.len()));
        if !(1..=usable.len()).contains(&threads) {
            return Err(CpuFitError::Threads { threads, cpus: usable.clone(), owner });
        }
        let seen = least_busy(usable, threads);
        let cpus = seen.list().0;
        let report = CpuFitReport { threads, cpus, limits, ..CpuFitReport::default() };
        let mut fit = CpuFit { report, seen, settings: Vec::new(), files: None };
        if !fit.is_true_anyway() {
            fit.set_variables(program);
            fit.narrow(program, &mask, seats);
            fit.show_files(&Root::new("/"))?;
        }
        Ok(fit)
    }

    /// The program with its settings and files.
    pub fn prepare(&self, program: Executable) -> Executable {
        let settings = self.settings.iter();
        let program =
            settings.fold(program, |program, (name, value)| program.with_variable(name, value));
        Executable { files: self.files.clone().or(program.files), ..program }
    }

    /// Sentences about the means, before the program starts.
    pub fn sentences(&self) -> Vec<String> {
        let CpuFitReport { threads, limits, .. } = &self.report;
        let cpus = self.seen.named();
        let mut means = Vec::new();
        if let Some((first, more)) = self.report.settings.split_first() {
            let more = counted(more.len(), "other variable");
            means.push(format!("by {} and {more}", visible(first)));
        }
        if self.report.masked {
            means.push("by a mask until its threads stand still".to_owned());
        }
        if !self.report.files.is_empty() {
            means.push(format!("by its own {}", visible(&self.report.files.join(", "))));
        }
        if means.is_empty() {
            means.push("as all programs do here".to_owned());
        }
        let why = match limits.quota {
            Some(quota) if limits.is_limited_by_quota() => {
                format!(" of the mask's {} (the quota grants {quota:.2})", limits.mask)
            }
            _ => format!(" of the mask's {}", limits.mask),
        };
        let first = format!(
            "the program sees {}{why}, {cpus}, {}",
            counted(*threads, "CPU"),
            means.join("; ")
        );
        [vec![first], self.report.unreached.clone()].concat()
    }

    /// Whether every program counts these CPUs without any means.
    fn is_true_anyway(&self) -> bool {
        let CpuFitReport { threads, limits, .. } = &self.report;
        limits.quota.is_none() && limits.mask == *threads && limits.online == *threads
    }

    fn set_variables(&mut self, program: &Executable) {
        let arguments = program.words();
        for setting in &COUNT_VARIABLES {
            let value = setting.value(self.report.threads, &arguments, &|name| {
                std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())
            });
            if let Some(value) = value {
                self.report.settings.push(format!("{}={value}", setting.variable));
                self.settings.push((setting.variable, value));
            }
        }
    }

    fn narrow(&mut self, program: &Executable, mask: &CpuSet, seats: &CpuSet) {
        let CpuFitReport { threads, .. } = self.report;
        let runtime = LanguageRuntime::of(program.file());
        self.report.masked = seats.is_empty() && threads < mask.len() && !runtime.asks_again();
        let whole = if seats.is_empty() { mask } else { seats };
        if runtime == LanguageRuntime::Node && threads < whole.len() {
            let name = visible(&program.file().display().to_string());
            self.report.unreached.push(format!(
                "{name} reads its mask at any time and has no setting for the number of CPUs, so \
                 it may count {}",
                counted(whole.len(), "CPU")
            ));
        } else if threads < seats.len() {
            self.report.unreached.push(format!(
                "programs without a setting count the {} of the seats, and {} {}",
                counted(seats.len(), "CPU"),
                counted(threads, "thread"),
                agreeing(threads, "fits", "fit")
            ));
        }
    }

    fn show_files(&mut self, root: &Root) -> Result<(), CpuFitError> {
        let online = layout::online(root)?;
        let quotas = Quotas::of_self(root);
        let files = FitFiles::of(root, &self.seen, &online, &quotas.all)?;
        if files.replaced.is_empty() {
            return Ok(());
        }
        let replaced = files.replaced.clone();
        let files = files.into_private();
        match files.try_out() {
            Ok(()) => {
                self.report.files = replaced;
                self.files = Some(files);
            }
            Err((part, error)) => self.report.unreached.push(refusal(root, part, &error, &online)),
        }
        Ok(())
    }
}

fn refusal(root: &Root, part: PrivateFilesPart, error: &io::Error, online: &CpuSet) -> String {
    let why = match part {
        PrivateFilesPart::Namespaces => format!(
            "the kernel allows no private mounts here ({error}; {})",
            namespace_remedy(root)
        ),
        PrivateFilesPart::Mounts => format!("the kernel refuses private mounts here ({error})"),
    };
    format!(
        "{why}: programs that read /sys or /proc/cpuinfo still see {} (C++ hardware_concurrency, \
         Python before 3.13, nginx, zstd, R, llama.cpp)",
        counted(online.len(), "CPU")
    )
}

/// The CPUs with the most idle time; of equally idle ones the lowest.
fn least_busy(cpus: &CpuSet, count: usize) -> CpuSet {
    if count == cpus.len() {
        return cpus.clone();
    }
    let before = BusyCount::now();
    std::thread::sleep(COMPARED_FOR);
    let now = BusyCount::now();
    let mut by_time: Vec<(u64, u32)> = cpus
        .iter()
        .map(|cpu| {
            let busy = now.since(&before, &CpuSet::single(cpu));
            let used_s = busy.map_or(0.0, |busy| busy.busy_s + busy.stolen_s);
            (Duration::from_secs_f64(used_s).as_millis() as u64, cpu)
        })
        .collect();
    by_time.sort_unstable();
    by_time.into_iter().take(count).map(|(_, cpu)| cpu).collect()
}

impl CpuFitReport {
    /// A sentence about the program's threads.
    pub fn outcome(&self) -> String {
        let alive = counted(self.most_threads, "thread");
        let aimed = format!("the program had at most {alive} at once, for {}", self.threads);
        match self.widened {
            0 => aimed,
            widened => {
                let widened = counted(widened, "thread");
                format!("{aimed}; {widened} got all CPUs of the mask again")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn shell() -> Executable {
        Executable::find(&[OsString::from("/bin/sh")]).unwrap()
    }

    fn refused(seats: &CpuSet, threads: usize) -> String {
        let error = CpuFit::of(&shell(), seats, Some(threads)).unwrap_err();
        assert!(error.is_input());
        error.to_string()
    }

    #[test]
    fn number_outside_the_cpus_is_refused() {
        let mask: CpuSet = affinity::current().unwrap().into_iter().collect();
        let seat = CpuSet::single(mask.first().unwrap());
        let none = CpuSet::default();
        let words = format!("--fit=0: give a number from 1 to {}, because", mask.len());
        assert!(refused(&none, 0).starts_with(&words));
        let over = refused(&none, mask.len() + 1);
        assert!(over.contains("because this process has CPU"), "{over}");
        let words = format!("because the list of seats has {}", seat.named());
        assert!(refused(&seat, 2).ends_with(&words));
    }

    #[test]
    fn seats_replace_the_mask() {
        let mask: CpuSet = affinity::current().unwrap().into_iter().collect();
        let seat = CpuSet::single(mask.first().unwrap());
        let fit = CpuFit::of(&shell(), &seat, None).unwrap();
        assert_eq!((&fit.seen, fit.report.masked), (&seat, false));
    }

    #[test]
    fn busy_cpu_is_not_chosen() {
        let mask: CpuSet = affinity::current().unwrap().into_iter().collect();
        assert_eq!(least_busy(&mask, mask.len()), mask);
        assert!(least_busy(&mask, 1).is_subset(&mask));
    }

    #[test]
    fn outcome_has_both_numbers() {
        let mut report = CpuFit::of(&shell(), &CpuSet::default(), Some(1)).unwrap().report;
        report.most_threads = 3;
        assert_eq!(report.outcome(), "the program had at most 3 threads at once, for 1");
        report.widened = 2;
        assert!(report.outcome().ends_with("for 1; 2 threads got all CPUs of the mask again"));
    }
}
