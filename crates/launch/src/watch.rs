//! Looks at a running program from outside, through `/proc`, often when something is going on and seldom when not.
//!
//! Looking stops nothing and costs the program nothing. It finds names, which threads get late; threads and processes
//! that did not come through the gate; and whether everybody still sits where they were seated.

use crate::gate::Gate;
use crate::mask::Tid;
use crate::task::{self, Task};
use crate::usher::{Arrival, Usher};
use std::collections::BTreeSet;
use std::time::{Duration, Instant};

/// After something new.
const SHORTEST: Duration = Duration::from_millis(1);
/// When nothing has been new for a while.
const LONGEST: Duration = Duration::from_millis(100);
/// Looking takes at most this part of one CPU's time.
const SHARE: u32 = 50;

/// When to look next, and at which processes.
#[derive(Debug)]
pub(crate) struct Watch {
    processes: BTreeSet<Tid>,
    interval: Duration,
    due: Instant,
}

impl Watch {
    pub fn new(leader: Tid) -> Self {
        Watch { processes: BTreeSet::from([leader]), interval: SHORTEST, due: Instant::now() }
    }

    /// The time until the next look.
    pub fn wait(&self) -> Duration {
        self.due.saturating_duration_since(Instant::now())
    }

    /// Looks at every thread, and says when to do so again.
    pub fn look(&mut self, usher: &mut Usher, gate: &mut Gate) {
        let begun = Instant::now();
        let mut news = self.find(usher, gate);
        for tid in usher.roll.tids() {
            news |= usher.look(tid, gate.expects(tid));
        }
        gate.let_go(usher);
        self.interval = if news { SHORTEST } else { (self.interval * 2).min(LONGEST) };
        let ended = Instant::now();
        self.due = ended + self.interval.max((ended - begun) * SHARE);
    }

    /// Looks at the threads that outlive the program's first process.
    pub fn last_look(&mut self, usher: &mut Usher) {
        for tid in usher.roll.tids() {
            usher.look(tid, true);
            usher.process_of(tid);
        }
    }

    /// Finds processes, and threads that nobody told of. Whether there were any.
    fn find(&mut self, usher: &mut Usher, gate: &Gate) -> bool {
        for tid in usher.roll.tids() {
            self.processes.extend(usher.process_of(tid));
        }
        let mut news = false;
        let mut queue: Vec<Tid> = self.processes.iter().copied().collect();
        while let Some(pid) = queue.pop() {
            let threads = task::threads(pid);
            if threads.is_empty() {
                self.processes.remove(&pid);
            }
            for tid in &threads {
                news |= adopt(*tid, usher, gate);
            }
            queue.extend(task::children(pid, &threads).into_iter().filter(|child| self.processes.insert(*child)));
        }
        news
    }
}

/// Takes a thread in that did not come through the gate, and is not about to.
fn adopt(tid: Tid, usher: &mut Usher, gate: &Gate) -> bool {
    if usher.roll.living(tid).is_some() || gate.expects(tid) {
        return false;
    }
    let me = std::process::id() as Tid;
    let traced_here = || task::process_and_tracer(tid).is_none_or(|(_, tracer)| tracer == me);
    let lives = Task::of(tid).is_some_and(|task| !['Z', 'X'].contains(&task.state));
    if !lives || (gate.is_shut() && traced_here()) {
        return false;
    }
    usher.arrive(tid, Arrival::Late);
    true
}
