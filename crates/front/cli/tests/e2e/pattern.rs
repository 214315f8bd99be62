//! `seatmap pattern`: every generator, file format and output.

use crate::common::{Json, Place, files, stderr};
use serde_json::Value;
use std::collections::BTreeSet;

fn edges(pattern: &Value) -> BTreeSet<(u64, u64)> {
    let end = |edge: &Value, which: &str| edge[which].whole();
    pattern["edges"].elements().iter().map(|edge| (end(edge, "from"), end(edge, "to"))).collect()
}

fn shown(spec: &str) -> Value {
    Place::new().json(["pattern", "show", spec, "--json"])
}

fn sum(pattern: &Value, figure: &str) -> f64 {
    pattern["edges"].elements().iter().map(|edge| edge[figure].number()).sum()
}

#[test]
fn every_generator_has_its_defined_edges() {
    let expected = [
        ("ring:7", 7, 7, false),
        ("ring:7:bidirectional", 7, 14, true),
        ("pipeline:7", 7, 6, false),
        ("pairs:8", 8, 8, true),
        ("master-worker:7", 7, 12, true),
        ("binomial-tree:13", 13, 12, false),
        ("recursive-doubling:16", 16, 16 * 4, true),
        // Eight tasks exchange, and each of the other five is paired with one of them.
        ("recursive-doubling:13", 13, 8 * 3 + 2 * 5, true),
        ("butterfly:16", 16, 16 * 4, true),
        ("stencil2d:4x5", 20, 2 * (3 * 5 + 4 * 4), true),
        ("stencil2d:4x5:periodic", 20, 4 * 20, true),
        ("stencil3d:3x4x5", 60, 2 * (2 * 20 + 3 * 15 + 4 * 12), true),
        ("stencil3d:3x4x5:periodic", 60, 6 * 60, true),
        ("all-to-all:9", 9, 9 * 8, true),
        ("clusters:3x4", 12, 3 * 4 * 3, true),
        ("random:30:4:1", 30, 30 * 4, false),
        ("idle:5", 5, 0, true),
    ];
    for (spec, tasks, count, symmetric) in expected {
        let pattern = shown(spec);
        let edges = edges(&pattern);
        assert_eq!((&pattern["name"], &pattern["tasks"]), (&spec.into(), &tasks.into()));
        assert_eq!(edges.len(), count, "{spec}");
        assert_eq!(
            edges.iter().all(|(from, to)| edges.contains(&(*to, *from))),
            symmetric,
            "{spec}"
        );
        assert!(edges.iter().all(|(from, to)| from != to && *from.max(to) < tasks), "{spec}");
        assert_eq!(
            (sum(&pattern, "bytes"), sum(&pattern, "messages")),
            (count as f64, count as f64),
            "{spec}"
        );
    }
}

#[test]
fn every_listed_generator_works_as_written() {
    let list = Place::new().stdout("pattern list");
    assert_eq!(list.lines().count(), 13);
    for line in list.lines() {
        let form = line.split_whitespace().next().unwrap();
        let numbers = ["AxBxC=2x3x4", "AxB=2x3", "KxM=2x3", "DEGREE=3", "SEED=1"];
        let spec = numbers.iter().map(|pair| pair.split_once('=').unwrap());
        let spec = spec.fold(form.replace(":N", ":8"), |spec, (letters, numbers)| {
            spec.replace(letters, numbers)
        });
        let (plain, flag) = spec.split_once('[').unwrap_or((&spec, ""));
        assert_eq!(shown(plain)["format"], "seatmap-pattern/1");
        if let Some(flag) = flag.strip_suffix(']') {
            assert!(
                edges(&shown(&format!("{plain}{flag}"))).len() >= edges(&shown(plain)).len(),
                "{form}"
            );
        }
    }
}

