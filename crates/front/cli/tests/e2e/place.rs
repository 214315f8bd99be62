//! `seatmap place`.

use crate::common::{Json, Place, assert_contains, in_front_of, stdout, terminal, two_cpus};
use serde_json::Value;
use std::collections::HashSet;
use std::io::Read;
use std::process::Stdio;

const RING: &str = "place --on xeon-e5-2680-2s --pattern ring:6 --kicks 100000";

fn placement(plan: &Value) -> Vec<u64> {
    plan["placement"].elements().iter().map(|os| os.whole()).collect()
}

#[test]
fn plan_document_has_cost_bound_and_baselines() {
    let plan = Place::new().json((RING, "--json"));
    assert_eq!(plan["format"], "seatmap-plan/1");
    assert_eq!((&plan["objective"], &plan["optimal"]), (&"distance".into(), &true.into()));
    assert_eq!(plan["cost"], plan["lower_bound"]);
    for baseline in ["os", "compact", "scatter"] {
        assert!(plan["baselines"][baseline].as_f64() >= plan["cost"].as_f64(), "{plan}");
    }
    let random = &plan["baselines"]["random"];
    assert!(
        random["mean"].as_f64() > random["best"].as_f64()
            && random["best"].as_f64() >= plan["cost"].as_f64()
    );
    assert!(plan["seconds"].is_number() && plan["method"].is_string());
    assert_eq!(placement(&plan).into_iter().collect::<HashSet<_>>().len(), 6);
}

#[test]
fn baselines_use_free_cores_before_sharing() {
    let place = Place::new();
    let options = "--pattern idle:4 --objective time --load-ns 1000 --json";
    for machine in ["xeon-e5-2680-2s", "ryzen-7950x3d", "core-i9-12900k"] {
        let plan = place.json((&["place", "--on", machine], options));
        let usual = &plan["baselines"];
        for cost in [&usual["compact"], &usual["os"], &usual["random"]["best"]] {
            let cost = cost.number();
            // Cores differ by a tenth, and a shared one takes half as long again.
            assert!(cost <= 1.2 * plan["cost"].number(), "{machine}: {plan}");
        }
    }
}

#[test]
fn cost_matches_profile_distances() {
    let place = Place::new();
    place.stdout("export xeon-e5-2680-2s --format json -o machine.json");
    let plan = place.json("place --on machine.json --pattern random:20:3:5 --kicks 500 --json");
    let machine = place.read_json("machine.json");
    let pattern = place.json("pattern show random:20:3:5 --json");
    let seats = placement(&plan);
    let at = |edge: &Value, end: &str| seats[edge[end].whole() as usize] as usize;
    let cost: f64 = pattern["edges"]
        .elements()
        .iter()
        .map(|edge| {
            machine["core_distance"]["median_ns"][at(edge, "from")][at(edge, "to")].number()
        })
        .sum();
    assert!((cost - plan["cost"].number()).abs() < 1e-6 * cost, "{cost} {plan}");
}

/// If two vCPUs took turns, a plan avoids them or names them.
#[test]
fn vcpus_sharing_a_host_cpu_are_named() {
    let place = Place::new();
    place.stdout("export ryzen-5950x --format json -o guest.json");
    let mut guest = place.read_json("guest.json");
    for [i, j] in [[0, 1], [1, 0]] {
        guest["core_distance"]["median_ns"][i][j] = 3.1e6.into();
        guest["core_distance"]["status"][i][j] = "stacked".into();
    }
    place.file("guest.json", guest.to_string());
    let ask =
        |cpus: &str| place.stdout(format!("place --on guest.json --pattern ring:4 --cpus {cpus}"));
    assert!(ask("0-3").contains("CPUs 0 and 1 shared one CPU of the host"), "{}", ask("0-3"));
    assert!(!ask("0-4").contains("of the host"), "{}", ask("0-4"));
}

