//! Masks that could not be put back whole, as old kernels take CPUs that are offline out of every
//! mask that is set ([`affinity::forgets_offline`]).

use crate::{CpuSet, Tid, affinity};
use std::collections::BTreeMap;
use std::fmt;

/// Threads that had one mask, and lack CPUs of it that were offline when it was put back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenCpus {
    /// The mask that they had.
    pub mask: CpuSet,
    /// The CPUs of it that they lack.
    pub lost: CpuSet,
    /// The threads.
    pub tids: Vec<Tid>,
}

impl ForgottenCpus {
    /// One entry for all threads that had the same mask and lost the same CPUs. A thread is told
    /// of with the mask that it had and the CPUs that it lacks.
    #[must_use]
    pub fn gather(threads: impl IntoIterator<Item = (Tid, CpuSet, CpuSet)>) -> Vec<Self> {
        let mut alike: BTreeMap<(CpuSet, CpuSet), Vec<Tid>> = BTreeMap::new();
        for (tid, mask, lost) in threads.into_iter().filter(|(_, _, lost)| !lost.is_empty()) {
            alike.entry((mask, lost)).or_default().push(tid);
        }
        alike.into_iter().map(|((mask, lost), tids)| ForgottenCpus { mask, lost, tids }).collect()
    }

    /// The masks of these threads, in words.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.tids.as_slice() {
            // Plural: one has its own words below.
            [first, _, ..] => {
                format!("the mask of {} threads, {first} and others,", self.tids.len())
            }
            one => format!("the mask of thread {}", one.first().copied().unwrap_or_default()),
        }
    }

    /// Why they lack CPUs, and the commands that put the mask back.
    #[must_use]
    pub fn reason(&self) -> String {
        format!(
            "it was {}, and this kernel takes {} out of it while that is offline; once it is back, \
             '{}' puts it back",
            self.mask,
            self.lost.named(),
            affinity::commands(&self.mask, &self.tids),
        )
    }
}

impl fmt::Display for ForgottenCpus {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        write!(out, "{} is not put back: {}", self.subject(), self.reason())
    }
}

/// The CPUs of a mask that a thread lacks after it was given back, on a kernel that forgets those
/// that are offline; none on others, and for a thread that has gone.
#[must_use]
pub fn lost(tid: Tid, mask: &CpuSet) -> CpuSet {
    if !affinity::forgets_offline() {
        return CpuSet::default();
    }
    affinity::whole(tid).map(|now| mask.without(&now)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn set(list: &str) -> CpuSet {
        CpuSet::of_list(list).unwrap()
    }

    #[test]
    fn threads_that_lost_the_same_are_told_together() {
        let threads = [(7, "0-3", "2"), (9, "0-3", "2"), (8, "0-3", "1"), (6, "0-3", "")];
        let threads = threads.map(|(tid, mask, lost)| (tid, set(mask), set(lost)));
        let told: Vec<String> =
            ForgottenCpus::gather(threads).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "the mask of thread 8 is not put back: it was 0-3, and this kernel takes CPU 1 out \
                 of it while that is offline; once it is back, 'taskset -pc 0-3 8' puts it back",
                "the mask of 2 threads, 7 and others, is not put back: it was 0-3, and this kernel \
                 takes CPU 2 out of it while that is offline; once it is back, 'taskset -pc 0-3 7; \
                 taskset -pc 0-3 9' puts it back",
            ]
        );
    }
}
