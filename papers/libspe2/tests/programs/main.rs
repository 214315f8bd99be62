//! C programs for the PPE and the SPU, compiled by `seatmap-cellcc` against cargo's library, and
//! run.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod agreement;
mod cellule;
mod conformance;
mod dialects;
mod driver;
mod examples;
mod intrinsics;
mod nested;
mod pages;
mod public;
mod sdk;
mod simulated;
mod tool;

use tool::Tool;

const MACHINES: [&str; 4] = ["host", "cell-ps3", "cell-qs20", "cell-qs22"];

fn passes(name: &str) {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source(&format!("tests/programs/{name}.c"));
    let program = tool.build(&source, &source);
    for machine in MACHINES {
        assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE", machine)]), "", "{name} on {machine}");
    }
}

#[test]
fn mailboxes_and_signals_work() {
    passes("mailboxes");
}

#[test]
fn runs_stops_and_faults_work() {
    passes("runs");
}

#[test]
fn transfers_lists_and_atomics_work() {
    passes("transfers");
}

#[test]
fn events_and_decrementer_work() {
    passes("events");
}

#[test]
fn waits_for_mailbox_room_end() {
    passes("room");
}

#[test]
fn sdk_libraries_compute() {
    passes("sdk_libraries");
}

#[test]
fn long_integers_have_32_bits() {
    passes("long");
}

#[test]
fn main_may_use_vectors() {
    passes("registers");
}

#[test]
fn mapped_memory_is_below_4_gib() {
    passes("addresses");
}

#[test]
fn wild_addresses_wrap_and_faults_stop_context() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/wild.c");
    let program = tool.build(&source, &source);
    for machine in ["host", "cell-qs20"] {
        let ended = tool.execute(&program, &[("SEATMAP_SPE", machine)]);
        let words = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{machine}: {}", String::from_utf8_lossy(&ended.stdout));
        let faults = [
            "an invalid instruction in trap+0x",
            "a division by zero, or one that overflows, in divide+0x",
            "a jump to 0x123450, which is not code, from main+0x",
            "the stack has left the local store, in recurse+0x",
        ];
        for fault in faults {
            assert!(words.contains(fault), "{machine}: no '{fault}' in {words}");
        }
    }
    assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE_STYLE", "linux")]), "");
}

#[test]
fn ppe_fault_reaches_the_programs_handler() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.write("spu.c", "int main(void) { return 0; }");
    let text = "#include <libspe2.h>\n#include <signal.h>\n#include <stdlib.h>\n\
                extern spe_program_handle_t work;\n\
                static void handler(int number) { _Exit(number); }\n\
                int main(void) { spe_context_create(0, NULL); signal(SIGSEGV, handler);\n\
                spe_context_destroy(spe_context_create(0, NULL));\n\
                return *(volatile int *)16 + !&work; }";
    let ppu = tool.write("ppu.c", text);
    let ended = tool.execute(&tool.build(&spu, &ppu), &[]);
    assert_eq!(ended.status.code(), Some(11), "SIGSEGV");
}

#[test]
fn wait_for_unrunnable_program_fails() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/alone.c");
    let program = tool.build(&source, &source);
    assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE", "host")]), "");
    assert_eq!(tool.succeed(&program, &[("SEATMAP_SPE_STYLE", "linux")]), "");
}

#[test]
fn program_waiting_for_no_thread_ends() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/lone.c");
    let program = tool.build(&source, &source);
    let ended = tool.execute(&program, &[("SEATMAP_SPE", "host")]);
    let told = String::from_utf8_lossy(&ended.stderr);
    assert!(ended.status.success(), "{}{told}", String::from_utf8_lossy(&ended.stdout));
    let things = ["a message", "a signal", "room in a mailbox", "an event"];
    let line = |thing: &str| {
        format!("the program would wait for ever: for {thing}, but no other thread is left")
    };
    assert!(things.iter().all(|thing| told.contains(&line(thing))), "{told}");
}

#[test]
fn host_deadlock_names_each_waiter() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/deadlock.c");
    let program = tool.build(&source, &source);
    let ended = tool.execute(&program, &[("SEATMAP_SPE", "host")]);
    let words = String::from_utf8_lossy(&ended.stderr);
    let line = "libspe2: deadlock: PPE thread 0 waits for the end of PPE thread 1; \
                PPE thread 1 waits for the end of SPE context 0; \
                PPE thread 2 waits for the end of SPE context 1; \
                SPE context 0 waits for a message in its mailbox; \
                SPE context 1 waits for a signal in its register 1\n";
    assert!(ended.status.success() && words.contains(line), "{words}");
    assert_eq!(ended.stdout, b"both wait\n");
}