#[test]
fn options_constrain_the_placement() {
    let place = Place::new();
    let wish = |more: &str| placement(&place.json((RING, "--json", more)));
    assert!(wish("--cpus 0,8-15").iter().all(|os| *os == 0 || (8..16).contains(os)));
    assert_eq!(wish("--fix 2=30 --fix 0=3")[2], 30);
    let cores: HashSet<u64> = wish("--avoid-smt").iter().map(|os| os % 16).collect();
    assert_eq!(cores.len(), 6);
    let packages: Vec<u64> =
        wish("--method partition --avoid-smt").iter().map(|os| os % 16 / 8).collect();
    assert_eq!(packages.iter().sum::<u64>(), 3);
}

#[test]
fn table_is_printed_and_files_are_written() {
    let place = Place::new();
    let table = place.stdout((RING, "-o plan.json --html page.html"));
    for line in [
        "OS order (CPU 0, 1, 2 ...)",
        "compact",
        "scatter",
        "random, mean",
        "best found",
        "lower bound",
        "Proven optimal",
    ] {
        assert!(table.contains(line), "{line}: {table}");
    }
    let plan = place.read_json("plan.json");
    assert_eq!(plan["pattern"], "ring:6");
    assert!(place.read("page.html").contains("Seats"));
}

#[test]
fn picture_shows_before_and_after() {
    let place = Place::new();
    let picture = place.stdout((RING, "--svg -"));
    assert!(picture.starts_with("<svg ") && picture.ends_with("</svg>\n"), "{picture}");
    for part in [
        "ring:6 on xeon-e5-2680-2s",
        "OS order (CPU 0, 1, 2 ...)",
        "as planned",
        ">between cores, bytes</text>",
    ] {
        assert!(picture.contains(part), "{part}: {picture}");
    }
    assert_eq!(picture.matches("class=\"taken\"").count(), 2 * 6);
    place.refuses((RING, "--svg - --json"), "only one of");
}

#[test]
fn plan_is_compared_with_random_placements() {
    let place = Place::new();
    let random = |more: &str| place.stdout((RING, "--before random", more));
    let picture = random("--svg -");
    assert_contains(&picture, ">the median of 101 random placements</text>");
    assert!(!picture.contains(">OS order") && picture == random("--svg -"), "{picture}");
    assert!(random("--html -").contains("the median of 101 random placements"));
    assert!(
        place.refusal((RING, "--before random")).contains("needs --html <FILE> or --svg <FILE>")
    );
    let on = "place --on scc-48 --pattern pairs:6 --cpus 0-7 --kicks 1 --rounds 1 --before random --svg -";
    let run = place.stdout((on, "--objective simulated"));
    assert!(run.contains("101 random") && run.contains(">time, ns</text>"), "{run}");
}

#[test]
fn picture_shows_simulated_link_traffic() {
    let place = Place::new();
    let on = "place --on xeon-phi-5110p --pattern pairs:4 --svg -";
    let routed = place.stdout((on, "--kicks 10"));
    assert_contains(&routed, ">bytes on a link, clockwise outside</text>");
    let scc = "place --on scc-48 --pattern pairs:4 --cpus 0-7 --kicks 1 --rounds 1";
    let scc = place.stdout((scc, "--objective simulated --svg -"));
    assert_contains(&scc, ">messages on a link, each way on its right</text>");
    assert!(
        scc.contains("message buffer of tile") && scc.contains(": the lines of 0 to 1"),
        "{scc}"
    );
}

const PIZZA: &str = "place --on xeon-phi-5110p --pattern clusters:4x9 --method pizza --sections 4 --objective simulated --rounds 1 --kicks 6 --threads 1 --svg";

#[test]
fn guide_picture_is_current() {
    let kept = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/pictures/pizza-5110p.svg");
    let guide = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/src/placing.md");
    assert!(
        std::fs::read_to_string(guide).unwrap().contains(PIZZA),
        "the guide has another command"
    );
    let printed = Place::new().stdout((PIZZA, "-"));
    assert!(
        printed == std::fs::read_to_string(kept).unwrap(),
        "make it anew: seatmap {PIZZA} {kept}"
    );
}

