//! The number of threads that the memory of a program's CPUs can serve.

use seatmap_data::machine::Profile;
use seatmap_os::CpuSet;
use serde::{Deserialize, Serialize};

/// The fewest threads that carry 95 % of the memory bandwidth of a program's CPUs.
///
/// It says nothing about the program: whether its threads wait for memory was not observed. Few
/// virtual machines have hardware counters, and no counter that all processors have distinguishes
/// waits for memory from others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MemoryThreads {
    /// Their number.
    pub threads: usize,
    /// The day of the measurement, if known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub measured: Option<String>,
}

impl MemoryThreads {
    /// The sum over the largest measured parts of the machine; all its CPUs without a set. `None`
    /// if a part has no knee, if the bandwidth of a CPU is unknown, or if they are at least as many
    /// as the ready threads.
    pub fn of(profile: &Profile, cpus: Option<&CpuSet>, ready: usize) -> Option<Self> {
        let mut threads = 0;
        let mut measured = 0;
        for group in profile.bandwidth.as_ref()?.outermost() {
            let used = group.pus.iter().filter(|os| cpus.is_none_or(|cpus| cpus.contains(**os)));
            let used = used.count();
            if used > 0 {
                threads += used.min(group.useful_threads()? as usize);
            }
            measured += used;
        }
        let is_known = cpus.is_none_or(|cpus| cpus.iter().count() == measured);
        (is_known && threads > 0 && threads < ready)
            .then(|| MemoryThreads { threads, measured: profile.origin.date.clone() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use seatmap_data::machine::{
        Bandwidth, BandwidthGroup, BandwidthPoint, Origin, OriginKind, Topology,
    };

    fn group(pus: &[u32], rates_gbps: &[f64]) -> BandwidthGroup {
        let curve: Vec<BandwidthPoint> = (1..)
            .zip(rates_gbps)
            .map(|(threads, gbps)| BandwidthPoint {
                threads,
                median_gbps: *gbps,
                ci95_low_gbps: *gbps,
                ci95_high_gbps: *gbps,
                ..BandwidthPoint::default()
            })
            .collect();
        let [read, write, triad] = std::array::from_fn(|_| curve.clone());
        BandwidthGroup { levels: Vec::new(), pus: pus.to_vec(), read, write, triad }
    }

    fn profile(second_gbps: &[f64]) -> Profile {
        let kind = OriginKind::Measured;
        let date = Some("2026-11-30".to_owned());
        let origin = Origin { kind, source: "test".to_owned(), date, tool: None };
        let inner = group(&[0, 1], &[9.0, 17.0]);
        let groups = vec![
            inner,
            group(&[0, 1, 2, 3], &[9.0, 17.0, 17.1, 17.0]),
            group(&[4, 5, 6, 7], second_gbps),
        ];
        let bandwidth = Some(Bandwidth { groups, ..Bandwidth::default() });
        Profile { bandwidth, ..Profile::new("test", origin, Topology::unknown(0..8)) }
    }

    #[test]
    fn threads_are_those_of_the_parts_in_use() {
        let known = profile(&[9.0, 17.0, 25.0, 25.1]);
        let threads = |cpus: &str, ready| {
            let cpus = CpuSet::of_list(cpus);
            MemoryThreads::of(&known, cpus.as_ref(), ready).map(|memory| memory.threads)
        };
        assert_eq!(threads("0-3", 4), Some(2));
        assert_eq!(threads("0-7", 8), Some(5));
        assert_eq!(threads("0,4-7", 8), Some(4), "one CPU of the first part");
        assert_eq!(threads("0-3", 2), None, "both threads are useful");
        assert_eq!(threads("0-3,9", 8), None, "CPU 9 was not measured");
        assert_eq!(MemoryThreads::of(&known, None, 8).unwrap().threads, 5);
    }

    #[test]
    fn rising_curve_bounds_nothing() {
        let rising = profile(&[9.0, 17.0, 25.0, 33.0]);
        let first = CpuSet::of_list("0-3").unwrap();
        assert_eq!(MemoryThreads::of(&rising, None, 8), None);
        assert_eq!(MemoryThreads::of(&rising, Some(&first), 4).unwrap().threads, 2);
    }
}
