//! The kernel's work for a program's runs: figure 7.

use seatmap_os::usage::ResourceUsage;
use serde::Serialize;

/// The kernel's part in the runs of one way.
///
/// The paper samples with oprofile; here the kernel's own accounting of the process is read before
/// and after each turn. Sleep counts in neither part, and a spinning controller counts as user
/// time.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct KernelShare {
    /// The kernel's part of the CPU time of all threads, in per cent; null if the runs used no
    /// tick.
    pub kernel_percent: Option<f64>,
    /// CPU time of a run, of all threads together.
    pub cpu_us: f64,
    /// Waits of all threads, per run.
    pub voluntary_switches: f64,
    /// Preemptions of all threads, per run.
    pub involuntary_switches: f64,
    /// Page faults, per run.
    pub page_faults: f64,
}

impl KernelShare {
    /// The usage of this many runs.
    pub fn of(used: ResourceUsage, runs: usize) -> Self {
        let [kernel_s, all_s] = [used.kernel, used.user + used.kernel].map(|it| it.as_secs_f64());
        KernelShare {
            kernel_percent: (all_s > 0.0).then(|| 100.0 * (kernel_s / all_s)),
            cpu_us: all_s * 1e6 / runs.max(1) as f64,
            voluntary_switches: each(runs, used.voluntary_switches),
            involuntary_switches: each(runs, used.involuntary_switches),
            page_faults: each(runs, used.page_faults),
        }
    }
}

fn each(runs: usize, count: u64) -> f64 {
    count as f64 / runs.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn figures_are_per_run_and_shares_overall() {
        let [user, kernel] = [30, 10].map(Duration::from_micros);
        let kernel = KernelShare::of(
            ResourceUsage { voluntary_switches: 6, user, kernel, ..ResourceUsage::default() },
            4,
        );
        assert_eq!(
            (kernel.kernel_percent, kernel.cpu_us, kernel.voluntary_switches),
            (Some(25.0), 10.0, 1.5)
        );
        assert_eq!(KernelShare::of(ResourceUsage::default(), 4).kernel_percent, None);
    }
}
