//! CPU time taken by a hypervisor.

use crate::small;

/// Total CPU time in clock ticks (`/proc/stat`, first line).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTime {
    total: u64,
    stolen: u64,
}

impl CpuTime {
    /// Reads `/proc/stat`.
    pub fn now() -> Option<Self> {
        parse(&small::read("/proc/stat")?)
    }

    /// The stolen percentage of the time since then; `None` before the first tick.
    pub fn stolen_percent_since(&self, earlier: CpuTime) -> Option<f64> {
        let total = self.total.checked_sub(earlier.total).filter(|total| *total > 0)?;
        Some(100.0 * self.stolen.saturating_sub(earlier.stolen) as f64 / total as f64)
    }
}

/// `cpu user nice system idle iowait irq softirq steal guest guest_nice` (proc_stat(5)); user
/// includes guest time.
fn parse(text: &str) -> Option<CpuTime> {
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let ticks: Vec<u64> =
        line.split_whitespace().map_while(|field| field.parse().ok()).take(8).collect();
    Some(CpuTime { total: ticks.iter().sum(), stolen: *ticks.get(7)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stolen_share_is_of_all_time() {
        let before = parse("cpu  10 0 10 80 0 0 0 0 0 0\n").unwrap();
        let after = parse("cpu  20 0 20 140 0 0 0 20 0 0\n").unwrap();
        assert_eq!(after.stolen_percent_since(before), Some(20.0));
        assert_eq!(before.stolen_percent_since(before), None);
        assert_eq!(parse("nonsense"), None);
        assert!(CpuTime::now().is_some());
    }
}
