//! Cores in their order around the ring, and random seats.

use super::ChannelsError;
use fastrand::Rng;
use seatmap_data::machine::Topology;
use seatmap_data::statistics::words::{agreeing, counted};
use std::collections::BTreeMap;

/// A machine's cores with their PUs, by number, which on a ring is their order around it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chip {
    /// OS indices, ascending by hardware thread.
    pub cores: Vec<Vec<u32>>,
}

impl Chip {
    /// The cores of these PUs; a PU of unknown core counts as one.
    pub fn new(topology: &Topology, pus: &[u32]) -> Self {
        let mut cores: BTreeMap<(u32, u32), Vec<(u32, u32)>> = BTreeMap::new();
        for os in pus {
            let pu = topology.pu(*os);
            let core = pu
                .and_then(|pu| pu.core)
                .map_or((u32::MAX, *os), |core| (pu.and_then(|pu| pu.package).unwrap_or(0), core));
            cores.entry(core).or_default().push((pu.and_then(|pu| pu.smt).unwrap_or(0), *os));
        }
        Chip {
            cores: cores
                .into_values()
                .map(|mut pus| {
                    // By SMT number, so that `first` is a core's first thread.
                    pus.sort_unstable();
                    pus.into_iter().map(|(_, os)| os).collect()
                })
                .collect(),
        }
    }

    /// A PU's core.
    ///
    /// # Errors
    /// The PU does not exist.
    pub fn core_of(&self, pu: u32) -> Result<usize, ChannelsError> {
        let known = self.cores.iter().position(|core| core.contains(&pu));
        known.ok_or_else(|| ChannelsError::Unfit(format!("there is no CPU {pu} here")))
    }

    /// The first hardware thread of a core, around the ring.
    pub fn first(&self, core: usize) -> u32 {
        self.cores
            .get(core % self.cores.len().max(1))
            .and_then(|pus| pus.first())
            .copied()
            .unwrap_or(0)
    }

    fn pus_without(&self, taken: &[u32]) -> Vec<u32> {
        self.cores.iter().flatten().copied().filter(|pu| !taken.contains(pu)).collect()
    }

    /// This many pairs of these PUs, each on two cores: a pair on one core would finish many times
    /// as fast.
    ///
    /// # Errors
    /// The chip has too few PUs.
    pub fn pairs_of(
        &self,
        mut free: Vec<u32>,
        count: usize,
        rng: &mut Rng,
    ) -> Result<Vec<u32>, ChannelsError> {
        let there = free.len();
        let too_few = || {
            ChannelsError::Unfit(format!(
                "{} {} {} CPUs, each pair on two cores, but there {} {}",
                counted(count, "pair"),
                agreeing(count, "takes", "take"),
                2 * count,
                agreeing(there, "is", "are"),
                counted(there, "CPU")
            ))
        };
        let mut seats = Vec::with_capacity(2 * count);
        for _ in 0..count {
            let first = take(&mut free, rng, |_| true).ok_or_else(too_few)?;
            let core = self.core_of(first)?;
            let second = match take(&mut free, rng, |pu| !self.cores[core].contains(&pu)) {
                Some(second) => second,
                // If all free PUs share `first`'s core, an earlier pair on other cores swaps a PU.
                None => self
                    .crossed(&mut seats, core, take(&mut free, rng, |_| true))
                    .ok_or_else(too_few)?,
            };
            seats.extend([first, second]);
        }
        Ok(seats)
    }

    /// A partner for the last PU if all free PUs are on its core: taken from an earlier pair on
    /// other cores, which gets the other free PU.
    fn crossed(&self, seats: &mut [u32], core: usize, other: Option<u32>) -> Option<u32> {
        let pair = seats
            .chunks_exact_mut(2)
            .find(|pair| pair.iter().all(|pu| !self.cores[core].contains(pu)))?;
        Some(std::mem::replace(&mut pair[1], other?))
    }

    /// This many random pairs, none on these PUs.
    ///
    /// # Errors
    /// As [`Chip::pairs_of`].
    pub fn pairs(
        &self,
        count: usize,
        taken: &[u32],
        rng: &mut Rng,
    ) -> Result<Vec<u32>, ChannelsError> {
        self.pairs_of(self.pus_without(taken), count, rng)
    }

