//! The protocol under random traffic: no line ever has two owners, and at the end no message and no
//! request is left.

use super::*;
use crate::coherent::CoherentModel;
use crate::coherent::cache::LineState;
use crate::coherent::message::MessageKind;
use crate::coherent::parts_for_tests::{hierarchy, message, ring};
use proptest::prelude::*;
use seatmap_data::port::Addr;

/// A ring and a mesh with directories, a hierarchy with one home and one with several, and message
/// buffers.
fn machines() -> Vec<(&'static str, Arc<CoherentLayout>)> {
    let bundled = |text: &str| CoherentModel::from_toml("x.toml", text).unwrap().layout;
    let phi = include_str!("../../../../../../machines/xeon-phi-5110p.toml");
    let scc = include_str!("../../../../../../machines/scc-48.toml");
    let mesh = scc
        .replace("kind = \"buffers\"", "kind = \"directories\"")
        .replace("threads_per_core = 1", "threads_per_core = 2");
    let levels = crate::catalog::load("xeon-e5-2680-2s").unwrap().unwrap();
    vec![
        ("small ring that sends requests back", Arc::new(ring(2))),
        ("small hierarchy", Arc::new(hierarchy(2))),
        ("ring", bundled(phi)),
        ("mesh", bundled(&mesh)),
        ("hierarchy", Arc::clone(&levels.layout)),
        ("buffers", bundled(scc)),
    ]
}

#[derive(Clone, Copy, Debug)]
enum Step {
    Load(u32),
    Add(u32),
    Compute(u64),
}

struct Traffic {
    world: CoherentMachine,
    calls: Vec<std::vec::IntoIter<Step>>,
    made: Vec<Option<(u64, Step)>>,
    /// Word, begin, end, whether the call adds, and the value that it found.
    done: Vec<(u32, u64, u64, bool, u64)>,
}

const LINES: u32 = 3;

impl Traffic {
    fn new(layout: &Arc<CoherentLayout>, caches: &[u16], calls: Vec<Vec<Step>>, seed: u64) -> Self {
        let mut world = CoherentMachine::new(Arc::clone(layout));
        world.reset(caches, LINES, seed);
        let made = vec![None; calls.len()];
        let calls = calls.into_iter().map(Vec::into_iter).collect();
        Traffic { world, calls, made, done: Vec::new() }
    }

    fn run(&mut self) {
        while let Some((now, event)) = self.world.outbox.next_event() {
            if let Some(task) = self.world.dispatch(event) {
                self.goes_on(task, now);
            }
            self.check_lines();
        }
        self.world.assert_idle();
        assert!(
            self.made.iter().all(Option::is_none)
                && self.calls.iter_mut().all(|calls| calls.next().is_none())
        );
    }

    fn goes_on(&mut self, task: u16, now: u64) {
        let at = task as usize;
        if let Some((began, step)) = self.made[at].take() {
            let value = self.world.answer(task);
            match step {
                Step::Load(word) => self.done.push((word, began, now, false, value)),
                Step::Add(word) => self.done.push((word, began, now, true, value)),
                Step::Compute(_) => {}
            }
        }
        if let Some(step) = self.calls[at].next() {
            self.made[at] = Some((now, step));
            let request = match step {
                Step::Load(word) => LineCall::Load(Addr(word)),
                Step::Add(word) => LineCall::Add(Addr(word), 1),
                Step::Compute(ticks) => LineCall::Compute(ticks),
            };
            self.world.call(task, request);
        }
    }

    fn check_lines(&self) {
        if self.world.layout.is_uncached {
            return;
        }
        let seated = || self.world.cores.iter().filter(|core| !core.threads.is_empty());
        for line in 0..LINES {
            let having =
                |least: LineState| seated().filter(|core| core.cache.state(line) >= least).count();
            let [all, owners, writers] =
                [LineState::Shared, LineState::Owned, LineState::Exclusive].map(having);
            assert!(
                owners <= 1 && (writers == 0 || all == 1),
                "line {line}: {all} copies, {owners} owners"
            );
        }
    }

