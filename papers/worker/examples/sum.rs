//! Sums an array: a worker fetches block after block into its local store.

use seatmap_worker::{Polling, Runtime, WorkerOptions, WorkerView, allowed_cpus};
use std::sync::Arc;

const COUNT: u32 = 65_536;
const BLOCK: usize = 4096;

/// The program of a worker: it sees the worker from within, and the numbers that it was loaded
/// with.
fn sum(numbers: &[u32], inside: &mut WorkerView) -> u32 {
    let mut sum = 0;
    for block in numbers.chunks(BLOCK) {
        // SAFETY: the block is so long, and nobody writes to it.
        let is_here = unsafe { inside.get(0, block.as_ptr().cast(), size_of_val(block)) };
        if !is_here {
            return 0;
        }
        let words = inside.store()[..size_of_val(block)].as_chunks().0;
        sum += words.iter().map(|word| u32::from_ne_bytes(*word)).sum::<u32>();
    }
    sum
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    // Workers that sleep while they wait may share their CPU; those that spin answer a hundred
    // times faster.
    let options = WorkerOptions { polling: Polling::Sleep, ..WorkerOptions::default() };
    let runtime = Runtime::new(&allowed_cpus()?[..1], options)?;
    let mut context = runtime.context()?;
    let numbers: Arc<Vec<u32>> = Arc::new((0..COUNT).collect());
    context.load(Arc::new(move |inside: &mut WorkerView, _: u64| sum(&numbers, inside)));
    println!("the sum is {}", context.run(0)?);
    Ok(())
}
