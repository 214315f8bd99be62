//! The affinity mask of any thread, of any length.

use seatmap_machine::CpuList;
use std::io;

/// The kernel's masks are arrays of this word.
type Word = libc::c_ulong;

const WORD_BITS: usize = Word::BITS as usize;

/// Words at which growing stops: room for 2^20 CPUs, beyond any kernel's `NR_CPUS`.
const MOST_WORDS: usize = (1 << 20) / WORD_BITS;

/// A thread, by the number that the kernel gave it.
pub type Tid = libc::pid_t;

/// The CPUs that a thread may run on. `cpu_set_t` stops at 1024 of them, this does not.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mask {
    /// Without zeros at the end, so that equal masks compare equal.
    words: Vec<Word>,
}

impl Mask {
    /// This CPU alone.
    #[must_use]
    pub fn single(cpu: u32) -> Self {
        [cpu].into_iter().collect()
    }

    /// The mask of a thread; 0 is the caller.
    ///
    /// # Errors
    /// What the kernel says: `ESRCH` where the thread has gone.
    pub fn of(tid: Tid) -> io::Result<Self> {
        let mut words: Vec<Word> = vec![0; 1024 / WORD_BITS];
        loop {
            // SAFETY: the kernel writes at most `size_of_val` bytes to `words`, which is that long and writable.
            let written =
                unsafe { libc::syscall(libc::SYS_sched_getaffinity, tid, size_of_val(&*words), words.as_mut_ptr()) };
            let error = io::Error::last_os_error();
            match written {
                0.. => return Ok(Mask::trimmed(words)),
                // The kernel's own mask is longer than ours.
                _ if error.raw_os_error() == Some(libc::EINVAL) && words.len() < MOST_WORDS => {
                    words = vec![0; words.len() * 2];
                }
                _ => return Err(error),
            }
        }
    }

    /// Gives a thread this mask.
    ///
    /// # Errors
    /// What the kernel says: `ESRCH` where the thread has gone, `EPERM` where it is somebody else's, `EINVAL` where none
    /// of the CPUs is in its cpuset.
    pub fn give(&self, tid: Tid) -> io::Result<()> {
        let bytes = size_of_val(&*self.words);
        // SAFETY: the kernel reads `bytes` bytes from `words`, which is that long.
        let status = unsafe { libc::syscall(libc::SYS_sched_setaffinity, tid, bytes, self.words.as_ptr()) };
        if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
    }

    /// The one CPU, where it is one.
    #[must_use]
    pub fn only(&self) -> Option<u32> {
        let mut cpus = self.members();
        cpus.next().filter(|_| cpus.next().is_none())
    }

    /// Whether this CPU is one of them.
    #[must_use]
    pub fn has(&self, cpu: u32) -> bool {
        let at = cpu as usize;
        self.words.get(at / WORD_BITS).is_some_and(|word| word >> (at % WORD_BITS) & 1 == 1)
    }

    /// The CPUs, ascending.
    #[must_use]
    pub fn cpus(&self) -> CpuList {
        CpuList(self.members().collect())
    }

    fn members(&self) -> impl Iterator<Item = u32> {
        let bit = |at: &usize| self.words[at / WORD_BITS] >> (at % WORD_BITS) & 1 == 1;
        (0..self.words.len() * WORD_BITS).filter(bit).map(|at| at as u32)
    }

    fn trimmed(mut words: Vec<Word>) -> Self {
        let length = words.iter().rposition(|word| *word != 0).map_or(0, |last| last + 1);
        words.truncate(length);
        Mask { words }
    }
}

impl FromIterator<u32> for Mask {
    fn from_iter<I: IntoIterator<Item = u32>>(cpus: I) -> Self {
        let mut words: Vec<Word> = Vec::new();
        for at in cpus.into_iter().map(|cpu| cpu as usize) {
            words.resize(words.len().max(at / WORD_BITS + 1), 0);
            words[at / WORD_BITS] |= 1 << (at % WORD_BITS);
        }
        Mask { words }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_gets_what_it_is_given() {
        let cpu = *Mask::of(0).unwrap().cpus().0.last().unwrap();
        let seated = std::thread::scope(|scope| {
            scope.spawn(|| Mask::single(cpu).give(0).and_then(|()| Mask::of(0)).unwrap()).join().unwrap()
        });
        assert_eq!((seated.only(), seated), (Some(cpu), Mask::single(cpu)));
    }

    #[test]
    fn bits_become_numbers() {
        let mask = Mask::trimmed(vec![0b101, 1, 0, 0]);
        assert_eq!(mask.cpus().0, [0, 2, WORD_BITS as u32]);
        assert_eq!([64, 2, 0].into_iter().collect::<Mask>(), mask);
        assert_eq!((mask.only(), Mask::single(70).only()), (None, Some(70)));
        assert_eq!([0, 1, 64, 65, 5000].map(|cpu| mask.has(cpu)), [true, false, true, false, false]);
        assert_eq!(Mask::trimmed(vec![0]).only(), None);
    }

    #[test]
    fn a_thread_that_is_not_there_is_an_error() {
        assert_eq!(Mask::of(libc::pid_t::MAX).unwrap_err().raw_os_error(), Some(libc::ESRCH));
        assert!(Mask::single(500_000).give(0).is_err());
    }
}
