//! Single-precision matrix multiplication in blocks.

mod kernel;

use crate::cellule::CelluleError;
use crate::cellule::memory::{Floats, floats};
use crate::cellule::problem::{ParallelProblem, program};
use kernel::{BLOCK, multiply};
use seatmap_worker::{WorkerProgram, WorkerView};
use std::sync::Arc;

const NUMBERS: usize = BLOCK * BLOCK;
/// Bytes of a block: 16 KiB, the most of one transfer of a Cell's MFC.
const BYTES: usize = NUMBERS * size_of::<f32>();

/// C = A x B of matrices whose size is a multiple of 64. A task is a block of C: a worker fetches
/// blocks of A and B into its local store, two at a time, and writes the finished block back.
///
/// The elements are small multiples of 1/8, so sums are exact in any order, and results can be
/// compared bit by bit.
pub struct MatrixProduct(Arc<Data>);

struct Data {
    size: usize,
    a: Floats,
    b: Floats,
    c: Floats,
    expected: Vec<f32>,
}

impl MatrixProduct {
    /// Two matrices of this size, and their product by plain code.
    pub fn new(size: u32) -> Self {
        let size = size as usize;
        let mut random = fastrand::Rng::with_seed(size as u64);
        let a = random_values(size, &mut random);
        let b = random_values(size, &mut random);
        let expected = plain(size, &a, &b);
        MatrixProduct(Arc::new(Data {
            size,
            a: Floats::new(a),
            b: Floats::new(b),
            c: Floats::zeros(size * size),
            expected,
        }))
    }
}

fn random_values(size: usize, random: &mut fastrand::Rng) -> Vec<f32> {
    (0..size * size).map(|_| f32::from(random.i8(-8..=8)) / 8.0).collect::<Vec<_>>()
}

/// The textbook product, with its inner loops exchanged so that memory is read in order.
fn plain(size: usize, a: &[f32], b: &[f32]) -> Vec<f32> {
    let mut c = vec![0.0; size * size];
    for (row, c) in c.chunks_exact_mut(size).enumerate() {
        for (k, b) in b.chunks_exact(size).enumerate() {
            let a = a[row * size + k];
            c.iter_mut().zip(b).for_each(|(c, b)| *c += a * b);
        }
    }
    c
}

impl Data {
    fn blocks(&self) -> usize {
        self.size / BLOCK
    }

    /// Returns false if the store has no room for three blocks.
    fn compute(&self, inside: &mut WorkerView, task: usize) -> bool {
        let row = task / self.blocks();
        let column = task % self.blocks();
        let Some(c) = floats(inside.store()).get_mut(2 * NUMBERS..3 * NUMBERS) else {
            return false;
        };
        c.fill(0.0);
        (0..self.blocks()).all(|k| {
            let is_here = self.fetch(&self.a, inside, 0, (row, k))
                && self.fetch(&self.b, inside, BYTES, (k, column));
            is_here && multiply(floats(inside.store()))
        }) && self.rows((row, column)).enumerate().all(|(at, first)| {
            self.c.put(inside, 2 * BYTES + at * BLOCK * size_of::<f32>(), first, BLOCK)
        })
    }

    /// Fetches a block into the store at a byte offset, row by row, as a Cell's list command does.
    fn fetch(
        &self,
        of: &Floats,
        inside: &mut WorkerView,
        local: usize,
        block: (usize, usize),
    ) -> bool {
        let mut rows = self.rows(block).enumerate();
        rows.all(|(at, first)| of.get(inside, local + at * BLOCK * size_of::<f32>(), first, BLOCK))
    }

    fn rows(&self, (row, column): (usize, usize)) -> impl Iterator<Item = usize> + use<> {
        let size = self.size;
        (0..BLOCK).map(move |at| (row * BLOCK + at) * size + column * BLOCK)
    }
}

impl ParallelProblem for MatrixProduct {
    fn program(&self) -> Arc<dyn WorkerProgram> {
        let data = Arc::clone(&self.0);
        program(self.tasks(), move |inside, task| data.compute(inside, task as usize))
    }

    fn tasks(&self) -> u32 {
        (self.0.blocks() * self.0.blocks()) as u32
    }

    fn clear(&self) {
        self.0.c.clear();
    }

    fn check(&self) -> Result<(), CelluleError> {
        let got = self.0.c.values();
        match got.iter().zip(&self.0.expected).position(|(got, expected)| got != expected) {
            None => Ok(()),
            Some(at) => Err(CelluleError::Wrong {
                what: "matrix",
                at,
                got: got[at],
                expected: self.0.expected[at],
            }),
        }
    }
}
