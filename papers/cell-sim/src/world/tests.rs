//! The running machine: calls that wait, and faults that stop the run.

use super::*;
use crate::catalog;
use crate::channels::{Ea, SignalNumber, TransferOrder};

fn world(seats: &[TaskElement]) -> CellBeMachine {
    let model = catalog::load("cell-qs20").unwrap().unwrap();
    let mut world = CellBeMachine::new(&model);
    let shape = ProgramNeeds {
        tasks: seats.len(),
        local_bytes: 4096,
        memory_bytes: 4096,
        signals_or: true,
    };
    world.reset(&shape, 2, seats);
    world
}

fn get(tag: u8) -> ChannelCall {
    let ea = Ea::Memory { module: 0, offset: 0 };
    ChannelCall::Transfer { is_get: true, local: 0, ea, size: 128, tag, order: TransferOrder::Free }
}

#[test]
fn full_mfc_blocks_task_and_wakes_it_once() {
    let mut world = world(&[TaskElement::Spe(0)]);
    for entry in 0..16 {
        assert!(world.doing(0).is_none(), "command {entry} was taken");
        world.call(0, get(1));
    }
    world.call(0, get(2));
    assert_eq!(world.doing(0).unwrap(), "hands its MFC a get of 128 bytes, tag 2");
    let resumed = std::iter::from_fn(|| world.next_task()).count();
    assert_eq!(resumed, 17, "each call ends once");
    let model = catalog::load("cell-qs20").unwrap().unwrap();
    let counters = world.count(&model);
    assert_eq!((counters.mfc_commands, counters.mfc_full), (17, 1));
    assert_eq!(counters.chips[0].memory_reads, 17);
}

#[test]
fn fifth_message_waits_and_arrives() {
    let mut world = world(&[TaskElement::Spe(0), TaskElement::Spe(1)]);
    for value in 0..5 {
        world.call(0, ChannelCall::MailboxWrite { to: 1, value });
        while world.doing(0).is_some() {
            world.next_task();
        }
    }
    while world.next_task().is_some() {}
    let mut read = Vec::new();
    for _ in 0..5 {
        world.call(1, ChannelCall::MailboxRead);
        assert_eq!(world.next_task().map(|(_, task)| task), Some(1));
        read.push(world.answer(1));
    }
    assert_eq!(read, [0, 1, 2, 3, 4]);
    world.call(1, ChannelCall::MailboxRead);
    assert_eq!(
        (world.next_task(), world.doing(1).is_some()),
        (None, true),
        "nothing more has been sent"
    );
}

#[test]
fn ppe_waits_for_mailbox_room() {
    let mut world = world(&[TaskElement::Ppe(0), TaskElement::Spe(0)]);
    for value in 0..4 {
        world.call(0, ChannelCall::MailboxWrite { to: 1, value });
        world.next_task();
    }
    world.start(world.now() + 2000, 1);
    world.next_task();
    world.call(0, ChannelCall::MailboxWrite { to: 1, value: 4 });
    world.start(world.now() + 20_000, 1);
    assert_eq!(world.next_task().map(|(_, task)| task), Some(1));
    assert!(world.doing(0).is_some(), "the mailbox is full");
    world.call(1, ChannelCall::MailboxRead);
    let mut tasks: Vec<u16> =
        std::iter::from_fn(|| world.next_task()).map(|(_, task)| task).collect();
    tasks.sort_unstable();
    assert_eq!(tasks, [0, 1]);
}

#[test]
#[should_panic(expected = "task 0 at core cycle 0: a call is tried that has ended")]
fn retry_without_call_panics() {
    world(&[TaskElement::Spe(0)]).dispatch(CellBeEvent::Retry(0));
}

#[test]
#[should_panic(expected = "the PPE of chip 1 at core cycle 0: it cannot do SignalRead(One)")]
fn unsupported_ppe_call_panics() {
    world(&[TaskElement::Ppe(1)]).call(0, ChannelCall::SignalRead(SignalNumber::One));
}

#[test]
#[should_panic(expected = "task 0 at core cycle 0: it calls Compute(2) during Some(Compute(1))")]
fn second_concurrent_call_panics() {
    let mut world = world(&[TaskElement::Spe(0)]);
    world.tasks[0].request = Some(ChannelCall::Compute(1));
    world.call(0, ChannelCall::Compute(2));
}
