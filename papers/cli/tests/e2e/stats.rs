//! `seatmap-papers stats`: CellStats on the models.

use crate::common::{Arguments, Json, Place, assert_contains, stderr, two_cpus};

/// The command lines in the paper, and the functions that they measure.
const PRINTED: [&str; 21] = [
    "-f mkthread -n 1 -i 100k",
    "-f mailbox -n 1 -i 1m -c 0",
    "-f mailbox -n 1 -i 1m -c 1",
    "-f mailbox -n 2 -i 1m -c 0 -s",
    "-f mailbox -n 2 -i 1m -c 1 -s",
    "-f signal -n 1 -i 1m -c 0",
    "-f signal -n 1 -i 1m -c 1",
    "-f signal -n 2 -i 1m -c 0 -s",
    "-f signal -n 2 -i 1m -c 1 -s",
    "-f dmaget -n 3 -i 1m -b 1k -c 0 -m 0",
    "-f dmaout -n 6 -i 1m -b 1k -c 0 -m 1",
    "-f dmaget -N 3 -b 1k -i 1m -t 2k -c 1 -m 0",
    "-f dmaout -N 6 -b 1k -i 1m -t 2k -c 1 -m 1",
    "-f dmaget -N 6 -b 32 -t 128 -i 1m -c 1 -m 1 -s",
    "-f dmalistget -n 6 -l 16 -b 64 -i 1m -c 1 -m 1",
    "-f fetchadd -n 3 -i 1m -c 0 -m 0",
    "-f fetchsub -n 6 -i 1m -c 0 -m 1",
    "-f fetchinc -N 3 -t 2k -i 1m -c 1 -m 0 -b 128",
    "-f fetchset -N 6 -t 2k -i 1m -c 1 -m 1 -b 128",
    "-f fetchdec -n 2 -i 1k",
    "-f dmalistput -n 2 -l 4 -b 32 -i 1k",
];

#[test]
fn paper_command_lines_print_their_figures() {
    let place = Place::new();
    for line in PRINTED {
        let typed: Vec<&str> = ["stats"]
            .into_iter()
            .chain(line.split(' '))
            .chain(["--on", "cell-qs20", "--json"])
            .collect();
        let output = place.command(&typed).output().unwrap();
        assert!(output.status.success() && output.stderr.is_empty(), "{line}: {output:?}");
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        let wanted = line.split(' ').nth(1).unwrap().replace("dmaout", "dmaput");
        assert_eq!(found["function"], wanted.as_str());
        assert!(found["latency_ns"].as_f64() > Some(50.0), "{line}: {found}");
        let moves = wanted.starts_with("dma");
        assert_eq!(
            found["bandwidth_gbps"].as_f64().is_some_and(|gbps| gbps > 0.0),
            moves,
            "{line}"
        );
        // With -s, one worker only provides its local store.
        let tasks = found["per_spe"].elements().len();
        let workers: usize = line.split(' ').nth(3).unwrap().parse().unwrap();
        let counted = if moves { workers - usize::from(line.ends_with(" -s")) } else { tasks };
        assert_eq!(tasks, counted, "{line}");
    }
}

/// On each known machine: caches and networks differ, but no worker may wait forever.
#[test]
fn every_primitive_finishes_on_every_machine() {
    let place = Place::new();
    let cells = seatmap_cell_sim::catalog::names();
    let machines: Vec<&str> = cells.chain(seatmap_machines::catalog::bundled::names()).collect();
    assert!(
        machines.contains(&"cell-qs20") && machines.contains(&"xeon-phi-5110p"),
        "{machines:?}"
    );
    let workers = ["-N 6", "-n 6", "-n 6 -s"];
    let transfers = ["dmaget", "dmaput", "dmalistget", "dmalistput"];
    let atomics = ["fetchadd", "fetchsub", "fetchinc", "fetchdec", "fetchset"];
    let both = transfers
        .iter()
        .chain(&atomics)
        .flat_map(|function| workers.map(|workers| format!("{function} {workers}")));
    let messages =
        ["mailbox -n 1", "mailbox -n 2 -s", "signal -n 1", "signal -n 2 -s"].map(str::to_owned);
    let collectives = ["broadcast -n 6", "reduce -n 6"].map(str::to_owned);
    let lines: Vec<String> = both.chain(messages).chain(collectives).collect();
    for (machine, line) in
        machines.iter().flat_map(|machine| lines.iter().map(move |line| (machine, line)))
    {
        let warm_up = if line.starts_with(['b', 'r']) { "" } else { " -w 4" };
        let typed = format!("stats --on {machine} -i 32{warm_up} --json -f {line}");
        let found: serde_json::Value =
            serde_json::from_str(&place.stdout(typed.split(' ').collect::<Vec<_>>())).unwrap();
        assert!(found["latency_ns"].as_f64() > Some(0.0), "{typed}: {found}");
    }
}

