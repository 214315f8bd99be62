//! `seatmap-papers rank`: Keller & Varbanescu's study on the models.

use crate::common::{Json, Place, assert_contains, files, two_cpus};
use serde_json::Value;

/// The study of the paper's figure 2, short enough for a test.
const STUDY: &str =
    "rank --on cell-ps3 --pattern ring:6:bidirectional --packet 1k --rounds 3 --runs";

fn study(more: &str) -> String {
    format!("{STUDY} {more}")
}

#[test]
fn output_is_independent_of_thread_count() {
    let place = Place::new();
    let arguments = study("3 --json");
    let run = |threads: &str| {
        place.command(&arguments).env("RAYON_NUM_THREADS", threads).output().unwrap()
    };
    let one = run("1");
    assert!(one.status.success() && one.stderr.is_empty(), "{one:?}");
    assert_eq!(one.stdout, run("3").stdout);
    let found: Value = serde_json::from_slice(&one.stdout).unwrap();
    assert_eq!((&found["mappings"], &found["runs"]), (&120.into(), &3.into()));
    assert_eq!(found["best"], found["ranking"][0]["mapping"]);
    assert!(found["best_to_worst"].number() > 1.0);
    let rank = found["rank_of"]["identity"].whole() as usize;
    assert_eq!(found["ranking"][rank - 1]["mapping"], "[012345]");
    assert_ne!(one.stdout, place.run(study("3 --json --seed 2")).stdout);
}

#[test]
fn shuffling_exchanges_the_times_of_a_run() {
    let place = Place::new();
    let usual = place.json(study("1 --json"));
    let shuffled = place.json(study("1 --shuffled --json"));
    assert_eq!((&usual["is_shuffled"], &shuffled["is_shuffled"]), (&Value::Null, &true.into()));
    for key in ["best_mean_ns", "worst_mean_ns", "median_ns"] {
        assert_eq!(usual[key], shuffled[key], "{key}");
    }
    assert_ne!(usual["ranking"][0]["mapping"], shuffled["ranking"][0]["mapping"]);
    assert_eq!(shuffled["ranking"][1]["run_ranks"], serde_json::json!([2]));
    let refusal = place.refusal(study("1 --shuffled --shard 1/2"));
    assert_contains(&refusal, "--shuffled");
}

#[test]
fn variant_direction_and_packet_change_times() {
    let place = Place::new();
    let short = "--rounds 3 --runs 1 --sample 20 --json";
    let mean_ns = |pattern: &str, more: &str| {
        place.json(("rank --on cell-ps3 --pattern", pattern, (short, more)))["mean_ns"].clone()
    };
    let times = |more: &str| mean_ns("ring:6:bidirectional", more);
    let usual = times("");
    for other in ["--variant pinned", "--unidirectional", "--packet 2k"] {
        assert_ne!(times(other), usual, "{other:?}");
    }
    assert_eq!(mean_ns("ring:6", ""), times("--unidirectional"), "the pattern says it as well");
}

#[test]
fn figure_and_library_options_change_times() {
    let place = Place::new();
    let ring = "rank --on cell-ps3 --pattern ring:4:bidirectional --rounds 10 --runs 1";
    let best_ns = |more: &str| place.json((ring, more, "--json"))["best_mean_ns"].number();
    let usual = best_ns("");
    assert!(best_ns("--set snoop_cycles=400") > 1.2 * usual);
    assert!(
        best_ns("--set snoop_cycles=400 --set snoop_cycles=100") == usual,
        "the last one counts"
    );
    assert!(best_ns("--poll 3000") > 1.2 * usual);
    assert_ne!(best_ns("--entry 4"), usual);
    assert_eq!(best_ns("--entry 16 --poll 60"), usual);
    let refused = |more: &str| place.one_line_refusal((ring, more));
    insta::assert_snapshot!(refused("--set beats=0"), @"seatmap-papers: cell-ps3: figures.beats is 0; give bus cycles from 1 to 10000");
    insta::assert_snapshot!(refused("--entry 32"), @"seatmap-papers: entries of 32 bytes; the ring's library writes entries of 4, 8, 16 or 128 bytes");
    let unknown = refused("--set snoop=1");
    assert!(
        unknown.starts_with(
            "seatmap-papers: cell-ps3: unknown figure 'snoop'; expected one of: bus_cycles, beats,"
        ),
        "{unknown}"
    );
    let other = place.one_line_refusal("rank --on scc-48 --pattern ring:4 --set beats=8");
    assert_eq!(
        other,
        "seatmap-papers: --set changes figures of a Cell model, but scc-48 is not one"
    );
    let list = (ring, "--set snoop_cycles");
    assert!(place.refusal(list).contains("such as snoop_cycles=200"));
    let stats = "stats -f mailbox -s --on cell-ps3 --json";
    let latency = |more: &str| place.json((stats, more))["latency_ns"].number();
    assert!(latency("--set snoop_cycles=400") > latency("") + 90.0, "a message has one command");
}