#[test]
fn trees_and_butterflies_join_the_right_tasks() {
    let tree = edges(&shown("binomial-tree:8"));
    assert_eq!(tree, [(0, 1), (0, 2), (0, 4), (2, 3), (4, 5), (4, 6), (6, 7)].into());
    let one_bit = |(from, to): &(u64, u64)| (from ^ to).is_power_of_two();
    for spec in ["butterfly:32", "recursive-doubling:32", "binomial-tree:29"] {
        assert!(edges(&shown(spec)).iter().all(one_bit), "{spec}");
    }
    let random = edges(&shown("random:20:3:7"));
    assert!((0..20).all(|task| random.iter().filter(|(from, _)| *from == task).count() == 3));
    assert_eq!(random, edges(&shown("random:20:3:7")));
    assert_ne!(random, edges(&shown("random:20:3:8")));
}

/// The same two edges, 0 -> 1 with 5 bytes and 1 -> 0 with 1.5, in every file format.
const SAME: [(&str, &str); 9] = [
    ("commas.csv", "0,5\n1.5,0\n"),
    ("semicolons.csv", "0;5\n1.5;\n"),
    ("named.csv", ",a,b\na,0,5\nb,1.5,0\n"),
    ("numbered.csv", ",0,1\n0,0,5\n1,1.5,0\n"),
    ("list.csv", "from,to,bytes\n0,1,5\n1,0,1.5\n"),
    ("names.csv", "from,to,bytes,messages\n\"a\",\"b\",5,1\n\"b\",\"a\",1.5,1\n"),
    (
        "coordinates.mtx",
        "%%MatrixMarket matrix coordinate real general\n% c\n2 2 2\n1 2 5\n2 1 1.5\n",
    ),
    ("array.mtx", "%%MatrixMarket matrix array real general\n2 2\n0\n1.5\n5\n0\n"),
    ("instance.dat", "2\n\n0 5\n1.5 0\n\n0 9\n9 0\n"),
];

#[test]
fn every_file_format_becomes_the_same_pattern() {
    let place = Place::new();
    for (name, text) in SAME {
        place.file(name, text);
        place.stdout(["pattern", "convert", name, "-o", "pattern.json"]);
        let mut pattern = place.read_json("pattern.json");
        assert_eq!(pattern["name"], name.split('.').next().unwrap(), "named after the file");
        pattern["name"] = "x".into();
        pattern["names"] = Value::Array(Vec::new());
        let edge = |from, to, bytes| serde_json::json!({ "from": from, "to": to, "bytes": bytes, "messages": 1.0 });
        assert_eq!(
            pattern["edges"],
            serde_json::json!([edge(0, 1, 5.0), edge(1, 0, 1.5)]),
            "{name}"
        );
        assert_eq!(
            place.stdout("pattern show pattern.json --json"),
            place.read("pattern.json"),
            "{name}"
        );
    }
    let named = |file: &str| place.json(["pattern", "show", file, "--json"])["names"].clone();
    assert_eq!(
        (named("named.csv"), named("names.csv")),
        (serde_json::json!(["a", "b"]), serde_json::json!(["a", "b"]))
    );
}

#[test]
fn symmetric_and_unweighted_matrices_are_completed() {
    let place = Place::new();
    let head = "%%MatrixMarket matrix coordinate";
    place.file("symmetric.mtx", format!("{head} integer symmetric\n3 3 2\n2 1 7\n3 3 9\n"));
    let output = place.run("pattern convert symmetric.mtx");
    let told = stderr(&output);
    assert_eq!(
        told,
        "seatmap: symmetric.mtx: left out 1 entry from a task to itself, which costs the same on any CPU\n"
    );
    assert_eq!(edges(&serde_json::from_slice(&output.stdout).unwrap()), [(0, 1), (1, 0)].into());
    place.file("bare.mtx", format!("{head} pattern general\n3 3 1\n3 1\n"));
    assert_eq!(edges(&place.json("pattern convert bare.mtx")), [(2, 0)].into());
}

