//! `seatmap bench` on commands that print fixed figures, so no result depends on speed.

use crate::auto::ALONE;
use crate::common::{Arguments, Guarded, Json, Place, assert_contains, stderr, stdout};
use std::sync::PoisonError;
use std::time::{Duration, Instant};

const RATE: [&str; 5] = ["bench", "--runs", "6", "--metric", "regex:rate ([0-9.]+)"];

fn bench(place: &Place, options: impl Arguments) -> std::process::Output {
    place.run((RATE, options))
}

#[test]
fn commands_are_compared_in_blocks() {
    let place = Place::new();
    let options = [
        "--higher-is-better",
        "--compare",
        "old=echo rate 100",
        "--name",
        "new",
        "--json",
        "--html",
        "p.html",
    ];
    let document = place.json((RATE, options, &["--", "echo", "rate 110"]));
    assert_eq!(document["format"], "seatmap-bench/1");
    // Blocks disturbed by other tests are repeated.
    let runs = document["runs"].elements().len();
    assert!(document["complete"] == true && (18..=36).contains(&runs), "{runs}");
    let found = &document["comparisons"][0];
    assert_eq!((&found["verdict"], &found["ratio_low"]), (&"better".into(), &found["ratio_high"]));
    assert!((found["ratio"].number() - 1.1).abs() < 1e-12, "{found}");
    assert_eq!(document["itself"]["floor_percent"], 0.0);
    let page = place.read("p.html");
    assert!(page.contains("'new' is better") && page.contains("10.0 % higher"), "{page}");
}

/// A shell line that prints the next of these readings, in a cycle.
fn next_of(place: &Place, name: &str, readings: &str) -> String {
    let script = format!(
        "n=$(cat {name}.at 2> none || echo 0); set -- {readings}; echo $((n + 1)) > {name}.at; \
         shift $((n % $#)); echo rate $1\n"
    );
    place.file(&format!("{name}.sh"), script);
    format!("sh {name}.sh")
}

/// If all pairs of six blocks agree, six suffice.
#[test]
fn six_blocks_show_factor_of_three() {
    for blocks in ["6", "7", "8", "9"] {
        let place = Place::new();
        let fast = next_of(&place, "fast", "62 71 166 64 150 90 80 101 66 122 75");
        let slow = next_of(&place, "slow", "244 303 251 290 262 247 281");
        let compared = format!("slow={slow}");
        let options = ["bench", "--runs", blocks, "--metric", "regex:rate ([0-9.]+)"];
        let options = [&options[..], &["--lower-is-better", "--compare", &compared]].concat();
        let words: Vec<&str> = fast.split(' ').collect();
        let text = place.stdout((options, "--name fast --", words));
        assert!(text.contains("'fast' is better: it reads "), "{blocks}: {text}");
        assert_contains(&text, " blocks, only changes beyond -");
    }
}

#[test]
fn blocks_needed_for_small_difference_are_suggested() {
    let place = Place::new();
    let loud = next_of(&place, "loud", "100 131 92 117 88 126 104");
    let other = next_of(&place, "other", "121 95 99 130 90 108");
    let compared = format!("other={other}");
    let words: Vec<&str> = loud.split(' ').collect();
    let options = ["--lower-is-better", "--compare", &compared, "--"];
    let text = place.stdout((RATE, options, words));
    assert_contains(&text, "No difference between");
    let offer = text.split("To detect a change of 10 %, run about ").nth(1).expect(&text);
    let needed: usize = offer.split(' ').next().unwrap().parse().unwrap();
    assert!(needed > 6 && offer.contains(&format!(": --runs {needed}.")), "{text}");
}

#[test]
fn baseline_is_compared_on_same_computer() {
    let place = Place::new();
    // A cell of another test may take CPU 0.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let then = |rate: &str| {
        bench(
            &place,
            ["--lower-is-better", "-o", "then.json", "--cpus", "0", "--", "echo", "rate", rate],
        )
    };
    if then("100").status.code() != Some(0) {
        return seatmap_needs::skipped!("this process may not use CPU 0");
    }
    // Other tests load the CPU at some times only.
    let mut earlier = place.read_json("then.json");
    earlier["seats"].as_object_mut().unwrap().remove("others_percent");
    place.file("then.json", earlier.to_string());
    // The later runs use the same CPU, whichever are quiet now.
    let now = "--lower-is-better --baseline then.json --fail-above 3 -- echo rate";
    assert_eq!(bench(&place, (now, "102")).status.code(), Some(0));
    assert_eq!(bench(&place, (now, "110")).status.code(), Some(1));
    place.file("then.json", place.read("then.json").replace("\"kernel\":\"", "\"kernel\":\"un"));
    let output = bench(&place, (now, "110"));
    let text = stdout(&output);
    assert_eq!(output.status.code(), Some(0));
    assert!(text.contains("Not comparable with") && text.contains("kernel: "), "{text}");
}

