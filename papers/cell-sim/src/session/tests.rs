//! Sessions driven by hand: the calls of a C program, one by one.

use super::*;
use crate::catalog;
use crate::channels::{SignalNumber, TransferOrder};

fn registers(n: u32) -> u64 {
    0x7000_0000 + u64::from(n) * REGISTER_BYTES
}

struct SessionHarness {
    session: CellBeSession,
    thread: u16,
    contexts: Vec<u16>,
    stores: Vec<Box<Lines>>,
}

#[repr(align(128))]
struct Lines([u64; 512]);

impl SessionHarness {
    fn new(name: &str, contexts: u32) -> Self {
        let model = catalog::load(name).unwrap().unwrap();
        let mut bench = SessionHarness {
            session: CellBeSession::new(&model, &[]),
            thread: 0,
            contexts: Vec::new(),
            stores: Vec::new(),
        };
        bench.thread = bench.session.add_thread(0);
        (0..contexts).for_each(|number| bench.add(number));
        bench
    }

    fn add(&mut self, number: u32) {
        let mut lines = Box::new(Lines([0; 512]));
        let base = lines.0.as_mut_ptr().cast();
        let store = LocalStore { base, effective: base, bytes: 4096 };
        let new = NewContext {
            number,
            store,
            registers: registers(number),
            gathers: [false, true],
            seat: None,
            chip: None,
        };
        self.contexts.push(self.session.add_context(new));
        self.stores.push(lines);
    }

    fn run(&mut self, at: usize) {
        let thread = if at == 0 { self.thread } else { self.session.add_thread(at as u32) };
        self.session.call(
            thread,
            SessionCall::Run { context: self.contexts[at], is_fresh: true },
            0,
        );
    }

    fn await_turn(&mut self, task: u16) -> u64 {
        let turn = self.session.advance().expect("somebody has a turn");
        assert_eq!(turn.task, task, "{:?}", self.session.waiting());
        turn.answer
    }

    fn does(&mut self, at: usize, call: SessionCall) -> u64 {
        self.session.call(self.contexts[at], call, 0);
        self.await_turn(self.contexts[at])
    }

    fn transfer(kind: CommandKind, local: u32, effective: u64, bytes: u32, tag: u8) -> SessionCall {
        SessionCall::Command(ProgramCommand {
            name: "a transfer",
            kind,
            local,
            effective,
            bytes,
            tag,
        })
    }

    fn await_tags(&mut self, at: usize, tags: u32, condition: TagCondition) -> (u32, u64) {
        let began = self.session.now();
        self.session.set_tag_mask(self.contexts[at], tags);
        self.session.update_tags(self.contexts[at], condition);
        let status = self.does(at, SessionCall::Read(ReadChannel::TagStatus));
        (status as u32, self.session.now() - began)
    }
}

#[test]
fn bytes_arrive_exactly_at_completion_time() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let mut memory = Box::new(Lines([7; 512]));
    let there = memory.0.as_mut_ptr() as u64;
    bench.run(0);
    bench.await_turn(bench.contexts[0]);
    bench.does(
        0,
        SessionHarness::transfer(CommandKind::Get(TransferOrder::Free), 0, there, 4096, 3),
    );
    assert_eq!(bench.stores[0].0[0], 0, "the command is only in the queue");
    bench.session.call(bench.contexts[0], SessionCall::Work(500), 0);
    bench.await_turn(bench.contexts[0]);
    let arrived = bench.stores[0].0.iter().filter(|word| **word == 7).count();
    assert!(arrived > 0 && arrived < 512 && arrived.is_multiple_of(16), "{arrived} of 512 words");
    assert_eq!(bench.await_tags(0, 1 << 3, TagCondition::Immediate).0, 0);
    let (status, cycles) = bench.await_tags(0, 1 << 3, TagCondition::All);
    assert_eq!((status, bench.stores[0].0), (1 << 3, [7; 512]));
    assert!(cycles > 0);
    bench.stores[0].0 = [9; 512];
    bench.does(
        0,
        SessionHarness::transfer(CommandKind::Put(TransferOrder::Free), 128, there + 128, 128, 4),
    );
    assert_eq!(
        bench.await_tags(0, 1 << 4 | 1 << 3, TagCondition::Any).0,
        1 << 3,
        "tag 3 has nothing to do"
    );
    assert_eq!(bench.await_tags(0, 1 << 4, TagCondition::All).0, 1 << 4);
    assert_eq!((memory.0[15], memory.0[16], memory.0[31], memory.0[32]), (7, 9, 9, 7));
}