#[test]
fn repeated_command_prints_same_bytes() {
    let place = Place::new();
    let print = || {
        let typed = "stats -f dmaput -n 5 -i 200 -b 2k --on cell-qs22 --json";
        place.command(typed.split(' ').collect::<Vec<_>>()).output().unwrap().stdout
    };
    assert_eq!(print(), print());
}

#[test]
fn invalid_hardware_operations_are_refused() {
    let place = Place::new();
    place.file("duo.csv", ",\n40.5,\n");
    let refusal = |line: &str| {
        let output = place.command(line.split(' ').collect::<Vec<_>>()).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{line}: {output:?}");
        assert!(output.stdout.is_empty(), "{line}");
        stderr(&output).lines().next().unwrap_or_default().to_owned()
    };
    let told: Vec<String> = [
        "stats --on cell-ps3 -f dmaget -b 24",
        "stats --on cell-ps3 -f dmaget -b 32k",
        "stats --on cell-ps3 -f dmaget -N 2 -b 16 -t 8",
        "stats --on cell-ps3 -f dmaget -n 7",
        "stats --on cell-ps3 -f dmaget -n 0",
        "stats --on cell-ps3 -f dmaget -c 1",
        "stats --on cell-ps3 -f dmaget -m 1",
        "stats --on cell-ps3 -f dmalistget -l 3000",
        "stats --on cell-ps3 -f fetchadd -b 256",
        "stats --on cell-ps3 -f dmaget -b 1x",
        "stats --on cell-ps3 -f broadcast -n 2 -b 24",
        "stats --on cell-ps3 -f reduce -n 2 -b 32k",
        "stats --on cell-ps3 -f reduce -n 40",
        "stats --on cell-ps4 -f dmaget",
        "stats --on duo.csv -f dmaget",
        "stats --on xeon-e5-2680-2s -f mkthread",
        "stats --on xeon-e5-2680-2s -f mailbox --syscall",
    ]
    .into_iter()
    .map(refusal)
    .collect();
    insta::assert_snapshot!(told.join("\n"));
}

#[test]
fn collective_operations_take_longer_for_more_bytes() {
    let place = Place::new();
    let latency_ns = |function: &str, size: &str| {
        let line = format!("stats --on cell-qs20 -n 16 -f {function} -b {size} --json");
        place.json(line.split(' ').collect::<Vec<_>>())["latency_ns"].number()
    };
    for function in ["broadcast", "reduce"] {
        let small = latency_ns(function, "1k");
        let large = latency_ns(function, "16k");
        assert!(small > 0.0 && large > 4.0 * small, "{function}: {small} and {large} ns");
    }
}

#[test]
fn trace_is_written_to_file() {
    let place = Place::new();
    let typed = "stats --on cell-ps3 -f dmaget -n 2 -i 50 -b 1k --trace trace.json";
    assert!(place.command(typed.split(' ').collect::<Vec<_>>()).output().unwrap().status.success());
    let text = std::fs::read_to_string(place.folder().join("trace.json")).unwrap();
    let trace: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(trace["traceEvents"].elements().len() > 100);
}

#[test]
fn host_chips_are_groups_of_class() {
    let place = Place::new();
    let on = "stats -f fetchadd -N 1 -i 200 -w 10 --json";
    let packages = place.json(on);
    let cores = place.json((on, "--class core"));
    assert_eq!(packages["per_spe"].elements().len(), cores["per_spe"].elements().len());
    // There are fewer cores than that.
    let far = place.refusal((on, "--class core -c 100000"));
    assert_contains(&far, "100000");
    let model = place.refusal("stats -f fetchadd --on cell-qs20 --class numa");
    assert_contains(&model, "--class is for machines");
}

