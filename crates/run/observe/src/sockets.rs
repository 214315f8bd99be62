//! The method `sockets`: bytes over pipes, unix sockets and TCP.

mod flows;
mod pipes;
mod programs;

use crate::TalkKind;
use crate::talk::ThreadMessages;
use crate::wakeups::{EbpfError, FieldOffsets, Tables};
use flows::Flows;
use pipes::Pipes;
use programs::SocketPrograms;
use seatmap_data::words::counted_figure;
use seatmap_os::bpf::{AttachedProgram, Btf, EbpfProgram, Map, room_for_threads};
use std::io;
use std::time::Duration;

/// Pipes and connections, by thread and direction, between two looks.
const ENTRIES: u32 = 16_384;

/// An estimate from `bench/observe/calls.c` on a virtual machine, where calls took 190 ns longer,
/// of which the kernel counted 150 ns for the program.
const AT_SOCKET: Duration = Duration::from_nanos(40);

/// For any system call: an estimate from a ring of eight threads over pipes, where calls took 340
/// ns longer, half of them for the program.
const AT_CALL: Duration = Duration::from_nanos(170);

pub struct Sockets {
    table: Map,
    /// At the kernel's socket tracepoints (Linux 6.3).
    of_sockets: Vec<AttachedProgram>,
    of_calls: Pipes,
    flows: Flows,
}

impl Sockets {
    pub fn begin(btf: &Btf, layout: &FieldOffsets, tables: &Tables) -> Result<Self, EbpfError> {
        let room = room_for_threads(ENTRIES);
        let table = Map::hash("flows", programs::KEY_BYTES, programs::VALUE_BYTES, room)?;
        let ground = SocketPrograms { btf, layout, tables, flows: &table };
        // Newer kernels read fields by a cast, older ones by copying. Without socket tracepoints,
        // the program at all calls also counts sockets.
        let of_sockets =
            of_sockets(&ground, true).or_else(|_| of_sockets(&ground, false)).unwrap_or_default();
        let has_sockets = of_sockets.is_empty();
        let program = of_calls(&ground, has_sockets, true)
            .or_else(|_| of_calls(&ground, has_sockets, false))?;
        let of_calls = Pipes::begin(program, !has_sockets)?;
        Ok(Sockets { table, of_sockets, of_calls, flows: Flows::default() })
    }

    /// `is_pipe_seen` says whether a pipe woke a thread meanwhile.
    pub fn talk(&mut self, is_pipe_seen: bool) -> io::Result<Vec<ThreadMessages>> {
        let flows = &mut self.flows;
        self.table.take(|key, value| flows.count(key, value))?;
        let talk = flows.talk();
        let has_pipes = talk.iter().any(|talk| talk.kind == TalkKind::Pipe);
        self.of_calls.look(has_pipes, is_pipe_seen);
        Ok(talk)
    }

    pub fn counts_pipes(&self) -> bool {
        self.of_calls.is_on()
    }

    /// The programs' running time while the kernel timed them, with their added cost.
    pub fn run_time(&self) -> io::Result<Duration> {
        let of_calls = self.of_calls.run_time()?;
        let mut time = of_calls.time + AT_CALL.mul_f64(of_calls.runs as f64);
        for program in &self.of_sockets {
            let run = program.run_time()?;
            time += run.time + AT_SOCKET.mul_f64(run.runs as f64);
        }
        Ok(time)
    }

    pub fn unseen(&self) -> Vec<String> {
        let bytes = self.flows.unread_bytes();
        let unread = (bytes > 0.0).then(|| {
            let bytes = counted_figure(bytes, 0, "byte");
            format!("{bytes} went to readers outside the program, or were not read yet")
        });
        unread.into_iter().chain(self.of_calls.unseen()).collect()
    }
}

fn of_sockets(ground: &SocketPrograms, cast: bool) -> Result<Vec<AttachedProgram>, EbpfError> {
    let places = [
        ("seatmap_sent", "sock_send_length", 0),
        ("seatmap_got", "sock_recv_length", programs::READS),
    ];
    let attached = places.into_iter().map(|(name, place, reads)| {
        let place = ground.btf.tracepoint(place)?;
        Ok(EbpfProgram::load(name, place, &ground.passed(reads, cast)?)?.attach()?)
    });
    attached.collect()
}

fn of_calls(
    ground: &SocketPrograms,
    has_sockets: bool,
    cast: bool,
) -> Result<EbpfProgram, EbpfError> {
    let place = ground.btf.tracepoint("sys_exit")?;
    Ok(EbpfProgram::load("seatmap_bytes", place, &ground.transfer(has_sockets, cast)?)?)
}
