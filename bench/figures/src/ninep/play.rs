//! The program in the cell: does the same I/O in both ways, in turn, and reports the cost.

use seatmap_ninep::client::{File, Inherited};
use seatmap_noise::NoiseOptions;
use serde::{Deserialize, Serialize};
use std::error::Error;
use std::fs;
use std::io;
use std::ops::ControlFlow;
use std::os::unix::fs::FileExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Measurements of each kind, taking turns.
const TURNS: usize = 7;

/// How long the noise of one way is measured: many ticks of any kernel.
const NOISE: Duration = Duration::from_millis(800);

/// The name of the file that is written.
const FILE: &str = "block";

/// An operation on a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Doing {
    /// Write a block, and go on when it is written.
    Write,
    /// Write a block, and go on; wait for all at the end.
    Post,
    /// Write a block, and go on when it is on disk.
    Sync,
    /// Read a block.
    Read,
}

impl Doing {
    /// The operation in words.
    pub fn verb(self) -> &'static str {
        match self {
            Doing::Write => "write",
            Doing::Post => "post",
            Doing::Sync => "put on disk",
            Doing::Read => "read",
        }
    }
}

/// One timed series of operations.
pub struct Job {
    /// The operation.
    pub doing: Doing,
    /// The size of the file.
    pub size_bytes: usize,
    /// The size of a block.
    pub unit_bytes: usize,
}

/// Each reads what the one before it wrote.
pub const JOBS: [Job; 7] = [
    Job { doing: Doing::Write, size_bytes: 64 << 20, unit_bytes: 128 << 10 },
    Job { doing: Doing::Post, size_bytes: 64 << 20, unit_bytes: 128 << 10 },
    Job { doing: Doing::Read, size_bytes: 64 << 20, unit_bytes: 128 << 10 },
    Job { doing: Doing::Write, size_bytes: 16 << 20, unit_bytes: 4 << 10 },
    Job { doing: Doing::Post, size_bytes: 16 << 20, unit_bytes: 4 << 10 },
    Job { doing: Doing::Read, size_bytes: 16 << 20, unit_bytes: 4 << 10 },
    Job { doing: Doing::Sync, size_bytes: 8 << 20, unit_bytes: 128 << 10 },
];

/// The I/O beside a busy loop: a block of 128 KiB every so often, at a pace that both ways can
/// keep.
pub const PACES: [(Doing, Duration); 3] = [
    (Doing::Write, Duration::from_millis(5)),
    (Doing::Post, Duration::from_millis(5)),
    (Doing::Sync, Duration::from_millis(20)),
];
const PACED_BYTES: usize = 128 << 10;

/// The figures of all jobs.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// For each job and each turn, directly and by the channel: seconds, and seconds of this
    /// thread's CPU time.
    pub jobs: Vec<Vec<[[f64; 2]; 2]>>,
    /// For each pace and each turn, directly and by the channel: percent stolen, and the longest
    /// gap in us.
    pub noise: Vec<Vec<[[f64; 2]; 2]>>,
    /// For each turn without I/O: percent stolen, and the longest gap in us.
    pub quiet: Vec<[f64; 2]>,
}

