//! Ranks as threads of one process, connected over TCP.

use super::*;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::atomic::AtomicUsize;
use std::thread::JoinHandle;

fn rank(rank: usize, size: usize) -> Rank {
    Rank { rank, size, launcher: "test", job: None }
}

fn meet(folder: &Path) -> Meet {
    Meet {
        meeting: Meeting::File(folder.join("meeting")),
        secret: None,
        timeout: Duration::from_secs(60),
    }
}

fn square(text: &str) -> Result<String, String> {
    text.parse::<u64>()
        .map(|number| (number * number).to_string())
        .map_err(|error| error.to_string())
}

fn work<'a>(
    name: &'a str,
    part: &'a (dyn Fn(&str, &AtomicBool) -> Result<String, String> + Sync),
) -> SpreadWork<'a> {
    SpreadWork { name, node: "here", part }
}

fn numbers(count: usize) -> Vec<String> {
    (0..count).map(|number| number.to_string()).collect()
}

fn go_on() -> ControlFlow<()> {
    ControlFlow::Continue(())
}

fn following(
    at: usize,
    size: usize,
    meet: &Meet,
    name: &'static str,
) -> JoinHandle<Result<usize, SpreadError>> {
    let meet = meet.clone();
    std::thread::spawn(move || follow(&rank(at, size), &meet, work(name, &|text, _| square(text))))
}

fn led(
    meet: &Meet,
    size: usize,
    count: usize,
) -> (Result<SpreadOutcome, SpreadError>, Vec<String>) {
    led_with(meet, size, count, &|text, _| square(text))
}

fn led_with(
    meet: &Meet,
    size: usize,
    count: usize,
    part: &(dyn Fn(&str, &AtomicBool) -> Result<String, String> + Sync),
) -> (Result<SpreadOutcome, SpreadError>, Vec<String>) {
    let mut results = vec![String::new(); count];
    let mut take = |part: usize, text: &str| {
        assert_eq!(results[part], "", "a result comes once");
        results[part] = text.to_owned();
        go_on()
    };
    let work = work("squares", part);
    let done = lead(&rank(0, size), meet, work, &numbers(count), &mut take, &go_on);
    (done, results)
}

fn squares(count: usize) -> Vec<String> {
    (0..count).map(|number| (number * number).to_string()).collect()
}

#[test]
fn all_parts_return_from_any_rank() {
    let folder = tempfile::tempdir().unwrap();
    let meet = meet(folder.path());
    let others = [1, 2].map(|at| following(at, 3, &meet, "squares"));
    let (done, results) = led(&meet, 3, 40);
    let done = done.unwrap();
    assert!(done.is_whole && done.lost.is_empty(), "{done:?}");
    assert_eq!(
        (results, done.done.iter().map(|(_, parts)| parts).sum::<usize>()),
        (squares(40), 40)
    );
    let by_others: usize = others.into_iter().map(|other| other.join().unwrap().unwrap()).sum();
    assert!(by_others <= 40);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn part_of_a_lost_rank_is_done_by_another() {
    let folder = tempfile::tempdir().unwrap();
    let meet = Meet { timeout: Duration::from_secs(2), ..meet(folder.path()) };
    let other = meet.clone();
    let lost = std::thread::spawn(move || {
        let coming =
            Coming { rank: 1, size: 3, node: "there".to_owned(), work: "squares".to_owned() };
        let mut channel = other
            .meeting
            .find_host(&rank(1, 3), None, other.timeout, |stream, secret| {
                Ok(call(
                    crate::handshake::PATIENCE,
                    stream,
                    secret,
                    ConnectionPurpose::Spread,
                    &coming,
                )?)
            })
            .unwrap();
        assert!(matches!(receive(&mut channel), Ok(Order::Part(_))));
    });
    let has_come = AtomicUsize::new(0);
    let slowly = |text: &str, _: &AtomicBool| {
        while !lost.is_finished() && has_come.load(Ordering::Relaxed) == 0 {
            std::thread::sleep(Duration::from_millis(5));
        }
        has_come.store(1, Ordering::Relaxed);
        square(text)
    };
    let (done, results) = led_with(&meet, 3, 30, &slowly);
    let done = done.unwrap();
    lost.join().unwrap();
    assert_eq!(results, squares(30));
    let told: Vec<String> =
        done.lost.iter().map(|lost| format!("{}: {}", lost.rank, lost.why)).collect();
    let broke = "rank 1 on there: its connection broke: the process or the node is down";
    assert_eq!(told, [broke, "rank 2: did not join within 2 s"]);
}

#[test]
fn other_work_or_a_failing_part_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let meet = meet(folder.path());
    let stranger = following(1, 2, &meet, "cubes");
    let told = led(&meet, 2, 5).0.unwrap_err().to_string();
    assert!(told.starts_with("rank 1 on here has other work than rank 0"), "{told}");
    let told = stranger.join().unwrap().unwrap_err().to_string();
    assert!(told.contains("rank 0 has other work"), "{told}");
    let told = led_with(&meet, 1, 1, &|_, _| Err("the model broke".to_owned())).0.unwrap_err();
    assert_eq!(told.to_string(), "rank 0 on here: the model broke");
}

#[test]
fn stop_request_ends_the_run() {
    let folder = tempfile::tempdir().unwrap();
    let endless = |_: &str, is_over: &AtomicBool| {
        while !is_over.load(Ordering::Relaxed) {
            std::thread::yield_now();
        }
        Err("stopped".to_owned())
    };
    let stop = || ControlFlow::Break(());
    let done = lead(
        &rank(0, 1),
        &meet(folder.path()),
        work("", &endless),
        &numbers(9),
        &mut |_, _| stop(),
        &stop,
    )
    .unwrap();
    assert!(!done.is_whole);
}

#[test]
fn jobs_keep_their_numbers_in_any_order() {
    let folder = tempfile::tempdir().unwrap();
    let meet = meet(folder.path());
    let rank = rank(0, 1);
    let jobs = (0..100).collect::<Vec<u64>>();
    let ranks = Ranks { rank: &rank, meet: &meet, node: "here" };
    let led = |numbers: &JobEvaluator<'_, u64>| {
        let mut kept = Vec::new();
        let mut keep = |jobs: &[u64], numbers: &[f64]| {
            kept.extend(jobs.iter().copied().zip(numbers.iter().copied()));
            ControlFlow::Continue(())
        };
        ranks
            .lead("halves", &jobs, numbers, &mut keep, &go_on)
            .map(|spread| (spread.is_whole, kept))
    };
    let (is_whole, mut kept) =
        led(&|jobs, _| Ok(jobs.iter().map(|job| *job as f64 / 2.0).collect())).unwrap();
    kept.sort_by_key(|(job, _)| *job);
    assert!(is_whole && kept.into_iter().eq(jobs.iter().map(|job| (*job, *job as f64 / 2.0))));
    for wrong in [vec![], vec![1.0; 99]] {
        assert!(matches!(led(&|_, _| Ok(wrong.clone())), Err(SpreadError::Numbers)), "{wrong:?}");
    }
    assert!(
        matches!(led(&|_, _| Ok(vec![f64::NAN; 16])), Err(SpreadError::Numbers)),
        "JSON has no such number"
    );
}
