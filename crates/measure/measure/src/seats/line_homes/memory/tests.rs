//! Threads of this process over its own memory.

use super::*;
use crate::profiles_for_tests::homely;

#[repr(align(64))]
struct Memory([AtomicU64; 64]);

fn memory() -> Memory {
    Memory(std::array::from_fn(|word| AtomicU64::new(word as u64)))
}

fn two_homes(cpus: [u32; 2]) -> Profile {
    homely(&cpus, vec![vec![0.0, 20.0], vec![20.0, 0.0]])
}

struct Waits;

impl Workload for Waits {
    type Output = u64;

    fn tasks(&self) -> usize {
        1
    }

    fn lines(&self) -> u32 {
        2
    }

    fn task<P: Port>(&self, port: &P, _rank: usize) -> u64 {
        port.wait_while(Addr::line(1), 0)
    }
}

#[test]
fn measuring_restores_memory_and_calling_thread() {
    let cpus = affinity::current().unwrap();
    let Some(two) = cpus.first_chunk::<2>() else {
        seatmap_needs::skipped!("a distance takes two CPUs");
        return;
    };
    let memory = memory();
    match homes_of(&memory.0, &two_homes(*two), None) {
        Ok(homes) => assert_eq!(homes, [None; 8]),
        Err(error) => assert!(error.to_string().contains("keeps the CPUs busy"), "{error}"),
    }
    assert!(
        memory.0.iter().enumerate().all(|(at, word)| word.load(Ordering::Relaxed) == at as u64)
    );
    assert_eq!(affinity::current().unwrap(), cpus);
}

#[test]
fn unavailable_cpu_is_an_error_without_a_wait() {
    let cpu = affinity::current().unwrap()[0];
    let error = homes_of(&memory().0, &two_homes([cpu, 500_000]), None).unwrap_err();
    assert!(matches!(error, PlaceError::Unfit(_)), "{error}");
}

#[test]
fn endless_wait_is_stopped() {
    let memory = memory();
    let cpu = affinity::current().unwrap()[0];
    let mut own = OwnMemory::new(&memory.0, Duration::from_millis(1));
    let error = own.run(&[cpu], &Waits).unwrap_err().to_string();
    assert!(error.contains("keeps the CPUs busy"), "{error}");
}

#[test]
fn unaligned_memory_is_refused() {
    let error = homes_of(&memory().0[1..], &two_homes([0, 1]), None).unwrap_err().to_string();
    assert_eq!(error, "memory for channels must start at a multiple of 64 bytes");
}