#[test]
fn qaplib_instances_are_solved() {
    let place = Place::new();
    place.file("tiny.dat", "3\n0 5 2\n5 0 3\n2 3 0\n\n0 8 15\n8 0 13\n15 13 0\n");
    let solved = place.json("place --qaplib tiny.dat --kicks 200 --json");
    // All six permutations computed by hand: the heaviest flow takes the shortest distance.
    assert_eq!(solved["cost"], 2.0 * (5.0 * 8.0 + 3.0 * 13.0 + 2.0 * 15.0));
    assert_eq!(solved["permutation"].elements().len(), 3);
    assert_eq!((&solved["format"], &solved["instance"]), (&"seatmap-qap/1".into(), &"tiny".into()));
    assert_eq!((&solved["optimal"], &solved["lower_bound"]), (&true.into(), &solved["cost"]));
    let tiny = "place --qaplib tiny.dat";
    let option = |more: &'static str| more.split(' ').next().unwrap();
    for more in ["--sections 4", "--weight bytes", "--one-per core"] {
        let refused = place.refusal((tiny, more));
        assert!(
            refused.contains("cannot be used with") && refused.contains(option(more)),
            "{refused}"
        );
    }
    for more in ["--method pizza", "--objective congestion"] {
        let refused = place.one_line_refusal((tiny, more));
        assert!(refused.ends_with(&format!("has none; leave {} out", option(more))), "{refused}");
    }
    let told = place.stdout((tiny, "--kicks 9 --threads 2 --objective distance"));
    assert!(told.starts_with("tiny.dat: n = 3, cost 218, optimal ("), "{told}");
}

/// Two packages of 8 cores; the hardware threads of a core are 16 apart.
const XEON: &str = "place --on xeon-e5-2680-2s --kicks 2000";

#[test]
fn each_core_takes_one_task_by_default() {
    let place = Place::new();
    let table = |more: &str| place.stdout((XEON, more));
    let alone = table("--pattern ring:8");
    assert_contains(&alone, "\nEach task has its own core; sharing cores (--use-smt) would cost ");
    assert_contains(&alone, "\nPackage 1 stays empty, its memory and caches unused.\n");
    let close = "\nCompact costs no more. Without a plan: OMP_PLACES=cores OMP_PROC_BIND=close, or mpirun --map-by core";
    assert!(alone.contains(close) && alone.contains("(compact)"), "{alone}");
    let shared = table("--pattern ring:8 --use-smt");
    assert_contains(
        &shared,
        "\n4 cores run two or more tasks; a core for each task (--avoid-smt) would cost ",
    );
    assert_contains(&shared, "Without a plan: OMP_PLACES=threads OMP_PROC_BIND=close");
    let crowded = table("--pattern ring:24");
    assert_contains(&crowded, "\n12 cores run two or more tasks (8 must): 24 tasks on 16 cores.\n");
    let across = table("--pattern ring:16 --avoid-smt");
    assert!(
        !across.contains("stays empty") && across.contains("Each task has its own core"),
        "{across}"
    );
    let seats = |more: &str| placement(&place.json((XEON, "--pattern ring:8 --json", more)));
    let cores =
        |seats: Vec<u64>| seats.into_iter().map(|os| os % 16).collect::<HashSet<u64>>().len();
    assert_eq!([cores(seats("")), cores(seats("--use-smt"))], [8, 4]);
    let siblings = seats("--fix 0=3 --fix 1=19");
    assert_eq!(siblings[..2], [3, 19], "what is fixed may share a core");
    assert!(place.refusal((XEON, "--pattern ring:8 --use-smt --avoid-smt")).contains("cannot"));
}

/// In a model of distances, messages between tasks that share a CPU cost nothing.
#[test]
fn single_cpu_is_not_reported_as_no_messages() {
    let place = Place::new();
    let Some(cpus) = two_cpus() else { return };
    if !place.run(format!("measure --quick --cpus {cpus}")).status.success() {
        return seatmap_needs::skipped!("nothing can be measured");
    }
    let cpu = cpus.split(',').next().unwrap_or_default();
    let mut command = place.command_of("taskset");
    command.args(["-c", cpu, crate::PROGRAM, "place", "--pattern", "ring:2"]);
    let Ok(output) = command.output() else { return seatmap_needs::skipped!("no taskset") };
    let table = stdout(&output);
    assert_contains(&table, "all tasks share one CPU");
    assert!(!table.contains("no messages"), "{table}");
}

