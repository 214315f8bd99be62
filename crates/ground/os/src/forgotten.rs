//! Masks that could not be put back whole, as old kernels take CPUs that are offline out of every
//! mask that is set ([`affinity::forgets_offline`]).

use crate::owed::ThreadMask;
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
    /// The threads, each with its start in clock ticks after the boot.
    pub threads: Vec<(Tid, u64)>,
    /// The process of Seatmap that [waits](crate::owed) for these CPUs, and puts the mask back
    /// then.
    pub waiter: Option<Tid>,
}

impl ForgottenCpus {
    /// One entry for all threads that had the same mask and lost the same CPUs. A thread is told
    /// of with the mask that it had and the CPUs that it lacks.
    #[must_use]
    pub fn gather(threads: impl IntoIterator<Item = (ThreadMask, CpuSet)>) -> Vec<Self> {
        let mut alike: BTreeMap<(CpuSet, CpuSet), Vec<(Tid, u64)>> = BTreeMap::new();
        for (thread, lost) in threads.into_iter().filter(|(_, lost)| !lost.is_empty()) {
            let threads = alike.entry((thread.cpus, lost)).or_default();
            threads.push((thread.tid, thread.started_ticks));
        }
        alike
            .into_iter()
            .map(|((mask, lost), threads)| ForgottenCpus { mask, lost, threads, waiter: None })
            .collect()
    }

    /// The threads, each with the mask that is to be put back.
    pub fn owed(&self) -> impl Iterator<Item = ThreadMask> {
        self.threads.iter().map(|(tid, started_ticks)| ThreadMask {
            tid: *tid,
            started_ticks: *started_ticks,
            cpus: self.mask.clone(),
        })
    }

    /// The masks of these threads, in words.
    #[must_use]
    pub fn subject(&self) -> String {
        match self.threads.as_slice() {
            // Plural: one has its own words below.
            [(first, _), _, ..] => {
                format!("the mask of {} threads, {first} and others,", self.threads.len())
            }
            one => format!("the mask of thread {}", one.first().map_or(0, |(tid, _)| *tid)),
        }
    }

    /// Why they lack CPUs, and what puts the mask back.
    #[must_use]
    pub fn reason(&self) -> String {
        let tids: Vec<Tid> = self.threads.iter().map(|(tid, _)| *tid).collect();
        let command = affinity::commands(&self.mask, &tids);
        let lost = self.lost.named();
        let remedy = match self.waiter {
            Some(pid) => format!(
                "process {pid} of Seatmap waits until it is back, and puts the mask back then; if \
                 you end that process, use '{command}'"
            ),
            None => format!("once it is back, '{command}' puts it back"),
        };
        format!(
            "it was {}, and this kernel takes {lost} out of it while that is offline; {remedy}",
            self.mask
        )
    }
}

impl fmt::Display for ForgottenCpus {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let yet = if self.waiter.is_some() { " yet" } else { "" };
        write!(out, "{} is not put back{yet}: {}", self.subject(), self.reason())
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
        let threads = threads.map(|(tid, mask, lost)| {
            (ThreadMask { tid, started_ticks: 1, cpus: set(mask) }, set(lost))
        });
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

    #[test]
    fn a_process_that_waits_is_told_beside_the_command() {
        let thread = ThreadMask { tid: 8, started_ticks: 1, cpus: set("0-3") };
        let mut told = ForgottenCpus::gather([(thread.clone(), set("1"))]);
        assert_eq!(told[0].owed().collect::<Vec<_>>(), [thread]);
        told[0].waiter = Some(99);
        assert_eq!(
            told[0].to_string(),
            "the mask of thread 8 is not put back yet: it was 0-3, and this kernel takes CPU 1 out \
             of it while that is offline; process 99 of Seatmap waits until it is back, and puts \
             the mask back then; if you end that process, use 'taskset -pc 0-3 8'"
        );
    }
}