/// Measures, and prints the figures.
pub fn run(folder: &Path, cpu: &str) -> Result<(), Box<dyn Error>> {
    let cpu = cpu.parse()?;
    // SAFETY: no other code in this process takes it.
    let mut client = unsafe { Inherited::inherited() }?.ok_or("no channel")?;
    let open = fs::OpenOptions::new()
        .read(true)
        .write(true)
        .create(true)
        .truncate(true)
        .open(folder.join(FILE))?;
    let mut direct = Direct(open);
    // Another file than the direct one, so that neither way finds the other's pages in the cache.
    let file = client.create(&format!("files/{FILE}-9p"))?;
    let mut channel = Channel { client: &mut client, file };
    let jobs = vec![Vec::new(); JOBS.len()];
    let noise = vec![Vec::new(); PACES.len()];
    let mut figures = Figures { jobs, noise, quiet: Vec::new() };
    for _ in 0..TURNS {
        for (job, found) in JOBS.iter().zip(&mut figures.jobs) {
            found.push([timed(job, &mut direct)?, timed(job, &mut channel)?]);
        }
        figures.quiet.push(noise_of(cpu)?);
        for (pace, found) in PACES.iter().zip(&mut figures.noise) {
            found.push([beside(*pace, &mut direct, cpu)?, beside(*pace, &mut channel, cpu)?]);
        }
    }
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// A way to a file.
trait Way {
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;

    fn sync(&mut self) -> io::Result<()>;

    /// Where there is nothing faster, writing.
    fn post(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.write(offset, data)
    }

    fn settle(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn make(&mut self, doing: Doing, offset: u64, block: &mut [u8]) -> io::Result<()> {
        match doing {
            Doing::Write => self.write(offset, block),
            Doing::Post => self.post(offset, block),
            Doing::Sync => self.write(offset, block).and_then(|()| self.sync()),
            Doing::Read => self.read(offset, block),
        }
    }
}

struct Direct(fs::File);

impl Way for Direct {
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.0.sync_all()
    }
}

struct Channel<'a> {
    client: &'a mut Inherited,
    file: File,
}

impl Way for Channel<'_> {
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.client.write_all(&self.file, offset, data)
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        match self.client.read(&self.file, offset, into)? {
            count if count == into.len() => Ok(()),
            _ => Err(io::ErrorKind::UnexpectedEof.into()),
        }
    }

    fn sync(&mut self) -> io::Result<()> {
        self.client.sync(&self.file)
    }

    fn post(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.client.post(&self.file, offset, data)
    }

    fn settle(&mut self) -> io::Result<()> {
        self.client.settle()
    }
}

/// Seconds, and seconds of this thread's CPU time.
fn timed(job: &Job, way: &mut dyn Way) -> io::Result<[f64; 2]> {
    let mut block = vec![1; job.unit_bytes];
    let began = Instant::now();
    let cpu = cpu_s();
    for offset in (0..job.size_bytes as u64).step_by(job.unit_bytes) {
        way.make(job.doing, offset, &mut block)?;
    }
    // Posted writes count when they are written, and not when they are handed over.
    way.settle()?;
    Ok([began.elapsed().as_secs_f64(), cpu_s() - cpu])
}

fn cpu_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable, and the clock is every thread's own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Percent stolen from a busy loop on this CPU, and its longest gap in us.
fn noise_of(cpu: u32) -> Result<[f64; 2], Box<dyn Error>> {
    let options = NoiseOptions { duration: NOISE, ..NoiseOptions::default() };
    let found = seatmap_noise::measure(&[cpu], &options, &mut |_| ControlFlow::Continue(()))?
        .cpus
        .remove(0);
    Ok([found.stolen_percent, found.longest_gap_us])
}

/// Percent stolen and the longest gap in us, as [`noise_of`], while another thread does I/O on
/// the same CPU.
fn beside(
    pace: (Doing, Duration),
    way: &mut (dyn Way + Send),
    cpu: u32,
) -> Result<[f64; 2], Box<dyn Error>> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = scope.spawn(|| keep(pace, way, &done));
        let found = noise_of(cpu);
        // Before the result of the noise is looked at, or an error would leave the thread at work.
        done.store(true, Ordering::Relaxed);
        worker.join().map_err(|_| "the I/O thread is lost")??;
        found
    })
}

fn keep(
    (doing, period): (Doing, Duration),
    way: &mut dyn Way,
    done: &AtomicBool,
) -> io::Result<()> {
    let mut block = vec![2; PACED_BYTES];
    let mut next = Instant::now();
    while !done.load(Ordering::Relaxed) {
        way.make(doing, 0, &mut block)?;
        // From the planned time and not from now: a slow block does not lower the pace of the
        // others.
        next += period;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    way.settle()
}
