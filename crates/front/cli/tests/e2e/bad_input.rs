//! Refusals: exit code 2, and one line with the location and a remedy.

use crate::common::{Place, stderr, stdout};
use std::process::Command;

#[test]
fn invalid_cpu_lists_are_refused() {
    let place = Place::new();
    for (list, words) in [
        ("0,0", "CPU 0 is in the list twice"),
        ("0,x", "'x' is not a CPU number"),
        ("", "missing"),
        ("3-1", "is empty"),
        ("0-4000000000", "beyond the largest"),
    ] {
        let refusal = place.refusal(["measure", "--cpus", list]);
        assert!(refusal.contains(words), "{list}: {refusal}");
    }
    place.refuses("measure --cpus 99999,99998", "CPU 99999 does not exist");
    place.refuses("measure --on graviton3 --cpus 7", "need at least two CPUs");
    place.refuses("measure --on graviton3 --cpus 1,99", "no distances from CPU 99");
}

#[test]
fn cpu_outside_mask_is_refused() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let [first, second, ..] = cpus[..] else {
        return seatmap_needs::skipped!("two CPUs are needed");
    };
    let place = Place::new();
    let arguments = ["measure", "--cpus", &format!("{first},{second}")];
    let output = std::thread::scope(|scope| {
        scope
            .spawn(|| {
                seatmap_os::affinity::pin(&[first]).unwrap();
                (place.run(arguments), place.run("measure"))
            })
            .join()
            .unwrap()
    });
    assert!(stderr(&output.0).contains(&format!(
        "CPU {second} is outside the CPUs that this process may use, {first}:"
    )));
    assert!(stderr(&output.1).contains("need at least two CPUs"));
    assert_eq!((output.0.status.code(), output.1.status.code()), (Some(2), Some(2)));
}

#[test]
fn unwritable_outputs_are_refused() {
    let place = Place::new();
    let measure = |output: &str| {
        place.one_line_refusal(["measure", "--on", "graviton3", "--cpus", "0,1", "-o", output])
    };
    assert!(measure("nowhere/x.json").contains("nowhere/x.json: its folder does not exist"));
    assert!(measure(".").contains("is a folder"));
    assert!(
        measure("new/").contains("new/: there is no such folder"),
        "told before the work, not after"
    );
    let export = place.one_line_refusal("export graviton3 --format svg -o nowhere/x.svg");
    assert!(export.contains("its folder does not exist"));
}

#[test]
fn malformed_files_are_refused() {
    let place = Place::new();
    place.file("empty.csv", "");
    place.file("binary.csv", [0xff, 0xfe, 0, 1, 2]);
    place.file("ragged.csv", ",,\n1.5,,\n2,\n");
    place.file("nan.csv", ",\nNaN,\n");
    place.file("negative.csv", ",\n-4,\n");
    place.file("wide.csv", ",".repeat(1_000_000));
    place.file("deep.json", format!("{{\"format\":{}", "[".repeat(200_000)));
    place.file(
        "deep.xml",
        format!("<topology version=\"2.0\">{}", "<object type=\"Group\">".repeat(100_000)),
    );
    place.file("future.json", "{\"format\":\"seatmap-profile/2\"}");
    place.file("cut.json", "{\"format\":\"seatmap-profile/1\",\"name\":\"x");
    place.file("typo.toml", "format = \"seatmap-machine/1\"\nnaem = \"x\"\n");
    for (name, told) in [
        ("empty.csv", "empty"),
        ("binary.csv", "line 1, column 1"),
        ("ragged.csv", "line 3"),
        ("nan.csv", "line 2, column 1"),
        ("negative.csv", "line 2, column 1"),
        ("wide.csv", "8192"),
        ("deep.json", "line 1, column"),
        ("deep.xml", "line 1, column"),
        ("future.json", "seatmap-profile/2"),
        ("cut.json", "line 1, column"),
        ("typo.toml", "line 2, column 1"),
    ] {
        for verb in ["import", "show", "export --format csv"] {
            let line = place.one_line_refusal((verb, &[name]));
            assert!(
                line.starts_with(&format!("seatmap: {name}: ")) && line.contains(told),
                "{line}"
            );
        }
    }
}

