//! The method `sockets`: the bytes that threads move over pipes, unix sockets and TCP on this computer.
//!
//! | module | does |
//! |---|---|
//! | `programs` | the program that runs in the kernel when a pipe or socket was written or read |
//! | `flows` | brings writers and readers of one pipe or connection together |

mod flows;
mod programs;

use crate::talk::Talk;
use crate::wakeups::{Layout, Tables};
use flows::Flows;
use seatmap_os::Tid;
use seatmap_os::bpf::{Attached, Btf, LoadError, Map, Program};
use std::io;

/// Pipes and connections by thread and direction that are counted.
const ENTRIES: u32 = 16_384;

/// A program in the kernel that counts bytes until this is dropped.
#[derive(Debug)]
pub(crate) struct Sockets {
    table: Map,
    program: Attached,
    flows: Flows,
}

impl Sockets {
    /// Loads and attaches the program. It counts for the processes in `tables`.
    pub(crate) fn begin(btf: &Btf, layout: &Layout, tables: &Tables) -> Result<Self, SocketsError> {
        let table = Map::hash("flows", programs::KEY_BYTES, programs::VALUE_BYTES, ENTRIES)?;
        let place = btf.tracepoint("sys_exit")?;
        let load = |cast: bool| -> Result<Program, SocketsError> {
            let code = programs::transfer(btf, layout, tables, &table, cast)?;
            Ok(Program::load("seatmap_bytes", place, &code)?)
        };
        let program = load(true).or_else(|_| load(false))?.attach()?;
        Ok(Sockets { table, program, flows: Flows::default() })
    }

    /// The talk since the call before.
    pub(crate) fn talk(&mut self) -> io::Result<Vec<Talk>> {
        let flows = &mut self.flows;
        self.table.entries(|key, value| flows.count(key, value))?;
        Ok(flows.talk())
    }

    /// Counts nothing of these threads.
    pub(crate) fn leave_out(&mut self, own: &[Tid]) {
        self.flows.leave_out(own);
    }

    /// The program.
    pub(crate) fn program(&self) -> &Attached {
        &self.program
    }

    /// Talk that could not be seen, each as a sentence.
    pub(crate) fn unseen(&self) -> Option<String> {
        let bytes = self.flows.unread_bytes();
        (bytes > 0.0).then(|| format!("{bytes:.0} bytes went to readers outside the program, or were not read yet"))
    }
}

/// Why the kernel does not run the program.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SocketsError {
    /// Its types cannot be read.
    #[error(transparent)]
    Types(#[from] seatmap_os::bpf::BtfError),
    /// Its tables cannot be made.
    #[error("the kernel makes no tables for eBPF: {0}")]
    Tables(#[from] io::Error),
    /// It refuses the program.
    #[error(transparent)]
    Load(#[from] LoadError),
}
