//! Homes of a program's own lines on a simulated chip, which knows them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use seatmap_data::machine::Profile;
use seatmap_data::port::{Addr, Port, Stamp, Testbed, Workload};
use seatmap_measure::seats::line_homes::{CandidateLines, find};
use seatmap_sim::{CoherentBed, CoherentModel, SimError, catalog, coherent};
use std::cell::RefCell;
use std::sync::{Arc, LazyLock};

const LINES: std::ops::Range<u32> = 1000..1096;

static CHIP: LazyLock<(Arc<CoherentModel>, Profile)> = LazyLock::new(|| {
    let model = catalog::load("xeon-phi-5110p").unwrap().unwrap();
    let profile = coherent::profile(&model).unwrap();
    (model, profile)
});

/// Has a clock error and random noise.
struct Chip {
    bed: CoherentBed,
    share: f64,
    noise_ns: f64,
    runs: u32,
    busy_ns: f64,
}

impl Chip {
    fn new(share: f64, noise_ns: f64) -> Self {
        Chip { bed: CoherentBed::new(Arc::clone(&CHIP.0)), share, noise_ns, runs: 0, busy_ns: 0.0 }
    }

    fn told(&mut self, profile: &Profile, cpus: Option<&[u32]>) -> (usize, usize, f64) {
        let lines =
            CandidateLines { words: LINES.map(Addr::line).collect(), meeting: Addr::line(0) };
        let found = find(self, profile, cpus, &lines).unwrap();
        let told = || LINES.zip(&found).filter_map(|(line, home)| Some((line, (*home)?)));
        let right = told().filter(|(line, home)| CHIP.0.home_of(*line) == Some(*home)).count();
        let ns_a_line = self.busy_ns / found.len() as f64;
        eprintln!(
            "{right} of {} told, {} visits, {:.0} us a line",
            told().count(),
            self.runs,
            ns_a_line / 1000.0
        );
        (right, told().count() - right, ns_a_line)
    }
}

struct Noisily<'a, W> {
    inner: &'a W,
    noise_ticks: f64,
}

struct Noisy<'a, P> {
    inner: &'a P,
    noise_ticks: f64,
    rng: RefCell<fastrand::Rng>,
}

impl<W: Workload> Workload for Noisily<'_, W> {
    type Output = W::Output;

    fn tasks(&self) -> usize {
        self.inner.tasks()
    }

    fn lines(&self) -> u32 {
        self.inner.lines()
    }

    fn task<P: Port>(&self, port: &P, rank: usize) -> W::Output {
        let rng = RefCell::new(fastrand::Rng::with_seed(port.stamp().ticks ^ rank as u64));
        self.inner.task(&Noisy { inner: port, noise_ticks: self.noise_ticks, rng }, rank)
    }
}

impl<P: Port> Port for Noisy<'_, P> {
    fn load(&self, word: Addr) -> u64 {
        self.inner.load(word)
    }

    fn store(&self, word: Addr, value: u64) {
        self.inner.store(word, value);
    }

    fn fetch_add(&self, word: Addr, value: u64) -> u64 {
        self.inner.fetch_add(word, value)
    }

    fn compare_exchange(&self, word: Addr, current: u64, new: u64) -> Result<u64, u64> {
        self.inner.compare_exchange(word, current, new)
    }

    fn wait_while(&self, word: Addr, value: u64) -> u64 {
        self.inner.wait_while(word, value)
    }

    fn stamp(&self) -> Stamp {
        let stamp = self.inner.stamp();
        let late = self.rng.borrow_mut().f64() * self.noise_ticks;
        Stamp { ticks: stamp.ticks + late as u64, ..stamp }
    }

    fn compute(&self, cycles: u64) {
        self.inner.compute(cycles);
    }
}

impl Testbed for Chip {
    type Error = SimError;

    fn run<W: Workload>(
        &mut self,
        seats: &[u32],
        workload: &W,
    ) -> Result<Vec<W::Output>, SimError> {
        let noise_ticks = self.noise_ns / self.bed.ns_per_tick();
        let outputs = self.bed.run(seats, &Noisily { inner: workload, noise_ticks })?;
        self.busy_ns += self.bed.counters().cycles as f64 / CHIP.0.frequency_ghz;
        self.runs += 1;
        Ok(outputs)
    }

    fn pus(&self) -> &[u32] {
        self.bed.pus()
    }

    fn ns_per_tick(&self) -> f64 {
        self.bed.ns_per_tick() * (1.0 + self.share)
    }

    fn clock_step_ns(&self) -> f64 {
        self.bed.clock_step_ns()
    }
}

#[test]
fn quiet_chip_reveals_every_line() {
    let (right, wrong, ns_a_line) = Chip::new(0.0, 0.0).told(&CHIP.1, None);
    assert_eq!((right, wrong), (LINES.len(), 0));
    assert!(ns_a_line < 1e6, "{ns_a_line} ns a line");
}

#[test]
fn changed_clock_hides_no_line() {
    for share in [-0.05, 0.05] {
        assert_eq!(Chip::new(share, 0.0).told(&CHIP.1, None).0, LINES.len(), "{share}");
    }
}

#[test]
fn few_allowed_cpus_reveal_every_line() {
    let cpus: Vec<u32> = (0..8).map(|core| 28 * core + 1).collect();
    assert_eq!(Chip::new(0.0, 0.0).told(&CHIP.1, Some(&cpus)).0, LINES.len());
}

#[test]
fn noise_costs_visits_before_it_costs_lines() {
    let mut chip = Chip::new(0.02, 400.0);
    let (right, wrong, _) = chip.told(&CHIP.1, None);
    assert!(right >= LINES.len() * 95 / 100 && wrong <= 1, "{right} right, {wrong} wrong");
}

#[test]
fn too_few_cores_are_refused() {
    let siblings = [1, 2, 3, 4];
    let lines = CandidateLines { words: vec![Addr::line(1000)], meeting: Addr::line(0) };
    let error =
        find(&mut Chip::new(0.0, 0.0), &CHIP.1, Some(&siblings), &lines).unwrap_err().to_string();
    assert!(error.contains("at least two cores"), "{error}");
}
