//! Measures quiet cells: the cost of creating one, and its protection of a busy loop under load.

use crate::row::Row;
use crate::statistic::{median, quantile};
use seatmap_os::affinity;
use std::error::Error;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Cells made and undone, and killed in the making.
const CELLS: usize = 15;
/// Measurements of each kind, taking turns, and how long one is.
const TURNS: usize = 11;
const SECONDS: &str = "2";
/// Busy loops that may run anywhere, beside a writer.
const HOGS: usize = 2;
/// Creators that are started to kill one in time.
const CREATORS: usize = 20;

/// The setting that a creator changes last.
const LAST_SETTING: &str = "vm/stat_interval";

/// How often a journal is looked at, and how long a guardian is waited for.
const POLL: Duration = Duration::from_micros(200);
const PATIENCE: Duration = Duration::from_secs(5);

/// The name of the cells that the benchmark makes.
const NAME: &str = "bench";

/// Where this computer lets cells be made: root, and two CPUs.
pub fn rows() -> Result<Vec<Row>, Box<dyn Error>> {
    let seatmap = std::env::current_exe()?.with_file_name("seatmap");
    if affinity::current()?.len() < 2 || !seatmap.exists() {
        return Ok(vec![Row::info(
            "cells",
            "not made: they need the seatmap binary beside this one, and two CPUs",
        )]);
    }
    let mut bench = CellRuns { seatmap, cpu: 0 };
    // The CPU that Seatmap itself chooses: the one without unmovable interrupts, if there is one.
    let made = bench.cell(&[
        "create",
        NAME,
        "--count",
        "1",
        "--untested",
        "--require",
        "v1-exclusive",
        "--json",
    ]);
    let made: serde_json::Value = match made {
        Ok(json) => serde_json::from_str(&json)?,
        Err(error) => return Ok(vec![Row::info("cells", format!("not made: {error}"))]),
    };
    bench.cpu = made["cpus"][0].as_u64().ok_or("a cell without CPUs")? as u32;
    // Made only to see which CPU is chosen.
    bench.cell(&["destroy", NAME])?;
    let mut rows = bench.costs()?;
    rows.extend(bench.noise()?);
    Ok(rows)
}

struct CellRuns {
    seatmap: PathBuf,
    cpu: u32,
}

impl CellRuns {
    fn cell(&self, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
        let output = Command::new(&self.seatmap).arg("cell").args(arguments).output()?;
        if output.status.success() {
            Ok(String::from_utf8(output.stdout)?)
        } else {
            Err(String::from_utf8_lossy(&output.stderr).trim().to_owned().into())
        }
    }

    fn create(&self, more: &[&str]) -> Result<String, Box<dyn Error>> {
        let list = self.cpu.to_string();
        self.cell(&[&["create", NAME, "--cpus", &list, "--untested"], more].concat())
    }

    /// Wall-clock times, the start of the process included.
    fn costs(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let mut made = Vec::new();
        let mut undone = Vec::new();
        let mut restored = Vec::new();
        for _ in 0..CELLS {
            let began = Instant::now();
            self.create(&[])?;
            made.push(began.elapsed().as_secs_f64() * 1e3);
            let began = Instant::now();
            self.cell(&["destroy", NAME])?;
            undone.push(began.elapsed().as_secs_f64() * 1e3);
            restored.push(self.killed()?);
        }
        Ok(vec![
            figure_row("cell create, without the noise test", &made, 50.0),
            figure_row("cell destroy", &undone, 20.0),
            figure_row("cell: creator killed late, until all is put back", &restored, 10.0),
        ])
    }

    /// Milliseconds from the death of a creator until its guardian has restored all settings and
    /// removed the journal. The bench kills the creator late, when it has noted the last setting
    /// and nearly everything must be restored. If the creator finishes first, the bench tries
    /// again.
    fn killed(&self) -> Result<f64, Box<dyn Error>> {
        let journal = Path::new("/run/seatmap").join(format!("{NAME}.journal"));
        for _ in 0..CREATORS {
            let mut create = Command::new(&self.seatmap);
            create.args(["cell", "create", NAME, "--untested", "--cpus", &self.cpu.to_string()]);
            let mut creator = create.stderr(Stdio::null()).stdout(Stdio::null()).spawn()?;
            // The setting is the last step of a creation: once the journal names it, nearly
            // everything is to be undone.
            while !std::fs::read_to_string(&journal).unwrap_or_default().contains(LAST_SETTING)
                && creator.try_wait()?.is_none()
            {
                std::thread::sleep(POLL);
            }
            // The clock starts with the signal, since the guardian sees the death and not the
            // reaping.
            creator.kill()?;
            let began = Instant::now();
            creator.wait()?;
            while journal.exists() && began.elapsed() < PATIENCE {
                // The creator had finished before it was killed; the cell stands, and the next try
                // kills sooner or later.
                if std::fs::read_to_string(&journal).unwrap_or_default().contains("\"done\"") {
                    break;
                }
                std::thread::sleep(POLL);
            }
            if !journal.exists() {
                return Ok(began.elapsed().as_secs_f64() * 1e3);
            }
            self.cell(&["destroy", NAME])?;
        }
        Err("the creator was not killed before it had finished".into())
    }

