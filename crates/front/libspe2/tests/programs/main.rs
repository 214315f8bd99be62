//! C programs for the PPE and the SPU, compiled by `seatmap-cellcc` against the library that cargo built, and run.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod simulated;
mod tool;

use tool::Tool;

/// The machines on which every program does the same.
const MACHINES: [&str; 4] = ["host", "cell-ps3", "cell-qs20", "cell-qs22"];

/// The programs with both sides in one file. Each prints the checks that fail.
fn passes(name: &str) {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source(&format!("tests/programs/{name}.c"));
    let program = tool.build(&source, &source);
    for machine in MACHINES {
        assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE", machine)]), "", "{name} on {machine}");
    }
}

#[test]
fn mailboxes_and_signals() {
    passes("mailboxes");
}

#[test]
fn runs_stops_and_faults() {
    passes("runs");
}

#[test]
fn transfers_lists_and_atomics() {
    passes("transfers");
}

#[test]
fn events_and_the_decrementer() {
    passes("events");
}

#[test]
fn intrinsics_agree_with_bytes() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.source("tests/programs/intrinsics.c");
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let said = tool.run(&spu, &ppu);
    assert!(said.starts_with("0 of ") && !said.starts_with("0 of 0 "), "{said}");
}

#[test]
fn programs_that_do_not_fit_are_refused() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.write("large.c", "static char room[300 << 10]; int main(void) { room[1] = 1; return room[0]; }");
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let program = tool.build(&spu, &ppu);
    let small = tool.execute(&program, &[]);
    let words = String::from_utf8_lossy(&small.stderr);
    assert_eq!(small.status.code(), Some(3), "{words}");
    assert!(words.contains("the local store has 262144; set SEATMAP_SPE_LS_KIB"), "{words}");
    assert_eq!(tool.execute(&program, &[("SEATMAP_SPE_LS_KIB", "512")]).status.code(), Some(0));
}

#[test]
fn a_bad_transfer_says_context_tag_and_address() {
    let Some(tool) = Tool::new() else { return };
    let text = "#include <spu_mfcio.h>\nint main(void) { mfc_get((void *)128, 0x40, 16, 9, 0, 0); return 0; }";
    let (spu, ppu) = (tool.write("bad.c", text), tool.write("host.c", include_str!("run_one.c")));
    let ended = tool.execute(&tool.build(&spu, &ppu), &[]);
    let words = String::from_utf8_lossy(&ended.stderr);
    let expected = "context 0: mfc_get of 16 bytes, tag 9, local address 0x80, effective address 0x40: \
                    the effective address cannot be read or written";
    assert!(words.contains(expected) && ended.status.code() == Some(2), "{words}");
}