#[test]
fn pattern_without_messages_claims_no_proof() {
    let place = Place::new();
    let pattern = r#"{"format": "seatmap-pattern/1", "name": "x", "tasks": 3, "edges": []}"#;
    place.file("silent.json", pattern);
    let table = place.stdout("place --on xeon-e5-2680-2s --pattern silent.json");
    let verdict = "\nEvery placement costs 0: the tasks exchange no messages.\n";
    assert!(table.contains(verdict) && !table.contains("Proven"), "{table}");
    let refused = place.one_line_refusal("show silent.json");
    assert!(refused.ends_with("'seatmap pattern show silent.json' draws it"), "{refused}");
    assert!(place.stdout("pattern show silent.json").starts_with("x: 3 tasks"));
}

/// Tasks may be fixed to one CPU if some must share.
#[test]
fn widened_seats_and_shared_cpus_follow_options() {
    let place = Place::new();
    let ring = |more: &str| place.stdout(("place --on xeon-e5-2680-2s --pattern", more));
    let wide = ring("ring:2 --widen core");
    assert_contains(&wide, "\nSeats (task:CPUs): 0:0,16 1:1,17\n");
    let narrow = ring("ring:2");
    assert_contains(&narrow, "\nSeats (task:CPU): 0:0 1:1\n");
    let four = "--fix 0=0 --fix 1=0 --fix 2=0 --fix 3=0";
    let shared = ring(&format!("ring:5 --cpus 0,1 {four}"));
    assert_contains(&shared, "\nSeats (task:CPU): 0:0 1:0 2:0 3:0 4:1\n");
    place.refuses(
        "place --on xeon-e5-2680-2s --pattern ring:2 --fix 0=0 --fix 1=0",
        "each PU takes at most 1 task; fix them",
    );
    assert!(ring("ring:2 --cpus 0 --fix 0=0 --fix 1=0").contains(" 0:0 1:0\n"));
}

#[test]
fn busier_link_is_reported() {
    let place = Place::new();
    let phi = "place --on xeon-phi-5110p --kicks 200 --threads 1 --pattern";
    let busier = place.stdout((phi, "clusters:4x9"));
    let told = busier.lines().find(|line| line.starts_with("The busiest link, stop ")).unwrap();
    assert!(
        told.contains(" % more than the busiest in OS order. ")
            && told.contains("--objective simulated"),
        "{told}"
    );
    let usual = place.stdout((phi, "ring:60"));
    assert!(usual.contains("(compact)") && !usual.contains("The busiest link"), "{usual}");
}

#[test]
fn options_without_effect_are_refused() {
    let place = Place::new();
    for (option, needed) in
        [("--sections", "--method pizza"), ("--rounds", "--objective simulated")]
    {
        let line = place.one_line_refusal(("place --on graviton3 --pattern ring:4", option, "4"));
        assert_eq!(
            line,
            format!(
                "seatmap: {option} has no effect without {needed}; add that, or leave {option} out"
            )
        );
    }
    let phi = "place --on xeon-phi-5110p --pattern pairs:4";
    let line = place.one_line_refusal((phi, "--method getcore --threads 2"));
    assert!(line.ends_with("does not search; leave --threads out"), "{line}");
    let line = place.one_line_refusal((phi, "--packet 4k"));
    assert!(line.contains("--packet") && line.contains("'seatmap-papers place"), "{line}");
}

#[test]
fn result_is_independent_of_thread_count() {
    let place = Place::new();
    let kicked = "place --on graviton3 --pattern random:40:4:1 --kicks 20 --json";
    let cost = |more: &str| place.json((kicked, more))["placement"].clone();
    assert_eq!(cost(""), cost("--threads 1"), "a machine's number of CPUs has no say");
}

