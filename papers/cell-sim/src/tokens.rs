//! The token manager: software can make commands to memory wait for tokens.
//!
//! Each requester belongs to one of four resource allocation groups, RAG 0 to 3. A group gets
//! tokens at a fixed rate for the even and the odd banks of each memory; an unused token is lost
//! (OProfile, `events/ppc64/cell-be/events`: requests for tokens). Software chooses the groups'
//! members and rates, but neither the papers nor Linux state them. In this model a group is a
//! quarter of a chip's ring, and all have the same rate; without a rate, no command waits.

use crate::channels::Ea;
use crate::memory::LINE_BYTES;
use crate::parameters::CellBeTiming;
use crate::ring::ELEMENT_COUNT;
use crate::transaction::{Transaction, TransactionPurpose};

const GROUPS: usize = 4;
const PARITIES: usize = 2;
const CHIPS: usize = 2;

#[derive(Clone, Debug)]
pub struct Tokens {
    interval: u64,
    due: [[[[u64; PARITIES]; GROUPS]; CHIPS]; CHIPS],
}

impl Tokens {
    pub fn new(timing: &CellBeTiming) -> Self {
        Tokens { interval: timing.token_interval, due: Default::default() }
    }

    /// Takes the next token for a transaction whose command is ready, and returns the token's time.
    /// Each group's commands get tokens in the order of their requests.
    pub fn take(&mut self, transaction: &Transaction, ready: u64) -> u64 {
        let Ea::Memory { module, offset } = transaction.ea else { return ready };
        if self.interval == 0 || transaction.purpose == TransactionPurpose::Claim {
            return ready;
        }
        let chip = transaction.requester.chip as usize;
        let element = transaction.requester.element as usize;
        let parity = (offset / LINE_BYTES) as usize % PARITIES;
        let due = &mut self.due[module as usize][chip][element * GROUPS / ELEMENT_COUNT][parity];
        let time = ready.max(*due);
        *due = time + self.interval;
        time
    }

    pub fn reset(&mut self) {
        self.due = Default::default();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalog;
    use crate::transaction::RingElement;
    use proptest::prelude::*;

    fn tokens(interval: u64) -> Tokens {
        let timing = catalog::load("cell-qs20").unwrap().unwrap().timing();
        Tokens::new(&CellBeTiming { token_interval: interval, ..timing })
    }

    fn read(element: u8, offset: u32) -> Transaction {
        let requester = RingElement { chip: 0, element };
        let ea = Ea::Memory { module: 0, offset };
        let purpose = TransactionPurpose::Get;
        let node = RingElement::default();
        Transaction {
            purpose,
            spe: 0,
            requester,
            entry: 0,
            source: node,
            target: requester,
            size: 128,
            ea,
            local: 0,
            to: 0,
            value: 0,
        }
    }

    #[test]
    fn groups_and_bank_kinds_have_separate_tokens() {
        let mut tokens = tokens(100);
        let mut take = |element, offset| tokens.take(&read(element, offset), 7);
        assert_eq!([take(0, 0), take(2, 0), take(0, LINE_BYTES), take(3, 0)], [7, 107, 7, 7]);
        assert_eq!(take(1, 2 * LINE_BYTES + 5), 207);
    }

    #[test]
    fn unused_tokens_expire_and_local_stores_need_none() {
        let mut tokens = tokens(100);
        assert_eq!([0, 900, 900].map(|ready| tokens.take(&read(0, 0), ready)), [0, 900, 1000]);
        let local = Transaction { ea: Ea::Local { rank: 1, offset: 0 }, ..read(0, 0) };
        assert_eq!(tokens.take(&local, 900), 900);
        tokens.reset();
        assert_eq!(tokens.take(&read(0, 0), 1), 1);
    }

    proptest! {
        #[test]
        fn group_never_exceeds_its_rate(interval in 0_u64..50, asked in proptest::collection::vec((0_u64..30, 0_u8..12), 1..100)) {
            let mut tokens = tokens(interval);
            let mut now = 0;
            let mut taken: [Vec<u64>; GROUPS] = Default::default();
            for (pause, element) in asked {
                now += pause;
                let time = tokens.take(&read(element, 0), now);
                prop_assert!(time >= now && (interval > 0 || time == now));
                taken[element as usize * GROUPS / ELEMENT_COUNT].push(time);
            }
            prop_assert!(taken.iter().all(|times| times.windows(2).all(|pair| pair[1] >= pair[0] + interval)));
        }
    }
}
