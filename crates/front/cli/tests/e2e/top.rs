//! `seatmap top` as text, as a recording, and on a real terminal of tmux.

use crate::auto::Relay;
use crate::check::{bind, bind_all, threads, tids};
use crate::common::{Arguments, Json, Place, assert_contains, stderr};
use crate::run::programs::{self, are_two, two_cpus};
use crate::run::running::Running;
use seatmap_os::CpuSet;
use serde_json::Value;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

struct Terminal<'a> {
    place: &'a Place,
}

impl<'a> Terminal<'a> {
    /// `None` if tmux is absent.
    fn open(place: &'a Place) -> Option<Self> {
        let version =
            Command::new("tmux").arg("-V").stdout(Stdio::null()).stderr(Stdio::null()).status();
        if !version.is_ok_and(|status| status.success()) {
            seatmap_needs::skipped!("tmux is absent");
            return None;
        }
        let terminal = Terminal { place };
        let mut command = terminal.command("-f /dev/null new-session -d -x 80 -y 24");
        assert!(command.arg("env PS1='ready> ' sh").status().unwrap().success());
        terminal.until(|screen| screen.contains("ready>"));
        Some(terminal)
    }

    fn command(&self, words: impl Arguments) -> Command {
        // Only for the environment; the program is tmux.
        let mut command = self.place.command_of("tmux");
        command.arg("-S").arg(self.place.path("tmux")).args(words.words()).env_remove("TMUX");
        command
    }

    fn keys(&self, keys: &[&str]) {
        assert!(self.command(("send-keys", keys)).status().unwrap().success());
    }

    fn types(&self, line: &str) {
        self.keys(&["-l", line]);
        self.keys(&["Enter"]);
    }

    fn screen(&self) -> String {
        String::from_utf8(self.command("capture-pane -p").output().unwrap().stdout).unwrap()
    }

    #[track_caller]
    fn until(&self, is_so: impl Fn(&str) -> bool) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if is_so(&screen) {
                return screen;
            }
            assert!(begun.elapsed() < PATIENCE, "{screen}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn top(&self, pid: i32) {
        let seatmap = env!("CARGO_BIN_EXE_seatmap");
        let line = format!(
            "stty -g > before; '{seatmap}' top -p {pid} --interval 200ms; echo ended with $?"
        );
        self.types(&format!("{line}; stty -g > after; echo all > done"));
        self.until(|screen| screen.contains("seatmap top: ") && screen.contains(&pid.to_string()));
    }

    #[track_caller]
    fn assert_restored(&self, code: i32) {
        self.until(|screen| {
            screen.contains(&format!("ended with {code}\n")) && !screen.contains("seatmap top: ")
        });
        let begun = Instant::now();
        while !self.place.path("done").exists() && begun.elapsed() < PATIENCE {
            std::thread::sleep(Duration::from_millis(20));
        }
        assert_eq!(self.place.read("before"), self.place.read("after"));
    }
}

impl Drop for Terminal<'_> {
    fn drop(&mut self) {
        let _ = self.command("kill-server").status();
    }
}

fn own_top(pid: i32) -> i32 {
    let is_it = |top: &i32| {
        let words = std::fs::read(format!("/proc/{top}/cmdline")).unwrap_or_default();
        let words: Vec<&[u8]> = words.split(|byte| *byte == 0).collect();
        words.get(1) == Some(&&b"top"[..]) && words.get(3) == Some(&pid.to_string().as_bytes())
    };
    let all = std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|it| it.unwrap().file_name().to_str()?.parse().ok());
    all.into_iter().find(is_it).unwrap()
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: its screen shows that the process runs; the call touches no memory.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0);
}

fn with_threads(place: &Place, count: usize) -> Option<(Running, Terminal<'_>)> {
    Some((threads(count, "spin")?, Terminal::open(place)?))
}