    /// Every read finds all additions that ended before it began, and none that began after its
    /// end.
    fn check_values(&self) {
        for &(word, began, ended, adds, value) in &self.done {
            let additions = || self.done.iter().filter(|of| of.0 == word && of.3);
            let before = additions().filter(|of| of.2 < began).count() as u64;
            let until = additions().filter(|of| of.1 <= ended).count() as u64 - u64::from(adds);
            assert!(
                (before..=until).contains(&value),
                "word {word} at {began}-{ended}: {value}, not {before}-{until}"
            );
        }
        for word in 0..LINES * seatmap_data::port::WORDS_PER_LINE {
            let mut found: Vec<u64> =
                self.done.iter().filter(|of| of.0 == word && of.3).map(|of| of.4).collect();
            found.sort_unstable();
            assert!(
                found.into_iter().eq(0..self.world.memory.read(Addr(word))),
                "additions to word {word} are lost"
            );
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<Vec<Step>>> {
    // Two words a line, so threads share lines more often than words.
    let word = (0..LINES, 0_u32..2)
        .prop_map(|(line, word)| line * seatmap_data::port::WORDS_PER_LINE + word);
    let step = prop_oneof![
        3 => word.clone().prop_map(Step::Load),
        2 => word.prop_map(Step::Add),
        1 => (1_u64..400).prop_map(Step::Compute),
    ];
    prop::collection::vec(prop::collection::vec(step, 0..30), 2..9)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn single_writer_or_readers_and_reads_see_last_write(calls in steps(), crowded: bool, seed in 0_u64..1000) {
        for (name, layout) in machines() {
            let places = layout.caches() * layout.threads;
            let calls = calls[..calls.len().min(places)].to_vec();
            let cache = |task: usize| if crowded { task / layout.threads } else { task % layout.caches() };
            let caches: Vec<u16> = (0..calls.len()).map(|task| cache(task) as u16).collect();
            let mut traffic = Traffic::new(&layout, &caches, calls, seed);
            traffic.run();
            traffic.check_values();
            let (sent, received, under_way) = traffic.world.outbox.network.traffic();
            prop_assert_eq!((sent, under_way), (received, 0), "{}", name);
        }
    }
}

#[test]
fn coherence_check_can_fail() {
    let layout = Arc::new(ring(8));
    let mut traffic = Traffic::new(&layout, &[0, 1], vec![vec![Step::Add(0)], Vec::new()], 0);
    traffic.run();
    // A second cache is sent the line behind the directory's back.
    let line = message(&layout, MessageKind::Line { exclusive: true }, 1, 0, 0);
    traffic.world.cores[1].cache.access(0, 0, LineCall::Load(Addr(0)), &mut traffic.world.outbox);
    traffic.world.cores[1].cache.expect(0, 0);
    let packet = crate::coherent::parts_for_tests::arrive(&mut traffic.world.outbox, line);
    assert!(traffic.world.cores[1].cache.handle(packet, &mut traffic.world.outbox).is_some());
    let failed = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| traffic.check_lines()));
    assert!(failed.is_err());
}

#[test]
fn invariant_panic_names_component_time_and_message() {
    let layout = Arc::new(ring(8));
    let mut world = CoherentMachine::new(Arc::clone(&layout));
    world.reset(&[0, 1], LINES, 0);
    world.outbox.send(message(&layout, MessageKind::InvAck, 1, 0, 2), 40);
    let world = std::cell::RefCell::new(world);
    let mut stage = engine::TaskStacks::default();
    let run = || {
        stage.play(&world, &std::cell::Cell::new(0), 1.0, 2, |_, yielder| {
            (0..9)
                .map(|_| yielder.suspend(engine::TaskMessage::Call(LineCall::Compute(30))))
                .sum::<u64>()
        })
    };
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).unwrap_err();
    let message = panic.downcast_ref::<String>().unwrap();
    assert!(message.contains("directory at tick 40: InvAck of line 2, cache 1"), "{message}");
}
