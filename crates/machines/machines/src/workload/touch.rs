//! A workload that touches memory first, which decides its NUMA node.

use crate::workload::lines_up_to;
use seatmap_data::port::{Addr, Port, Workload};

/// One task writes a zero to each of its lines. If the kernel places memory by first touch, the
/// pages are on the NUMA node of the task's PU.
pub struct Touch {
    /// Words to write.
    pub words: Vec<Addr>,
}

impl Workload for Touch {
    type Output = ();

    fn tasks(&self) -> usize {
        1
    }

    fn lines(&self) -> u32 {
        lines_up_to(&self.words)
    }

    fn task<P: Port>(&self, port: &P, _rank: usize) {
        for word in &self.words {
            port.store(*word, 0);
        }
    }
}