    /// This many threads at random, one on each core, as a load-balancing kernel would place them.
    /// Second hardware threads are used only if cores are too few.
    ///
    /// # Errors
    /// There are more threads than PUs.
    pub fn spread(&self, count: usize, rng: &mut Rng) -> Result<Vec<u32>, ChannelsError> {
        let all = self.cores.iter().map(Vec::len).sum::<usize>();
        if count > all {
            return Err(ChannelsError::Unfit(format!(
                "{} {} not fit {}",
                counted(count, "thread"),
                agreeing(count, "does", "do"),
                counted(all, "CPU")
            )));
        }
        let mut cores = self.cores.clone();
        let mut seats = Vec::with_capacity(count);
        while seats.len() < count {
            rng.shuffle(&mut cores);
            for core in cores.iter_mut().filter(|core| !core.is_empty()) {
                seats.push(core.swap_remove(rng.usize(..core.len())));
            }
        }
        seats.truncate(count);
        Ok(seats)
    }

    /// The cores of each of this many equal sections.
    ///
    /// # Errors
    /// The sections do not divide the cores.
    pub fn sections(&self, sections: usize) -> Result<Vec<std::ops::Range<usize>>, ChannelsError> {
        let cores = self.cores.len();
        if sections == 0 || cores == 0 || !cores.is_multiple_of(sections) {
            let fitting: Vec<String> = (1..=cores)
                .filter(|count| cores.is_multiple_of(*count))
                .map(|count| count.to_string())
                .collect();
            let fitting = fitting.join(", ");
            return Err(ChannelsError::Unfit(format!(
                "{sections} sections do not divide {cores} cores; {fitting} do"
            )));
        }
        let size = cores / sections;
        Ok((0..sections).map(|at| at * size..(at + 1) * size).collect())
    }
}

fn take(free: &mut Vec<u32>, rng: &mut Rng, will_do: impl Fn(u32) -> bool) -> Option<u32> {
    let fitting: Vec<usize> = (0..free.len()).filter(|at| will_do(free[*at])).collect();
    let at = *fitting.get(rng.usize(..fitting.len().max(1)))?;
    Some(free.swap_remove(at))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn chip() -> Chip {
        Chip { cores: (0..6).map(|core| vec![2 * core, 2 * core + 1]).collect() }
    }

    #[test]
    fn pairs_never_share_a_core() {
        let chip = chip();
        let mut rng = Rng::with_seed(1);
        for _ in 0..100 {
            let seats = chip.pairs(3, &[0], &mut rng).unwrap();
            assert!(seats.chunks(2).all(|pair| pair[0] / 2 != pair[1] / 2) && !seats.contains(&0));
        }
        let refused = chip.pairs(7, &[], &mut rng).unwrap_err().to_string();
        assert_eq!(refused, "7 pairs take 14 CPUs, each pair on two cores, but there are 12 CPUs");
    }

    #[test]
    fn every_cpu_is_paired_across_cores() {
        let chip = chip();
        for seed in 0..200 {
            let mut seats = chip.pairs(6, &[], &mut Rng::with_seed(seed)).unwrap();
            assert!(seats.chunks(2).all(|pair| pair[0] / 2 != pair[1] / 2), "{seats:?}");
            seats.sort_unstable();
            assert_eq!(seats, (0..12).collect::<Vec<u32>>());
        }
        let one_cpu = Chip { cores: vec![vec![0]] };
        let refused = one_cpu.pairs(1, &[], &mut Rng::with_seed(1)).unwrap_err().to_string();
        assert_eq!(refused, "1 pair takes 2 CPUs, each pair on two cores, but there is 1 CPU");
        let refused = one_cpu.spread(2, &mut Rng::with_seed(1)).unwrap_err().to_string();
        assert_eq!(refused, "2 threads do not fit 1 CPU");
        let one_core = Chip { cores: vec![vec![0, 1]] };
        assert!(one_core.pairs(1, &[], &mut Rng::with_seed(1)).is_err());
    }

    #[test]
    fn threads_take_cores_before_hardware_threads() {
        let chip = chip();
        let mut rng = Rng::with_seed(2);
        let mut cores: Vec<u32> =
            chip.spread(6, &mut rng).unwrap().iter().map(|pu| pu / 2).collect();
        cores.sort_unstable();
        assert_eq!(cores, [0, 1, 2, 3, 4, 5]);
        assert!(chip.spread(13, &mut rng).is_err());
    }

    #[test]
    fn sections_divide_the_cores() {
        assert_eq!(chip().sections(3).unwrap(), [0..2, 2..4, 4..6]);
        let error = chip().sections(4).unwrap_err().to_string();
        assert_eq!(error, "4 sections do not divide 6 cores; 1, 2, 3, 6 do");
    }
}