#[test]
fn threads_and_transfers_deliver_messages_and_signals() {
    let mut bench = SessionHarness::new("cell-qs20", 2);
    let thread = bench.thread;
    let first = bench.contexts[0];
    let second = bench.contexts[1];
    for value in 0..5 {
        bench.session.call(thread, SessionCall::Send { to: first, value, by_kernel: false }, 0);
        assert_eq!(
            bench.await_turn(thread),
            u64::from(value < 4),
            "four fit, before the context has run"
        );
    }
    bench.run(0);
    bench.run(1);
    bench.await_turn(first);
    bench.await_turn(second);
    let read: Vec<u64> =
        (0..4).map(|_| bench.does(0, SessionCall::Read(ReadChannel::Mailbox))).collect();
    assert_eq!(read, [0, 1, 2, 3]);
    bench.session.call(first, SessionCall::Read(ReadChannel::Signal(SignalNumber::Two)), 0);
    bench.stores[1].0[0] = 5 << 32;
    bench.does(
        1,
        SessionHarness::transfer(
            CommandKind::Put(TransferOrder::Free),
            4,
            registers(0) + 0x1_c00c,
            4,
            0,
        ),
    );
    assert_eq!(bench.await_turn(first), 5);
    let far = SessionHarness::transfer(
        CommandKind::Put(TransferOrder::Free),
        4,
        registers(0) + 0x400c,
        4,
        0,
    );
    bench.does(1, far);
    assert_eq!(bench.does(0, SessionCall::Read(ReadChannel::Mailbox)), 5);
}

#[test]
fn conditional_store_fails_after_another_store() {
    let mut bench = SessionHarness::new("cell-ps3", 2);
    let mut memory = Box::new(Lines([1; 512]));
    let there = memory.0.as_mut_ptr() as u64;
    bench.run(0);
    bench.run(1);
    bench.await_turn(bench.contexts[0]);
    bench.await_turn(bench.contexts[1]);
    let line = |kind| SessionHarness::transfer(kind, 0, there, 128, 0);
    for at in [0, 1] {
        bench.does(at, line(CommandKind::Reserve));
        assert_eq!(bench.does(at, SessionCall::Read(ReadChannel::AtomicStatus)), 4);
        bench.stores[at].0[0] += 1;
    }
    bench.does(0, line(CommandKind::StoreConditional));
    assert_eq!((bench.does(0, SessionCall::Read(ReadChannel::AtomicStatus)), memory.0[0]), (0, 2));
    bench.does(1, line(CommandKind::StoreConditional));
    assert_eq!((bench.does(1, SessionCall::Read(ReadChannel::AtomicStatus)), memory.0[0]), (1, 2));
    bench.does(1, line(CommandKind::Reserve));
    bench.does(1, SessionCall::Read(ReadChannel::AtomicStatus));
    // A thread writes to the line, which the machine does not see.
    memory.0[5] = 8;
    bench.stores[1].0[0] += 1;
    bench.does(1, line(CommandKind::StoreConditional));
    assert_eq!(
        (bench.does(1, SessionCall::Read(ReadChannel::AtomicStatus)), memory.0[0], memory.0[5]),
        (1, 2, 8)
    );
    bench.does(1, line(CommandKind::Store));
    assert_eq!(
        (bench.does(1, SessionCall::Read(ReadChannel::AtomicStatus)), memory.0[0], memory.0[5]),
        (2, 3, 1)
    );
}

#[test]
fn list_stalls_until_acknowledged() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let mut memory = Box::new(Lines([7; 512]));
    let there = memory.0.as_mut_ptr() as u64;
    bench.run(0);
    bench.await_turn(bench.contexts[0]);
    let element = |at: u64, bytes| ListElement { effective: there + at, bytes };
    let command = ProgramCommand {
        name: "mfc_getl",
        kind: CommandKind::Get(TransferOrder::Free),
        local: 8,
        effective: 0,
        bytes: 24,
        tag: 5,
    };
    let parts = [element(8, 8), element(256, 32)];
    let entry = bench
        .does(0, SessionCall::List { command, elements: parts.as_ptr(), count: 2, is_open: true });
    assert_eq!(bench.does(0, SessionCall::Read(ReadChannel::StallStatus)), 1 << 5);
    // The small element keeps its position in its quadword; the next begins after that quadword.
    assert_eq!(bench.stores[0].0[..8], [0, 7, 7, 7, 7, 7, 0, 0]);
    assert_eq!(bench.await_tags(0, 1 << 5, TagCondition::Immediate).0, 0);
    assert_eq!(bench.session.stalled_lists(bench.contexts[0], 5), [entry as u8]);
    bench.session.extend_list(bench.contexts[0], entry as u8, &[element(512, 16)], false);
    assert_eq!(bench.await_tags(0, 1 << 5, TagCondition::All).0, 1 << 5);
    assert_eq!(bench.stores[0].0[6..10], [7, 7, 0, 0]);
}

