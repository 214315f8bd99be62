//! CPUs that go and come while each verb works. The fault is the kernel's own: a thread that is
//! bound to a CPU that goes may run anywhere from then on. Nothing may hang, die, or be called
//! verified where it is not.

use super::answer::{Answer, Running, ask, start, start_program};
use super::is_among;
use super::kernel::{self, Kernel};
use super::threads::told;
use crate::list::{self, CpuSet};
use crate::trial::{Fault, Outcome, Trial, ensure};
use serde_json::Value;
use std::time::{Duration, Instant};

/// How long the kernel may take to switch a CPU or to give a mask back: emulated CPUs are late.
const SETTLES_WITHIN: Duration = Duration::from_secs(60);

/// The CPUs of a round, and the chance that chooses.
struct Round<'a> {
    kernel: &'a Kernel,
    /// The CPUs that the verb works on.
    seats: Vec<u32>,
    /// The CPU that goes.
    victim: u32,
    /// How long the verb takes undisturbed.
    usual: Duration,
    chance: &'a mut fastrand::Rng,
}

/// A verb that is disturbed.
struct Disturbed {
    verb: &'static str,
    /// The words, with the seats for `{cpus}` and the bystander for `{pid}`.
    words: &'static str,
    /// Looks at the answer of an undisturbed or disturbed run.
    judge: fn(&Answer, &Round) -> Result<(), Fault>,
}

/// Each verb with what it is given. A word of its own holds the seats or the bystander.
const DISTURBED: [Disturbed; 15] = [
    Disturbed {
        verb: "run",
        words: "run --strict --report /tmp/hot.json --cpus {cpus} -- \
                seatmap-lab guest threads 3 --seconds 1",
        judge: run_is_honest,
    },
    Disturbed { verb: "measure", words: "measure --quick --cpus {cpus} --json", judge: sentence },
    Disturbed { verb: "noise", words: "noise --cpus {cpus} --seconds 1 --json", judge: sentence },
    Disturbed { verb: "doctor", words: "doctor --json", judge: sentence },
    Disturbed { verb: "check", words: "check --all --seconds 0.5 --json", judge: sentence },
    Disturbed { verb: "top", words: "top --json", judge: sentence },
    Disturbed { verb: "observe", words: "observe --pid {pid} --seconds 1 --json", judge: sentence },
    Disturbed { verb: "bench", words: "bench --runs 4 --json -- true", judge: sentence },
    Disturbed {
        verb: "place",
        words: "place --on /tmp/hot-profile --pattern ring:3 --cpus {cpus} --seconds 0.5 --json",
        judge: sentence,
    },
    Disturbed { verb: "show", words: "show /tmp/hot-profile", judge: sentence },
    Disturbed { verb: "export", words: "export /tmp/hot-plan --format taskset", judge: sentence },
    Disturbed {
        verb: "tune",
        words: "tune --budget 60 --candidates 3 --cpus {cpus} --record /tmp/hot-race.json --json \
                -- true",
        judge: sentence,
    },
    Disturbed { verb: "advise", words: "advise --pid {pid} --seconds 2 --json", judge: sentence },
    Disturbed {
        verb: "pretend",
        words: "pretend epyc-7r13-2s --json -- seatmap-lab guest threads 3 --seconds 1",
        judge: sentence,
    },
    Disturbed {
        verb: "services",
        words: "services observe /tmp/hot-services.toml --seconds 1 --json",
        judge: sentence,
    },
];

/// The verbs whose bystander has threads that talk. These take the time of all emulated CPUs.
const OF_TALKERS: [&str; 2] = ["observe", "advise"];

