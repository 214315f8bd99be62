//! The eBPF program at the end of all system calls.
//!
//! The program slows each system call of the computer by about 90 ns. The kernel has tracepoints
//! for sockets, but none for pipes. So it is detached if no pipes are used, and attached again when
//! one wakes a thread, and briefly now and then.

use seatmap_os::bpf::{EbpfLink, EbpfProgram, LoadError, RunTime};
use std::io;
use std::time::{Duration, Instant};

/// Looks without a byte before detaching: first, and during a brief return.
const PATIENCE: u32 = 10;
const MOMENT: u32 = 2;

const REST: u32 = 50;

pub struct Pipes {
    program: EbpfProgram,
    link: Option<EbpfLink>,
    may_rest: bool,
    turn: Turn,
    since: Instant,
    missed: Duration,
    resting: Duration,
}

struct Turn {
    is_on: bool,
    quiet: u32,
    patience: u32,
}

impl Turn {
    /// Whether to attach or detach the program; `None` to leave it.
    fn look(&mut self, has_bytes: bool, is_pipe_seen: bool) -> Option<bool> {
        self.quiet = if has_bytes { 0 } else { self.quiet + 1 };
        if has_bytes {
            self.patience = PATIENCE;
        }
        if self.is_on && self.quiet >= self.patience && !is_pipe_seen {
            *self = Turn { is_on: false, quiet: 0, patience: MOMENT };
        } else if !self.is_on && (is_pipe_seen || self.quiet >= REST) {
            let patience = if is_pipe_seen { PATIENCE } else { MOMENT };
            *self = Turn { is_on: true, quiet: 0, patience };
        } else {
            return None;
        }
        Some(self.is_on)
    }
}

impl Pipes {
    pub fn begin(program: EbpfProgram, may_rest: bool) -> Result<Self, LoadError> {
        Ok(Pipes {
            link: Some(program.link()?),
            program,
            may_rest,
            turn: Turn { is_on: true, quiet: 0, patience: PATIENCE },
            since: Instant::now(),
            missed: Duration::ZERO,
            resting: Duration::ZERO,
        })
    }

    pub fn is_on(&self) -> bool {
        self.link.is_some()
    }

    pub fn look(&mut self, has_bytes: bool, is_pipe_seen: bool) {
        if !self.may_rest {
            return;
        }
        if has_bytes {
            self.missed += std::mem::take(&mut self.resting);
        }
        match self.turn.look(has_bytes, is_pipe_seen) {
            None => {}
            Some(false) => {
                self.since = Instant::now();
                let link = self.link.take();
                // Detaching waits for every CPU, so a separate thread does it.
                let _ = std::thread::Builder::new()
                    .name("take off".to_owned())
                    .spawn(move || drop(link));
            }
            Some(true) => {
                self.resting += self.since.elapsed();
                // The next return tries again after a refusal.
                self.link = self.program.link().ok();
            }
        }
    }

    pub fn run_time(&self) -> io::Result<RunTime> {
        self.program.run_time()
    }

    pub fn unseen(&self) -> Option<String> {
        let seconds = self.missed.as_secs_f64();
        (seconds > 0.0).then(|| {
            format!(
                "bytes over pipes for {seconds:.1} s, until the program was seen to use pipes again"
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pipe_tracing_pauses_when_idle_and_resumes() {
        let mut turn = Turn { is_on: true, quiet: 0, patience: PATIENCE };
        let steps: [(u32, bool, bool, &[bool]); 9] = [
            (100, true, true, &[]),
            // Threads that are woken by pipes keep it on.
            (100, false, true, &[]),
            (1, false, false, &[false]),
            (REST, false, false, &[true]),
            (MOMENT, false, false, &[false]),
            (1, false, true, &[true]),
            (PATIENCE - 1, false, false, &[]),
            (1, true, false, &[]),
            (PATIENCE, false, false, &[false]),
        ];
        for (looks, has_bytes, is_seen, expected) in steps {
            let turns = (0..looks).filter_map(|_| turn.look(has_bytes, is_seen));
            assert_eq!(turns.collect::<Vec<_>>(), expected, "{looks} {has_bytes} {is_seen}");
        }
    }
}