#[test]
fn commands_behind_a_barrier_wait_for_all_tags() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let memory = Box::new(Lines([7; 512]));
    let there = memory.0.as_ptr() as u64;
    bench.run(0);
    bench.await_turn(bench.contexts[0]);
    let mut order = |has_barrier: bool| {
        bench.does(
            0,
            SessionHarness::transfer(CommandKind::Get(TransferOrder::Free), 0, there, 4096, 1),
        );
        if has_barrier {
            bench.does(0, SessionHarness::transfer(CommandKind::Barrier, 0, 0, 0, 2));
        }
        bench.does(
            0,
            SessionHarness::transfer(CommandKind::Get(TransferOrder::Free), 0, there, 16, 3),
        );
        let first = bench.await_tags(0, 1 << 1 | 1 << 3, TagCondition::Any).0;
        bench.await_tags(0, 0xf, TagCondition::All);
        first
    };
    assert_eq!(
        (order(false), order(true)),
        (1 << 1, 1 << 1),
        "the small one comes behind the large one in any case"
    );
    // The small transfer ends with the large one's last line, but later if a barrier holds it back.
    let mut cycles = |has_barrier: bool| {
        let began = bench.session.now();
        bench.does(
            0,
            SessionHarness::transfer(CommandKind::Get(TransferOrder::Free), 0, there, 4096, 1),
        );
        if has_barrier {
            bench.does(0, SessionHarness::transfer(CommandKind::Barrier, 0, 0, 0, 2));
        }
        bench.does(
            0,
            SessionHarness::transfer(CommandKind::Get(TransferOrder::Free), 0, there, 4096, 3),
        );
        bench.await_tags(0, 0xf, TagCondition::All);
        bench.session.now() - began
    };
    let free = cycles(false);
    let held_back = cycles(true);
    assert!(held_back > free + 200, "{held_back} and {free} cycles: two latencies and one");
}

#[test]
fn contexts_share_spes_and_keep_their_spe() {
    let mut bench = SessionHarness::new("cell-ps3", 7);
    for at in 0..7 {
        bench.run(at);
    }
    for at in 0..6 {
        bench.await_turn(bench.contexts[at]);
        bench.session.call(bench.contexts[at], SessionCall::Read(ReadChannel::Mailbox), 0);
    }
    assert_eq!(bench.session.advance(), None);
    let waiting = bench.session.waiting().join("; ");
    assert!(
        waiting.contains("PPE thread 6 waits for an SPE to run SPE context 6: all are taken"),
        "{waiting}"
    );
    assert!(waiting.contains("SPE context 0 waits for a message in its mailbox"), "{waiting}");
    assert!(waiting.contains("PPE thread 0 waits for the end of SPE context 0"), "{waiting}");
}

#[test]
fn bad_address_stops_its_context() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    bench.run(0);
    bench.await_turn(bench.contexts[0]);
    assert_eq!(bench.session.take_fault(bench.contexts[0]), None);
    let bad = ProgramCommand {
        name: "mfc_get",
        kind: CommandKind::Get(TransferOrder::Free),
        local: 0,
        effective: 64,
        bytes: 16,
        tag: 9,
    };
    bench.does(0, SessionCall::Command(bad));
    assert_eq!(bench.session.take_fault(bench.contexts[0]), Some(bad));
    bench.session.stopped(bench.contexts[0], true);
    assert_eq!(bench.await_turn(bench.thread), 0);
    bench.session.call(bench.thread, SessionCall::Destroy(bench.contexts[0]), 0);
    bench.await_turn(bench.thread);
}

#[test]
fn context_is_destroyed_after_its_transfers() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let mut memory = Box::new(Lines([0; 512]));
    bench.stores[0].0 = [5; 512];
    bench.run(0);
    bench.await_turn(bench.contexts[0]);
    let there = memory.0.as_mut_ptr() as u64;
    bench.does(
        0,
        SessionHarness::transfer(CommandKind::Put(TransferOrder::Free), 0, there, 4096, 0),
    );
    bench.session.stopped(bench.contexts[0], true);
    bench.await_turn(bench.thread);
    assert_ne!(memory.0, [5; 512], "the program has ended before its transfer");
    bench.session.call(bench.thread, SessionCall::Destroy(bench.contexts[0]), 0);
    bench.await_turn(bench.thread);
    assert_eq!(memory.0, [5; 512]);
}

