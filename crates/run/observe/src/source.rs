//! A source of messages.

use crate::Method;
use crate::talk::TalkBatch;
use seatmap_data::pattern::Outsider;
use seatmap_data::words::counted;
use seatmap_os::Tid;
use std::io;
use std::time::Duration;

pub const OF_INTERRUPTS: &str = "came from interrupts, such as timers and devices";

/// A sentence with endings for one and several; `None` for 0.
pub fn count_of(count: u64, name: &str, [one, several]: [&str; 2]) -> Option<String> {
    let rest = if count == 1 { one } else { several };
    (count > 0).then(|| format!("{} {rest}", counted(count, name)))
}

pub trait MessageSource {
    fn name(&self) -> &'static str;

    fn methods(&self) -> &'static [Method];

    fn follow(&mut self, pid: Tid) -> io::Result<()>;

    fn follow_own_children(&mut self, on: bool) -> io::Result<()>;

    /// Pauses or resumes counting messages; starts and ends of threads are always observed. Ignored
    /// if it saves nothing.
    fn pause(&mut self, _pauses: bool) -> io::Result<()> {
        Ok(())
    }

    /// Whether it reports ended threads' CPU times.
    fn tells_cpu_times(&self) -> bool;

    fn look(&mut self) -> io::Result<TalkBatch>;

    fn has_processes(&self) -> io::Result<bool>;

    /// The kernel's CPU time for the observation so far, if known.
    fn kernel_time(&mut self) -> Option<Duration>;

    fn outsiders(&self) -> Vec<Outsider> {
        Vec::new()
    }

    fn unseen(&self) -> Vec<String>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn count_of_uses_singular_and_plural() {
        let rest = ["was lost", "were lost"];
        assert_eq!(count_of(0, "sample", rest), None);
        assert_eq!(count_of(1, "sample", rest).unwrap(), "1 sample was lost");
        assert_eq!(count_of(2, "sample", rest).unwrap(), "2 samples were lost");
    }
}