#[test]
fn seats_of_run_are_shown_and_judged() {
    let ([a, b], Some(spin)) = (two_cpus(), programs::spin()) else { return };
    if !are_two([a, b]) {
        return;
    }
    let place = Place::new();
    let list = format!("{a},{b}");
    let mut command =
        place.command(["run", "--quiet", "--cpus", &list, "--strict", "--", spin, "1", "sleep"]);
    command.stdin(Stdio::piped());
    let program = Running::of(command);
    let pid = program.program().to_string();
    let worker = tids(program.program())[1];
    let json = || -> Value {
        serde_json::from_str(&place.stdout(format!("top -p {pid} --json"))).unwrap()
    };
    // The launcher publishes a new thread's seat a moment later.
    until(|| json()["seats"].elements().len() == 2);
    let document = json();
    assert_eq!(document["seats"][1]["cpus"], b.to_string());
    let schema = include_str!("../../../../../docs/formats/seatmap-seating-1.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert_eq!(seatmap_data::document::schema::refused(&schema, &document), Vec::<String>::new());
    bind(worker, &[a]);
    let once = place.stdout(format!("top -p {pid} --once --interval 200ms"));
    // Other programs on these CPUs may be found wrong as well.
    assert!(
        once.contains(" SEAT ") && once.contains(&format!("! expect: thread {worker} ")),
        "{once}"
    );
    let line = once.lines().find(|line| line.contains(&format!(" {worker} "))).unwrap();
    let cells: Vec<&str> = line.split_whitespace().collect();
    assert_eq!(
        (cells[0], cells[5], cells[6]),
        ("!", a.to_string().as_str(), b.to_string().as_str()),
        "{once}"
    );
    assert_contains(&once, &format!("! expect: thread {worker} "));
    let findings = &json()["findings"];
    assert_eq!(
        (&findings[0]["rule"], &findings[0]["gravity"]),
        (&"expect".into(), &"wrong".into())
    );
    place.file(
        "plan.json",
        format!(r#"{{"format":"seatmap-plan/1","machine":"here","placement":[{a},{a}]}}"#),
    );
    let planned = ["top", "-p", &pid, "--json", "--expect", "plan.json", "--any-machine"];
    let planned: Value = serde_json::from_str(&place.stdout(planned)).unwrap();
    assert_eq!(planned["seats"][1]["label"], "task 1");
    assert!(
        planned["findings"].elements().iter().all(|finding| finding["rule"] != "expect"),
        "{planned}"
    );
}

#[test]
fn keys_sort_filter_freeze_and_quit() {
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 2) else { return };
    let pid = program.pid();
    let worker = tids(pid)[2].to_string();
    terminal.top(pid);
    terminal.until(|screen| screen.contains("LOAD%v"));
    terminal.keys(&["c"]);
    terminal.until(|screen| screen.contains("CPUv"));
    terminal.keys(&["F5"]);
    terminal.until(|screen| screen.contains("(3)"));
    terminal.keys(&["F5"]);
    terminal.keys(&["F4"]);
    terminal.keys(&["-l", &worker]);
    terminal.keys(&["Enter"]);
    terminal.until(|screen| {
        screen.lines().filter(|line| line.contains(&format!(" {pid} "))).count() == 1
    });
    terminal.keys(&["p"]);
    terminal.until(|screen| screen.contains("FROZEN"));
    terminal.keys(&["?"]);
    terminal.until(|screen| screen.contains("move the selection"));
    terminal.keys(&["?"]);
    terminal.keys(&["q"]);
    terminal.assert_restored(0);
}

#[test]
fn thread_is_pinned_only_after_consent() {
    let [a, b] = two_cpus();
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 1).filter(|_| are_two([a, b])) else {
        return;
    };
    let pid = program.pid();
    let worker = tids(program.pid())[1];
    bind_all(pid, &[a, b]);
    let mask = || CpuSet::of_thread(worker).unwrap();
    terminal.top(pid);
    terminal.keys(&["-l", &format!("/{worker}")]);
    terminal.keys(&["Enter"]);
    // The order of the threads changes with their load.
    terminal.keys(&["F"]);
    for (answer, told, wanted) in [
        ("n", "nothing was changed", [a, b].into_iter().collect()),
        ("y", "may now run on", CpuSet::single(b)),
    ] {
        terminal.keys(&["a"]);
        terminal.until(|screen| screen.contains(&format!("CPUs for thread {worker} ")));
        terminal.keys(&["-l", &b.to_string()]);
        terminal.keys(&["Enter"]);
        terminal.until(|screen| screen.contains(&format!("bind thread {worker} to CPU {b}? y/n")));
        terminal.keys(&["-l", answer]);
        terminal.until(|screen| screen.contains(told));
        assert_eq!(mask(), wanted);
    }
    terminal.keys(&["C-c"]);
    terminal.assert_restored(0);
}

