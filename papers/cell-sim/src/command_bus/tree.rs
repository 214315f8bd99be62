//! A chip's tree of address concentrators.

use super::BusCommand;
use crate::ring::ELEMENT_COUNT;
use std::collections::VecDeque;

const WAITING: usize = 64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Input {
    Element(usize),
    Concentrator(usize),
}

#[derive(Clone, Debug, Default)]
struct Concentrator {
    inputs: Vec<(Input, u16)>,
    turn: usize,
}

/// A chip's concentrators, and the commands waiting at its elements until they have won at each
/// level.
#[derive(Clone, Debug)]
pub struct ConcentratorTree {
    concentrators: Vec<Concentrator>,
    queues: [VecDeque<BusCommand>; ELEMENT_COUNT],
    pending: u16,
}

impl ConcentratorTree {
    /// Creates the tree of a chip whose PPE is the element `ppe`. With one level, all elements are
    /// inputs of the root; with two, each side of the PPE has a concentrator; with three, the
    /// farther half of each side has its own, an input of the nearer one.
    pub fn new(ppe: usize, levels: usize) -> Self {
        // For each concentrator: the offsets of its elements from the PPE, and the concentrators
        // below it.
        let inputs: &[(&[usize], &[usize])] = match levels {
            1 => &[(&[0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11], &[])],
            2 => &[(&[0], &[1, 2]), (&[1, 2, 3, 4, 5], &[]), (&[11, 10, 9, 8, 7, 6], &[])],
            _ => &[
                (&[0], &[1, 2]),
                (&[1, 2], &[3]),
                (&[11, 10, 9], &[4]),
                (&[3, 4, 5], &[]),
                (&[8, 7, 6], &[]),
            ],
        };
        let mut concentrators: Vec<Concentrator> = Vec::with_capacity(inputs.len());
        concentrators.resize_with(inputs.len(), Concentrator::default);
        // In reverse, so that inputs are complete before the concentrators above them.
        for (number, (offsets, below)) in inputs.iter().enumerate().rev() {
            let elements = offsets.iter().map(|offset| (ppe + offset) % ELEMENT_COUNT);
            let elements = elements.map(|element| (Input::Element(element), 1 << element));
            let below = below
                .iter()
                .map(|other| (Input::Concentrator(*other), concentrators[*other].below()));
            concentrators[number].inputs = elements.chain(below).collect();
        }
        let queues = std::array::from_fn(|_| VecDeque::with_capacity(WAITING));
        ConcentratorTree { concentrators, queues, pending: 0 }
    }

    pub fn is_empty(&self) -> bool {
        self.pending == 0
    }

    pub fn push(&mut self, command: BusCommand) {
        let element = command.from.element as usize;
        self.queues[element].push_back(command);
        self.pending |= 1 << element;
    }

    /// Removes the command that wins at every level.
    pub fn pop(&mut self) -> Option<BusCommand> {
        let mut number = 0;
        loop {
            match self.concentrators[number].serve(self.pending)? {
                Input::Concentrator(below) => number = below,
                Input::Element(element) => return self.take(element),
            }
        }
    }

    fn take(&mut self, element: usize) -> Option<BusCommand> {
        let command = self.queues[element].pop_front();
        if self.queues[element].is_empty() {
            self.pending &= !(1 << element);
        }
        command
    }

    pub fn reset(&mut self) {
        self.queues.iter_mut().for_each(VecDeque::clear);
        self.concentrators.iter_mut().for_each(|concentrator| concentrator.turn = 0);
        self.pending = 0;
    }
}

impl Concentrator {
    fn below(&self) -> u16 {
        self.inputs.iter().fold(0, |all, (_, below)| all | below)
    }

    fn serve(&mut self, pending: u16) -> Option<Input> {
        let count = self.inputs.len();
        let order = (self.turn..count).chain(0..self.turn);
        let place = order.into_iter().find(|place| self.inputs[*place].1 & pending != 0)?;
        self.turn = (place + 1) % count;
        Some(self.inputs[place].0)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Reach;
    use super::*;
    use crate::transaction::RingElement;
    use proptest::prelude::*;

    fn command(element: u8, transaction: u32) -> BusCommand {
        BusCommand {
            transaction,
            from: RingElement { chip: 0, element },
            reach: Reach::Chip,
            line: 0,
            since: 0,
        }
    }

    fn served(levels: usize, elements: &[u8], count: usize) -> Vec<u8> {
        let mut tree = ConcentratorTree::new(0, levels);
        for element in elements {
            (0..count as u32).for_each(|number| tree.push(command(*element, number)));
        }
        (0..count).map(|_| tree.pop().unwrap().from.element).collect()
    }

    fn share(served: &[u8], element: u8) -> usize {
        served.iter().filter(|other| **other == element).count()
    }

    #[test]
    fn one_level_serves_all_elements_alike() {
        let spes = [1, 2, 3, 4, 7, 8, 9, 10];
        let served = served(1, &spes, 240);
        assert!(spes.iter().all(|spe| share(&served, *spe) == 30), "{served:?}");
    }

    #[test]
    fn three_levels_make_far_elements_share_input() {
        let spes = [1, 2, 3, 4, 7, 8, 9, 10];
        let served = served(3, &spes, 240);
        let shares: Vec<usize> = spes.iter().map(|spe| share(&served, *spe)).collect();
        assert_eq!(shares, [40, 40, 20, 20, 20, 20, 40, 40]);
    }

    #[test]
    fn two_levels_favour_side_with_fewer_elements() {
        let served = served(2, &[1, 2, 3, 10], 240);
        let shares: Vec<usize> = [1, 2, 3, 10].iter().map(|spe| share(&served, *spe)).collect();
        assert_eq!(shares, [40, 40, 40, 120]);
    }

    proptest! {
        #[test]
        fn tree_loses_no_command(levels in 1_usize..=3, sent in proptest::collection::vec((0_u8..12, 0_u8..4), 1..200)) {
            let mut tree = ConcentratorTree::new(3, levels);
            let mut waiting: Vec<Vec<u32>> = vec![Vec::new(); ELEMENT_COUNT];
            for (number, (element, pops)) in sent.into_iter().enumerate() {
                tree.push(command(element, number as u32));
                waiting[element as usize].push(number as u32);
                for _ in 0..pops {
                    let is_idle = waiting.iter().all(Vec::is_empty);
                    prop_assert_eq!(tree.is_empty(), is_idle);
                    let popped = tree.pop();
                    prop_assert_eq!(popped.is_none(), is_idle);
                    if let Some(command) = popped {
                        prop_assert_eq!(waiting[command.from.element as usize].remove(0), command.transaction);
                    }
                }
            }
        }
    }
}
