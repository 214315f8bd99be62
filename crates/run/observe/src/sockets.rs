//! The method `sockets`: the bytes that threads move over pipes, unix sockets and TCP on this
//! computer.
//!
//! | module | does |
//! |---|---|
//! | `programs` | the programs that run in the kernel when a socket or pipe was written or read |
//! | `pipes` | the program at the end of all system calls, attached while it serves |
//! | `flows` | brings writers and readers of one pipe or connection together |

mod flows;
mod pipes;
mod programs;

use crate::TalkKind;
use crate::talk::ThreadMessages;
use crate::wakeups::{FieldOffsets, Tables};
use flows::Flows;
use pipes::Pipes;
use seatmap_data::statistics::words::counted_figure;
use seatmap_os::bpf::{AttachedProgram, Btf, EbpfProgram, LoadError, Map, room_for_threads};
use std::io;
use std::time::Duration;

/// Pipes and connections by thread and direction that are counted from one look to the next.
const ENTRIES: u32 = 16_384;

/// The time that a call on a socket takes longer beside the program's own: an estimate from
/// `bench/observe/calls.c` on a virtual machine, whose calls took 190 ns longer, of which the
/// kernel counted 150 ns for the program.
const AT_SOCKET: Duration = Duration::from_nanos(40);

/// The same for any system call where a program runs at its end: an estimate from a ring of eight
/// threads over pipes, whose calls took 340 ns longer, half of them for the program.
const AT_CALL: Duration = Duration::from_nanos(170);

/// Programs in the kernel that count bytes until this is dropped.
#[derive(Debug)]
pub(crate) struct Sockets {
    table: Map,
    /// At the kernel's tracepoints of sockets (Linux 6.3), where it has them.
    of_sockets: Vec<AttachedProgram>,
    /// At the end of all system calls.
    of_calls: Pipes,
    flows: Flows,
}

impl Sockets {
    /// Loads and attaches the programs. They count for the processes in `tables`.
    pub(crate) fn begin(
        btf: &Btf,
        layout: &FieldOffsets,
        tables: &Tables,
    ) -> Result<Self, SocketsError> {
        let table = Map::hash(
            "flows",
            programs::KEY_BYTES,
            programs::VALUE_BYTES,
            room_for_threads(ENTRIES),
        )?;
        let ground = Ground { btf, layout, tables, table: &table };
        // Newer kernels read fields by a cast, older ones by copying. Without the tracepoints of
        // sockets, the program at all system calls counts these as well.
        let of_sockets =
            ground.of_sockets(true).or_else(|_| ground.of_sockets(false)).unwrap_or_default();
        let has_sockets = of_sockets.is_empty();
        let program =
            ground.of_calls(has_sockets, true).or_else(|_| ground.of_calls(has_sockets, false))?;
        let of_calls = Pipes::begin(program, !has_sockets)?;
        Ok(Sockets { table, of_sockets, of_calls, flows: Flows::default() })
    }

    /// The talk since the call before. `is_pipe_seen` says that a thread was woken by a pipe
    /// meanwhile.
    pub(crate) fn talk(&mut self, is_pipe_seen: bool) -> io::Result<Vec<ThreadMessages>> {
        let flows = &mut self.flows;
        self.table.take(|key, value| flows.count(key, value))?;
        let talk = flows.talk();
        let has_pipes = talk.iter().any(|talk| talk.kind == TalkKind::Pipe);
        self.of_calls.look(has_pipes, is_pipe_seen);
        Ok(talk)
    }

    /// Whether bytes through pipes are counted now.
    pub(crate) fn counts_pipes(&self) -> bool {
        self.of_calls.is_on()
    }

    /// How long the programs ran while the kernel timed them, with what they cost beside.
    pub(crate) fn run_time(&self) -> io::Result<Duration> {
        let of_sockets: Duration = self
            .of_sockets
            .iter()
            .map(|program| {
                program.run_time().map(|run| run.time + AT_SOCKET.mul_f64(run.runs as f64))
            })
            .sum::<io::Result<_>>()?;
        let of_calls = self.of_calls.run_time()?;
        Ok(of_sockets + of_calls.time + AT_CALL.mul_f64(of_calls.runs as f64))
    }

    /// Talk that could not be seen, each as a sentence.
    pub(crate) fn unseen(&self) -> Vec<String> {
        let bytes = self.flows.unread_bytes();
        let unread = (bytes > 0.0).then(|| {
            format!(
                "{bytes} went to readers outside the program, or were not read yet",
                bytes = counted_figure(bytes, 0, "byte")
            )
        });
        unread.into_iter().chain(self.of_calls.unseen()).collect()
    }
}

/// Everything that the programs refer to.
struct Ground<'a> {
    btf: &'a Btf,
    layout: &'a FieldOffsets,
    tables: &'a Tables,
    table: &'a Map,
}

impl Ground<'_> {
    /// Programs at the kernel's tracepoints of sockets: no other call costs anything.
    fn of_sockets(&self, cast: bool) -> Result<Vec<AttachedProgram>, SocketsError> {
        let places = [
            ("seatmap_sent", "sock_send_length", 0),
            ("seatmap_got", "sock_recv_length", programs::READS),
        ];
        places
            .into_iter()
            .map(|(name, place, reads)| {
                let place = self.btf.tracepoint(place)?;
                let code =
                    programs::passed(self.btf, self.layout, self.tables, self.table, reads, cast)?;
                Ok(EbpfProgram::load(name, place, &code)?.attach()?)
            })
            .collect()
    }

    /// One program at the end of all system calls.
    fn of_calls(&self, has_sockets: bool, cast: bool) -> Result<EbpfProgram, SocketsError> {
        let place = self.btf.tracepoint("sys_exit")?;
        let code =
            programs::transfer(self.btf, self.layout, self.tables, self.table, has_sockets, cast)?;
        Ok(EbpfProgram::load("seatmap_bytes", place, &code)?)
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
