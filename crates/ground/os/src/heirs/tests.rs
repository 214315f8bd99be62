//! Processes that start while seats exist, and their masks afterwards.

use super::*;
use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdout, Command, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Tests with families run one at a time, because each finds the heirs of the others' seats.
static ONE_FAMILY: Mutex<()> = Mutex::new(());

/// Starts processes on request, a line each.
struct Family {
    shell: Child,
    said: BufReader<ChildStdout>,
    _alone: MutexGuard<'static, ()>,
}

const SCRIPT: &str = "read start
sleep 1000 & echo $!
(sleep 1000 & echo $!)
setsid sh -c 'sleep 1000 & echo $!'
sh -c 'sleep 1000 & echo $!; wait' &
read end";

impl Family {
    fn start() -> Self {
        let alone = ONE_FAMILY.lock().unwrap_or_else(PoisonError::into_inner);
        let mut shell = Command::new("sh");
        shell.args(["-c", SCRIPT]).stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut shell = shell.spawn().unwrap();
        let said = BufReader::new(shell.stdout.take().unwrap());
        Family { shell, said, _alone: alone }
    }

    fn pid(&self) -> Tid {
        self.shell.id() as Tid
    }

    fn mask(&self) -> ThreadMask {
        let tid = self.pid();
        let cpus = CpuSet::of_thread(tid).unwrap();
        ThreadMask { tid, started_ticks: ThreadStat::of(tid).unwrap().started_ticks, cpus }
    }

    fn grow(&mut self) -> Vec<Tid> {
        self.shell.stdin.as_mut().unwrap().write_all(b"\n").unwrap();
        let mut line = || {
            let mut line = String::new();
            self.said.read_line(&mut line).unwrap();
            line.trim().parse().unwrap()
        };
        (0..4).map(|_| line()).collect()
    }

    fn end(mut self, born: &[Tid]) {
        for pid in born {
            // SAFETY: the shell has just reported this process.
            unsafe { libc::kill(*pid, libc::SIGKILL) };
        }
        self.shell.kill().and_then(|()| self.shell.wait()).unwrap();
    }
}

fn masks(tids: &[Tid]) -> Vec<CpuSet> {
    tids.iter().map(|tid| CpuSet::of_thread(*tid).unwrap()).collect()
}

fn two_seats() -> Option<[CpuSet; 2]> {
    let all = CpuSet::of_thread(0).unwrap();
    let ends = [all.first(), all.last()].map(|cpu| CpuSet::single(cpu.unwrap()));
    (ends[0] != ends[1]).then_some(ends)
}

#[test]
fn all_heirs_of_a_seat_lose_it() {
    let Some([seat, other]) = two_seats() else {
        return seatmap_needs::skipped!("there is one CPU");
    };
    let mut family = Family::start();
    let thread = family.mask();
    let whole = thread.cpus.clone();
    let mut ledger = SeatLedger::default();
    ledger.lend(Loan { pid: family.pid(), thread, seat: seat.clone() });
    seat.give(family.pid()).unwrap();
    let born = family.grow();
    assert_eq!(masks(&born), vec![seat.clone(); 4]);
    // A mask that a process chose itself stays.
    other.give(born[3]).unwrap();
    // A guard has only the lines.
    let mut guard = SeatLedger::default();
    ledger.take_news().lines().for_each(|line| guard.read_line(line));
    guard.end_seats();
    let mut given = Vec::new();
    let left = guard.settle(QUIET_LOOKS, |heir| {
        given.push(heir.thread.tid);
        heir.thread.cpus.give(heir.thread.tid)
    });
    let now = masks(&born);
    let shell = CpuSet::of_thread(family.pid()).unwrap();
    // Another test's family is unclear while its shell starts.
    let mut left = left.unwrap();
    left.retain(|one| born.contains(&one.thread.tid) || one.thread.tid == family.pid());
    family.end(&born);
    assert_eq!((left, shell), (Vec::new(), whole.clone()));
    assert_eq!(now, [whole.clone(), whole.clone(), whole, other], "{given:?} of {born:?}");
}

#[test]
fn early_check_frees_new_heirs_but_not_seated_threads() {
    let Some([seat, _]) = two_seats() else {
        return seatmap_needs::skipped!("there is one CPU");
    };
    let mut family = Family::start();
    let thread = family.mask();
    let mut ledger = SeatLedger::default();
    ledger.lend(Loan { pid: family.pid(), thread, seat: seat.clone() });
    seat.give(family.pid()).unwrap();
    assert_eq!(ledger.new_heirs(), []);
    let born = family.grow();
    let mut heirs: Vec<Tid> = ledger.new_heirs().iter().map(|heir| heir.thread.tid).collect();
    heirs.retain(|tid| born.contains(tid) || *tid == family.pid());
    let again = ledger.new_heirs().len();
    family.end(&born);
    let mut expected = born;
    expected.sort_unstable();
    assert_eq!((heirs, again), (expected, 0));
}