#[test]
fn only_plain_files_are_read() {
    let place = Place::new();
    assert!(Command::new("mkfifo").arg(place.path("pipe")).status().unwrap().success());
    let _socket = std::os::unix::net::UnixListener::bind(place.path("socket")).unwrap();
    let verbs = [
        "show FILE",
        "import FILE",
        "export FILE --format csv",
        "compare FILE graviton3",
        "place --on FILE --pattern ring:2",
        "place --on graviton3 --pattern ./FILE",
        "place --on graviton3 --pattern ring:2 --load ./FILE",
        "place --qaplib FILE",
        "pattern show ./FILE",
        "run --plan FILE -- true",
        "check --expect FILE --pid 1",
        "check --baseline FILE --pid 1",
        "bench --baseline FILE --runs 1 -- true",
        "bench --file FILE",
        "bench history FILE",
        "observe --recording FILE",
        "run --replay FILE",
        "services plan --record FILE",
        "services apply FILE",
        "services import FILE",
        "cluster doctor FILE",
        "services plan FILE",
    ];
    for file in ["/dev/urandom", "pipe", "socket"] {
        for verb in verbs {
            let named =
                if file.starts_with('/') { verb.replace("./FILE", file) } else { verb.into() };
            let words = named.replace("FILE", file);
            let words: Vec<&str> = words.split(' ').collect();
            let said = place.refusal(&words);
            assert!(said.contains("not a regular file"), "{words:?}: {said}");
        }
    }
    let large = place.file("large.json", "{");
    let file = std::fs::File::options().write(true).open(place.path(large)).unwrap();
    file.set_len(1 << 40).unwrap();
    place.refuses(
        ["bench", "--baseline", large, "--runs", "1", "--", "true"],
        "large.json: is too long; no more than 536870912 B",
    );
}

#[test]
fn shell_pipe_is_read() {
    let place = Place::new();
    let line =
        format!("{} pattern show <(echo 'from,to,bytes'; echo 'a,b,1') --json", crate::PROGRAM);
    let output = Command::new("bash").args(["-c", &line]).current_dir(place.folder()).output();
    let output = output.unwrap();
    assert!(stdout(&output).contains("seatmap-pattern/1"), "{output:?}");
}

#[test]
fn console_log_is_refused_as_matrix() {
    let Some(log) = seatmap_needs::published("core-to-core/not-a-matrix-console-log.csv") else {
        return;
    };
    let place = Place::new();
    let line = place.one_line_refusal(["import", log.to_str().unwrap(), "-o", "x.json"]);
    assert!(line.contains("line 1, column 1") && line.contains("console log"), "{line}");
    assert!(!place.path("x.json").exists());
}

#[test]
fn unknown_machines_are_refused() {
    let place = Place::new();
    place.refuses("show epic-7r13", "did you mean 'epyc-7r13-2s'?");
    place.refuses("show nix.json", "there is no such file");
    place.refuses("show .", "hwloc-gather-topology");
    place.refuses("show graviton3 --near 999", "has only CPUs 0-63");
    place.refuses("show graviton3 --home 9", "has 1 home,");
}

#[test]
fn measurement_of_one_cpu_is_refused() {
    let first = seatmap_os::affinity::current().unwrap()[0].to_string();
    let line = Place::new().one_line_refusal(format!("measure --cpus {first}"));
    assert!(line.contains("need at least two CPUs") && line.contains("--cpus"), "{line}");
}

#[test]
fn names_are_escaped_in_messages() {
    let place = Place::new();
    let name = place.file("a\n\u{1b}[31m.csv", "");
    let line = place.one_line_refusal(["import", name]);
    assert!(line.starts_with("seatmap: a\\n\\u{1b}[31m.csv: "), "{line}");
    place.file("x.csv", ",\n30,\n");
    let summary = place.stdout(["import", "x.csv", "--name", "a\nb\u{1b}[31m", "-o", "x.json"]);
    assert!(summary.starts_with("x.json: a\\nb\\u{1b}[31m with 2 PUs"), "{summary}");
    for arguments in ["show x.json", "export x.json --format svg"] {
        assert!(!place.stdout(arguments).contains('\u{1b}'), "{arguments:?}");
    }
}

#[test]
fn html_page_escapes_script_in_name() {
    let place = Place::new();
    place.file("x.csv", ",\n30,\n");
    place.stdout("import x.csv --name </script><script>alert(1)</script> -o x.json");
    place.stdout("show x.json --html x.html");
    assert!(!place.read("x.html").contains("<script>alert"));
}

#[test]
fn full_disk_fails_without_panic() {
    if !std::path::Path::new("/dev/full").exists() {
        return seatmap_needs::skipped!("/dev/full is absent");
    }
    let place = Place::new();
    let full = || std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let unread = place.command("show nix.json").stderr(full()).output().unwrap();
    assert_eq!(unread.status.code(), Some(2), "the code still tells");
    let unheard = place.command("show host").stderr(full()).output().unwrap();
    assert!(
        unheard.status.success() && !unheard.stdout.is_empty(),
        "a remark is not worth failing for"
    );
    for arguments in ["machines", "export graviton3 --format json", "man"] {
        let output = place.command(arguments).stdout(full()).output().unwrap();
        let stderr = stderr(&output);
        assert_eq!(output.status.code(), Some(1), "{arguments:?}: {stderr}");
        assert!(stderr.starts_with("seatmap: stdout: ") && stderr.lines().count() == 1, "{stderr}");
    }
}

