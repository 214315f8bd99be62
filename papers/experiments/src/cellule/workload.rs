//! The workloads of the paper, with their sizes.

use crate::cellule::CelluleError;
use crate::cellule::black_scholes::BlackScholes;
use crate::cellule::matrix::MatrixProduct;
use crate::cellule::problem::ParallelProblem;
use std::fmt;
use std::str::FromStr;

/// A workload of section 4.1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CelluleWorkload {
    /// Single-precision matrix multiplication.
    Matrix {
        /// Rows and columns.
        size: u32,
        /// Repetitions.
        iterations: u32,
    },
    /// Option prices by the formula of Black & Scholes.
    BlackScholes {
        /// Blocks of 64 KiB.
        blocks: u32,
        /// Each block's computations.
        cycles: u32,
    },
}

impl CelluleWorkload {
    /// Repetitions.
    pub fn iterations(self) -> u32 {
        match self {
            CelluleWorkload::Matrix { iterations, .. } => iterations,
            CelluleWorkload::BlackScholes { cycles, .. } => cycles,
        }
    }

    /// Its data and program.
    pub fn problem(self) -> Box<dyn ParallelProblem> {
        match self {
            CelluleWorkload::Matrix { size, .. } => Box::new(MatrixProduct::new(size)),
            CelluleWorkload::BlackScholes { blocks, .. } => Box::new(BlackScholes::new(blocks)),
        }
    }
}

impl FromStr for CelluleWorkload {
    type Err = CelluleError;

    fn from_str(text: &str) -> Result<Self, CelluleError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            // Only whole blocks of 64 rows are computed.
            ["matrix", _] | ["matrix", _, _] if number(text, &parts, 1, 4096)? % 64 == 0 => {
                Ok(CelluleWorkload::Matrix {
                    size: number(text, &parts, 1, 4096)?,
                    iterations: number(text, &parts, 2, 1_000_000)?,
                })
            }
            ["black-scholes", _] | ["black-scholes", _, _] => Ok(CelluleWorkload::BlackScholes {
                blocks: number(text, &parts, 1, 1024)?,
                cycles: number(text, &parts, 2, 1_000_000)?,
            }),
            _ => Err(unknown(text)),
        }
    }
}

fn unknown(text: &str) -> CelluleError {
    CelluleError::Workload(text.to_owned())
}

fn number(text: &str, parts: &[&str], at: usize, most: u32) -> Result<u32, CelluleError> {
    let number = parts.get(at).map_or(Ok(1), |part| part.parse()).map_err(|_| unknown(text))?;
    if (1..=most).contains(&number) { Ok(number) } else { Err(unknown(text)) }
}

impl fmt::Display for CelluleWorkload {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CelluleWorkload::Matrix { size, iterations } => {
                write!(to, "matrix:{size}:{iterations}")
            }
            CelluleWorkload::BlackScholes { blocks, cycles } => {
                write!(to, "black-scholes:{blocks}:{cycles}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn workload_names_round_trip() {
        for text in ["matrix:128:1", "matrix:2048:12", "black-scholes:16:3"] {
            assert_eq!(text.parse::<CelluleWorkload>().unwrap().to_string(), text);
        }
        assert_eq!("matrix:64".parse::<CelluleWorkload>().unwrap().to_string(), "matrix:64:1");
        for bad in [
            "",
            "matrix",
            "matrix:0",
            "matrix:100",
            "matrix:64:0",
            "matrix:64:1:1",
            "matrix:8192",
            "black-scholes:-1",
            "x:1",
        ] {
            assert!(bad.parse::<CelluleWorkload>().is_err(), "{bad}");
        }
    }
}
