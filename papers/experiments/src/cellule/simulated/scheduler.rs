//! The fair scheduler of Linux 2.6.30 for threads of equal weight on one CPU (kernel/sched_fair.c).

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PickedThread {
    pub number: usize,
    pub is_other: bool,
}

#[derive(Clone, Copy, Debug)]
struct Entity {
    runtime: i64,
    slice: u64,
    is_runnable: bool,
}

/// Threads by number; 0 is the first, and runs.
#[derive(Clone, Debug)]
pub struct FairScheduler {
    latency: u64,
    granularity: u64,
    wakeup_granularity: u64,
    entities: Vec<Entity>,
    current: Option<usize>,
    least: i64,
    must_switch: bool,
}

impl FairScheduler {
    /// One running thread. All times are in core cycles.
    pub fn new(latency: u64, granularity: u64, wakeup_granularity: u64) -> Self {
        FairScheduler {
            latency,
            granularity,
            wakeup_granularity,
            entities: vec![Entity { runtime: 0, slice: 0, is_runnable: true }],
            current: Some(0),
            least: 0,
            must_switch: false,
        }
    }

    pub fn must_switch(&self) -> bool {
        self.must_switch
    }

    /// Charges the running thread; false if none runs.
    pub fn charge(&mut self, cycles: u64) -> bool {
        let Some(current) = self.current else { return false };
        let entity = &mut self.entities[current];
        entity.runtime += cycles as i64;
        entity.slice += cycles;
        // The queue's own time never decreases.
        if let Some(first) = self.first() {
            self.least = self.least.max(self.entities[first].runtime);
        }
        true
    }

    fn first(&self) -> Option<usize> {
        (0..self.entities.len())
            .filter(|at| self.entities[*at].is_runnable)
            .min_by_key(|at| self.entities[*at].runtime)
    }

    fn part(&self, threads: usize) -> u64 {
        let threads = threads.max(1) as u64;
        self.latency.max(threads * self.granularity) / threads
    }

    fn runnable(&self) -> usize {
        self.entities.iter().filter(|entity| entity.is_runnable).count()
    }

    /// A timer interrupt ends a used-up slice.
    pub fn tick(&mut self) {
        let threads = self.runnable();
        if let Some(current) = self.current
            && threads > 1
            && self.entities[current].slice > self.part(threads)
        {
            self.must_switch = true;
        }
    }

    /// The running thread creates another one, which is charged a slice in advance and, because it
    /// runs first, changes places with its maker.
    pub fn fork(&mut self) {
        let part = self.part(self.runnable() + 1);
        let mut runtime = self.least + part as i64;
        if let Some(current) = self.current
            && self.entities[current].runtime < runtime
        {
            std::mem::swap(&mut self.entities[current].runtime, &mut runtime);
            self.must_switch = true;
        }
        self.entities.push(Entity { runtime, slice: 0, is_runnable: true });
    }

    pub fn sleep(&mut self, thread: usize) {
        self.entities[thread].is_runnable = false;
        if self.current == Some(thread) {
            self.current = None;
        }
    }

    /// A thread wakes: it is credited for its sleep, and preempts a thread that is far ahead.
    pub fn wake(&mut self, thread: usize) {
        let credited = self.least - self.latency as i64;
        let entity = &mut self.entities[thread];
        entity.is_runnable = true;
        entity.runtime = entity.runtime.max(credited);
        let runtime = entity.runtime;
        if let Some(current) = self.current {
            let ahead = self.entities[current].runtime - runtime;
            self.must_switch |= ahead > self.wakeup_granularity as i64;
        }
    }

    pub fn pick(&mut self) -> Option<PickedThread> {
        self.must_switch = false;
        let Some(number) = self.first() else {
            self.current = None;
            return None;
        };
        let is_other = self.current != Some(number);
        if is_other {
            self.entities[number].slice = 0;
        }
        self.current = Some(number);
        Some(PickedThread { number, is_other })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn scheduler() -> FairScheduler {
        FairScheduler::new(20_000, 4_000, 5_000)
    }

    #[test]
    fn child_runs_first_and_preempts_on_wakeup() {
        let mut scheduler = scheduler();
        scheduler.charge(100);
        scheduler.fork();
        assert!(scheduler.must_switch());
        assert_eq!(scheduler.pick(), Some(PickedThread { number: 1, is_other: true }));
        scheduler.charge(1_300);
        scheduler.sleep(1);
        assert_eq!(scheduler.pick(), Some(PickedThread { number: 0, is_other: true }));
        // Its maker was charged the slice of 10 ms that the thread was to get.
        scheduler.charge(10);
        scheduler.wake(1);
        assert!(scheduler.must_switch());
        assert_eq!(scheduler.pick().map(|picked| picked.number), Some(1));
    }

    #[test]
    fn thread_slightly_behind_waits_for_slice_end() {
        let mut scheduler = scheduler();
        scheduler.fork();
        assert_eq!(scheduler.pick().map(|picked| picked.number), Some(1));
        scheduler.charge(9_000);
        scheduler.sleep(1);
        assert_eq!(scheduler.pick().map(|picked| picked.number), Some(0));
        scheduler.charge(1_000);
        scheduler.wake(1);
        assert!(!scheduler.must_switch());
        scheduler.tick();
        assert!(!scheduler.must_switch());
        scheduler.charge(9_500);
        scheduler.tick();
        assert!(scheduler.must_switch());
    }

    #[test]
    fn cpu_without_threads_is_idle() {
        let mut scheduler = scheduler();
        scheduler.sleep(0);
        assert_eq!((scheduler.pick(), scheduler.charge(7)), (None, false));
        scheduler.wake(0);
        assert_eq!(scheduler.pick(), Some(PickedThread { number: 0, is_other: true }));
    }
}
