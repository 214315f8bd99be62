//! Compares files by the 9P channel with files accessed directly: the cost of a request, and its
//! cost to the cell.
//!
//! A controller shows a folder, and this executable plays the program in the cell: it writes and
//! reads the same folder in both ways, in turn. Unless each block is put on disk, files are in the
//! page cache, so the bench compares the ways to it.

mod play;

use crate::row::Row;
use crate::statistic::{median, quantile};
use play::{Figures, JOBS, Job, PACES};
use seatmap_os::affinity;
use std::error::Error;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// The name of the cell.
const NAME: &str = "bench";

/// The part that this executable plays in the cell.
const PROGRAM: &str = "ninep-program";

/// Plays the program, where the arguments ask for it.
pub fn played(arguments: &[String]) -> Option<Result<(), Box<dyn Error>>> {
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [PROGRAM, folder, cpu] => Some(play::run(Path::new(folder), cpu)),
        _ => None,
    }
}

/// Where two CPUs are, and the binaries of the product and the papers are beside this one. The cell
/// is as closed as it can be made here.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let own = std::env::current_exe()?;
    let [seatmap, papers] = ["seatmap", "seatmap-papers"].map(|name| own.with_file_name(name));
    if affinity::current()?.len() < 2 || !seatmap.exists() || !papers.exists() {
        return Ok(vec![Row::info(
            "9P",
            "not measured: it takes seatmap and seatmap-papers beside this one, and two CPUs",
        )]);
    }
    let bench = Controlled { seatmap, papers, folder: tempfile::tempdir()? };
    let mut controller = bench.serve()?;
    // The result is looked at only after the controller has ended, so that no cell is left behind.
    let measured = bench.measured();
    // SIGTERM: it undoes the cell.
    // SAFETY: the child has not been waited for, so that the number is its own.
    unsafe { libc::kill(controller.id().cast_signed(), libc::SIGTERM) };
    controller.wait()?;
    let (backend, figures) = measured?;
    let mut rows = vec![Row::info("9P: the cell", backend)];
    rows.extend(JOBS.iter().zip(&figures.jobs).flat_map(|(job, turns)| compared(job, turns)));
    rows.extend(noise(&figures));
    Ok(rows)
}

struct Controlled {
    seatmap: PathBuf,
    papers: PathBuf,
    folder: tempfile::TempDir,
}

impl Controlled {
    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// `seatmap-papers controller`. A run folder of its own: cells of a real controller on this
    /// computer are not touched.
    fn controller(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(&self.papers);
        command.arg("controller").args(arguments).env("SEATMAP_RUN", self.path("run"));
        command
    }

    /// A controller that shows a folder and is there.
    fn serve(&self) -> Result<Child, Box<dyn Error>> {
        std::fs::create_dir(self.path("shown"))?;
        let mut serve = self.controller(&["serve", "--socket"]);
        serve.arg(self.path("socket")).arg("--export").arg(self.path("shown"));
        let mut child = serve.stdout(Stdio::piped()).spawn()?;
        let said = child.stdout.take().ok_or("no stdout")?;
        // It writes a line once it serves.
        BufReader::new(said).read_line(&mut String::new())?;
        Ok(child)
    }

    /// How completely the cell is closed, and the figures found in it. The cell ends with the
    /// process that holds it.
    fn measured(&self) -> Result<(String, Figures), Box<dyn Error>> {
        let order = ["create", NAME, "--count", "1", "--untested", "--hold", "--json", "--socket"];
        let mut create = self.controller(&order);
        let mut holder = create.arg(self.path("socket")).stdout(Stdio::piped()).spawn()?;
        let stdout = holder.stdout.take().ok_or("no stdout")?;
        // `--hold` prints the cell's JSON on one line once the cell is there.
        let mut line = String::new();
        BufReader::new(stdout).read_line(&mut line)?;
        let ran = self.ran(&line);
        // The cell lasts as long as the process that holds it.
        holder.kill()?;
        holder.wait()?;
        ran
    }

