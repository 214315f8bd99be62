//! The paper's programs in C against libspe2, compiled on this computer by `seatmap-cellcc`.

use crate::cellule::CelluleError;
use crate::cellule::libspe2::style::LibraryStyle;
use seatmap_os::scratch::Scratch;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const COMPILER: &str = "SEATMAP_CELLCC";

const FILES: [(&str, &str); 20] = [
    ("timed.h", include_str!("../../../cell/timed.h")),
    ("calls.c", include_str!("../../../cell/calls.c")),
    ("example_spu.c", include_str!("../../../cell/example_spu.c")),
    ("empty_spu.c", include_str!("../../../cell/empty_spu.c")),
    ("programs.c", include_str!("../../../cell/programs.c")),
    ("noise.c", include_str!("../../../cell/noise.c")),
    ("noise_spu.c", include_str!("../../../cell/noise_spu.c")),
    ("mailbox.c", include_str!("../../../cell/mailbox.c")),
    ("mailbox_spu.c", include_str!("../../../cell/mailbox_spu.c")),
    ("dma.c", include_str!("../../../cell/dma.c")),
    ("dma_spu.c", include_str!("../../../cell/dma_spu.c")),
    ("cell_stats.c", include_str!("../../../../examples/cell_stats.c")),
    ("cell_stats.h", include_str!("../../../../examples/cell_stats.h")),
    ("cell_stats_spu.c", include_str!("../../../../examples/cell_stats_spu.c")),
    ("ladder.h", include_str!("../../../../examples/ladder.h")),
    ("ladder_spu.h", include_str!("../../../../examples/ladder_spu.h")),
    ("matrix.h", include_str!("../../../../examples/matrix.h")),
    ("matrix_spu.c", include_str!("../../../../examples/matrix_spu.c")),
    ("black_scholes.h", include_str!("../../../../examples/black_scholes.h")),
    ("black_scholes_spu.c", include_str!("../../../../examples/black_scholes_spu.c")),
];

/// A program of the PPE with its SPUs' programs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PpeProgram {
    /// The calls of table 1, with arguments ROUNDS SPES.
    Calls,
    /// A product of matrices, with arguments SIZE SPES TIMES RUNS.
    Matrix,
    /// Option prices, with arguments BLOCKS SPES TIMES RUNS.
    BlackScholes,
    /// Gaps in the clock, with argument MILLISECONDS.
    Noise,
    /// Round trips by mailbox and by one line of memory, with argument ROUNDS.
    Mailbox,
    /// Transfers, and copies of the same bytes.
    Transfers,
    /// The example with CellStats' options.
    CellStats,
}