/// Disturbs each verb so often, and a cell that stands, and a cell that is made.
pub fn run(rounds: u32, seed: u64, only: &str) -> bool {
    println!("hotplug: {rounds} rounds each, seed {seed}");
    let kernel = Kernel::read();
    let mut chance = fastrand::Rng::with_seed(seed);
    let spread = kernel.spread();
    let cpus = spread.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    prepare(&cpus);
    let mut is_right = true;
    for disturbed in DISTURBED.iter().filter(|one| is_among(only, one.verb)) {
        let more: &[&str] = if OF_TALKERS.contains(&disturbed.verb) { &["--talk"] } else { &[] };
        let Ok(bystander) = bystander(more) else { return false };
        let pid = bystander.pid();
        let service = format!(
            "format = \"seatmap-services/1\"\n[[service]]\nname = \"bystander\"\npid = {pid}\n"
        );
        let _ = std::fs::write("/tmp/hot-services.toml", service);
        is_right &= tell(disturbed.verb, rounds, seed, |usual| {
            disturb(&kernel, disturbed, usual, pid, &mut chance)
        });
        bystander.kill();
    }
    type CellRound = fn(&Kernel, &mut fastrand::Rng) -> Result<(), Fault>;
    let cells: [(&str, CellRound); 2] =
        [("cell-stands", cell_that_stands), ("cell-made", cell_that_is_made)];
    for (name, round) in cells.into_iter().filter(|(name, _)| is_among(only, name)) {
        is_right &= tell(name, rounds, seed, |_| round(&kernel, &mut chance));
    }
    is_right
}

/// Makes the files that verbs are given: a profile and a plan. A verb whose file is missing says so
/// in its undisturbed round.
fn prepare(cpus: &str) {
    let _ = ask(&["measure", "--quick", "--cpus", cpus, "-o", "/tmp/hot-profile"]);
    let placing = ["--on", "/tmp/hot-profile", "--pattern", "ring:3", "--cpus", cpus];
    let _ = ask(&[&["place"], &placing[..], &["-o", "/tmp/hot-plan"]].concat());
}

/// Runs all rounds of a verb, the first undisturbed, and prints how many were right.
fn tell(
    verb: &str,
    rounds: u32,
    seed: u64,
    mut round: impl FnMut(Option<Duration>) -> Result<(), Fault>,
) -> bool {
    let trial = Trial::of(&format!("hotplug {verb}"), "CPUs go and come", || {
        let begun = Instant::now();
        round(None)?;
        let usual = begun.elapsed();
        let mut right = 0;
        let mut faults = Vec::new();
        for number in 1..=rounds {
            match round(Some(usual)) {
                Ok(()) => right += 1,
                Err(Fault::Wrong(fault) | Fault::Refused(fault)) => {
                    println!("hotplug: {verb}, round {number}: {fault}");
                    faults.push(format!("round {number}: {fault}"));
                }
            }
        }
        let count = format!("{right} of {rounds}, seed {seed}");
        ensure(faults.is_empty(), || format!("{count}; {}", faults[0]))?;
        Ok(count)
    });
    trial.tell();
    trial.outcome == Outcome::Right
}

fn disturb(
    kernel: &Kernel,
    disturbed: &Disturbed,
    usual: Option<Duration>,
    bystander: u32,
    chance: &mut fastrand::Rng,
) -> Result<(), Fault> {
    let seats = kernel.spread();
    let movable: Vec<u32> = if chance.bool() {
        seats.iter().copied().filter(|cpu| *cpu != 0).collect()
    } else {
        kernel.usable().into_iter().filter(|cpu| *cpu != 0).collect()
    };
    let victim = movable[chance.usize(..movable.len())];
    let mut round = Round { kernel, seats, victim, usual: usual.unwrap_or_default(), chance };
    let result = one_round(disturbed, &mut round, bystander, usual.is_some());
    set(victim, true)?;
    result.and(settle(kernel, bystander))
}

/// A program that nobody bound, whose masks must be whole after each round.
fn bystander(more: &[&str]) -> Result<Running, Fault> {
    let mut words = vec!["guest", "threads", "5", "--seconds", "90000"];
    words.extend(more);
    let mut bystander = start_program("seatmap-lab", &words)?;
    bystander.wait_for("thread", 5)?;
    Ok(bystander)
}

fn one_round(
    disturbed: &Disturbed,
    round: &mut Round,
    bystander: u32,
    is_disturbed: bool,
) -> Result<(), Fault> {
    let cpus = round.seats.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
    let words = disturbed.words.replace("{cpus}", &cpus).replace("{pid}", &bystander.to_string());
    let words: Vec<&str> = words.split(' ').collect();
    let running = start(&words)?;
    if is_disturbed {
        go_and_come(round)?;
    }
    let answer = running.end();
    answer.is_sane()?;
    if !is_disturbed {
        ensure(answer.code == Some(0), || format!("undisturbed: {}", answer.show()))?;
    }
    (disturbed.judge)(&answer, round).map_err(|fault| match fault {
        Fault::Wrong(text) | Fault::Refused(text) => {
            Fault::Wrong(format!("CPU {} went: {text}", round.victim))
        }
    })
}