#[test]
fn screen_is_recorded_and_resized() {
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 1) else { return };
    terminal.top(program.pid());
    terminal.keys(&["R"]);
    terminal.until(|screen| screen.contains("RECORDING to "));
    assert!(terminal.command("resize-window -x 120 -y 40").status().unwrap().success());
    terminal.until(|screen| screen.lines().nth(39).is_some_and(|line| line.contains("F1 help")));
    terminal.keys(&["R"]);
    terminal.until(|screen| screen.contains("recorded to "));
    terminal.keys(&["q"]);
    terminal.assert_restored(0);
    let names = crate::common::files(&place);
    let file = names.iter().find(|name| name.ends_with(".jsonl")).unwrap();
    assert!(place.read(file).starts_with("{\"format\":\"seatmap-recording/1\""));
}

#[test]
fn sigterm_restores_the_terminal() {
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 1) else { return };
    terminal.top(program.pid());
    signal(own_top(program.pid()), libc::SIGTERM);
    terminal.assert_restored(0);
}

#[test]
fn screen_ends_with_its_terminal() {
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 1) else { return };
    terminal.top(program.pid());
    let top = own_top(program.pid());
    assert!(terminal.command("kill-server").status().unwrap().success());
    let begun = Instant::now();
    while seatmap_os::task::lives(top) {
        assert!(begun.elapsed() < PATIENCE, "it lives on without a terminal");
        std::thread::sleep(Duration::from_millis(20));
    }
}

#[test]
fn stopped_screen_is_restored_on_continue() {
    let place = Place::new();
    let Some((program, terminal)) = with_threads(&place, 1) else { return };
    let pid = program.pid();
    terminal.top(pid);
    signal(own_top(pid), libc::SIGTSTP);
    terminal.until(|screen| !screen.contains("seatmap top: ") && screen.contains("topped"));
    terminal.types("fg");
    terminal.until(|screen| screen.contains("seatmap top: "));
    terminal.keys(&["q"]);
    terminal.until(|screen| screen.contains("ready>") && !screen.contains("seatmap top: "));
}

#[test]
fn wakeups_are_shown_and_recorded() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let choice = ["--pid", &relay.pid(), "--interval", "300ms", "--wakes"];
    // On a busy computer neither thread may have run before a look.
    until(|| {
        let text = place.stdout(("top --once", choice));
        text.lines().any(|line| line.starts_with("ARC WAKES/s"))
            && text.lines().any(|line| {
                line.starts_with("  a ") && line.contains("reader") && line.contains("writer")
            })
    });
    let schema = include_str!("../../../../../docs/formats/seatmap-recording-1.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    until(|| {
        place.stdout(("top --record recording --seconds 1", choice));
        let lines = place.read("recording");
        let looks: Vec<Value> =
            lines.lines().skip(1).map(|line| serde_json::from_str(line).unwrap()).collect();
        assert!(
            looks
                .iter()
                .all(|look| seatmap_data::document::schema::refused(&schema, look).is_empty()),
            "{lines}"
        );
        looks.iter().any(|look| look["wakes"].as_array().is_some_and(|wakes| !wakes.is_empty()))
    });
    place.stdout("show recording --html page.html");
}

