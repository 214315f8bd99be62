//! The program in the cell: does the same I/O in both ways, in turn, and tells what it cost.

use seatmap_cell::noise::{self, Options};
use seatmap_ninep::client::{File, Inherited};
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

/// The I/O beside a busy loop: a block is written and read back, over and over, at a pace that both ways can keep.
const BLOCK_BYTES: usize = 128 << 10;
const PERIOD: Duration = Duration::from_millis(5);
/// The same in words.
pub const PACE: &str = "25 MiB/s written and as much read";

/// The name of the file that is written.
const FILE: &str = "block";

/// What is timed.
pub struct Job {
    writes: bool,
    /// All of it.
    pub size_bytes: usize,
    /// At once.
    pub unit_bytes: usize,
}

impl Job {
    /// What it does.
    pub fn verb(&self) -> &'static str {
        if self.writes { "write" } else { "read" }
    }

    fn offsets(&self) -> impl Iterator<Item = u64> {
        (0..self.size_bytes as u64).step_by(self.unit_bytes)
    }
}

/// Each reads what the one before it wrote.
pub const JOBS: [Job; 4] = [
    Job { writes: true, size_bytes: 64 << 20, unit_bytes: 128 << 10 },
    Job { writes: false, size_bytes: 64 << 20, unit_bytes: 128 << 10 },
    Job { writes: true, size_bytes: 16 << 20, unit_bytes: 4 << 10 },
    Job { writes: false, size_bytes: 16 << 20, unit_bytes: 4 << 10 },
];

/// What was found.
#[derive(Debug, Default, Serialize, Deserialize)]
pub struct Figures {
    /// Of each job, of each turn, directly and by the channel: seconds, and seconds of this thread's CPU time.
    pub jobs: Vec<Vec<[[f64; 2]; 2]>>,
    /// Of each turn, without I/O, with it directly, and by the channel: percent stolen, and the longest gap in us.
    pub noise: Vec<[[f64; 2]; 3]>,
}

/// Measures, and prints the figures.
pub fn run(folder: &Path, cpu: &str) -> Result<(), Box<dyn Error>> {
    let cpu = cpu.parse()?;
    // SAFETY: nobody else in this process takes it.
    let mut client = unsafe { Inherited::inherited() }?.ok_or("no channel")?;
    let open = fs::OpenOptions::new().read(true).write(true).create(true).truncate(true).open(folder.join(FILE))?;
    let mut direct = Direct(open);
    let file = client.create(&format!("files/{FILE}-9p"))?;
    let mut channel = Channel { client: &mut client, file };
    let mut figures = Figures { jobs: vec![Vec::new(); JOBS.len()], ..Figures::default() };
    for _ in 0..TURNS {
        for (job, found) in JOBS.iter().zip(&mut figures.jobs) {
            found.push([timed(job, &mut direct)?, timed(job, &mut channel)?]);
        }
        let ways: [Option<&mut (dyn Way + Send)>; 3] = [None, Some(&mut direct), Some(&mut channel)];
        let mut found = [[0.0; 2]; 3];
        for (way, found) in ways.into_iter().zip(&mut found) {
            *found = beside(way, cpu)?;
        }
        figures.noise.push(found);
    }
    println!("{}", serde_json::to_string(&figures)?);
    Ok(())
}

/// A way to a file.
trait Way {
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()>;

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()>;
}

struct Direct(fs::File);

impl Way for Direct {
    fn write(&mut self, offset: u64, data: &[u8]) -> io::Result<()> {
        self.0.write_all_at(data, offset)
    }

    fn read(&mut self, offset: u64, into: &mut [u8]) -> io::Result<()> {
        self.0.read_exact_at(into, offset)
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
}

/// Seconds, and seconds of this thread's CPU time.
fn timed(job: &Job, way: &mut dyn Way) -> io::Result<[f64; 2]> {
    let mut block = vec![1; job.unit_bytes];
    let (began, cpu) = (Instant::now(), cpu_s());
    for offset in job.offsets() {
        match job.writes {
            true => way.write(offset, &block)?,
            false => way.read(offset, &mut block)?,
        }
    }
    Ok([began.elapsed().as_secs_f64(), cpu_s() - cpu])
}

fn cpu_s() -> f64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: `time` is writable, and the clock is every thread's own.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as f64 + time.tv_nsec as f64 * 1e-9
}

/// Percent stolen from a busy loop and its longest gap in us, while another thread on the same CPU does I/O.
fn beside(way: Option<&mut (dyn Way + Send)>, cpu: u32) -> Result<[f64; 2], Box<dyn Error>> {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let worker = way.map(|way| scope.spawn(|| pace(way, &done)));
        let options = Options { duration: NOISE, ..Options::default() };
        let report = noise::measure(&[cpu], &options, &mut |_| ControlFlow::Continue(()));
        done.store(true, Ordering::Relaxed);
        let worked = worker.map_or(Ok(Ok(())), |worker| worker.join());
        worked.map_err(|_| "the I/O thread is lost")??;
        let found = report?.cpus.remove(0);
        Ok([found.stolen_percent, found.longest_gap_us])
    })
}

fn pace(way: &mut dyn Way, done: &AtomicBool) -> io::Result<()> {
    let mut block = vec![2; BLOCK_BYTES];
    let mut next = Instant::now();
    while !done.load(Ordering::Relaxed) {
        way.write(0, &block)?;
        way.read(0, &mut block)?;
        next += PERIOD;
        std::thread::sleep(next.saturating_duration_since(Instant::now()));
    }
    Ok(())
}