#[test]
fn deadlock_behind_lock_names_each_waiter() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/locked.c");
    let program = tool.build(&source, &source);
    let kinds = [
        ("mutex", "waits for a mutex"),
        ("condition", "waits for a condition"),
        ("barrier", "waits at a barrier"),
        ("lock", "waits for a lock of readers and writers"),
        ("semaphore", "waits for a semaphore"),
    ];
    for (kind, words) in kinds {
        let ended = tool.execute(&program, &[("KIND", kind), ("HOW", "alone")]);
        let said = String::from_utf8_lossy(&ended.stderr);
        let line = format!(
            "libspe2: deadlock: PPE thread 0 waits for the end of PPE thread 2; \
             PPE thread 1 {words}; PPE thread 2 waits for the end of SPE context 0; \
             SPE context 0 waits for a message in its mailbox\n"
        );
        assert!(ended.status.success() && said.contains(&line), "{kind}: {said}");
    }
    for how in ["shared", "handled"] {
        let ended = tool.execute(&program, &[("KIND", "semaphore"), ("HOW", how)]);
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success() && said.is_empty(), "{how}: {said}");
    }
}

#[test]
fn libraries_synchronise_and_compute() {
    passes("libraries");
}

#[test]
fn objects_are_constructed_and_destroyed_in_order() {
    let Some(tool) = Tool::with_cplusplus() else { return };
    let spu = tool.source("tests/programs/objects_spu.cc");
    let ppu = tool.source("tests/programs/objects.cc");
    // A second run keeps the variables, including the third object's mark.
    let first =
        "made 1\nmade 2\nmade 3\nvector float: 4 numbers, 1.5 2\ngone 3\ngone 2\ngone 1\nlast\n";
    let second = "made 1\nmade 2\nvector float: 4 numbers, 1.5 2\ngone 2\ngone 1\nlast\n";
    assert_eq!(tool.run(&spu, &ppu), format!("{first}{second}two runs\n"));
}

const LARGE: &str = "static char room[300 << 10]; int main(void) { room[1] = 1; return room[0]; }";

#[test]
fn oversized_programs_fail_to_link() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.write("large.c", LARGE);
    let words = tool.cellcc(&["spu", "-o", "work.spu", spu.to_str().unwrap()]).unwrap_err();
    assert!(
        words.contains("bytes and a local store has 262144; --ls-size=SIZE builds it"),
        "{words}"
    );
    let words = tool
        .cellcc(&["spu", "--ls-size=much", "-o", "work.spu", spu.to_str().unwrap()])
        .unwrap_err();
    assert!(words.contains("--ls-size=much is not a size, such as 512k"), "{words}");
}

#[test]
fn ls_size_option_enlarges_local_store() {
    let Some(tool) = Tool::new() else { return };
    let spu = tool.write("large.c", LARGE);
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let program = tool.build_with(&spu, &ppu, &["--ls-size=512k"]);
    assert_eq!(tool.execute(&program, &[]).status.code(), Some(0));
    // A program loaded later cannot request it before its context exists.
    let opens = tool.write("opens.c", include_str!("open_one.c"));
    tool.cellcc(&["ppu", "-o", "program", opens.to_str().unwrap()]).unwrap();
    let late = tool.execute(&program, &[]);
    let words = String::from_utf8_lossy(&late.stderr);
    assert_eq!(late.status.code(), Some(3), "{words}");
    assert!(
        words.contains(
            "the local store has 262144; build it with --ls-size, set SEATMAP_SPE_LS_KIB"
        ),
        "{words}"
    );
    assert_eq!(tool.execute(&program, &[("SEATMAP_SPE_LS_KIB", "512")]).status.code(), Some(0));
}

#[test]
fn bad_transfer_names_context_tag_and_address() {
    let Some(tool) = Tool::new() else { return };
    let text = "#include <spu_mfcio.h>\nint main(void) { mfc_get((void *)128, 0x40, 16, 9, 0, 0); return 0; }";
    let spu = tool.write("bad.c", text);
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let ended = tool.execute(&tool.build(&spu, &ppu), &[]);
    let words = String::from_utf8_lossy(&ended.stderr);
    let expected = "context 0: mfc_get of 16 bytes, tag 9, local address 0x80, effective address 0x40: \
                    the effective address cannot be read or written";
    assert!(words.contains(expected) && ended.status.code() == Some(2), "{words}");
}
