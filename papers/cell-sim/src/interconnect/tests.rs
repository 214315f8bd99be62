//! The interconnect alone: the time of a single transaction, and random traffic between all
//! elements of two chips.

use super::*;
use crate::catalog;
use crate::channels::SignalNumber;
use proptest::prelude::*;

struct InterconnectHarness {
    interconnect: Interconnect,
    out: EventOutbox,
    timing: CellBeTiming,
    model: std::sync::Arc<CellModel>,
    delivered: Vec<(u64, Transaction)>,
}

impl InterconnectHarness {
    fn new() -> Self {
        let model = catalog::load("cell-qs20").unwrap().unwrap();
        let timing = model.timing();
        let interconnect = Interconnect::new(&model, &timing);
        InterconnectHarness {
            interconnect,
            out: EventOutbox::default(),
            timing,
            model,
            delivered: Vec::new(),
        }
    }

    fn spe(&self, spe: u16) -> RingElement {
        node(&self.model, (spe / 8) as u8, &format!("SPE{}", spe % 8))
    }

    fn transaction(&self, purpose: TransactionPurpose, spe: u16, ea: Ea) -> Transaction {
        let own = self.spe(spe);
        let other = match ea {
            Ea::Memory { module, .. } => self.interconnect.memory(module),
            Ea::Local { rank, .. } => self.spe(rank),
        };
        let (source, target) =
            if purpose == TransactionPurpose::Get { (other, own) } else { (own, other) };
        Transaction {
            purpose,
            spe,
            requester: own,
            entry: 0,
            source,
            target,
            size: 128,
            ea,
            local: 0,
            to: 0,
            value: 0,
        }
    }

    fn handle(&mut self, event: CellBeEvent) {
        let interconnect = &mut self.interconnect;
        let out = &mut self.out;
        let complete = match event {
            CellBeEvent::Command(id) => return interconnect.command(id, out),
            CellBeEvent::CommandTurn => return interconnect.command_turn(out),
            CellBeEvent::Response(id) => match interconnect.transaction(id, out.now()).purpose {
                TransactionPurpose::Get | TransactionPurpose::Reserve => {
                    return interconnect.fetch(id, out);
                }
                TransactionPurpose::Put => return interconnect.announce(id, out),
                _ => return interconnect.data_ready(id, out),
            },
            CellBeEvent::MemoryTurn(channel) => return interconnect.memory_turn(channel, out),
            CellBeEvent::DataReady(id) => return interconnect.data_ready(id, out),
            CellBeEvent::Arbitrate(chip) => return interconnect.arbitrate(chip, out),
            CellBeEvent::CrossedLink(id) => return interconnect.crossed_link(id, out),
            CellBeEvent::LeftRing(id) => interconnect.left_ring(id, out).then_some(id),
            CellBeEvent::Delivered(id) => Some(id),
            other => panic!("{other:?}"),
        };
        if let Some(id) = complete {
            let now = self.out.now();
            self.delivered.push((now, self.interconnect.finish(id, now)));
        }
    }

    fn run(&mut self) {
        while let Some((_, event)) = self.out.deliver() {
            self.handle(event);
        }
    }

    fn time(purpose: TransactionPurpose, spe: u16, ea: Ea) -> u64 {
        let mut bench = InterconnectHarness::new();
        let transaction = bench.transaction(purpose, spe, ea);
        bench.interconnect.begin(transaction, &mut bench.out);
        bench.run();
        assert_eq!(bench.delivered.len(), 1);
        bench.delivered[0].0
    }
}

const NEAR: Ea = Ea::Memory { module: 0, offset: 0 };

fn local(rank: u16) -> Ea {
    Ea::Local { rank, offset: 0 }
}

#[test]
fn lone_transaction_takes_sum_of_its_stages() {
    let timing = InterconnectHarness::new().timing;
    // SPE0 and SPE2 are neighbours on the ring; SPE0 is next to the MIC.
    let hop = timing.bus + timing.transfer;
    assert_eq!(InterconnectHarness::time(TransactionPurpose::Get, 0, local(2)), timing.snoop + hop);
    assert_eq!(InterconnectHarness::time(TransactionPurpose::Put, 0, local(2)), timing.snoop + hop);
    let crossing = 2 * timing.bif_latency;
    let read = timing.mic_line + timing.mic_latency;
    assert_eq!(
        InterconnectHarness::time(TransactionPurpose::Get, 0, NEAR),
        timing.snoop + crossing + read + hop
    );
    assert_eq!(
        InterconnectHarness::time(TransactionPurpose::Put, 0, NEAR),
        timing.snoop + crossing + hop + timing.mic_line
    );
    let message =
        |register| InterconnectHarness::time(TransactionPurpose::Message(register), 0, local(2));
    let mailbox = timing.snoop + hop + timing.register;
    assert_eq!(message(MappedRegister::Mailbox), mailbox);
    assert_eq!(message(MappedRegister::Signal(SignalNumber::Two)), mailbox + timing.signal);
}