    fn ran(&self, cell: &str) -> Result<(String, Figures), Box<dyn Error>> {
        let cell: serde_json::Value = serde_json::from_str(cell)?;
        let cpu = cell["cpus"][0].as_u64().ok_or("a cell without CPUs")?;
        let backend = cell["backend"].as_str().unwrap_or_default().to_owned();
        let channel = format!("--channel={}", self.path("socket.9p").display());
        let mut run = Command::new(&self.seatmap);
        let program = run
            .env("SEATMAP_RUN", self.path("run"))
            .args(["cell", "run", NAME, "-q", "--"])
            .arg(&self.papers)
            .args(["controller", "start", &channel, "--"])
            .arg(std::env::current_exe()?)
            .arg(PROGRAM)
            .arg(self.path("shown"))
            .arg(cpu.to_string());
        let output = program.output()?;
        match serde_json::from_slice(&output.stdout) {
            Ok(figures) => Ok((backend, figures)),
            // The program prints one JSON document; without it, its words on stderr are the error.
            Err(_) => Err(String::from_utf8_lossy(&output.stderr).into_owned().into()),
        }
    }
}

/// Rows by wall-clock time, and by the CPU time of the program's thread.
fn compared(job: &Job, turns: &[[[f64; 2]; 2]]) -> Vec<Row> {
    let what = format!(
        "9P: {} {} MiB by {} KiB",
        job.doing.verb(),
        job.size_bytes >> 20,
        job.unit_bytes >> 10
    );
    vec![
        Row::info(
            format!("{what}: time by the channel / directly"),
            format!(
                "{} ({:.0} and {:.0} MiB/s)",
                spread(&turns.iter().map(|turn| turn[1][0] / turn[0][0]).collect::<Vec<_>>()),
                (job.size_bytes >> 20) as f64 / middle(&column(turns, 0, 1)),
                (job.size_bytes >> 20) as f64 / middle(&column(turns, 0, 0))
            ),
        ),
        Row::info(
            format!("{what}: CPU time on the cell's CPU, by the channel / directly"),
            format!(
                "{} ({:.1} and {:.1} us a request)",
                spread(&turns.iter().map(|turn| turn[1][1] / turn[0][1]).collect::<Vec<_>>()),
                middle(&column(turns, 1, 1)) * 1e6 * job.unit_bytes as f64 / job.size_bytes as f64,
                middle(&column(turns, 1, 0)) * 1e6 * job.unit_bytes as f64 / job.size_bytes as f64
            ),
        ),
    ]
}

fn column(turns: &[[[f64; 2]; 2]], at: usize, way: usize) -> Vec<f64> {
    turns.iter().map(|turn| turn[way][at]).collect::<Vec<f64>>()
}

/// The time that a busy loop on the cell's CPU loses to a program there that does the same I/O in
/// two ways.
fn noise(figures: &Figures) -> Vec<Row> {
    [
        figure_rows(figures, "time stolen from a busy loop", 0, "%"),
        figure_rows(figures, "its longest gap", 1, "us"),
    ]
    .concat()
}

fn figure_rows(figures: &Figures, what: &str, at: usize, unit: &str) -> Vec<Row> {
    let quiet: Vec<f64> = figures.quiet.iter().map(|turn| turn[at]).collect();
    let beside = PACES.iter().zip(&figures.noise).map(|((doing, period), turns)| {
        let [direct, channel] =
            [0, 1].map(|way| spread(&turns.iter().map(|turn| turn[way][at]).collect::<Vec<_>>()));
        let what = format!(
            "9P: {what}, beside 128 KiB to {} every {} ms",
            doing.verb(),
            period.as_millis()
        );
        Row::info(what, format!("{channel} {unit} by the channel, {direct} {unit} directly"))
    });
    let alone = Row::info(format!("9P: {what}, alone"), format!("{} {unit}", spread(&quiet)));
    std::iter::once(alone).chain(beside).collect::<Vec<_>>()
}

fn middle(values: &[f64]) -> f64 {
    median(values)
}

/// The median, and the bounds of the middle half.
fn spread(values: &[f64]) -> String {
    format!(
        "{:.2} (middle half {:.2}-{:.2})",
        middle(values),
        quantile(values, 0.25),
        quantile(values, 0.75)
    )
}