#[test]
fn qaplib_file_reports_chosen_matrix() {
    let place = Place::new();
    place.file("x.dat", "2\n0 5\n6 0\n0 7\n8 0\n");
    let output = place.run("pattern convert x.dat");
    assert!(stderr(&output).contains("x.dat: the file has two matrices"), "the choice is said");
    let total = |which: &str| {
        sum(&place.json(format!("pattern show x.dat --matrix {which} --json")), "bytes")
    };
    assert_eq!((total("first"), total("second")), (11.0, 15.0));
    assert!(
        place.run("pattern convert x.dat --matrix first").stderr.is_empty(),
        "chosen, nothing to say"
    );
    place.file("x.csv", "0,5\n1,0\n");
    for pattern in ["x.csv", "ring:4"] {
        let line = place.one_line_refusal(format!("pattern show {pattern} --matrix second"));
        assert!(line.contains(pattern) && line.contains("QAPLIB"), "{line}");
    }
    if let Some(nug) = seatmap_needs::published("qaplib/nug12.dat") {
        assert_eq!(
            place.json(["pattern", "convert", nug.to_str().unwrap(), "--matrix", "second"])["tasks"],
            12
        );
    }
}

#[test]
fn pattern_is_drawn_in_terminal() {
    insta::assert_snapshot!(Place::new().stdout("pattern show stencil2d:2x4 --width 40"), @"
        stencil2d:2x4: 8 tasks, 20 edges, 20
          bytes in 20 messages
        A task sends to 2 to 3 others, median 3;
          traffic is symmetric.
              0    @@    @@
              1  @@  @@    @@
              2    @@  @@    @@
              3      @@        @@
              4  @@        @@
              5    @@    @@  @@
              6      @@    @@  @@
              7        @@    @@
        Rows send, columns receive; '@' is 1
          byte; blank is nothing.
        ");
    let wide = Place::new().stdout("pattern show random:1000:8:1 --width 60");
    assert!(
        wide.contains("Each cell is 40 x 40 pairs") && wide.lines().all(|line| line.len() <= 100),
        "{wide}"
    );
}

#[test]
fn svg_html_and_json_are_written_together() {
    let place = Place::new();
    let all = "pattern show stencil2d:8x8 --svg x.svg --html x.html";
    assert_eq!(place.json((all, "--json"))["tasks"], 64);
    assert!(
        place.read("x.svg").starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\"")
            && place.read("x.svg").contains("224 edges")
    );
    assert!(
        place.read("x.html").starts_with("<!DOCTYPE html>")
            && place.read("x.html").contains("<path")
    );
    let output = place.run(all);
    assert!(output.stdout.is_empty());
    assert_eq!(stderr(&output), "seatmap: wrote x.svg\nseatmap: wrote x.html\n");
    assert_eq!(place.stdout("pattern show stencil2d:8x8 --svg -"), place.read("x.svg"));
    for clash in ["--svg - --json", "--svg - --html -"] {
        place.refuses(("pattern show ring:4", clash), "only one of");
    }
}

#[test]
fn pattern_is_read_from_stdin() {
    let place = Place::new();
    place.file("x.csv", "0,5\n1,0\n");
    for source in ["x.csv", "-"] {
        let stdin = std::fs::File::open(place.path("x.csv")).unwrap();
        let output = place.command(["pattern", "convert", source]).stdin(stdin).output().unwrap();
        assert_eq!(
            sum(&serde_json::from_slice(&output.stdout).unwrap(), "bytes"),
            6.0,
            "{output:?}"
        );
    }
}

fn refusals<'a>(place: &Place, patterns: impl IntoIterator<Item = &'a str>) -> String {
    let refusal =
        |pattern| place.one_line_refusal(format!("pattern convert {pattern} -o never.json"));
    patterns.into_iter().map(|pattern| refusal(pattern).replace("seatmap: ", "") + "\n").collect()
}