#[test]
fn merged_shards_equal_whole_study() {
    let place = Place::new();
    for (part, name) in [("1/3", "a"), ("2/3", "b"), ("3/3", "c")] {
        place.stdout(study(&format!("2 --shard {part} -o {name}")));
    }
    let whole = place.stdout(study("2 --json"));
    assert_eq!(place.stdout("rank merge c a b --json"), whole);
    place.file("whole", whole);
    place.stdout(study("2 --seed 7 --shard 2/3 -o other"));
    let told: Vec<String> =
        [&["a", "b"][..], &["a", "b", "b", "c"], &["a", "other"], &["whole"], &["nix"]]
            .iter()
            .map(|parts| place.one_line_refusal(("rank merge", *parts)))
            .collect();
    insta::assert_snapshot!(told.join("\n"), @r#"
    seatmap-papers: 1 of 3 parts are missing: 3/3
    seatmap-papers: b: part 2/3 is given twice
    seatmap-papers: other: it belongs to another study than the first file: another --seed
    seatmap-papers: whole: it is complete, not a part made with --shard
    seatmap-papers: nix: there is no such file
    "#);
}

#[test]
fn interrupted_study_resumes() {
    let place = Place::new();
    let arguments = study("2 --json");
    let whole = place.stdout(&arguments);
    let header = place.stdout(study("2 --sample 1 --json"));
    assert_ne!(header, whole);
    // A killed run leaves a header and some runs; the last is truncated.
    let found: Value = serde_json::from_str(&whole).unwrap();
    let mut head = found.as_object().unwrap().clone();
    head.retain(|key, _| SETUP.contains(&key.as_str()));
    head.insert("format".into(), "seatmap-ranking-journal/1".into());
    let run = |index: usize| {
        format!("{{\"index\":{},\"run\":1,\"ns\":1.5}}\n", found["ranking"][index]["index"])
    };
    place.file("kept", format!("{}\n{}{}{{\"inde", Value::Object(head), run(0), run(1)));
    let resumed = (arguments, "--resume kept");
    let again: Value = place.json(&resumed);
    let kept = again["ranking"].elements().iter().filter(|row| row["runs_ns"][1] == 1.5).count();
    assert_eq!(kept, 2, "runs that are kept are not run again");
    assert_eq!(files(&place), Vec::<String>::new(), "the journal is gone");
    assert_eq!(place.stdout(&resumed), whole);
    place.file("kept", "hello\n");
    assert!(
        place
            .one_line_refusal(&resumed)
            .starts_with("seatmap-papers: kept:1: no seatmap-ranking-journal/1 header")
    );
}

/// The keys of a journal's header, besides its format.
const SETUP: [&str; 14] = [
    "machine",
    "machine_hash",
    "pus",
    "pattern",
    "tasks",
    "is_unidirectional",
    "packet_bytes",
    "rounds",
    "runs",
    "variant",
    "seed",
    "sample",
    "is_reduced_by_symmetry",
    "shard",
];

#[test]
fn summary_is_printed_and_files_are_written() {
    let place = Place::new();
    let printed = place.stdout(study("2 -o x.json --csv x.csv --svg x.svg --html x.html"));
    assert!(
        printed.starts_with("ring:6:bidirectional on cell-ps3: 120 mappings x 2 runs\n"),
        "{printed}"
    );
    assert!(
        printed.contains("may be the best, at 95 % confidence")
            && printed.contains("Rank correlation"),
        "{printed}"
    );
    assert_eq!(place.read("x.csv").lines().count(), 121);
    assert!(
        place
            .read("x.csv")
            .starts_with("rank,mapping,index,mean_ns,run1_ns,run2_ns,may_be_best\n1,[")
    );
    assert_eq!(place.read("x.svg").matches("<polyline").count(), 3, "a curve a run, and the mean");
    assert!(
        place.read("x.html").contains("<polyline")
            && place.read("x.html").contains("ring-back-seats")
    );
    assert_eq!(place.read("x.json"), place.stdout(study("2 --json")));
    assert!(place.stdout(study("1")).contains("One run cannot show which others may be the best"));
}

#[test]
fn impossible_studies_are_refused() {
    let place = Place::new();
    place.file("duo.csv", ",\n40.5,\n");
    let told = [
        "--on cell-ps3 --pattern ring:7",
        "--on cell-ps3 --pattern pairs:6",
        "--on cell-ps3 --pattern ring:1",
        "--on cell-qs22 --pattern ring:10",
        "--on duo.csv --pattern ring:2",
        "--on cell-ps3 --pattern ring:6 --packet 1000",
        "--on cell-ps3 --pattern ring:6 --packet 17k",
        "--on cell-ps3 --pattern ring:6 --packet 8",
        "--on cell-ps3 --pattern ring:6 --runs 0",
        "--on cell-ps3 --pattern ring:6 --rounds 0",
        "--on cell-ps3 --pattern ring:6 --sample 0",
        "--on cell-ps3 --pattern ring:6 --symmetry",
        "--on cell-ps3 --pattern ring:6 --shard 121/121",
        "--on cell-ps3 --pattern ring:6 --json --csv -",
    ]
    .map(|arguments| place.one_line_refusal(("rank", arguments)));
    insta::assert_snapshot!(told.join("\n"), @r#"
    seatmap-papers: 7 tasks do not fit on cell-ps3, which seats 6, one task each
    seatmap-papers: pairs:6: packets travel only around rings, ring:N or ring:N:bidirectional; --long sends messages along any pattern
    seatmap-papers: 1 tasks cannot be ranked: a ring has 2 to 21
    seatmap-papers: 10 tasks have 362880 mappings, too many to run them all; --sample 1000 runs that many
    seatmap-papers: duo.csv is a profile: it cannot run programs; 'seatmap model fit duo.csv -o twin.toml' makes a model that can
    seatmap-papers: a transfer of 1000 bytes: the MFC takes 1, 2, 4, 8 or a multiple of 16 and raises an alignment exception
    seatmap-papers: a transfer of 17408 bytes: the MFC takes 16384 at most and raises an alignment exception
    seatmap-papers: a packet of 8 bytes: the ring's packets are a multiple of 16 bytes, up to 16384
    seatmap-papers: no runs, so there is nothing to time; leave --runs out or write 1 or more
    seatmap-papers: no rounds, so there is nothing to time; leave --rounds out or write 1 or more
    seatmap-papers: a sample of no mappings has no ranks; --sample 100 draws a hundred
    seatmap-papers: a unidirectional ring differs from its mirror image, so --symmetry would omit mappings
    seatmap-papers: part 121/121 holds none of the 120 mappings; use fewer parts
    seatmap-papers: only one of --json, -o -, --csv -, --svg - and --html - can have stdout
    "#);
}

#[test]
fn host_threads_are_ranked() {
    if two_cpus().is_none() {
        return;
    }
    let found = Place::new().json("rank --pattern ring:2:bidirectional --rounds 50 --json");
    assert_eq!((&found["mappings"], &found["best"]), (&1.into(), &"[01]".into()));
    assert!(found["ranking"][0]["runs_ns"].elements().iter().all(|ns| ns.as_f64() > Some(0.0)));
}

#[test]
fn counters_file_covers_best_and_worst() {
    let place = Place::new();
    let ranking = place.json(study("2 --json --counters counters.json"));
    let counted = place.read_json("counters.json");
    assert_eq!(
        (&counted["best"]["mapping"], &counted["worst"]["mapping"]),
        (&ranking["best"], &ranking["worst"])
    );
    let run_ns = counted["best"]["counters"]["cycles"].number() / 3.2;
    let told_ns = ranking["ranking"][0]["runs_ns"][0].number();
    // The machine's clock starts before the first task.
    assert!((1.0..1.25).contains(&(run_ns / told_ns)), "{run_ns} and {told_ns}: the same run");
    let host = place.refusal("rank --pattern ring:2 --counters counters.json");
    assert_contains(&host, "needs a model");
}
