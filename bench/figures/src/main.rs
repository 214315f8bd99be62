//! Seatmap's own figures, as ratios within one run: `make bench`.
//!
//! The table goes to stdout and, with `--keep FOLDER`, to a folder named after the date and the
//! machine, together with the machine's profile. No test depends on a bench, because the machines
//! are shared and wall time varies.

mod busy;
mod mapping;
mod own_lines;
mod pair;
mod plain;
mod qaplib;
mod row;
mod run;
mod schedule;
mod scotch;
mod statistic;
#[path = "../../../crates/measure/measure/tests/synthetic/mod.rs"]
mod synthetic;

use row::FigureRow;
use std::error::Error;
use std::fmt::Write;
use std::path::Path;

type MakeRows = fn() -> Result<Vec<FigureRow>, Box<dyn Error>>;

const BENCHES: &[(&str, MakeRows)] = &[
    ("pair", pair::rows),
    ("schedule", schedule::rows),
    ("own-lines", own_lines::rows),
    ("busy", busy::rows),
    ("mapping", mapping::rows),
    ("qaplib", qaplib::rows),
    ("run", run::rows),
];

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    // The bench of `run` starts this executable again as a program or a launcher; those roles come
    // before any option is read.
    if let Some(played) = run::played(&arguments) {
        return played;
    }
    let mut chosen = Vec::new();
    let mut keep = None;
    let mut words = arguments.iter();
    while let Some(word) = words.next() {
        if word == "--keep" {
            keep = Some(words.next().ok_or("--keep takes a folder")?);
            continue;
        }
        // A misspelt name is an error, because a missing bench would go unnoticed.
        let known = BENCHES.iter().find(|(name, _)| name == word).ok_or_else(|| {
            let names: Vec<&str> = BENCHES.iter().map(|(name, _)| *name).collect();
            format!("'{word}' is not a bench; [--keep FOLDER] and any of: {}", names.join(" "))
        })?;
        chosen.push(known);
    }
    if chosen.is_empty() {
        chosen.extend(BENCHES);
    } else if keep.is_some() {
        return Err("--keep keeps whole runs: name no bench with it".into());
    }
    let mut rows = Vec::new();
    for (name, bench) in chosen {
        eprintln!("bench: {name}");
        rows.extend(bench()?);
    }
    print!("{}", table(&rows));
    match keep {
        Some(folder) => archive(Path::new(folder), &rows),
        None => Ok(()),
    }
}

fn table(rows: &[FigureRow]) -> String {
    let environment = seatmap_machines::host::environment::read();
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

fn archive(folder: &Path, rows: &[FigureRow]) -> Result<(), Box<dyn Error>> {
    let environment = seatmap_machines::host::environment::read();
    let cpus = seatmap_os::cpus::Cpus::read()?.allowed.len();
    let machine = folder_name(environment.cpu_model.as_deref().unwrap_or("unknown"));
    let today = seatmap_console::here::today();
    let folder = folder.join(format!("{today}-{machine}-{cpus}"));
    std::fs::create_dir_all(&folder)?;
    std::fs::write(folder.join("bench.txt"), table(rows))?;
    let rows: Vec<_> = rows.iter().map(FigureRow::json).collect();
    let document = serde_json::json!({ "environment": environment, "rows": rows });
    std::fs::write(folder.join("bench.json"), format!("{document:#}\n"))?;
    eprintln!("bench: kept in {}", folder.display());
    Ok(())
}

/// A processor's name for a folder's name: "Intel(R) Xeon(R) CPU @ 2.20GHz" becomes `intel-xeon`.
fn folder_name(model: &str) -> String {
    let model = model.to_lowercase().replace("(r)", " ").replace("(tm)", " ");
    let name = model.split('@').next().unwrap_or_default();
    let words = name.split(|c: char| !c.is_ascii_alphanumeric());
    let words = words.filter(|word| !matches!(*word, "" | "cpu" | "processor"));
    words.collect::<Vec<_>>().join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folder_is_named_after_short_processor_name() {
        assert_eq!(folder_name("Intel(R) Xeon(R) CPU @ 2.20GHz"), "intel-xeon");
        assert_eq!(folder_name("Intel(R) Xeon(R) Processor"), "intel-xeon");
        assert_eq!(folder_name("AMD EPYC"), "amd-epyc");
        assert_eq!(folder_name("unknown"), "unknown");
    }
}