#[test]
fn interrupted_session_keeps_whole_blocks_and_ends_runs() {
    let place = Place::new();
    let script =
        "echo rate 1; echo x >> n; test $(wc -l < n) -lt 8 || { echo $$ > pid; exec sleep 1000; }";
    let mut child = Guarded(
        place
            .command((
                "bench --runs 50",
                &RATE[3..],
                &["-o", "kept.json", "--", "sh", "-c", script],
            ))
            .stdout(std::process::Stdio::null())
            .stderr(std::process::Stdio::null())
            .spawn()
            .unwrap(),
    );
    let began = Instant::now();
    while place.path("pid").metadata().map_or(0, |file| file.len()) == 0 {
        assert!(began.elapsed() < Duration::from_secs(60), "the eighth run did not begin");
        std::thread::sleep(Duration::from_millis(10));
    }
    assert_eq!(child.ended_by(libc::SIGINT), Some(1));
    let pid: i32 = place.read("pid").trim().parse().unwrap();
    assert!(!seatmap_os::task::lives(pid), "the run goes on");
    let kept = place.read_json("kept.json");
    // One of seven runs warms up, and disturbed ones are repeated.
    let runs = kept["runs"].elements().len();
    assert!(kept["complete"] == false && (4..=6).contains(&runs), "{runs}");
}

#[test]
fn quiet_session_releases_its_seats() {
    // A cell takes a CPU from other tests' programs.
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let place = Place::new();
    let document = place.json("bench --runs 2 --quiet --seats 1 --json -- true");
    let quiet = document["fingerprint"]["quiet"].text();
    assert!(["a cell", "preference"].contains(&quiet), "{document}");
    let cells = place.stdout("cell list");
    assert!(!cells.contains("bench-"), "{cells}");
}

fn under_way(place: &Place, options: impl Arguments) -> Guarded {
    let mut bench = place.command(("bench", options));
    bench.stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null());
    let mut child = Guarded(bench.spawn().unwrap());
    while !place.path("kept.json").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    child
}

/// Short runs end before they can be checked for signals.
#[test]
fn session_of_short_commands_stops_on_signals() {
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let place = Place::new();
        let mut child = under_way(&place, "--runs 100000 -o kept.json -- true");
        assert_eq!(child.ended_by(signal), Some(1), "{signal}");
        let kept = place.read_json("kept.json");
        assert_eq!(kept["complete"], false, "{signal}");
    }
}

#[test]
fn quiet_session_releases_its_seats_on_signals() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        let place = Place::new();
        let allowed = seatmap_os::affinity::to_put_back(0).unwrap();
        let options = "--quiet --seats 1 --runs 100000 -o kept.json -- true";
        let mut child = under_way(&place, options);
        let cell = format!("bench-{}", child.id());
        let listed = place.stdout("cell list");
        let line = listed.lines().find(|line| line.contains(&cell));
        // Neither the session nor its launchers run on the quiet CPUs.
        assert!(line.is_none_or(|line| line.contains("  ready")), "{listed}");
        let was_quiet = line.is_some();
        assert_eq!(child.ended_by(signal), Some(1), "{signal}");
        let kept = place.read_json("kept.json");
        assert_eq!(kept["fingerprint"]["quiet"] == "a cell", was_quiet, "{signal}");
        assert_eq!(kept["complete"], false, "{signal}");
        let cells = place.stdout("cell list");
        assert!(!cells.contains("bench-"), "{signal}: {cells}");
        assert_eq!(seatmap_os::affinity::to_put_back(0).unwrap(), allowed, "{signal}");
    }
}

#[test]
fn hanging_metric_ends_with_session() {
    let place = Place::new();
    let line = format!("command:touch {}; sleep 1000", place.path("asked").display());
    let mut bench = place.command(("bench --runs 2 --metric", [&*line], "-- true"));
    let mut child = Guarded(
        bench
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap(),
    );
    while !place.path("asked").exists() {
        assert!(child.try_wait().unwrap().is_none(), "it ended by itself");
        std::thread::sleep(Duration::from_millis(5));
    }
    assert_eq!(child.ended_by(libc::SIGINT), Some(1));
}

#[test]
fn metric_time_is_limited_by_seconds_option() {
    let place = Place::new();
    let metric = ["bench", "--seconds", "1", "--metric", "command:sleep 600; echo 1", "--", "true"];
    let output = place.command(metric).output().unwrap();
    let told = stderr(&output);
    let sentence = "was still running after 1s (all of --seconds) and was stopped; it must print \
                    a number of the finished run at once";
    assert_eq!(output.status.code(), Some(1), "{told}");
    assert_contains(&told, sentence);
}