#[test]
fn dashed_word_before_command_is_an_option() {
    let place = Place::new();
    for (arguments, option) in [
        ("bench --rnus 3 true", "'--runs'"),
        ("run --cpu 0 true", "'--cpus'"),
        ("run -c0 --stirct true", "'--strict'"),
        ("tune --budgte 9 true", "'--budget'"),
        ("observe --secnods 1 true", "'--seconds'"),
        ("run -c 0 -p2000000000 -q", "2000000000"),
    ] {
        let refusal = place.refusal(arguments);
        assert!(refusal.contains(option), "{arguments:?}: {refusal}");
    }
}

/// Other commands name their time limit differently. A name that merely shares letters must not be
/// suggested.
#[test]
fn suggestions_name_only_related_options() {
    let place = Place::new();
    for (arguments, end) in [
        ("tune --duration 5 true", "; did you mean '--seconds'?"),
        ("bench --time 5 true", "; did you mean '--seconds'?"),
        ("noise --timeout=5", "; did you mean '--seconds'?"),
        ("run --auto --duration 5 true", "; did you mean '--seconds'?"),
        ("run --cpus 0 --duration 5 true", "; see 'seatmap run --help'"),
        ("measure --duration 5", "; see 'seatmap measure --help'"),
        ("measure --seconds 5", "; see 'seatmap measure --help'"),
        ("measure --count 5", "; see 'seatmap measure --help'"),
        ("tune --seats 2 true", "; see 'seatmap tune --help'"),
        ("bench --seats 0 true", "--seats <N>: '0' is too small; the minimum is 1"),
    ] {
        let refusal = place.refusal(arguments);
        assert!(refusal.trim_end().ends_with(end), "{arguments:?}: {refusal}");
    }
}

#[test]
fn double_dash_before_command_is_optional() {
    let cpus = seatmap_os::affinity::current().unwrap();
    let [first, ..] = cpus[..] else { return seatmap_needs::skipped!("a CPU is needed") };
    let place = Place::new();
    for options in [format!("-c{first}"), format!("-qc{first}"), format!("-c={first}")] {
        for dashes in ["", "--"] {
            let arguments = (format!("run {options}"), dashes, ["sh", "-c", "exit $1", "-", "7"]);
            assert_eq!(place.run(&arguments).status.code(), Some(7), "{arguments:?}");
        }
    }
}

#[test]
fn invalid_values_are_refused_in_own_words() {
    let place = Place::new();
    place.file("other.txt", "Dear all,");
    place.file("other.json", "{\"a\": 1}");
    for (arguments, sentence) in [
        ("run -c0 --pid redis-server", "'pidof redis-server' prints"),
        ("tune --budget 10s true", "--seconds 10s limits the time"),
        ("cell create --ttl ten", "'ten' is not a time in whole seconds"),
        ("cluster measure --at-once 0", "'0' is not a whole number from 1 to 65535"),
        ("run --plan other.txt true", "other.txt: this is not a plan; 'seatmap place"),
        ("run --plan other.json true", "other.json: this is not a plan; 'seatmap place"),
    ] {
        let refusal = place.one_line_refusal(arguments);
        assert!(refusal.contains(sentence), "{arguments:?}: {refusal}");
    }
}

#[test]
fn metric_with_decimal_comma_is_refused() {
    let place = Place::new();
    for number in ["1.234,5", "1,5", "1e-310", "inf"] {
        let metric = format!("command:echo {number}");
        let output = place.run(("bench --runs 1 --metric", [&*metric], "true"));
        let stderr = stderr(&output);
        assert!(stderr.contains("instead of one number"), "{number}: {stderr}");
        assert_ne!(output.status.code(), Some(0), "{number}");
    }
}

#[test]
fn a_mistake_in_a_file_is_reported_with_its_position() {
    let place = Place::new();
    place.file(
        "machine.toml",
        "format = \"seatmap-machine/1\"\nname = \"x\"\n[topology]\npackages = \"two\"\n",
    );
    let cluster =
        "{\"format\": \"seatmap-cluster/1\",\n \"nodes\": [{\"host\": \"n0\"}], \"pairs\": []}";
    place.file("cluster.json", cluster);
    place.file("plan.json", "{\"format\": \"seatmap-plan/1\",\n \"placement\": [0, \"1\"]}");
    place.file("pattern.json", "{\"format\": \"seatmap-pattern/1\", \"tasks\": 2");
    for (arguments, place_in_file, problem) in [
        ("show machine.toml", "machine.toml: line 4, column ", "invalid type: string \"two\""),
        ("show cluster.json", "cluster.json: line 2, column ", "missing field `name`"),
        (
            "export --format gomp plan.json",
            "plan.json: line 2, column ",
            "invalid type: string \"1\"",
        ),
        (
            "pattern show pattern.json",
            "pattern.json: line 1, column ",
            "EOF while parsing an object",
        ),
    ] {
        let refusal = place.one_line_refusal(arguments.split(' ').collect::<Vec<_>>());
        assert!(
            refusal.contains(place_in_file) && refusal.contains(problem),
            "{arguments}: {refusal}"
        );
    }
}
