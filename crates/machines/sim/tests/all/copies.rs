//! A copy in one call, compared with the same copy word by word.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::port::{Addr, Port, Testbed, Workload};
use seatmap_sim::{CoherentBed, catalog};

const WORDS: u32 = 40;
const FROM: Addr = Addr(11);
const TO: Addr = Addr(83);
const END: u32 = 128;

/// One task copies, twice; the others write to its source and read its target.
struct Copies {
    in_one_call: bool,
    others: Vec<(u64, u32)>,
}

impl Copies {
    fn copy<P: Port>(&self, port: &P) {
        if self.in_one_call {
            return port.copy(FROM, TO, WORDS);
        }
        (0..WORDS).for_each(|word| port.store(TO.word(word), port.load(FROM.word(word))));
    }
}

impl Workload for Copies {
    type Output = Vec<u64>;

    fn tasks(&self) -> usize {
        1 + self.others.len()
    }

    fn lines(&self) -> u32 {
        END / 8
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> Vec<u64> {
        let now = || port.stamp().ticks;
        let Some((start, word)) = rank.checked_sub(1).map(|other| self.others[other]) else {
            (0..WORDS).for_each(|word| port.store(FROM.word(word), u64::from(word)));
            self.copy(port);
            let first = now();
            self.copy(port);
            return vec![first, now()];
        };
        port.compute(start);
        port.store(FROM.word(word), 100 + rank as u64);
        let stored = now();
        let seen = port.load(TO.word(word));
        vec![stored, seen, now()]
    }
}

fn run(
    model: &str,
    seats: &[u32],
    others: &[(u64, u32)],
    in_one_call: bool,
) -> (Vec<Vec<u64>>, u64, u64) {
    let mut bed = CoherentBed::new(catalog::load(model).unwrap().unwrap());
    let outputs = bed.run(seats, &Copies { in_one_call, others: others.to_vec() }).unwrap();
    (outputs, bed.counters().hits, bed.counters().events)
}

#[test]
fn single_copy_equals_its_words_in_fewer_events() {
    for model in ["xeon-phi-5110p", "xeon-e5-2680-2s", "scc-48"] {
        let [whole, words] = [true, false].map(|in_one_call| run(model, &[0], &[], in_one_call));
        assert_eq!((&whole.0, whole.1), (&words.0, words.1), "{model}");
        assert!(
            model == "scc-48" || whole.2 + 100 < words.2,
            "{model}: {} events for {}",
            whole.2,
            words.2
        );
    }
}

/// The number of cases, and the most in which events of the same cycle may come in another order
/// than word by word.
const CASES: usize = 400;
const MOST_TIES: usize = 2;

#[test]
fn interleaved_copies_match_single_words() {
    let mut rng = fastrand::Rng::with_seed(1);
    let mut draw = || (rng.u64(1..30_000), rng.u32(0..WORDS));
    let differs = |others: &[(u64, u32)]| {
        let [whole, words] = [true, false]
            .map(|in_one_call| run("xeon-phi-5110p", &[1, 2, 77], others, in_one_call));
        whole.0 != words.0
    };
    let ties = (0..CASES).map(|_| [draw(), draw()]).filter(|others| differs(others)).count();
    assert!(ties <= MOST_TIES, "{ties} of {CASES} differ");
}