#[test]
fn unfreeable_heir_is_returned_with_its_command() {
    let Some([seat, _]) = two_seats() else {
        return seatmap_needs::skipped!("there is one CPU");
    };
    let family = Family::start();
    let thread = family.mask();
    let (tid, whole) = (thread.tid, thread.cpus.clone());
    let mut ledger = SeatLedger::default();
    ledger.lend(Loan { pid: tid, thread, seat: seat.clone() });
    ledger.end_seats();
    seat.give(tid).unwrap();
    let left = ledger.settle(QUIET_LOOKS, |_| Err(io::Error::from_raw_os_error(libc::EPERM)));
    family.end(&[]);
    let said: Vec<String> = left.unwrap().iter().map(ToString::to_string).collect();
    let seat = seat.named();
    assert_eq!(
        said,
        [format!(
            "thread {tid} (sh) may run only on {seat}, a seat's mask; 'taskset -pc {whole} {tid}' \
             restores its own mask"
        )]
    );
}

fn process(pid: Tid, parent: Tid, group: Tid, session: Tid) -> ThreadStat {
    let line = format!("{pid} (x) S {parent} {group} {session} 0 -1 0{} {}", " 0".repeat(12), 500);
    let mut task = ThreadStat::parse(pid, pid, &line).unwrap();
    task.started_ticks = boot::ticks();
    task
}

/// Process 50 in its own group, started by shell 20 of session 20.
fn program() -> SeatLedger {
    let mut ledger = SeatLedger::since(0);
    for line in ["above 1 0 1 1", "above 20 1 20 20", "root 50 2 50 20 0::/user"] {
        ledger.read_line(line);
    }
    ledger
}

fn origin(orphan: &ThreadStat, adopters: &[Tid], group: &str, dead: &[Tid]) -> Origin {
    let adopters = adopters.iter().copied().collect();
    program().origin_of_orphan(
        orphan,
        &adopters,
        |_| group.to_owned(),
        |leader| !dead.contains(&leader),
    )
}

#[test]
fn orphan_origin_follows_groups_and_sessions() {
    let of = |orphan| origin(&orphan, &[], "0::/user", &[]);
    assert_eq!(of(process(60, 20, 50, 20)), Origin::Program, "in the program's group");
    assert_eq!(of(process(60, 1, 60, 60)), Origin::Program, "adopted by process 1");
    assert_eq!(of(process(60, 20, 60, 20)), Origin::Unclear, "as a child of the shell");
    let daemon = process(60, 20, 59, 59);
    assert_eq!(origin(&daemon, &[], "0::/user", &[59]), Origin::Program, "its leader has ended");
    assert_eq!(origin(&daemon, &[], "0::/user", &[]), Origin::Unclear);
    assert_eq!(origin(&daemon, &[20], "0::/user", &[]), Origin::Program, "20 adopts others too");
    assert_eq!(origin(&process(60, 1, 60, 60), &[], "0::/other", &[]), Origin::Stranger);
    let mut old = process(60, 1, 60, 60);
    old.started_ticks = boot::ticks().saturating_sub(2 * RECENT_S * boot::ticks_per_s());
    assert_eq!(of(old), Origin::Unclear, "started long ago, perhaps by a user");
}

#[test]
fn process_of_the_program_is_not_its_ancestor() {
    let mut ledger = program();
    ledger.read_line("root 20 1 20 20 0::/user");
    ledger.read_line("above 20 1 20 20");
    let child = process(60, 1, 60, 20);
    let origin = ledger.origin_of_orphan(&child, &BTreeSet::new(), |_| String::new(), |_| true);
    assert_eq!(origin, Origin::Program, "its session is one of the program's");
}

#[test]
fn ledger_line_round_trip_keeps_line() {
    let kin = Kin { started_ticks: 3, group: 4, session: 5 };
    let cpus = CpuSet::of_list("0-3").unwrap();
    let thread = ThreadMask { tid: 8, started_ticks: 9, cpus };
    let lines = [
        Line::Begin(7),
        Line::Root(1, kin, "3:cpuset:/a b\t0::/".to_owned()),
        Line::Above(2, kin),
        Line::Loan(Loan { pid: 7, thread, seat: CpuSet::single(1) }),
    ];
    for line in lines {
        assert_eq!(Line::parse(&line.to_string()), Some(line));
    }
    let nonsense = ["", "begin", "root 1 2 3", "seat 1 2", "done", "above x 1 2 3", "7 5 0-3"];
    assert!(nonsense.iter().all(|text| Line::parse(text).is_none()));
}

#[test]
fn replaced_seatmap_is_one() {
    for file in ["/usr/bin/seatmap", "/usr/bin/seatmap (deleted)"] {
        assert!(is_of_seatmap(Path::new(file)), "{file}");
    }
    assert!(!is_of_seatmap(Path::new("/opt/seatmap/server")));
}