#[test]
fn threads_park_until_key_or_time() {
    let mut bench = SessionHarness::new("cell-ps3", 0);
    let first = bench.thread;
    let second = bench.session.add_thread(1);
    bench.session.call(first, SessionCall::Park { key: 8, until: Some(1000) }, 0);
    bench.session.call(second, SessionCall::Work(10), 0);
    bench.await_turn(second);
    assert_eq!((bench.session.wake(9, 1), bench.session.wake(8, 5)), (0, 1));
    assert_eq!((bench.await_turn(first), bench.session.now()), (1, 10));
    bench.session.call(first, SessionCall::Park { key: 8, until: Some(2000) }, 0);
    assert_eq!(
        (bench.await_turn(first), bench.session.now()),
        (0, 2000),
        "the timer of the first wait means nothing"
    );
    // It looks before its work, and is woken before it parks.
    bench.session.call(first, SessionCall::Park { key: 8, until: None }, 100);
    assert_eq!(bench.session.wake(8, 1), 1);
    assert_eq!((bench.await_turn(first), bench.session.now()), (1, 2100));
}

#[test]
fn events_reach_spus_and_threads() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let context = bench.contexts[0];
    let thread = bench.thread;
    let waiter = bench.session.add_thread(1);
    let watched_events =
        [WatchedEvents { context, events: ppe_event::OUT_INTR_MBOX | ppe_event::STOPPED }];
    bench.session.call(
        waiter,
        SessionCall::AwaitEvents { watched_events: watched_events.as_ptr(), count: 1, until: None },
        0,
    );
    bench.run(0);
    bench.await_turn(context);
    bench.session.set_event_mask(context, spu_event::DECREMENTER | spu_event::IN_MBOX);
    bench.session.set_decrementer(context, 10);
    let began = bench.session.ticks();
    assert_eq!(
        bench.does(0, SessionCall::Read(ReadChannel::Events)),
        u64::from(spu_event::DECREMENTER)
    );
    assert_eq!(bench.session.ticks() - began, 11, "one tick below zero");
    bench.session.acknowledge(context, u32::MAX);
    bench.does(0, SessionCall::Write(Outbound::Interrupting, 3));
    bench.session.call(context, SessionCall::Read(ReadChannel::Events), 0);
    assert_eq!(
        (bench.await_turn(waiter), bench.session.happened(context) & ppe_event::OUT_INTR_MBOX),
        (1, 1)
    );
    bench.session.call(waiter, SessionCall::Send { to: context, value: 1, by_kernel: true }, 0);
    assert_eq!(bench.await_turn(waiter), 1);
    assert_eq!(bench.await_turn(context), u64::from(spu_event::IN_MBOX));
    bench.session.stopped(context, true);
    bench.session.set_ends(context, 1);
    bench.await_turn(thread);
    let until = Some(bench.session.now() + 5);
    let stopped = [WatchedEvents { context, events: ppe_event::TAG_GROUP }];
    bench.session.call(
        waiter,
        SessionCall::AwaitEvents { watched_events: stopped.as_ptr(), count: 1, until },
        0,
    );
    assert_eq!((bench.await_turn(waiter), Some(bench.session.now())), (0, until));
    assert_ne!(bench.session.happened(context) & ppe_event::STOPPED, 0);
}

#[test]
fn proxy_commands_have_separate_tags_and_queue() {
    let mut bench = SessionHarness::new("cell-ps3", 1);
    let mut memory = Box::new(Lines([6; 512]));
    let context = bench.contexts[0];
    let thread = bench.thread;
    let there = memory.0.as_mut_ptr() as u64;
    let command = |tag| ProgramCommand {
        name: "spe_mfcio_get",
        kind: CommandKind::Get(TransferOrder::Free),
        local: 0,
        effective: there,
        bytes: 4096,
        tag,
    };
    for tag in [2, 3] {
        bench.session.call(thread, SessionCall::Proxy(context, command(tag)), 0);
        bench.await_turn(thread);
    }
    let status = |bench: &mut SessionHarness, mask, condition| {
        bench.session.call(thread, SessionCall::AwaitProxies { of: context, mask, condition }, 0);
        bench.await_turn(thread)
    };
    assert_eq!(status(&mut bench, 1 << 2 | 1 << 3, TagCondition::All), 1 << 2 | 1 << 3);
    assert_eq!(bench.stores[0].0, [6; 512]);
    assert_eq!(bench.session.happened(context) & ppe_event::TAG_GROUP, 0, "the tags were taken");
}
