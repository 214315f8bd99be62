//! Importing any file ends in a consistent pattern or in an error with its position: no panic, no
//! infinity or NaN, no more memory than the file's size warrants. Written patterns are read back.

use crate::machine::change::any_change;
use proptest::prelude::*;
use proptest::sample::{Index, select};
use seatmap_data::pattern::import::{self, Imported};
use seatmap_data::pattern::qaplib::Which;
use seatmap_data::pattern::{Edge, Pattern};

/// Short starts of each kind of file, enough to get past the first line.
const SEEDS: [&str; 9] = [
    "0,5,2\n1.5,0,3\n2,1e3,0\n",
    ",a,\"b;c\"\na,0,5\n\"b;c\",1.5,\n",
    "from,to,bytes,messages\n0,1,5,2\n1,0,1.5,1\n2,0,7,3\n",
    "from;to;bytes\nleft;right;5\nright;left;1.5\n",
    "%%MatrixMarket matrix coordinate real general\n% c\n3 3 3\n1 2 5.5\n2 1 1\n3 3 9\n",
    "%%MatrixMarket matrix array integer symmetric\n2 2\n0\n5\n0\n",
    "%%MatrixMarket matrix coordinate pattern symmetric\n2 2 1\n2 1\n",
    "2\n\n0 5\n1 0\n\n0 7\n7 0\n",
    "{\"format\":\"seatmap-pattern/1\",\"name\":\"a\",\"tasks\":2,\"names\":[\"x\",\"y\"],\
     \"edges\":[{\"from\":0,\"to\":1,\"bytes\":5,\"messages\":2},{\"from\":1,\"to\":0,\"bytes\":1.5}]}",
];

const POISON: [&str; 19] = [
    "nan",
    "inf",
    "-1",
    "-0",
    "1e18",
    "1e308",
    "1e-320",
    "1048576",
    "4294967296",
    "18446744073709551616",
    ",",
    ";",
    "\n",
    "\r",
    "\t",
    "\"",
    "%",
    "#",
    "from,to,bytes\n",
];

fn import(bytes: &[u8]) -> bool {
    let which = bytes.first().is_some_and(u8::is_ascii_digit).then_some(Which::Second);
    let Ok(Imported { pattern, .. }) = import::read(bytes, "a", None) else {
        return import::read(bytes, "a", which).is_ok();
    };
    assert!(pattern.check().is_ok(), "{:?}", pattern.check());
    assert!(pattern.edges.is_sorted_by_key(|edge| (edge.from, edge.to)) || bytes.contains(&b'{'));
    assert_eq!(Pattern::from_json(&pattern.to_json()).ok(), Some(pattern));
    true
}

#[test]
fn fuzz_seeds_are_read() {
    assert!(SEEDS.iter().all(|text| import(text.as_bytes())));
}

/// Each task has at least one edge, so a list of edges has them all.
fn any_pattern() -> impl Strategy<Value = Pattern> {
    let amount = || (1u32..1_000_000).prop_map(|amount| f64::from(amount) / 8.0);
    let edge = move |tasks: usize| (0..tasks, 1..tasks, amount(), amount());
    (2usize..10).prop_flat_map(move |tasks| {
        prop::collection::vec(edge(tasks), 0..30).prop_map(move |drawn| {
            let all = (0..tasks).map(|task| Edge::unit(task, (task + 1) % tasks));
            let more = drawn.into_iter().map(|(from, along, bytes, messages)| Edge {
                from,
                to: (from + along) % tasks,
                bytes,
                messages,
            });
            Pattern::gathered("a", tasks, all.chain(more))
        })
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4_000))]

    #[test]
    fn importer_survives_any_bytes(bytes in prop::collection::vec(any::<u8>(), 0..300), seed in select(&SEEDS[..]), keep in any::<Index>()) {
        import(&bytes);
        let mut begun = seed.as_bytes()[..keep.index(seed.len())].to_vec();
        begun.extend(bytes);
        import(&begun);
    }

    #[test]
    fn importer_survives_changed_files(seed in select(&SEEDS[..]), changes in prop::collection::vec(any_change(&POISON, 50), 1..6)) {
        let mut bytes = seed.as_bytes().to_vec();
        changes.iter().for_each(|change| change.make(&mut bytes));
        import(&bytes);
    }

    #[test]
    fn edge_list_round_trip_keeps_pattern(pattern in any_pattern()) {
        let row = |edge: &Edge| format!("{},{},{},{}\n", edge.from, edge.to, edge.bytes, edge.messages);
        let text = "from,to,bytes,messages\n".to_owned() + &pattern.edges.iter().map(row).collect::<String>();
        prop_assert_eq!(import::read(text.as_bytes(), "a", None).map(|it| it.pattern).ok(), Some(pattern));
    }

    #[test]
    fn csv_and_matrix_market_give_the_same_pattern(pattern in any_pattern()) {
        let n = pattern.tasks;
        let mut cells = vec![0.0; n * n];
        pattern.edges.iter().for_each(|edge| cells[edge.from * n + edge.to] = edge.bytes);
        let line = |row: &[f64]| row.iter().map(f64::to_string).collect::<Vec<_>>().join(",") + "\n";
        let csv: String = cells.chunks(n).map(line).collect();
        let entry = |edge: &Edge| format!("{} {} {}\n", edge.from + 1, edge.to + 1, edge.bytes);
        let entries: String = pattern.edges.iter().map(entry).collect();
        let market = format!("%%MatrixMarket matrix coordinate real general\n{n} {n} {}\n{entries}", pattern.edges.len());
        let read = |text: &str| import::read(text.as_bytes(), "a", None).map(|it| it.pattern).map_err(|error| error.to_string());
        prop_assert_eq!(read(&csv), read(&market));
        let once = pattern.edges.iter().map(|edge| Edge { messages: 1.0, ..*edge });
        prop_assert_eq!(read(&csv), Ok(Pattern::gathered("a", n, once)));
    }
}

#[test]
fn importer_refuses_oversized_files_early() {
    let refused = [
        "%%MatrixMarket matrix array real general\n1048576 1048576\n1\n".to_owned(),
        "%%MatrixMarket matrix coordinate real general\n9 9 18446744073709551615\n1 2 3\n".to_owned(),
        "4096\n1 2 3\n".to_owned(),
        "999999999999\n1\n".to_owned(),
        "from,to,bytes\n0,5000000000,1\n".to_owned(),
        ",".repeat(2_000_000),
        "1\n".repeat(1_000_000),
        "1,2\n".repeat(1_000_000),
        "\"".repeat(1_000_001),
        format!("{{\"format\":\"seatmap-pattern/1\",\"name\":{}", "[".repeat(200_000)),
        "{\"format\":\"seatmap-pattern/1\",\"name\":\"x\",\"tasks\":18446744073709551616,\"edges\":[]}".to_owned(),
    ];
    for text in refused {
        assert!(!import(text.as_bytes()), "{}...", text.chars().take(60).collect::<String>());
    }
}

#[test]
fn qaplib_instances_are_imported() {
    let Some(folder) = seatmap_needs::published("qaplib") else { return };
    let files = std::fs::read_dir(folder).unwrap();
    let paths = files
        .flatten()
        .map(|entry| entry.path())
        .filter(|path| path.extension().is_some_and(|it| it == "dat"));
    for path in paths {
        let bytes = std::fs::read(&path).unwrap_or_default();
        for which in [Which::First, Which::Second] {
            let read = import::read(&bytes, "a", Some(which));
            assert!(
                read.is_ok_and(|it| !it.pattern.edges.is_empty()),
                "{}: {which:?}",
                path.display()
            );
        }
    }
}
