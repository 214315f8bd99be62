//! The program at the end of all system calls, attached while it serves.
//!
//! One state machine: on or off. It makes each system call of the computer slower by about 90 ns.
//! The kernel has tracepoints of its own for sockets, and none for pipes. So where a program uses
//! no pipes, this one is taken off after a while. It comes back when a pipe wakes a thread, and for
//! a moment now and then.

use seatmap_os::bpf::{EbpfLink, EbpfProgram, LoadError, RunTime};
use std::io;
use std::time::{Duration, Instant};

/// Looks without a byte through a pipe after which the program is taken off, at first and in a
/// moment of looking.
const PATIENCE: u32 = 10;
const MOMENT: u32 = 2;

/// Looks after which it comes back for a moment.
const REST: u32 = 50;

/// The program.
#[derive(Debug)]
pub(super) struct Pipes {
    program: EbpfProgram,
    link: Option<EbpfLink>,
    /// Whether it may be taken off: nothing but pipes is counted by it.
    may_rest: bool,
    turn: Turn,
    since: Instant,
    /// The time without it before bytes were seen again.
    missed: Duration,
    resting: Duration,
}

/// The step after a look.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    Stay,
    TakeOff,
    PutOn,
}

/// When the program is on, and for how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Turn {
    is_on: bool,
    quiet: u32,
    patience: u32,
}

impl Turn {
    /// A look: whether bytes went through pipes since the one before, and whether a pipe woke a
    /// thread.
    fn look(&mut self, has_bytes: bool, is_pipe_seen: bool) -> Step {
        self.quiet = if has_bytes { 0 } else { self.quiet + 1 };
        if has_bytes {
            self.patience = PATIENCE;
        }
        if self.is_on && self.quiet >= self.patience && !is_pipe_seen {
            *self = Turn { is_on: false, quiet: 0, patience: MOMENT };
            Step::TakeOff
        } else if !self.is_on && (is_pipe_seen || self.quiet >= REST) {
            let patience = if is_pipe_seen { PATIENCE } else { MOMENT };
            *self = Turn { is_on: true, quiet: 0, patience };
            Step::PutOn
        } else {
            Step::Stay
        }
    }
}

impl Pipes {
    /// Attaches the program.
    pub(super) fn begin(program: EbpfProgram, may_rest: bool) -> Result<Self, LoadError> {
        let link = Some(program.link()?);
        let turn = Turn { is_on: true, quiet: 0, patience: PATIENCE };
        let nothing = Duration::ZERO;
        Ok(Pipes {
            program,
            link,
            may_rest,
            turn,
            since: Instant::now(),
            missed: nothing,
            resting: nothing,
        })
    }

    /// Whether it is attached.
    pub(super) fn is_on(&self) -> bool {
        self.link.is_some()
    }

    /// Takes it off or puts it on, by what was seen since the look before.
    pub(super) fn look(&mut self, has_bytes: bool, is_pipe_seen: bool) {
        if !self.may_rest {
            return;
        }
        if has_bytes {
            self.missed += std::mem::take(&mut self.resting);
        }
        match self.turn.look(has_bytes, is_pipe_seen) {
            Step::Stay => {}
            Step::TakeOff => {
                self.since = Instant::now();
                let link = self.link.take();
                // It waits for every CPU, and nobody waits for it.
                let _ = std::thread::Builder::new()
                    .name("take off".to_owned())
                    .spawn(move || drop(link));
            }
            Step::PutOn => {
                self.resting += self.since.elapsed();
                // A kernel that refuses now has allowed it before; the next moment tries again.
                self.link = self.program.link().ok();
            }
        }
    }

    /// How often and how long it ran while the kernel timed it.
    pub(super) fn run_time(&self) -> io::Result<RunTime> {
        self.program.run_time()
    }

    /// Bytes that could not be seen, as a sentence.
    pub(super) fn unseen(&self) -> Option<String> {
        let seconds = self.missed.as_secs_f64();
        (seconds > 0.0).then(|| {
            format!(
                "bytes over pipes were not counted for {seconds:.1} s, before the program was seen \
                 to use some again"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_rests_where_no_pipe_is_used_and_comes_back() {
        let mut turn = Turn { is_on: true, quiet: 0, patience: PATIENCE };
        let steps = |turn: &mut Turn, count: u32, has_bytes: bool, is_seen: bool| {
            (0..count)
                .map(|_| turn.look(has_bytes, is_seen))
                .filter(|step| *step != Step::Stay)
                .collect::<Vec<_>>()
        };
        assert_eq!(steps(&mut turn, 100, true, true), []);
        assert_eq!(
            steps(&mut turn, 100, false, true),
            [],
            "threads that are woken by pipes keep it on"
        );
        assert_eq!(steps(&mut turn, 1, false, false), [Step::TakeOff]);
        assert_eq!(steps(&mut turn, REST, false, false), [Step::PutOn]);
        assert_eq!(steps(&mut turn, MOMENT, false, false), [Step::TakeOff]);
        assert_eq!(steps(&mut turn, 1, false, true), [Step::PutOn]);
        assert_eq!(steps(&mut turn, PATIENCE - 1, false, false), []);
        assert_eq!(steps(&mut turn, 1, true, false), []);
        assert_eq!(steps(&mut turn, PATIENCE, false, false), [Step::TakeOff]);
    }
}
