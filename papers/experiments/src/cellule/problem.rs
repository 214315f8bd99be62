//! A problem that workers share.

use crate::cellule::CelluleError;
use crate::cellule::black_scholes::BlackScholes;
use crate::cellule::matrix::Matrix;
use seatmap_worker::{Inside, Program};
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

/// A problem in tasks that do not depend on each other.
///
/// Its program waits for a message, which says how often to do its tasks, answers when all are
/// done, and ends with 0, or with 1 where its local store is too small.
pub trait Problem: Send + Sync {
    /// The program; its argument is a [`Part`].
    fn program(&self) -> Arc<dyn Program>;

    /// How many tasks there are.
    fn tasks(&self) -> u32;

    /// Forgets the results.
    fn clear(&self);

    /// Holds the results against those of plain code.
    ///
    /// # Errors
    /// [`CelluleError::Wrong`].
    fn check(&self) -> Result<(), CelluleError>;
}

/// The program of a problem: `compute` does a task, and says whether the store had room for it.
pub(crate) fn program(
    tasks: u32,
    compute: impl Fn(&mut Inside, u32) -> bool + Send + Sync + 'static,
) -> Arc<dyn Program> {
    Arc::new(move |inside: &mut Inside, part: u64| {
        let iterations = inside.mailbox_read();
        let mut mine = (0..iterations).flat_map(|_| Part::tasks(part, tasks));
        let has_room = mine.all(|task| compute(inside, task));
        inside.mailbox_write(u32::from(has_room));
        u32::from(!has_room)
    })
}

/// The part of the tasks that one start of a program works on: every `step`-th task from `first`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Part {
    /// The first task.
    pub first: u32,
    /// The step from a task to the next.
    pub step: u32,
}

impl Part {
    /// As a program's argument.
    #[must_use]
    pub fn argument(self) -> u64 {
        // A program has one argument of 64 bits, as with `spe_context_run`.
        u64::from(self.first) << 32 | u64::from(self.step)
    }

    /// The tasks of an argument, out of this many.
    pub fn tasks(argument: u64, tasks: u32) -> impl Iterator<Item = u32> {
        ((argument >> 32) as u32..tasks).step_by((argument as u32).max(1) as usize)
    }
}

/// A workload of section 4.1, with its size.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Workload {
    /// Single-precision matrix multiplication.
    Matrix {
        /// Rows and columns.
        size: u32,
        /// How often it is done.
        iterations: u32,
    },
    /// Option prices by the formula of Black & Scholes.
    BlackScholes {
        /// Blocks of 64 KiB.
        blocks: u32,
        /// How often each is computed.
        cycles: u32,
    },
}

impl Workload {
    /// How often it is done.
    #[must_use]
    pub fn iterations(self) -> u32 {
        match self {
            Workload::Matrix { iterations, .. } => iterations,
            Workload::BlackScholes { cycles, .. } => cycles,
        }
    }

    /// Its data, and how it is computed.
    #[must_use]
    pub fn problem(self) -> Box<dyn Problem> {
        match self {
            Workload::Matrix { size, .. } => Box::new(Matrix::new(size)),
            Workload::BlackScholes { blocks, .. } => Box::new(BlackScholes::new(blocks)),
        }
    }
}

impl FromStr for Workload {
    type Err = CelluleError;

    fn from_str(text: &str) -> Result<Self, CelluleError> {
        let parts: Vec<&str> = text.split(':').collect();
        match parts[..] {
            // Only whole blocks of 64 rows are computed.
            ["matrix", _] | ["matrix", _, _] if number(text, &parts, 1, 4096)? % 64 == 0 => {
                Ok(Workload::Matrix {
                    size: number(text, &parts, 1, 4096)?,
                    iterations: number(text, &parts, 2, 1_000_000)?,
                })
            }
            ["black-scholes", _] | ["black-scholes", _, _] => Ok(Workload::BlackScholes {
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

impl fmt::Display for Workload {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Workload::Matrix { size, iterations } => write!(to, "matrix:{size}:{iterations}"),
            Workload::BlackScholes { blocks, cycles } => {
                write!(to, "black-scholes:{blocks}:{cycles}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_all_tasks_once() {
        let of = |part: Part| Part::tasks(part.argument(), 7).collect::<Vec<_>>();
        let both = [of(Part { first: 0, step: 2 }), of(Part { first: 1, step: 2 })];
        assert_eq!(both, [vec![0, 2, 4, 6], vec![1, 3, 5]]);
        assert_eq!(of(Part { first: 6, step: 7 }), [6]);
        assert_eq!(of(Part { first: 7, step: 0 }), [0; 0]);
    }

    #[test]
    fn workloads_are_written_as_they_are_read() {
        for text in ["matrix:128:1", "matrix:2048:12", "black-scholes:16:3"] {
            assert_eq!(text.parse::<Workload>().unwrap().to_string(), text);
        }
        assert_eq!("matrix:64".parse::<Workload>().unwrap().to_string(), "matrix:64:1");
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
            assert!(bad.parse::<Workload>().is_err(), "{bad}");
        }
    }
}
