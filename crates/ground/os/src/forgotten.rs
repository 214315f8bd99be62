//! Masks that could not be restored completely, because old kernels remove offline CPUs from every
//! new mask ([`affinity::forgets_offline`]).

use crate::owed::ThreadMask;
use crate::task::ThreadIdentity;
use crate::{CpuSet, Tid, affinity};
use std::collections::BTreeMap;
use std::fmt;

/// Threads with the same former mask and missing CPUs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ForgottenCpus {
    /// Their former mask.
    pub mask: CpuSet,
    /// Missing CPUs.
    pub lost: CpuSet,
    /// The threads.
    pub threads: Vec<ThreadIdentity>,
    /// Seatmap process that [waits](crate::owed) for these CPUs.
    pub waiter: Option<Tid>,
}

impl ForgottenCpus {
    /// Groups threads with equal masks and missing CPUs. Each thread comes with its former mask and
    /// its missing CPUs.
    pub fn gather(threads: impl IntoIterator<Item = (ThreadMask, CpuSet)>) -> Vec<Self> {
        let mut alike: BTreeMap<(CpuSet, CpuSet), Vec<ThreadIdentity>> = BTreeMap::new();
        for (thread, lost) in threads.into_iter().filter(|(_, lost)| !lost.is_empty()) {
            let identity = thread.identity();
            alike.entry((thread.cpus, lost)).or_default().push(identity);
        }
        alike
            .into_iter()
            .map(|((mask, lost), threads)| ForgottenCpus { mask, lost, threads, waiter: None })
            .collect()
    }

    /// The threads, with the mask to restore.
    pub fn owed(&self) -> impl Iterator<Item = ThreadMask> {
        self.threads.iter().map(|thread| ThreadMask::of(*thread, self.mask.clone()))
    }

    /// Names the masks of these threads.
    pub fn subject(&self) -> String {
        match self.threads.as_slice() {
            // Plural: one has its own words below.
            [first, _, ..] => {
                format!("the mask of {} threads, {} and others,", self.threads.len(), first.tid)
            }
            one => format!("the mask of thread {}", one.first().map_or(0, |one| one.tid)),
        }
    }

    /// Explains why CPUs are missing, and how the mask will be restored.
    pub fn reason(&self) -> String {
        let tids: Vec<Tid> = self.threads.iter().map(|one| one.tid).collect();
        let command = affinity::commands(&self.mask, &tids);
        let lost = self.lost.named();
        let remedy = match self.waiter {
            Some(pid) => format!(
                "with {lost} online again, Seatmap process {pid} restores it; if you end that \
                 process, use '{command}'"
            ),
            None => format!("with {lost} online again, '{command}' restores it"),
        };
        format!("it was {}, but this kernel drops offline CPUs from masks; {remedy}", self.mask)
    }
}

impl fmt::Display for ForgottenCpus {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        let yet = if self.waiter.is_some() { " yet" } else { "" };
        write!(out, "{} is not restored{yet}: {}", self.subject(), self.reason())
    }
}

/// The CPUs missing from a thread's restored mask; empty if the kernel keeps offline CPUs or the
/// thread has exited.
pub fn lost(tid: Tid, mask: &CpuSet) -> CpuSet {
    if !affinity::forgets_offline() {
        return CpuSet::default();
    }
    affinity::whole(tid).map(|now| mask.without(&now)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cpu_set::tests::set;

    #[test]
    fn threads_with_equal_losses_share_one_message() {
        let threads = [(7, "0-3", "2"), (9, "0-3", "2"), (8, "0-3", "1"), (6, "0-3", "")];
        let threads = threads.map(|(tid, mask, lost)| {
            (ThreadMask { tid, started_ticks: 1, cpus: set(mask) }, set(lost))
        });
        let told: Vec<String> =
            ForgottenCpus::gather(threads).iter().map(ToString::to_string).collect();
        assert_eq!(
            told,
            [
                "the mask of thread 8 is not restored: it was 0-3, but this kernel drops offline \
                 CPUs from masks; with CPU 1 online again, 'taskset -pc 0-3 8' restores it",
                "the mask of 2 threads, 7 and others, is not restored: it was 0-3, but this kernel \
                 drops offline CPUs from masks; with CPU 2 online again, 'taskset -pc 0-3 7; \
                 taskset -pc 0-3 9' restores it",
            ]
        );
    }

    #[test]
    fn message_names_the_waiting_process() {
        let thread = ThreadMask { tid: 8, started_ticks: 1, cpus: set("0-3") };
        let mut told = ForgottenCpus::gather([(thread.clone(), set("1"))]);
        assert_eq!(told[0].owed().collect::<Vec<_>>(), [thread]);
        told[0].waiter = Some(99);
        assert_eq!(
            told[0].to_string(),
            "the mask of thread 8 is not restored yet: it was 0-3, but this kernel drops offline \
             CPUs from masks; with CPU 1 online again, Seatmap process 99 restores it; if you end \
             that process, use 'taskset -pc 0-3 8'"
        );
    }
}
