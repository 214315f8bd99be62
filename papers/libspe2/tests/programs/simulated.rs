//! The simulated Cell: reproducible virtual time, waits without a call, deadlocks, and messages
//! about wrong choices.

use crate::tool::Tool;
use std::path::PathBuf;
use std::process::Output;

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn program(tool: &Tool, name: &str) -> PathBuf {
    let source = tool.source(&format!("tests/programs/{name}.c"));
    tool.build(&source, &source)
}

#[test]
fn repeated_run_takes_same_virtual_time() {
    let Some(tool) = Tool::new() else { return };
    let program = program(&tool, "times");
    let on = |machine| tool.succeed(&program, &[("SEATMAP_SPE", machine)]);
    for machine in ["cell-ps3", "cell-qs20"] {
        let first = on(machine);
        assert!(first.lines().count() == 8 && !first.contains("not so"), "{first}");
        for _ in 0..4 {
            assert_eq!(on(machine), first, "{machine}");
        }
    }
    assert_ne!(on("cell-ps3"), on("cell-qs20"), "they have other time bases");
}

fn work_ticks(tool: &Tool, program: &std::path::Path, compute: &str) -> (f64, f64) {
    let said =
        tool.succeed(program, &[("SEATMAP_SPE", "cell-ps3"), ("SEATMAP_SPE_COMPUTE", compute)]);
    let (once, twice) = said.trim().split_once(' ').unwrap();
    (once.parse().unwrap(), twice.parse().unwrap())
}

#[test]
fn work_is_charged_as_counted() {
    let Some(tool) = Tool::new() else { return };
    let program = program(&tool, "work");
    tool.succeed(&program, &[]);
    let (once, twice) = work_ticks(&tool, &program, "");
    assert_eq!(
        work_ticks(&tool, &program, "count"),
        (once, twice),
        "the same again, and the usual choice"
    );
    // 100,000 rounds of four to twelve instructions at 3.2 GHz, in ticks of 12.5 ns.
    assert!(
        (10_000.0..30_000.0).contains(&once) && (1.99..2.01).contains(&(twice / once)),
        "{once} {twice}"
    );
    let (half, _) = work_ticks(&tool, &program, "count:0.5");
    assert!((half * 2.0 / once - 1.0).abs() < 0.01, "{half} is half of {once}");
    // The reads of the decrementer themselves take 3 ns.
    assert!(work_ticks(&tool, &program, "none").1 < 2.0);
    let (here, _) = work_ticks(&tool, &program, "host:1000");
    assert!(here > 0.0);
    let source = tool.source("tests/programs/work.c");
    let silent = tool.build_with(&source, &source, &["--no-count"]);
    assert!(work_ticks(&tool, &silent, "count").1 < 2.0, "this one does not count");
}

#[test]
fn programs_spinning_on_memory_run_reproducibly() {
    let Some(tool) = Tool::new() else { return };
    let program = program(&tool, "spins");
    tool.succeed(&program, &[]);
    let ticks = || {
        let output = tool.execute(&program, &[("SEATMAP_SPE", "cell-ps3")]);
        assert!(output.status.success() && output.stdout.is_empty(), "{output:?}");
        words(&output)
    };
    let first = ticks();
    assert!(first.ends_with(" ticks\n"), "{first}");
    assert_eq!(ticks(), first);
}

#[test]
fn deadlock_names_each_waiter_and_cause() {
    let Some(tool) = Tool::new() else { return };
    let ended = tool.execute(&program(&tool, "deadlock"), &[("SEATMAP_SPE", "cell-ps3")]);
    assert_eq!((ended.status.code(), ended.stdout.as_slice()), (Some(1), &b"both wait\n"[..]));
    let words = words(&ended);
    for part in [
        "libspe2: deadlock after 16800",
        " ns: PPE thread 0 waits for the end of PPE thread 1;",
        "PPE thread 1 waits for the end of SPE context 0;",
        "SPE context 0 waits for a message in its mailbox;",
        "SPE context 1 waits for a signal in its register 1",
    ] {
        assert!(words.contains(part), "{part}: {words}");
    }
}

#[test]
fn bad_transfer_names_context_tag_address_and_time() {
    let Some(tool) = Tool::new() else { return };
    let text = "#include <spu_mfcio.h>\nint main(void) { mfc_get((void *)128, 0x40, 16, 9, 0, 0); return 0; }";
    let spu = tool.write("bad.c", text);
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let ended = tool.execute(&tool.build(&spu, &ppu), &[("SEATMAP_SPE", "cell-qs22")]);
    let expected = "context 0: mfc_get of 16 bytes, tag 9, local address 0x80, effective address 0x40: \
                    the effective address cannot be read or written";
    assert!(words(&ended).contains(expected) && ended.status.code() == Some(2), "{ended:?}");
}

#[test]
fn invalid_environment_values_are_named() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.write("nothing.c", "int main(void) { return 0; }");
    let ppu = "#include <errno.h>\n#include <libspe2.h>\nint main(void) { return spe_context_create(0, 0) ? 0 : errno; }";
    let program = tool.build(&spu, &tool.write("create.c", ppu));
    let cases = [
        (
            "SEATMAP_SPE",
            "cell-ps4",
            libc::ENODEV,
            "SEATMAP_SPE=cell-ps4: expected host, cell-ps3, cell-qs20, cell-qs22",
        ),
        ("SEATMAP_SPE", "/no/model.toml", libc::ENODEV, "SEATMAP_SPE=/no/model.toml: No such file"),
        (
            "SEATMAP_SPE_LS_KIB",
            "100000000",
            libc::EINVAL,
            "SEATMAP_SPE_LS_KIB=100000000: expected a multiple of 4",
        ),
    ];
    for (name, value, errno, said) in cases {
        let ended = tool.execute(&program, &[(name, value)]);
        assert!(words(&ended).starts_with(&format!("libspe2: {said}")), "{}", words(&ended));
        assert_eq!(ended.status.code(), Some(errno), "{name}={value}");
    }
    for (name, value) in
        [("SEATMAP_SPE_COMPUTE", "much"), ("SEATMAP_SPE_SEATS", "0,6"), ("SEATMAP_SPE_SEATS", "x")]
    {
        let ended = tool.execute(&program, &[("SEATMAP_SPE", "cell-ps3"), (name, value)]);
        assert!(
            words(&ended).starts_with(&format!("libspe2: {name}={value}: ")),
            "{}",
            words(&ended)
        );
        assert_eq!(ended.status.code(), Some(libc::ENODEV));
    }
    assert!(
        tool.execute(&program, &[("SEATMAP_SPE", "")]).status.success(),
        "an empty choice is none"
    );
}
