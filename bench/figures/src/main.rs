//! Seatmap's own figures, as ratios within one run: `make bench`.
//!
//! Each bench is a function that returns [`Row`]s. The table goes to stdout and, with `--keep
//! FOLDER`, into a folder named after the day and the machine, beside the profile of the machine
//! that it was run on. No bench decides a test: the machines are shared, so wall time varies by
//! chance.

mod busy;
mod cell;
mod channels;
mod check;
mod coherent;
mod concurrent;
mod data;
mod engine;
mod fits;
mod hogs;
mod homes;
mod judge;
mod large;
mod mapping;
mod ninep;
mod noise;
mod own_lines;
mod pages;
mod pair;
mod plain;
mod polling;
mod qaplib;
mod regimes;
mod row;
mod run;
mod schedule;
mod scotch;
mod spe;
mod statistic;
mod time;
mod twin;
mod watch;
mod worker;

use row::Row;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

type MakeRows = fn() -> Result<Vec<Row>, Box<dyn Error>>;

const BENCHES: &[(&str, MakeRows)] = &[
    ("pair", pair::rows),
    ("hogs", hogs::rows),
    ("channels", channels::rows),
    ("concurrent", concurrent::rows),
    ("schedule", schedule::rows),
    ("fits", fits::rows),
    ("homes", homes::rows),
    ("own-lines", own_lines::rows),
    ("busy", busy::rows),
    ("regimes", regimes::rows),
    ("pages", pages::rows),
    ("mapping", mapping::rows),
    ("qaplib", qaplib::rows),
    ("judge", judge::rows),
    ("large", large::rows),
    ("time", time::rows),
    ("run", run::rows),
    ("check", check::rows),
    ("noise", noise::rows),
    ("cell", cell::rows),
    ("engine", engine::rows),
    ("worker", worker::rows),
    ("spe", spe::rows),
    ("coherent", coherent::rows),
    ("twin", twin::rows),
    ("polling", polling::rows),
    ("ninep", ninep::rows),
    ("watch", watch::rows),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // Some benches start this executable again as a program, a launcher or a crowd: those parts
    // come before any option is read.
    let parts = [run::played, ninep::played, check::played, watch::played];
    if let Some(played) = parts.iter().find_map(|part| part(&arguments)) {
        return played;
    }
    let at_keep = arguments.iter().position(|argument| argument == "--keep");
    let keep = at_keep.and_then(|at| arguments.get(at + 1));
    // A misspelt bench is an error: it would otherwise be left out, and nobody would miss it.
    let mut others = arguments
        .iter()
        .filter(|argument| at_keep.is_none() || (*argument != "--keep" && Some(*argument) != keep));
    if let Some(unknown) =
        others.find(|argument| !BENCHES.iter().any(|(known, _)| known == argument))
    {
        let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
        return Err(format!(
            "'{unknown}' is not a bench; [--keep FOLDER] and any of: {}",
            names.join(" ")
        )
        .into());
    }
    let named: Vec<&str> = BENCHES
        .iter()
        .map(|(name, _)| *name)
        .filter(|name| arguments.iter().any(|a| a == name))
        .collect();
    let mut rows = Vec::new();
    for (name, bench) in BENCHES.iter().filter(|(name, _)| named.is_empty() || named.contains(name))
    {
        eprintln!("bench: {name}");
        rows.extend(bench()?);
    }
    print!("{}", table(&rows));
    match keep {
        Some(folder) => archive(Path::new(folder), rows),
        None => Ok(()),
    }
}

fn table(rows: &[Row]) -> String {
    let environment = seatmap_host::environment::read();
    let mut text = String::new();
    let cpu = environment.cpu_model.unwrap_or_default();
    let hypervisor = environment.hypervisor.unwrap_or_default();
    let kernel = environment.kernel.unwrap_or_default();
    let cpuset = environment.cpuset.unwrap_or_default();
    let _ = writeln!(
        text,
        "{cpu}, CPUs {cpuset}, hypervisor {hypervisor}, Linux {kernel}, {}\n",
        seatmap_console::here::today()
    );
    let widest = rows.iter().map(|row| row.what.chars().count()).max().unwrap_or(0);
    let longest = rows.iter().map(|row| row.got.chars().count()).max().unwrap_or(0);
    for row in rows {
        let _ = writeln!(
            text,
            "{:<5} {:widest$}  {:longest$}  {}",
            row.verdict(),
            row.what,
            row.got,
            row.target
        );
    }
    text
}

/// Keeps rows, beside those of the same day and machine that were not measured again.
fn archive(folder: &Path, rows: Vec<Row>) -> Result<(), Box<dyn Error>> {
    let environment = seatmap_host::environment::read();
    let cpus = seatmap_os::cpus::Cpus::read()?.allowed.len();
    let machine = environment.cpu_model.as_deref().unwrap_or("unknown").to_lowercase();
    // A name such as "Intel(R) Xeon(R) CPU @ 2.20GHz" becomes a folder's name.
    let machine: String =
        machine.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect();
    let folder = folder.join(format!(
        "{}-{}-{cpus}",
        seatmap_console::here::today(),
        machine.trim_matches('-')
    ));
    std::fs::create_dir_all(&folder)?;
    // A bench that is run alone replaces its own rows, and leaves those of the morning's whole run.
    let rows = beside_earlier(&folder.join("bench.json"), rows);
    std::fs::write(folder.join("bench.txt"), table(&rows))?;
    let rows: Vec<_> = rows.iter().map(Row::json).collect();
    let document = serde_json::json!({ "environment": environment, "rows": rows });
    std::fs::write(folder.join("bench.json"), format!("{document:#}\n"))?;
    eprintln!("bench: kept in {}", folder.display());
    Ok(())
}

/// Earlier rows in their order, each as it was measured last, and then the new ones.
fn beside_earlier(kept: &Path, mut rows: Vec<Row>) -> Vec<Row> {
    let document = std::fs::read(kept)
        .ok()
        .and_then(|text| serde_json::from_slice::<serde_json::Value>(&text).ok());
    let earlier = document.as_ref().and_then(|document| document["rows"].as_array());
    let mut all: Vec<Row> = earlier.into_iter().flatten().filter_map(Row::from_json).collect();
    for row in &mut all {
        if let Some(at) = rows.iter().position(|again| again.what == row.what) {
            *row = rows.remove(at);
        }
    }
    all.extend(rows);
    all
}