impl PpeProgram {
    fn recipe(self) -> (&'static str, &'static str, &'static str, &'static [[&'static str; 2]]) {
        match self {
            PpeProgram::Calls => (
                "calls",
                "calls.c",
                "-O2",
                &[["example", "example_spu.c"], ["empty", "empty_spu.c"]],
            ),
            PpeProgram::Matrix => ("matrix", "programs.c", "-DMATRIX", &[["work", "matrix_spu.c"]]),
            PpeProgram::BlackScholes => {
                ("black_scholes", "programs.c", "-O2", &[["work", "black_scholes_spu.c"]])
            }
            PpeProgram::Noise => ("noise", "noise.c", "-O2", &[["work", "noise_spu.c"]]),
            PpeProgram::Mailbox => ("mailbox", "mailbox.c", "-O2", &[["work", "mailbox_spu.c"]]),
            PpeProgram::Transfers => ("dma", "dma.c", "-O2", &[["work", "dma_spu.c"]]),
            PpeProgram::CellStats => {
                ("cell_stats", "cell_stats.c", "-O2", &[["cell_stats_spu", "cell_stats_spu.c"]])
            }
        }
    }
}

/// Compiled programs in a folder, removed when this is dropped.
#[derive(Debug)]
pub struct CompiledPrograms {
    folder: Scratch,
}

impl CompiledPrograms {
    /// Compiles programs.
    ///
    /// # Errors
    /// [`CelluleError::Compiler`], [`CelluleError::System`].
    pub fn build(compiler: &Path, needed: &[PpeProgram]) -> Result<Self, CelluleError> {
        let folder = Scratch::new("programs")
            .map_err(|error| CelluleError::System("cannot create the programs' folder", error))?;
        for (name, text) in FILES {
            let written = std::fs::write(folder.path().join(name), text);
            written.map_err(|error| CelluleError::System("cannot write the programs", error))?;
        }
        let programs = CompiledPrograms { folder };
        for program in needed {
            programs.compile(compiler, *program)?;
        }
        Ok(programs)
    }

    fn compile(&self, compiler: &Path, program: PpeProgram) -> Result<(), CelluleError> {
        let (name, source, option, embedded) = program.recipe();
        let mut objects = Vec::new();
        for [symbol, source] in embedded {
            let image = format!("{name}_{symbol}.spu");
            let object = format!("{name}_{symbol}.o");
            // Two steps, as in the Cell's SDK: an SPU's program is linked alone, and then embedded
            // in the PPE's as data.
            self.tool(compiler, &["spu", "-std=gnu11", "-O2", "-o", &image, source])?;
            self.tool(compiler, &["embed", symbol, &image, &object])?;
            objects.push(object);
        }
        let mut arguments = vec!["ppu", "-std=gnu11", "-O2", option, "-o", name, source];
        arguments.extend(objects.iter().map(String::as_str));
        self.tool(compiler, &arguments)
    }

    fn tool(&self, compiler: &Path, arguments: &[&str]) -> Result<(), CelluleError> {
        let output =
            Command::new(compiler).args(arguments).current_dir(self.folder.path()).output();
        let output = output.map_err(|error| match error.kind() {
            io::ErrorKind::NotFound => compiler_failed(compiler, "it does not exist".to_owned()),
            _ => compiler_failed(compiler, error.to_string()),
        })?;
        output.status.success().then_some(()).ok_or_else(|| {
            compiler_failed(compiler, String::from_utf8_lossy(&output.stderr).trim_end().to_owned())
        })
    }

    /// Runs a program with its SPEs on these CPUs, and the PPE's part on the calling thread's CPUs.
    ///
    /// # Errors
    /// [`CelluleError::Program`] if it fails.
    pub fn run(
        &self,
        program: PpeProgram,
        numbers: &[u32],
        style: LibraryStyle,
        cpus: &[u32],
    ) -> Result<ProgramLines, CelluleError> {
        let name = program.recipe().0;
        let arguments: Vec<String> = numbers.iter().map(u32::to_string).collect();
        let cpus = seatmap_os::CpuList(cpus.to_vec()).to_string();
        let environment = [
            ("SEATMAP_SPE", "host"),
            ("SEATMAP_SPE_CPUS", cpus.as_str()),
            ("SEATMAP_SPE_STYLE", style.word()),
        ];
        let output = self.output(program, &arguments, &environment)?;
        let said = ProgramLines::parse(&String::from_utf8_lossy(&output.stdout));
        let said = said.ok_or_else(|| {
            program_failed(name, "its output is not names and numbers".to_owned())
        })?;
        match said.sum("wrong") {
            0.0 => Ok(said),
            wrong => Err(program_failed(name, format!("{wrong} of its results are wrong"))),
        }
    }

    /// Runs a program with these arguments and variables, and returns its output.
    ///
    /// # Errors
    /// [`CelluleError::Program`] if it fails.
    pub fn output(
        &self,
        program: PpeProgram,
        arguments: &[String],
        environment: &[(&str, &str)],
    ) -> Result<Output, CelluleError> {
        let name = program.recipe().0;
        let mut command = Command::new(self.folder.path().join(name));
        command.args(arguments).envs(environment.iter().copied());
        let output = command.output().map_err(|error| program_failed(name, error.to_string()))?;
        if output.status.success() {
            Ok(output)
        } else {
            Err(program_failed(
                name,
                format!(
                    "{}: {}",
                    output.status,
                    String::from_utf8_lossy(&output.stderr).trim_end()
                ),
            ))
        }
    }
}

fn compiler_failed(compiler: &Path, words: String) -> CelluleError {
    CelluleError::Compiler { compiler: compiler.to_owned(), words }
}

fn program_failed(name: &'static str, words: String) -> CelluleError {
    CelluleError::Program { name, words }
}

/// The compiler driver in `SEATMAP_CELLCC`, or on the path.
pub fn compiler() -> PathBuf {
    std::env::var_os(COMPILER).map_or_else(|| PathBuf::from("seatmap-cellcc"), PathBuf::from)
}

/// A program's lines: a name each, and a number after it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct ProgramLines(Vec<(String, f64)>);

impl ProgramLines {
    fn parse(text: &str) -> Option<Self> {
        text.lines()
            .map(|line| {
                // In "get_own 16384 312.5" the number is last, because a name may contain spaces.
                let (name, number) = line.rsplit_once(' ')?;
                Some((name.to_owned(), number.parse().ok()?))
            })
            .collect::<Option<Vec<_>>>()
            .map(ProgramLines)
    }

    /// The numbers of this name.
    pub fn all(&self, name: &str) -> Vec<f64> {
        self.0.iter().filter(|line| line.0 == name).map(|line| line.1).collect()
    }

    /// The sum of the numbers of this name.
    pub fn sum(&self, name: &str) -> f64 {
        self.all(name).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_parse_as_name_and_number() {
        let said =
            ProgramLines::parse("get_own 1024 61.5\nget_own 4096 90\nget_own 1024 62.5\n").unwrap();
        assert_eq!((said.all("get_own 1024"), said.sum("get_own 4096")), (vec![61.5, 62.5], 90.0));
        assert_eq!(ProgramLines::parse("nothing"), None);
    }
}
