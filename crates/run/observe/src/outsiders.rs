//! Outside processes that wake the program.

use seatmap_data::pattern::Outsider;
use seatmap_os::{Root, Tid, task};
use std::collections::HashMap;

#[derive(Default)]
pub struct Outsiders {
    by_pid: HashMap<Tid, Outsider>,
}

impl Outsiders {
    /// Its name is read at the first one; if it has ended, the waking thread's is used, if known.
    pub fn count(&mut self, pid: Tid, wakeups: f64, waker: impl FnOnce() -> String) {
        let outsider = self.by_pid.entry(pid).or_insert_with(|| Outsider {
            pid,
            name: task::name(&Root::new("/"), pid).unwrap_or_else(waker),
            wakeups: 0.0,
            is_kernel: task::is_of_kernel(pid),
        });
        outsider.wakeups += wakeups;
    }

    /// Most frequent first, without this process.
    pub fn all(&self) -> Vec<Outsider> {
        let own = task::own_pid();
        let others = self.by_pid.values().filter(|outsider| outsider.pid != own);
        let mut all: Vec<Outsider> = others.cloned().collect();
        all.sort_by(|a, b| b.wakeups.total_cmp(&a.wakeups).then(a.pid.cmp(&b.pid)));
        all
    }
}