#[test]
fn key_toggles_wakeup_view() {
    let place = Place::new();
    let Some(relay) = Relay::start(&place) else { return };
    let Some(terminal) = Terminal::open(&place) else { return };
    terminal.top(relay.pid().parse().unwrap());
    terminal.keys(&["W"]);
    terminal.until(|screen| screen.contains("ARC WAKES/s") && screen.contains("  a "));
    terminal.keys(&["W"]);
    terminal.until(|screen| screen.contains("LOAD%v") && !screen.contains("ARC"));
    terminal.keys(&["q"]);
    terminal.assert_restored(0);
}

fn until(is_so: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is_so() {
        assert!(begun.elapsed() < PATIENCE, "waited in vain");
    }
}

#[test]
fn one_frame_is_printed_without_terminal() {
    let place = Place::new();
    let Some(program) = threads(2, "spin") else { return };
    let pid = program.pid().to_string();
    let text = place.stdout(format!("top -p {pid} --interval 200ms"));
    let first = text.lines().next().unwrap();
    assert!(
        first.starts_with("seatmap top: ") && first.contains("3 threads in 1 program"),
        "{text}"
    );
    assert!(tids(program.pid()).iter().all(|tid| text.contains(&tid.to_string())), "{text}");
    assert!(text.contains("groups from the kernel"), "this place has no profile: {text}");
}

fn recording(place: &Place) -> Option<String> {
    let program = threads(1, "sleep")?;
    let pid = program.pid().to_string();
    place.stdout(format!("top -p {pid} --interval 200ms --seconds 1 --record recording"));
    Some(place.read("recording"))
}

#[test]
fn recordings_follow_their_schema() {
    let place = Place::new();
    let Some(recording) = recording(&place) else { return };
    let schema = include_str!("../../../../../docs/formats/seatmap-recording-1.schema.json");
    let schema: Value = serde_json::from_str(schema).unwrap();
    assert!(recording.lines().count() > 2, "{recording}");
    for line in recording.lines() {
        let line: Value = serde_json::from_str(line).unwrap();
        assert_eq!(
            seatmap_data::document::schema::refused(&schema, &line),
            Vec::<String>::new(),
            "{line}"
        );
        let mut more = line.clone();
        more["more"] = Value::Null;
        assert_ne!(
            seatmap_data::document::schema::refused(&schema, &more),
            Vec::<String>::new(),
            "the schema is closed"
        );
    }
}

#[test]
fn damaged_recordings_are_refused_with_their_line() {
    let place = Place::new();
    let Some(recording) = recording(&place) else { return };
    let lines: Vec<&str> = recording.lines().collect();
    let refusal = |text: String| {
        place.file("damaged", text);
        place.one_line_refusal("show damaged --html page.html")
    };
    let with = |line: &str| [lines[0], lines[1], line].join("\n") + "\n";
    assert!(
        refusal(with("{}")).contains("damaged: line 3: not a look: missing field `at_s`"),
        "{}",
        refusal(with("{}"))
    );
    assert!(refusal(with("\u{0}")).contains("damaged: line 3: not a look"));
    assert!(
        refusal(with(&lines[1].replacen("\"at_s\":", "\"at_s\":-", 1)))
            .contains("damaged: line 3: its time, -")
    );
    assert!(refusal(format!("{}\n", lines[0])).contains("the recording is empty"));
    assert!(
        refusal(recording.replace("recording/1", "recording/2")).contains("seatmap-recording/2")
    );
    place.refuses("show recording", "--html");
    assert!(!place.path("page.html").exists());
    // A killed recorder loses the look that it was writing.
    place.file("cut", &recording[..recording.len() - 3]);
    let shown = place.run("show cut --html page.html");
    let told = stderr(&shown);
    assert!(
        shown.status.success() && told.contains("incomplete") && place.path("page.html").exists(),
        "{told}"
    );
}
