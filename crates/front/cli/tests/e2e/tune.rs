//! `seatmap tune` on commands that print fixed figures, so no result depends on speed.

use crate::common::{
    Arguments, Json, Place, assert_contains, can_observe, can_pretend, files, stderr, stdout,
    two_cpus,
};
use crate::common::{begun, rank};
use serde_json::Value;

const BEST_ALONE: &str =
    "grep -q 'Cpus_allowed_list:.[0-9]*$' /proc/self/status && echo took 9 || echo took 10";

fn race(place: &Place, options: impl Arguments, script: &str) -> std::process::Output {
    let metric = ["tune", "--metric", "regex:took ([0-9]+)", "--lower-is-better"];
    place.run((metric, options, &["--", "sh", "-c", script]))
}

fn document(output: &std::process::Output) -> Value {
    assert!(output.status.success(), "{output:?}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn better_seats_are_found_and_written() {
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    let options = "--budget 70 -o plan.json --html p.html --json";
    let found = document(&race(&place, options, BEST_ALONE));
    let verdict = &found["verdict"];
    assert_eq!(
        (&found["candidates"][0]["seats"], &verdict["safe"]),
        (&"free".into(), &true.into()),
        "{found}"
    );
    assert!((verdict["confirmed"][0]["percent"].number() + 10.0).abs() < 1e-9, "{verdict}");
    assert!(found["runs"].elements().len() <= 70);
    let kept = place.read_json("seatmap-tune.json");
    assert_eq!(kept, found);
    assert!(place.read("p.html").contains("is better: it reads 10.0 % lower than 'default'"));
    // A mask is one seat for all threads.
    let plan = place.read_json("plan.json");
    assert_eq!(plan["placement"].elements().len(), 1, "{plan}");
    let seated =
        place.stdout(["run", "--quiet", "--plan", "plan.json", "--", "sh", "-c", BEST_ALONE]);
    assert_eq!(seated, "took 9\n");
}

/// Prints 10 for four threads, more for other numbers, and 14 by default; its rate grows to eight.
const BEST_WITH_FOUR: &str =
    "n=${THREADS:-8}; echo took $((n > 4 ? 6 + n : 22 - 3 * n)); echo rate $((100 / n))";

#[test]
fn best_number_of_threads_is_found_and_raced() {
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    let options = "--count THREADS=1..8 --metric regex:rate.([0-9]+) --candidates 2 --budget 60";
    let output = race(&place, (options, "--html p.html"), BEST_WITH_FOUR);
    let printed = stdout(&output);
    assert_contains(&stderr(&output), "THREADS=4 is the best of 8 numbers in 28 runs; it races");
    for words in [
        "28 runs with 8 of 8 numbers of THREADS, then ",
        "By regex:took ([0-9]+), THREADS=4 is the best number that ran.",
        "By regex:rate.([0-9]+), THREADS=8 is the best number that ran.",
        "'4 threads' is better: it reads 28.6 % lower than 'default'",
        "To get this: THREADS=4 COMMAND",
    ] {
        assert_contains(&printed, words);
    }
    let found = place.read_json("seatmap-tune.json");
    assert_eq!(
        (&found["counts"]["best"], &found["candidates"][1]["count"]),
        (&4.into(), &4.into())
    );
    assert!(found["runs"].elements().len() + 28 <= 60);
    assert!(place.read("p.html").contains("THREADS=8 beside 4"));
    // The option takes its place in the command, and the default goes without it.
    let words = ["tune", "--count", "-n {}=1,2,4,8", "--candidates", "2", "--budget", "60"];
    let metric = ["--metric", "regex:took ([0-9]+)", "--lower-is-better", "--"];
    let script = "shift $#; set -- {}; n=${2:-8}; echo took $((n > 4 ? 6 + n : 22 - 3 * n))";
    let printed = place.stdout((words, metric, ["sh", "-c", script]));
    assert_contains(&printed, "To get this: COMMAND, with the option -n 4");
}

#[test]
fn wait_policies_race_at_the_best_number() {
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    let script = "test \"$OMP_WAIT_POLICY\" = passive && less=3; \
                  n=${THREADS:-8}; echo took $(((n > 4 ? 6 + n : 22 - 3 * n) - ${less:-0}))";
    let options = "--count THREADS=1..8 --vary wait-policy --candidates 4 --budget 90 --json";
    let found = document(&race(&place, options, script));
    let winner = &found["candidates"][found["verdict"]["winner"].whole() as usize];
    assert_eq!(winner["variables"], serde_json::json!(["OMP_WAIT_POLICY=passive"]), "{winner}");
    assert_eq!((&winner["count"], &winner["name"]), (&4.into(), &"wait passive, 4 threads".into()));
}

/// The kinds of cores of a described machine race by their words.
#[test]
fn words_race_on_a_hybrid_machine() {
    if !can_pretend() {
        return;
    }
    let place = Place::new();
    // Of the 24 CPUs of this processor, eight are of efficiency cores.
    let script = "test $(nproc) = 8 && echo took 9 || echo took 10";
    let pretended = ["pretend", "core-i9-12900k", "-q", "--", env!("CARGO_BIN_EXE_seatmap")];
    let tune = "tune --candidates 6 --budget 72 -o plan.json --lower-is-better";
    let metric = ["--metric", "regex:took ([0-9]+)", "--", "sh", "-c", script];
    let printed = place.stdout((pretended, tune, metric));
    let word = "not:kind:performance";
    assert_contains(&printed, &format!("To get this: taskset -c $(seatmap cpus {word}) COMMAND"));
    let found = place.read_json("seatmap-tune.json");
    let named = found["candidates"].elements().iter().filter_map(|one| one["words"].as_str());
    assert_eq!(named.collect::<Vec<_>>(), ["kind:performance", word, "no-smt"]);
    let plan = place.read_json("plan.json");
    let seats = serde_json::json!([(16..24).collect::<Vec<_>>()]);
    assert_eq!((&plan["words"], &plan["seats"]), (&word.into(), &seats));
}

#[test]
fn observed_program_is_placed_by_its_pattern() {
    let Some(cpus) = two_cpus() else { return seatmap_needs::skipped!("one CPU") };
    if !can_observe() {
        return;
    }
    let place = Place::new();
    place.stdout("measure --quick");
    let script = "head -c 300000 /dev/zero | cat | wc -c";
    let options =
        ["tune", "--observe", "--cpus", &cpus, "--candidates", "3", "--budget", "57", "--json"];
    let output = place.run((options, &["--", "sh", "-c", script]));
    let said = stderr(&output);
    if said.contains("no messages between threads") {
        return seatmap_needs::skipped!("{said}");
    }
    let found = document(&output);
    let best = &found["candidates"][1];
    assert_eq!(
        (&best["name"], best["seats"]["placement"].is_array()),
        (&"best".into(), true),
        "{found}"
    );
    assert!(best["predicted"].is_number() && found["verdict"].is_object(), "{found}");
}

#[test]
fn model_race_is_identical_with_any_rank_count() {
    let place = Place::new();
    let typed = "tune --on epyc-7r13-2s --pattern ring:8 --candidates 5 --budget 60 --json";
    let alone = place.stdout((typed, "-o plan.json --html page.html"));
    let spread = (typed, "--spread");
    let [first, second, third] = [0, 1, 2].map(|at| begun(rank(&place, at, 3, spread)));
    for other in [second, third] {
        let output = other.wait_with_output().unwrap();
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
    }
    let first = first.wait_with_output().unwrap();
    assert_eq!(stdout(&first), alone);
    let said = stderr(&first);
    assert_contains(&said, "parts done by 3 ranks");
    let found: Value = serde_json::from_str(&alone).unwrap();
    let verdict = &found["verdict"];
    assert_eq!(
        (&found["simulated"]["machine"], found["runs"].elements().len()),
        (&"epyc-7r13-2s".into(), 60)
    );
    assert!(
        verdict["safe"] == true && verdict["confirmed"][0]["percent"].number() < -50.0,
        "{verdict}"
    );
    let winner = &found["candidates"][verdict["winner"].whole() as usize]["seats"]["placement"];
    let plan = place.read_json("plan.json");
    assert_eq!((&plan["machine"], &plan["placement"]), (&"epyc-7r13-2s".into(), winner));
    assert!(place.read("page.html").contains("all with the same skew at the start"));
    assert_eq!(files(&place), ["page.html", "plan.json"], "no run needs to be kept");
}

/// A killed race cannot delete its plans; the next race does.
#[test]
fn next_race_removes_folder_of_killed_one() {
    if two_cpus().is_none() {
        return seatmap_needs::skipped!("one CPU");
    }
    let place = Place::new();
    let temporary = place.path("temporary");
    std::fs::create_dir(&temporary).unwrap();
    let left = || std::fs::read_dir(&temporary).unwrap().count();
    let words = ["tune", "--budget", "70", "--", "sh", "-c", "echo $$ > began; exec sleep 1000"];
    let mut child = place.command(words).env("TMPDIR", &temporary).spawn().unwrap();
    let begun = || {
        let text = std::fs::read_to_string(place.path("began")).unwrap_or_default();
        text.trim().parse::<i32>().ok()
    };
    while begun().is_none() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    child.kill().unwrap();
    child.wait().unwrap();
    // If a cell took the CPU of a run, that run was repeated; `began` names the last one.
    let run = begun().unwrap();
    // The run may have ended with the race. SAFETY: the call touches no memory.
    let ended = unsafe { libc::kill(run, libc::SIGKILL) };
    let is_gone = std::io::Error::last_os_error().raw_os_error() == Some(libc::ESRCH);
    assert!(ended == 0 || is_gone);
    assert_eq!(left(), 1, "the killed race's plans");
    let next =
        place.command("tune --budget 70 -- false").env("TMPDIR", &temporary).output().unwrap();
    assert_eq!((next.status.code(), left()), (Some(1), 0), "{next:?}");
}
