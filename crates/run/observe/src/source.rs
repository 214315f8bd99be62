//! Something that sees talk: programs in the kernel, or records of it.

use crate::Method;
use crate::talk::TalkBatch;
use seatmap_data::pattern::Outsider;
use seatmap_data::statistics::words::counted;
use seatmap_os::Tid;
use std::io;
use std::time::Duration;

/// A sentence about a number of things that were not seen, which ends in one way for one of them
/// and in another for several; none where there were none.
pub(crate) fn count_of(count: u64, name: &str, [one, several]: [&str; 2]) -> Option<String> {
    let rest = if count == 1 { one } else { several };
    (count > 0).then(|| format!("{} {rest}", counted(count, name)))
}

/// Something that sees talk between the threads of the processes that it follows, and their
/// creation.
pub(crate) trait MessageSource {
    /// The mechanism, for people: `eBPF`.
    fn name(&self) -> String;

    /// The methods that it is.
    fn methods(&self) -> Vec<Method>;

    /// Follows a process that runs, and everything that it starts from now on.
    fn follow(&mut self, pid: Tid) -> io::Result<()>;

    /// Follows the processes that this process starts from now on, or no longer.
    fn follow_own_children(&mut self, on: bool) -> io::Result<()>;

    /// Sees no talk from now on, or sees it again; threads that come and go are seen all the time.
    /// A source for which a pause saves nothing goes on.
    fn pause(&mut self, _pauses: bool) -> io::Result<()> {
        Ok(())
    }

    /// Whether it tells the CPU times of threads that have ended.
    fn tells_cpu_times(&self) -> bool;

    /// Everything since the look before.
    fn look(&mut self) -> io::Result<TalkBatch>;

    /// Whether a followed process lives.
    fn has_processes(&self) -> io::Result<bool>;

    /// The CPU time that the kernel spent on the observation so far, where it is known.
    fn kernel_time(&mut self) -> Option<Duration>;

    /// Processes outside the program that woke it, who woke it most first.
    fn outsiders(&self) -> Vec<Outsider> {
        Vec::new()
    }

    /// Talk that could not be seen, each as a sentence.
    fn unseen(&self) -> Vec<String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_thing_has_its_own_words() {
        let rest = ["was lost", "were lost"];
        assert_eq!(count_of(0, "sample", rest), None);
        assert_eq!(count_of(1, "sample", rest).unwrap(), "1 sample was lost");
        assert_eq!(count_of(2, "sample", rest).unwrap(), "2 samples were lost");
    }
}
