//! `seatmap-papers stats`, as typed.

use crate::figures::FigureChanges;
use clap::{Args, ValueEnum};
use seatmap_console::values::{LevelChoice, count, cpus, size};
use seatmap_experiments::cell_stats::CellStatsPrimitive;
use seatmap_os::CpuList;
use std::path::PathBuf;

/// CellStats' options keep their letters: -n, -N, -c, -m, -i, -w, -b, -s, -t and -l.
#[derive(Debug, Args)]
pub struct Stats {
    /// The machine that is measured: host, a model such as cell-qs20, or a file of one.
    #[arg(long, value_name = "MACHINE", default_value = "host")]
    pub on: String,
    /// The CPUs of this computer to run on; by default all that this process begins with.
    #[arg(long, value_name = "LIST", value_parser = cpus)]
    pub cpus: Option<CpuList>,
    #[command(flatten)]
    pub figures: FigureChanges,
    /// The primitive; without it all of them, in tables and figures.
    #[arg(short = 'f', long, value_name = "FUNCTION")]
    pub function: Option<FunctionChoice>,
    /// Workers, all on one buffer.
    #[arg(short = 'n', value_name = "N", conflicts_with = "private")]
    pub shared: Option<usize>,
    /// Workers, each with a buffer of its own.
    #[arg(short = 'N', value_name = "N")]
    pub private: Option<usize>,
    /// The chip that the workers belong to, 0 by default; those that find no room there are on the
    /// other.
    #[arg(short = 'c', value_name = "CELL")]
    pub chip: Option<usize>,
    /// The part that counts as a chip, where CPUs share caches.
    #[arg(long, value_name = "GROUP", default_value = "package")]
    pub class: LevelChoice,
    /// The memory that buffers lie in, 0 by default.
    #[arg(short = 'm', value_name = "XDRAM")]
    pub module: Option<u8>,
    /// Operations, 1m by default; k and m stand for a thousand and a million.
    #[arg(short = 'i', value_name = "N", value_parser = count)]
    pub iterations: Option<u64>,
    /// Operations before these, which are not counted; 1k by default.
    #[arg(short = 'w', value_name = "N", value_parser = count)]
    pub warm_up: Option<u64>,
    /// Bytes of a buffer, or of a list's element; k and m stand for 1024 and its square.
    #[arg(short = 'b', value_name = "SIZE", value_parser = size)]
    pub size: Option<u32>,
    /// Between workers: messages without the controller, transfers with the first worker's local
    /// store, atomics by it too.
    #[arg(short = 's')]
    pub between: bool,
    /// Bytes from one private buffer to the next.
    #[arg(short = 't', value_name = "STRIDE", value_parser = size)]
    pub stride: Option<u32>,
    /// Elements of a list, 1 by default.
    #[arg(short = 'l', value_name = "N")]
    pub elements: Option<usize>,
    /// Messages of the controller by system calls instead of mapped registers.
    #[arg(long)]
    pub syscall: bool,
    /// Write what happened when, for chrome://tracing or ui.perfetto.dev.
    #[arg(long, value_name = "FILE", requires = "function")]
    pub trace: Option<PathBuf>,
    /// Write one self-contained page with all figures.
    #[arg(long, value_name = "FILE", conflicts_with = "function")]
    pub html: Option<PathBuf>,
    /// Print one JSON document on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

/// A primitive, by CellStats' name.
#[derive(Clone, Copy, Debug)]
pub struct FunctionChoice(pub CellStatsPrimitive);

impl ValueEnum for FunctionChoice {
    fn value_variants<'a>() -> &'a [Self] {
        const { &all() }
    }

    fn to_possible_value(&self) -> Option<clap::builder::PossibleValue> {
        let value = clap::builder::PossibleValue::new(self.0.name());
        // The paper's own command lines say dmaout.
        Some(if self.0 == CellStatsPrimitive::DmaPut { value.alias("dmaout") } else { value })
    }
}

const fn all() -> [FunctionChoice; CellStatsPrimitive::ALL.len()] {
    let mut all = [FunctionChoice(CellStatsPrimitive::MkThread); CellStatsPrimitive::ALL.len()];
    // A constant function can neither iterate nor map.
    let mut at = 0;
    while at < all.len() {
        all[at] = FunctionChoice(CellStatsPrimitive::ALL[at].1);
        at += 1;
    }
    all
}