#[test]
fn other_chip_adds_link_and_ring_latency() {
    let timing = InterconnectHarness::new().timing;
    // SPE6 is next to the BIF on either chip.
    let hop = timing.bus + timing.transfer;
    let crossing = 2 * timing.bif_latency;
    // Both directions carry the command and the reflected command, then the responses.
    let commands = timing.bif(2 * timing.bif_packet);
    let link = timing.bif(128 + timing.bif_packet) + timing.bif_latency;
    let time = InterconnectHarness::time(TransactionPurpose::Get, 6, local(8 + 6));
    assert!(commands < timing.snoop, "the link is free again when the data gets there");
    assert_eq!(time, (timing.snoop + crossing + 2 * hop + link).next_multiple_of(timing.bus));
}

#[test]
fn full_memory_forces_command_retries() {
    let mut bench = InterconnectHarness::new();
    for line in 0..200 {
        let ea = Ea::Memory { module: 0, offset: 128 * line };
        let transaction = bench.transaction(TransactionPurpose::Get, (line % 8) as u16, ea);
        bench.interconnect.begin(transaction, &mut bench.out);
    }
    bench.run();
    let counters = bench.interconnect.count(&bench.model.ring);
    assert_eq!((bench.delivered.len(), counters.chips[0].memory_reads), (200, 200));
    assert!(
        counters.chips[0].memory_retries > 0
            && counters.commands == 200 + counters.chips[0].memory_retries
    );
}

fn purpose() -> impl Strategy<Value = TransactionPurpose> {
    prop_oneof![
        Just(TransactionPurpose::Get),
        Just(TransactionPurpose::Put),
        Just(TransactionPurpose::Message(MappedRegister::Mailbox)),
        Just(TransactionPurpose::Message(MappedRegister::Signal(SignalNumber::One))),
    ]
}

/// For each transaction: purpose, SPE, target (SPE or memory module), line, and time since the
/// previous one.
fn traffic() -> impl Strategy<Value = Vec<(TransactionPurpose, u16, u16, u32, u64)>> {
    proptest::collection::vec((purpose(), 0_u16..16, 0_u16..18, 0_u32..20, 0_u64..40), 1..200)
}

proptest! {
    #[test]
    fn transactions_complete_and_none_early(all in traffic()) {
        let mut bench = InterconnectHarness::new();
        let mut begun = Vec::new();
        let mut time = 0;
        for (number, (purpose, spe, other, line, gap)) in all.into_iter().enumerate() {
            let spe_there = (spe + 1 + other % 15) % 16;
            let offset = 128 * line;
            let ea = match (purpose, other) {
                (TransactionPurpose::Get | TransactionPurpose::Put, 16..) => Ea::Memory { module: (other - 16) as u8, offset },
                _ => Ea::Local { rank: spe_there, offset },
            };
            time += gap;
            let transaction = Transaction { value: number as u32, ..bench.transaction(purpose, spe, ea) };
            bench.interconnect.begin_at(time, transaction, &mut bench.out);
            begun.push((time, purpose, spe, ea));
        }
        bench.run();
        let mut delivered: Vec<u32> = bench.delivered.iter().map(|(_, one)| one.value).collect();
        delivered.sort_unstable();
        prop_assert!(delivered.iter().map(|number| *number as usize).eq(0..begun.len()));
        for (end, one) in bench.delivered.iter().step_by(10) {
            let (begin, purpose, spe, ea) = begun[one.value as usize];
            // The time on an idle machine can vary by one bus cycle.
            let alone = InterconnectHarness::time(purpose, spe, ea) - bench.timing.bus;
            prop_assert!(end - begin >= alone, "{:?} took {}, alone {}", one, end - begin, alone);
        }
        prop_assert_eq!(bench.out.deliver(), None);
    }
}
