//! A barrier for all tasks.

use crate::port::{Addr, Port};

/// A barrier: no task leaves before the last one has arrived.
///
/// One word counts arrivals and is never reset: a task that draws ticket t waits until the count
/// reaches the next multiple of the number of tasks. (A central counter barrier after
/// Mellor-Crummey & Scott 1991, section 3.1, with the sense replaced by the round.) It starts from
/// any multiple of `tasks`, usually zero; 2^64 arrivals are never reached.
///
/// ```
/// # use seatmap_data::port::{Addr, Barrier, Port};
/// fn task<P: Port>(port: &P) {
///     let all_here = Barrier::new(Addr::line(0), 2);
///     all_here.wait(port);
/// }
/// ```
#[derive(Clone, Copy, Debug)]
pub struct Barrier {
    count: Addr,
    tasks: u64,
}

impl Barrier {
    /// Creates a barrier for `tasks` tasks, on a word without other uses. Zero tasks count as one.
    pub fn new(count: Addr, tasks: usize) -> Self {
        Barrier { count, tasks: tasks.max(1) as u64 }
    }

    /// Waits until all tasks have called it in this round.
    pub fn wait<P: Port + ?Sized>(&self, port: &P) {
        let ticket = port.fetch_add(self.count, 1);
        let all_here = (ticket / self.tasks + 1) * self.tasks;
        let mut arrived = ticket + 1;
        while arrived < all_here {
            arrived = port.wait_while(self.count, arrived);
        }
    }
}
