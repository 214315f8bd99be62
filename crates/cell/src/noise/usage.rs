//! What the kernel counts of one thread.

/// Context switches and page faults of a thread so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Usage {
    pub(super) voluntary_switches: u64,
    pub(super) involuntary_switches: u64,
    pub(super) page_faults: u64,
}

impl Usage {
    /// Of the calling thread: the figures of `/proc/self/task/TID/status`, by a call that needs no memory.
    pub(super) fn now() -> Self {
        // SAFETY: all zeros is a valid `rusage`, which is integers only.
        let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
        // SAFETY: the kernel writes one `rusage` to a place that holds one.
        unsafe { libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage) };
        Usage {
            voluntary_switches: usage.ru_nvcsw as u64,
            involuntary_switches: usage.ru_nivcsw as u64,
            page_faults: (usage.ru_minflt + usage.ru_majflt) as u64,
        }
    }

    /// What came since.
    pub(super) fn since(self, earlier: Usage) -> Self {
        Usage {
            voluntary_switches: self.voluntary_switches - earlier.voluntary_switches,
            involuntary_switches: self.involuntary_switches - earlier.involuntary_switches,
            page_faults: self.page_faults - earlier.page_faults,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleeping_is_a_switch_and_fresh_memory_a_fault() {
        let before = Usage::now();
        std::thread::sleep(std::time::Duration::from_millis(1));
        std::hint::black_box(vec![1u8; 8 << 20]);
        let found = Usage::now().since(before);
        assert!(found.voluntary_switches > 0 && found.page_faults > 0, "{found:?}");
    }
}