#[test]
fn invalid_generators_are_refused() {
    let specs = [
        "ring",
        "ring:x",
        "ring:0",
        "ring:4000000000",
        "ring:99999999999999999999",
        "ring:8:periodic",
        "pairs:7",
        "butterfly:12",
        "stencil2d:8",
        "stencil2d:8x8x8",
        "stencil3d:1000000x1000000x1000000",
        "all-to-all:1000000",
        "clusters:2x100000",
        "butterfly:1048576",
        "random:10:1e9",
        "random:10:1e9:1",
        "random:10:10:1",
        "random:1000000:999999:1",
        "nowhere.csv",
        ".",
    ];
    insta::assert_snapshot!(refusals(&Place::new(), specs), @"
        'ring': a number is missing; write ring:N[:bidirectional]
        'ring:x': 'x' is not a whole number below 2^64; write ring:N[:bidirectional]
        'ring:0': a pattern has 1 to 1048576 tasks, not 0; write ring:N[:bidirectional]
        'ring:4000000000': a pattern has 1 to 1048576 tasks, not 4000000000; write ring:N[:bidirectional]
        'ring:99999999999999999999': '99999999999999999999' is not a whole number below 2^64; write ring:N[:bidirectional]
        'ring:8:periodic': unexpected 'periodic'; write ring:N[:bidirectional]
        'pairs:7': 7 tasks cannot be paired (N must be even); write pairs:N
        'butterfly:12': 12 is not a power of two; write butterfly:N
        'stencil2d:8': expected 2 numbers joined by x; write stencil2d:AxB[:periodic]
        'stencil2d:8x8x8': expected 2 numbers joined by x; write stencil2d:AxB[:periodic]
        'stencil3d:1000000x1000000x1000000': a pattern has 1 to 1048576 tasks, not 1000000x1000000x1000000; write stencil3d:AxBxC[:periodic]
        'all-to-all:1000000': 999999000000 edges are too many; the limit is 8388608; write all-to-all:N
        'clusters:2x100000': 19999800000 edges are too many; the limit is 8388608; write clusters:KxM
        'butterfly:1048576': 20971520 edges are too many; the limit is 8388608; write butterfly:N
        'random:10:1e9': expected three numbers; write random:N:DEGREE:SEED
        'random:10:1e9:1': '1e9' is not a whole number below 2^64; write random:N:DEGREE:SEED
        'random:10:10:1': with 10 tasks, each has fewer than 10 others; write random:N:DEGREE:SEED
        'random:1000000:999999:1': 999999000000 edges are too many; the limit is 8388608; write random:N:DEGREE:SEED
        nowhere.csv: there is no such file; 'seatmap pattern list' lists the patterns known by name
        .: is a folder; give a file name
        ");
    Place::new()
        .refuses("pattern show rings:4", "unknown pattern 'rings'; expected one of: ring:N");
}

#[test]
fn malformed_files_are_refused() {
    let place = Place::new();
    let bad: [(&str, &[u8]); 16] = [
        ("empty.csv", b""),
        ("binary.csv", b"0,1\n\xff\xfe,0\n"),
        ("ragged.csv", b"0,1\n1\n"),
        ("negative.csv", b"0,-1\n1,0\n"),
        ("word.csv", b"0,1\n1,no\n"),
        ("headless.csv", b"0,1,5\n1,2,7\n2,0,3\n"),
        ("order.csv", b",a,b\nb,0,1\na,1,0\n"),
        ("column.csv", b"from,to\n0,1\n"),
        ("mixed.csv", b"from,to,bytes\n0,1,5\n1,a,5\n"),
        ("field.mtx", b"%%MatrixMarket matrix coordinate complex general\n1 1 1\n1 1 0 0\n"),
        ("cut.mtx", b"%%MatrixMarket matrix coordinate real general\n2 2 2\n1 2 3\n"),
        ("cut.dat", b"2\n0 1\n"),
        ("cut.json", b"{\"format\":\"seatmap-pattern/1\",\n\"name\":"),
        ("future.json", b"{\"format\":\"seatmap-pattern/2\"}"),
        ("edge.json", b"{\"format\":\"seatmap-pattern/1\",\"name\":\"x\",\"tasks\":2,\"edges\":[{\"from\":0,\"to\":2,\"bytes\":1}]}"),
        ("letter.txt", b"Dear all,\n"),
    ];
    for (name, bytes) in bad {
        place.file(name, bytes);
    }
    insta::assert_snapshot!(refusals(&place, bad.iter().map(|(name, _)| *name)), @"
        empty.csv: the file is empty; create it again
        binary.csv: line 2, column 1: this is not UTF-8 text; unpack the file, or save it as plain UTF-8 text
        ragged.csv: line 2, column 2: this row has 1 cell, but the matrix has 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        negative.csv: line 1, column 3: '-1' is not between 0 and 1e18; cells are bytes; an empty cell is 0
        word.csv: line 2, column 3: 'no' is not a number; cells are bytes; an empty cell is 0
        headless.csv: line 1, column 1: 3 rows of 3 numbers may be a matrix or a list of edges; begin a list of edges with the line from,to,bytes; write 0 on the diagonal of a matrix
        order.csv: line 2, column 1: row 'b' does not match column 'a'; give rows and columns the same names, in the same order
        column.csv: line 1, column 8: the column 'bytes' is missing; the first line of a list of edges names from, to, bytes and optionally messages, each once
        mixed.csv: line 3, column 3: 'a' is a name among task numbers; write all tasks as numbers counted from 0, or all as names
        field.mtx: line 1, column 34: 'complex' is not supported; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        cut.mtx: line 3, column 6: the file ends after 1 of 2 entries; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        cut.dat: line 2, column 4: two 2 x 2 matrices need 8 numbers, but the file has 2
        cut.json: line 2, column 7: EOF while parsing a value
        future.json: its format is 'seatmap-pattern/2', but this program reads seatmap-pattern/1
        edge.json: edges[0]: there is no task 2; the pattern has 2 tasks, counted from 0
        letter.txt: unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line from,to,bytes)
        ");
    assert!(!files(&place).contains(&"never.json".to_owned()), "nothing is written");
    for (name, _) in bad {
        let line = place.one_line_refusal([
            "place",
            "--on",
            "graviton3",
            "--pattern",
            name,
            "--kicks",
            "1",
        ]);
        assert!(line.starts_with(&format!("seatmap: {name}: ")), "{line}");
    }
}

#[test]
fn invalid_command_lines_are_refused() {
    let place = Place::new();
    for arguments in [
        "pattern",
        "pattern show",
        "pattern draw ring:4",
        "pattern show ring:4 --matrix third",
        "pattern convert ring:4 --json",
        "pattern list ring:4",
    ] {
        assert!(place.refusal(arguments).contains("--help"), "{arguments:?}");
    }
    let narrow = "--width <COLUMNS>: '3' is not a whole number from 20";
    place.refuses("pattern show ring:4 --width 3", narrow);
    place.refuses("pattern show ring:4 --svg nowhere/x.svg", "its folder does not exist");
}

#[test]
fn names_are_escaped_in_terminal_and_page() {
    let place = Place::new();
    let name = r"a\u001b[31m</script><script>alert(1)</script>";
    let edge = r#"{"from":0,"to":1,"bytes":2}"#;
    place.file(
        "x.json",
        format!(
            r#"{{"format":"seatmap-pattern/1","name":"{name}","tasks":2,"names":["{name}","b"],"edges":[{edge}]}}"#
        ),
    );
    for way in ["", "--svg -", "--html -"] {
        let text = place.stdout(("pattern show x.json", way));
        assert!(!text.contains('\u{1b}'), "{text}");
        assert!(way.is_empty() || !text.contains("<script>alert"), "{text}");
    }
}

#[test]
fn metis_graph_is_read() {
    let place = Place::new();
    place.file(
        "eight.graph",
        "%% a grid of 2 by 4 processes\n8 10\n2 5\n1 3 6\n2 4 7\n3 8\n1 6\n2 5 7\n3 6 8\n4 7\n",
    );
    let graph = place.json("pattern show eight.graph --json");
    assert_eq!(graph["tasks"], 8);
    assert_eq!(graph["edges"], place.json("pattern show stencil2d:2x4 --json")["edges"]);
    let wrong = place.file("odd.graph", "% one way\n2 1\n2\n\n");
    let line = place.one_line_refusal("pattern show odd.graph");
    assert!(
        line.contains("odd.graph") && line.contains("in the lines of both its vertices"),
        "{line} {wrong:?}"
    );
    place.file("web.net", "*Vertices 2\n1 \"a\"\n2 \"b\"\n*Arcs\n1 2 3\n");
    let line = place.one_line_refusal("place --on graviton3 --pattern web.net");
    assert!(line.contains("this is Pajek") && line.contains("read_pajek"), "{line}");
}
