//! Time of each CPU by use (`/proc/stat`, proc_stat(5)).

use crate::bytes::{lines, small, unsigned, words};
use crate::root::Root;
use std::collections::BTreeMap;

/// user, nice, system, idle, iowait, irq, softirq, steal. Guest time is part of user.
const COLUMNS: usize = 8;
const IDLE: usize = 3;
const WAITS_FOR_DISK: usize = 4;
const STOLEN: usize = 7;

/// Time of each CPU in clock ticks.
#[derive(Clone, Debug, Default)]
pub struct CpuTimes(BTreeMap<u32, [u64; COLUMNS]>);

/// Shares of a CPU's time over an interval.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CpuTimeShares {
    /// Programs' and the kernel's time, in percent.
    pub busy_percent: f64,
    /// Time that a hypervisor gave to others, in percent.
    pub steal_percent: f64,
}

impl CpuTimes {
    /// Reads the present times; empty if unreadable.
    pub fn now(root: &Root) -> Self {
        std::fs::read(root.path("/proc/stat"))
            .map_or_else(|_| CpuTimes::default(), |text| CpuTimes::of(&text, root))
    }

    /// Parses a computer's file. Empty if a CPU of the caller's mask is missing: lxcfs renumbers a
    /// container's CPUs from 0.
    pub fn of(text: &[u8], root: &Root) -> Self {
        let times = CpuTimes::parse(text);
        let are_numbered = root.running().iter().all(|cpu| times.0.contains_key(&cpu));
        if are_numbered { times } else { CpuTimes::default() }
    }

    /// Parses the file. Columns missing before 2.6.11 count as 0.
    pub fn parse(text: &[u8]) -> Self {
        // CPU lines come first; skip the long line of interrupts.
        CpuTimes(
            lines(text)
                .take_while(|line| line.starts_with(b"cpu"))
                .filter_map(|line| {
                    let mut fields = words(line);
                    let cpu = small(fields.next()?.strip_prefix(b"cpu")?)?;
                    let mut ticks = [0; COLUMNS];
                    for (column, field) in ticks.iter_mut().zip(fields) {
                        *column = unsigned(field)?;
                    }
                    Some((cpu, ticks))
                })
                .collect(),
        )
    }

    /// The counted CPUs.
    pub fn cpus(&self) -> impl Iterator<Item = u32> {
        self.0.keys().copied()
    }

    /// Time that a hypervisor took from a CPU, in clock ticks; `None` if not counted.
    pub fn stolen_ticks(&self, cpu: u32) -> Option<u64> {
        Some(self.0.get(&cpu)?[STOLEN])
    }

    /// Idle time since an earlier reading, in clock ticks; `None` if not counted.
    pub fn idle_ticks_since(&self, earlier: &CpuTimes, cpu: u32) -> Option<u64> {
        let now = self.0.get(&cpu)?;
        let then = earlier.0.get(&cpu)?;
        // iowait may decrease (proc_stat(5)).
        let idle = [IDLE, WAITS_FOR_DISK].map(|column| now[column].saturating_sub(then[column]));
        Some(idle[0].saturating_add(idle[1]))
    }

    /// Shares of a CPU's time since an earlier reading; `None` before the first tick.
    pub fn since(&self, earlier: &CpuTimes, cpu: u32) -> Option<CpuTimeShares> {
        let now = self.0.get(&cpu)?;
        let then = earlier.0.get(&cpu)?;
        // Idle time may decrease by a tick.
        let passed: [u64; COLUMNS] =
            std::array::from_fn(|column| now[column].saturating_sub(then[column]));
        let total = passed.into_iter().fold(0, u64::saturating_add);
        let idle = passed[IDLE].saturating_add(passed[WAITS_FOR_DISK]);
        let busy = total.saturating_sub(idle).saturating_sub(passed[STOLEN]);
        (total > 0).then(|| CpuTimeShares {
            busy_percent: percent(total, busy),
            steal_percent: percent(total, passed[STOLEN]),
        })
    }
}

fn percent(total: u64, ticks: u64) -> f64 {
    100.0 * ticks as f64 / total as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn shares_are_percentages_of_elapsed_time() {
        let before = CpuTimes::parse(
            b"cpu  9 9\ncpu0 10 0 10 80 0 0 0 0 0 0\ncpu12 0 0 0 5\nintr 7 0 0\ncpu3 1 1 1 1\n",
        );
        let after = CpuTimes::parse(b"cpu  9 9\ncpu0 20 5 20 130 5 3 2 15 0 0\ncpu12 0 0 0 5\n");
        assert_eq!(
            after.since(&before, 0),
            Some(CpuTimeShares { busy_percent: 30.0, steal_percent: 15.0 })
        );
        assert_eq!((after.since(&before, 12), after.since(&before, 3)), (None, None));
        assert_eq!([0, 12, 7].map(|cpu| after.stolen_ticks(cpu)), [Some(15), Some(0), None]);
        assert_eq!(before.cpus().collect::<Vec<_>>(), [0, 12]);
    }

    proptest! {
        #[test]
        fn parser_survives_any_bytes(text: Vec<u8>, ticks: [u64; 8]) {
            let line = format!("cpu0 {}", ticks.map(|tick| tick.to_string()).join(" "));
            let some = CpuTimes::parse(line.as_bytes());
            let other = CpuTimes::parse(&text);
            let _ = (some.since(&other, 0), other.since(&some, 0));
            let begun = CpuTimes::parse(b"cpu0 0 0 0 0 0 0 0 0");
            let shares = some.since(&begun, 0).map_or(0.0, |shares| shares.busy_percent + shares.steal_percent);
            prop_assert!((0.0..=100.1).contains(&shares));
        }
    }
}