#[test]
fn implausible_distances_are_refused_with_position() {
    let place = Place::new();
    place.stdout("export --format json graviton3 -o far.json");
    let text = place.read("far.json");
    let (before, after) = text.split_once("\"median_ns\":[[").unwrap();
    let (_, after) = after.split_once(',').unwrap();
    place.file("far.json", format!("{before}\n\"median_ns\":[[1e100,{after}"));
    let line = place.one_line_refusal("place --on far.json --pattern ring:4 --kicks 1");
    assert_eq!(
        line,
        "seatmap: far.json: line 2, column 19: 1e100 ns is too long; the limit is 2e9 ns"
    );
}

/// The message appears after two seconds, and no proof ends this search sooner.
#[test]
fn long_search_shows_progress_on_terminal() {
    let place = Place::new();
    let search = "place --on epyc-7r13-2s --pattern random:64:4:1 --threads 1 --seconds 3";
    let told = |stderr: Option<Stdio>| {
        let (mut screen, programs) = terminal();
        let mut command = place.command(search);
        command
            .env("TERM", "xterm")
            .stdout(Stdio::null())
            .stderr(stderr.unwrap_or_else(|| programs.try_clone().unwrap().into()));
        in_front_of(programs, &mut command);
        let mut child = command.spawn().unwrap();
        drop(command);
        let mut text = Vec::new();
        // After the last program has exited, reading is an error.
        let _ = screen.read_to_end(&mut text);
        assert!(child.wait().unwrap().success());
        String::from_utf8_lossy(&text).into_owned()
    };
    assert!(told(None).contains("searching"));
    assert_eq!(told(Some(Stdio::null())), "", "only a terminal is drawn on");
}

#[test]
fn impossible_requests_are_refused_in_one_line() {
    let place = Place::new();
    place.file("short.dat", "3\n1 2 3\n");
    place.file(
        "bad.json",
        "{\"format\":\"seatmap-pattern/1\",\"name\":\"x\",\"tasks\":2,\n\"edges\":7}",
    );
    for (arguments, words) in [
        ("rung:4", "unknown pattern 'rung'"),
        ("pairs:3", "cannot be paired"),
        ("nowhere.csv", "nowhere.csv"),
        ("bad.json", "bad.json: line 2, column"),
        ("ring:4 --cpus 0-3,77", "PU 77"),
        ("ring:4 --fix 9=0", "task 9"),
        ("ring:4 --method pizza --sections 99", "99 sections"),
        ("ring:4 --homes", "place without homes"),
        ("ring:4 -o nowhere/x.json", "folder does not exist"),
        ("ring:4 --json -o -", "only one of"),
    ] {
        place.refuses(("place --kicks 1 --on graviton3 --pattern", arguments), words);
    }
    place.refuses(
        "place --kicks 1 --qaplib short.dat",
        "short.dat: line 2, column 6: two 3 x 3 matrices need 18 numbers",
    );
}

#[test]
fn simulated_objective_uses_run_times() {
    let place = Place::new();
    let on = "place --on scc-48 --cpus 0-5 --pattern ring:4 --rounds 1";
    let by_runs = "--objective simulated --kicks 1000 --json";
    let plan = place.json((on, by_runs));
    assert_eq!((&plan["objective"], &plan["optimal"]), (&"simulated".into(), &true.into()));
    assert_eq!(plan["method"], "all 360 placements run");
    place.file("duo.csv", ",\n40.5,\n");
    for (arguments, words) in [
        (
            "--on duo.csv --pattern ring:2",
            "duo.csv is a profile: it cannot run programs; 'seatmap model fit",
        ),
        ("--on scc-48 --pattern idle:4", "needs a pattern with messages"),
        ("--on scc-48 --pattern ring:49", "49 tasks on 48 PUs"),
        ("--on cell-ps3 --pattern ring:4", "machines of 'seatmap-papers'"),
    ] {
        let refusal = place.refusal(("place --objective simulated", arguments));
        assert!(refusal.contains(words), "{arguments}: {refusal}");
    }
}