    /// Three busy loops: one pinned to a CPU and one in a cell on it, both beside the same hogs and
    /// writer, and one pinned there without hogs, whose gaps no cell can remove.
    fn noise(&self) -> Result<Vec<Row>, Box<dyn Error>> {
        let mut alone = Vec::new();
        let mut pinned = Vec::new();
        let mut inside = Vec::new();
        for _ in 0..TURNS {
            alone.push(self.measured(&[])?);
            pinned.push(under_load(|| self.measured(&[]))?);
            self.create(&[])?;
            let found = under_load(|| self.measured(&["cell", "run", NAME, "--"]));
            // Before the result is looked at, so that no cell is left behind by a failed run.
            self.cell(&["destroy", NAME])?;
            inside.push(found?);
        }
        Ok(vec![
            loaded_row(
                [&inside, &pinned, &alone],
                "cell under load: time stolen / of a pinned loop",
                0,
                Some(20.0),
                "%",
            ),
            loaded_row(
                [&inside, &pinned, &alone],
                "cell under load: longest gap / of a pinned loop",
                1,
                Some(50.0),
                "us",
            ),
            loaded_row(
                [&inside, &pinned, &alone],
                "cell under load: longest preemption / of a pinned loop",
                2,
                None,
                "us",
            ),
        ])
    }

    /// Percent stolen, and the longest gap and the longest preemption in microseconds, by `seatmap
    /// noise` run so.
    fn measured(&self, before: &[&str]) -> Result<[f64; 3], Box<dyn Error>> {
        let mut command = Command::new(&self.seatmap);
        let cpu = self.cpu.to_string();
        if !before.is_empty() {
            // In a cell the command is `seatmap cell run bench -- seatmap noise ...`.
            command.args(before).arg(&self.seatmap);
        }
        let output =
            command.args(["noise", "--cpus", &cpu, "--seconds", SECONDS, "--json"]).output()?;
        let text = String::from_utf8(output.stdout)?;
        // `cell run` may print a line of its own before the JSON.
        let line = text.lines().find(|line| line.starts_with('{'));
        let found: serde_json::Value = serde_json::from_str(
            line.ok_or_else(|| String::from_utf8_lossy(&output.stderr).into_owned())?,
        )?;
        Ok([
            figure(&found, "stolen_percent")?,
            figure(&found, "longest_gap_us")?,
            figure(&found, "longest_preemption_us")?,
        ])
    }
}

fn loaded_row(
    runs: [&[[f64; 3]]; 3],
    what: &str,
    at: usize,
    limit: Option<f64>,
    unit: &str,
) -> Row {
    let [inside, pinned, alone] = runs.map(|runs| middle(runs, at));
    // The medians: index 1 of the three quantiles.
    let ratio = pinned[1] / inside[1];
    let [inside, pinned, alone] = [inside, pinned, alone].map(with_bounds);
    let got =
        format!("1/{ratio:.1}: {inside} / {pinned} {unit}; without load nor cell {alone} {unit}");
    match limit {
        Some(limit) => Row::held(what, got, format!("<= 1/{limit}"), ratio >= limit),
        None => Row::info(what, got),
    }
}

fn figure_row(what: &str, ms: &[f64], limit: f64) -> Row {
    let middle = median(ms);
    let got =
        format!("{middle:.1} ms (middle half {:.1}-{:.1})", quantile(ms, 0.25), quantile(ms, 0.75));
    Row::held(what, got, format!("<= {limit} ms"), middle <= limit)
}

fn with_bounds([low, middle, high]: [f64; 3]) -> String {
    format!("{middle:.2} ({low:.2}-{high:.2})")
}

fn figure(found: &serde_json::Value, key: &str) -> Result<f64, String> {
    found["cpus"][0][key].as_f64().ok_or_else(|| format!("no {key} in {found}"))
}

/// The middle half of one of the figures of all runs, and the median between.
fn middle(runs: &[[f64; 3]], at: usize) -> [f64; 3] {
    let all: Vec<f64> = runs.iter().map(|run| run[at]).collect();
    [0.25, 0.5, 0.75].map(|share| quantile(&all, share))
}

/// Does the work beside two hogs and a writer that may run on any CPU, and are gone when it
/// returns.
fn under_load<T>(work: impl FnOnce() -> T) -> T {
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let done = &done;
        for _ in 0..HOGS {
            scope.spawn(move || while !done.load(Ordering::Relaxed) {});
        }
        scope.spawn(move || write_until(done));
        let result = work();
        done.store(true, Ordering::Relaxed);
        result
    })
}

/// Writes a file over and over, and has it put on disk each time.
fn write_until(done: &AtomicBool) {
    let Ok(mut file) = tempfile::tempfile() else { return };
    let block = vec![1_u8; 1 << 20];
    while !done.load(Ordering::Relaxed) {
        // Cut to nothing again, so that the file stays at one MiB.
        let wrote =
            file.write_all(&block).and_then(|()| file.sync_data()).and_then(|()| file.set_len(0));
        if wrote.is_err() {
            return;
        }
    }
}
