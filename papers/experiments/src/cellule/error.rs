//! The errors of the experiments.

use seatmap_os::partners::Loss;
use seatmap_worker::WorkerError;
use std::io;
use std::path::PathBuf;

/// An experiment's error.
#[derive(Debug, thiserror::Error)]
pub enum CelluleError {
    /// An error of a worker, or of a thread in its place.
    #[error(transparent)]
    Worker(#[from] WorkerError),
    /// The controller lost its CPU.
    #[error(transparent)]
    Lost(#[from] Loss),
    /// An error of the controller's CPU, or of a socket.
    #[error("{0}")]
    System(&'static str, #[source] io::Error),
    /// More workers than CPUs, or none.
    #[error("{workers} workers do not fit these CPUs; give 1 to {cpus}, one per CPU")]
    Workers {
        /// The requested workers.
        workers: usize,
        /// The available CPUs.
        cpus: usize,
    },
    /// A text that is not a workload.
    #[error(
        "'{0}' is not a workload; write matrix:SIZE[:ITERATIONS], SIZE a multiple of 64 up to \
         4096, or black-scholes:BLOCKS[:CYCLES], BLOCKS up to 1024"
    )]
    Workload(String),
    /// A result unlike that of plain code.
    #[error("{what} computes {got} at {at}, but plain code {expected}")]
    Wrong {
        /// The program.
        what: &'static str,
        /// The element's index.
        at: usize,
        /// The workers' result.
        got: f32,
        /// The correct result.
        expected: f32,
    },
    /// A program ended with a stop code other than 0, for example because its store is too small.
    #[error("a program ended with {0}; its local store is too small")]
    Stopped(u32),
    /// The programs in C were not compiled.
    #[error(
        "{compiler}: {words}; 'make install-lib PREFIX=FOLDER' installs it, and SEATMAP_CELLCC \
         names it",
        compiler = compiler.display()
    )]
    Compiler {
        /// The compiler driver.
        compiler: PathBuf,
        /// The reason.
        words: String,
    },
    /// A program in C failed.
    #[error("the program {name} failed: {words}")]
    Program {
        /// Its name.
        name: &'static str,
        /// The reason.
        words: String,
    },
    /// The model could not run a program.
    #[error(transparent)]
    Model(Box<dyn std::error::Error + Send + Sync>),
    /// Bytes of a stream that arrived changed.
    #[error("stream {0} arrived changed or incomplete")]
    Torn(usize),
}