#[test]
fn coherent_models_print_no_system_call_figures() {
    let place = Place::new();
    let all = place.json("stats --on xeon-e5-2680-2s --json");
    let rows: Vec<&str> =
        all["rows"].elements().iter().filter_map(|row| row["what"].as_str()).collect();
    assert!(rows.contains(&"mailbox, controller to CPU on the same chip"), "{rows:?}");
    assert!(
        !rows.iter().any(|what| what.contains("system call") || what.contains("thread")),
        "{rows:?}"
    );
    let said = all["recommendations"].to_string();
    assert!(
        said.contains("a message across takes 4.0 times as long") && !said.contains("SPE"),
        "{said}"
    );
    assert!(!said.contains("Allocate next to the chip"), "its memories are equally far: {said}");
}

#[test]
fn options_without_effect_are_refused() {
    let place = Place::new();
    let told: Vec<String> = [
        "-f mailbox -b 8",
        "-f signal -t 128",
        "-f mailbox -m 0",
        "-f mailbox -N 2",
        "-f mailbox -l 4",
        "-f mailbox -n 0",
        "-f mailbox -n 2",
        "-f mailbox -n 3 -s",
        "-f mailbox -n 1 -s",
        "-f mailbox -s --syscall",
        "-f fetchadd -l 2",
        "-f fetchadd --syscall",
        "-f fetchadd -n 2 -t 128",
        "-f dmaget -l 4",
        "-f mkthread -c 0",
        "-f mkthread -n 2",
        "-f mkthread -s",
        "-f broadcast -n 1",
        "-f reduce -N 2",
        "-f reduce -w 8",
        "-n 0",
        "-N 2",
        "-i 5",
        "-b 8",
        "-s",
        "--syscall",
    ]
    .iter()
    .map(|line| {
        let line = format!("stats {line} --on cell-qs20");
        place.one_line_refusal(line.split(' ').collect::<Vec<_>>())
    })
    .collect();
    insta::assert_snapshot!(told.join("\n"));
    // On this computer too, and before any measurement.
    place.refuses("stats -f mailbox -b 8", "-b is for fetchadd");
}

#[test]
fn host_workers_overlap_in_time() {
    let Some(_) = two_cpus() else { return };
    let place = Place::new();
    for line in [
        "-f fetchadd -n 2",
        "-f fetchset -N 2",
        "-f fetchadd -n 2 -s",
        "-f dmaget -n 2 -b 1k",
        "-f dmaput -N 2 -b 64 -s",
        "-f mailbox",
        "-f mailbox -n 2 -s",
        "-f signal -s",
    ] {
        let typed: Vec<&str> =
            ["stats"].into_iter().chain(line.split(' ')).chain(["-i", "3200", "--json"]).collect();
        let output = place.run(&typed);
        if stderr(&output).contains("other programs used the CPUs") {
            seatmap_needs::skipped!("{line}: other programs used the CPUs");
            continue;
        }
        let found: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert!(found["overlap"].number() >= 0.9, "{line}: {found}");
        assert!(found["iterations"].whole() >= 3200, "{line}: {found}");
    }
    let alone = place.json("stats -f fetchadd -i 100 --on cell-qs20 --json");
    assert!(alone["overlap"].is_null(), "{alone}");
}

#[test]
fn process_with_one_cpu_is_refused() {
    let place = Place::new();
    let cpu = seatmap_os::affinity::current().unwrap()[0].to_string();
    let mut command = place.command_of("taskset");
    command.args(["-c", &cpu, crate::PROGRAM]).args("stats -f mailbox -n 1 -i 1000".words());
    let Ok(output) = command.output() else {
        return seatmap_needs::skipped!("no taskset");
    };
    let said = stderr(&output);
    assert!(
        output.status.code() == Some(2) && said.contains("this process may use only one"),
        "{said}"
    );
}
