//! Arguments of `seatmap-papers stats`.

use crate::figures::FigureChanges;
use clap::{Args, ValueEnum};
use seatmap_console::values::{LevelChoice, count, cpus, size};
use seatmap_experiments::cell_stats::CellStatsPrimitive;
use seatmap_os::CpuList;
use std::path::PathBuf;

/// CellStats' options keep their letters: -n, -N, -c, -m, -i, -w, -b, -s, -t and -l.
#[derive(Debug, Args)]
pub struct Stats {
    /// The machine to measure: host, a model such as cell-qs20, or a model file.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs of this computer to run on; by default those in this process's affinity mask.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The primitive; by default all, with tables and figures.
    #[arg(short = 'f', long, value_name = "FUNCTION")]
    pub function: Option<FunctionChoice>,
    /// Number of workers that share one buffer.
    #[arg(short = 'n', value_name = "N", conflicts_with = "private")]
    pub shared: Option<usize>,
    /// Number of workers with a private buffer each.
    #[arg(short = 'N', value_name = "N")]
    pub private: Option<usize>,
    /// The chip of the workers, 0 by default; workers that do not fit are on the other chip.
    #[arg(short = 'c', value_name = "CELL")]
    pub chip: Option<usize>,
    /// The level of the topology that counts as a chip, on machines with shared caches.
    #[arg(long, value_name = "GROUP", default_value = "package")]
    pub class: LevelChoice,
    /// The memory of the buffers, 0 by default.
    #[arg(short = 'm', value_name = "XDRAM")]
    pub module: Option<u8>,
    /// Number of timed operations, 1m by default; k and m stand for a thousand and a million.
    #[arg(short = 'i', value_name = "N", value_parser = count)]
    pub iterations: Option<u64>,
    /// Number of untimed operations before them, 1k by default.
    #[arg(short = 'w', value_name = "N", value_parser = count)]
    pub warm_up: Option<u64>,
    /// Size of a buffer or list element in bytes; k and m stand for 1024 and 1024 squared.
    #[arg(short = 'b', value_name = "SIZE", value_parser = size)]
    pub size: Option<u32>,
    /// Measure between workers: messages without the controller, and transfers and atomics with the
    /// first worker's local store.
    #[arg(short = 's')]
    pub between: bool,
    /// Bytes between the starts of two private buffers.
    #[arg(short = 't', value_name = "STRIDE", value_parser = size)]
    pub stride: Option<u32>,
    /// Elements per list, 1 by default.
    #[arg(short = 'l', value_name = "N")]
    pub elements: Option<usize>,
    /// Let the controller send messages by system calls instead of mapped registers.
    #[arg(long)]
    pub syscall: bool,
    /// Write a timeline for chrome://tracing or ui.perfetto.dev.
    #[arg(long, value_name = "FILE", requires = "function")]
    pub trace: Option<PathBuf>,
    /// Write one self-contained page with all figures.
    #[arg(long, value_name = "FILE", conflicts_with = "function")]
    pub html: Option<PathBuf>,
    /// Draw the curves of all figures.
    #[arg(long, value_name = "FILE", conflicts_with = "function")]
    pub svg: Option<PathBuf>,
    /// Write the points of all curves as a table.
    #[arg(long, value_name = "FILE", conflicts_with = "function")]
    pub csv: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A primitive with its name in CellStats.
#[derive(Clone, Copy, Debug)]
pub struct FunctionChoice(pub CellStatsPrimitive);

impl ValueEnum for FunctionChoice {
    fn value_variants<'a>() -> &'a [Self] {
        const { &all() }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let value = clap::builder::PossibleValue::new(self.0.name());
        // The paper's command lines use dmaout.
        Some(if self.0 == CellStatsPrimitive::DmaPut { value.alias("dmaout") } else { value })
    }
}

const fn all() -> [FunctionChoice; CellStatsPrimitive::ALL.len()] {
    let mut all = [FunctionChoice(CellStatsPrimitive::MkThread); CellStatsPrimitive::ALL.len()];
    // A const function cannot use iterators.
    let mut at = 0;
    while at < all.len() {
        all[at] = FunctionChoice(CellStatsPrimitive::ALL[at].1);
        at += 1;
    }
    all
}