/// Takes the CPU away at a moment of the verb's usual time, brings it back at another, perhaps
/// again.
fn go_and_come(round: &mut Round) -> Result<(), Fault> {
    let times = 1 + round.chance.u32(..2);
    for _ in 0..times {
        std::thread::sleep(round.usual.mul_f64(round.chance.f64() / f64::from(times)));
        set(round.victim, false)?;
        std::thread::sleep(round.usual.mul_f64(round.chance.f64() / f64::from(times)));
        set(round.victim, true)?;
    }
    Ok(())
}

/// Switches a CPU. The kernel may be busy with another that does the same.
///
/// # Errors
/// [`Fault::Wrong`], where it stays as it is.
pub fn set(cpu: u32, is_online: bool) -> Result<(), Fault> {
    let path = format!("/sys/devices/system/cpu/cpu{cpu}/online");
    let word = if is_online { "1" } else { "0" };
    let begun = Instant::now();
    while std::fs::read_to_string(&path).is_ok_and(|now| now.trim() != word) {
        let _ = std::fs::write(&path, word);
        let is_late = begun.elapsed() > SETTLES_WITHIN;
        ensure(!is_late, || format!("the kernel does not switch CPU {cpu} to {word}"))?;
    }
    Ok(())
}

/// Waits until a program that nobody bound may run everywhere again.
fn settle(kernel: &Kernel, pid: u32) -> Result<(), Fault> {
    let usable = kernel.usable();
    let begun = Instant::now();
    loop {
        let masks: Vec<Option<CpuSet>> =
            kernel::threads(pid).into_iter().map(|tid| kernel::mask(pid, tid)).collect();
        // A CPU that is offline stays in the masks of those that were never bound.
        let whole =
            masks.iter().flatten().all(|mask| usable.is_subset(mask) || *mask == kernel.online);
        if whole && !masks.is_empty() {
            return Ok(());
        }
        let is_late = begun.elapsed() > SETTLES_WITHIN;
        ensure(!is_late, || format!("a program that nobody bound has masks {masks:?}"))?;
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A verb may fail where its CPU goes, with a sentence that names the CPU or the fault.
fn sentence(answer: &Answer, _: &Round) -> Result<(), Fault> {
    let says = ["CPU", "offline"].iter().any(|word| answer.err.contains(word));
    match answer.code {
        Some(0) => Ok(()),
        Some(1 | 2) if says => Ok(()),
        _ => Err(Fault::Wrong(answer.show())),
    }
}

/// Each thread that the report calls verified said at its end that it sat there.
fn run_is_honest(answer: &Answer, round: &Round) -> Result<(), Fault> {
    sentence(answer, round)?;
    if answer.code == Some(2) {
        return Ok(());
    }
    let text = std::fs::read_to_string("/tmp/hot.json").unwrap_or_default();
    let report: Value = serde_json::from_str(&text).unwrap_or_default();
    let threads = report["threads"].as_array().cloned().unwrap_or_default();
    let ends: Vec<_> = answer.out.lines().filter_map(|line| line.strip_prefix("end ")).collect();
    for thread in told(&ends.join("\n")) {
        let Some(own) = threads.iter().find(|own| own["tid"].as_u64() == Some(thread.tid.into()))
        else {
            continue;
        };
        let seat: CpuSet = own["cpus"]
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(|cpu| u32::try_from(cpu.as_u64()?).ok())
            .collect();
        let is_verified = own["verified"] == true && own["trouble"].is_null();
        ensure(!is_verified || thread.cpus == seat, || {
            let now = list::show(&thread.cpus);
            format!(
                "called verified, and at its end the kernel had {now} (of {}): {own}",
                round.kernel.online.len()
            )
        })?;
    }
    Ok(())
}

fn cell_cpus(kernel: &Kernel) -> Vec<u32> {
    super::cells::last_core(kernel).into_iter().filter(|cpu| *cpu != 0).collect()
}

/// A cell stands, one of its CPUs goes and comes: the cell is unsound, then whole again or
/// destroyed, and masks are back.
fn cell_that_stands(kernel: &Kernel, chance: &mut fastrand::Rng) -> Result<(), Fault> {
    let cpus = cell_cpus(kernel);
    let list = list::show(&cpus);
    let bystander = bystander(&[])?;
    let victim = cpus[chance.usize(..cpus.len())];
    let result = stand(&list, victim, chance);
    let back = set(victim, true);
    let destroyed = ask(&["cell", "destroy", "hot"]);
    if let Ok(answer) = &destroyed {
        remedied(answer);
    }
    let settled = settle(kernel, bystander.pid());
    bystander.kill();
    result?;
    back?;
    destroyed?.done()?;
    settled
}

fn stand(list: &str, victim: u32, chance: &mut fastrand::Rng) -> Result<(), Fault> {
    ask(&["cell", "create", "hot", "--cpus", list, "--untested"])?.done()?;
    set(victim, false)?;
    let unsound = ask(&["cell", "verify", "hot"])?;
    let is_named = unsound.code == Some(1)
        && (unsound.out.contains("offline") || unsound.err.contains("offline"));
    ensure(is_named, || format!("CPU {victim} is offline: {}", unsound.show()))?;
    if chance.bool() {
        return Ok(());
    }
    set(victim, true)?;
    let again = ask(&["cell", "verify", "hot"])?;
    let says = !again.out.trim().is_empty() || !again.err.trim().is_empty();
    let is_told = again.code == Some(0) || again.code == Some(1) && says;
    ensure(is_told, || format!("CPU {victim} is back: {}", again.show()))?;
    if again.code == Some(0) {
        let inside =
            ask(&["cell", "run", "hot", "-q", "--", "seatmap-lab", "guest", "threads", "1"])?;
        let threads = told(&inside.done()?.out);
        let cpus: CpuSet = list::parse_words(list);
        let is_inside = threads.iter().all(|thread| thread.cpus.is_subset(&cpus));
        ensure(is_inside, || format!("whole again, and its program has {threads:?}"))?;
    }
    Ok(())
}

/// A cell is made and destroyed while a CPU, of it or another, goes and comes.
fn cell_that_is_made(kernel: &Kernel, chance: &mut fastrand::Rng) -> Result<(), Fault> {
    let cpus = cell_cpus(kernel);
    let list = list::show(&cpus);
    let bystander = bystander(&[])?;
    let others: Vec<u32> = kernel.usable().into_iter().filter(|cpu| *cpu != 0).collect();
    let from = if chance.bool() { &cpus } else { &others };
    let victim = from[chance.usize(..from.len())];
    let maker = start(&["cell", "create", "hot", "--cpus", &list, "--untested"])?;
    let mut said = Vec::new();
    let result = during(maker, victim, chance).and_then(|made| {
        said.push(made.show());
        if made.code != Some(0) {
            remedied(&made);
            return ensure(made.err.contains("CPU"), || made.show());
        }
        let ended = during(start(&["cell", "destroy", "hot"])?, victim, chance)?;
        said.push(ended.show());
        remedied(&ended);
        ensure(ended.code == Some(0) || ended.err.contains("offline"), || ended.show())
    });
    set(victim, true)?;
    if ask(&["cell", "show", "hot"])?.code == Some(0) {
        let ended = ask(&["cell", "destroy", "hot"])?;
        said.push(ended.show());
        ended.done()?;
    }
    let settled = settle(kernel, bystander.pid());
    bystander.kill();
    result.and(settled).map_err(|fault| match fault {
        Fault::Wrong(text) | Fault::Refused(text) => {
            Fault::Wrong(format!("CPU {victim} went, the cell has {list}: {text}; {said:?}"))
        }
    })
}

/// Linux before 6.3 takes a CPU that is offline out of masks that are set. The command that is
/// printed puts them back.
fn remedied(answer: &Answer) {
    let remedy = answer.err.split('\'').find(|words| words.starts_with("taskset -pc"));
    if let Some(remedy) = remedy.filter(|_| answer.err.contains("is not put back")) {
        let _ = std::process::Command::new("sh").args(["-c", remedy]).output();
    }
}

/// A CPU goes and comes while a command works.
fn during(running: Running, victim: u32, chance: &mut fastrand::Rng) -> Result<Answer, Fault> {
    std::thread::sleep(Duration::from_millis(chance.u64(..600)));
    set(victim, false)?;
    std::thread::sleep(Duration::from_millis(chance.u64(..600)));
    set(victim, true)?;
    let answer = running.end();
    answer.is_sane()?;
    Ok(answer)
}
