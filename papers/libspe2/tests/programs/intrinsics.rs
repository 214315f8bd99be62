//! Vector intrinsics: their results in both languages, and their instructions.

use crate::tool::Tool;
use std::process::Command;

fn agrees(name: &str, text: &str) {
    let tool = if name.ends_with(".cc") { Tool::with_cplusplus() } else { Tool::new() };
    let Some(tool) = tool else { return };
    let ppu = tool.write("host.c", include_str!("run_one.c"));
    let said = tool.run(&tool.write(name, text), &ppu);
    assert!(said.starts_with("0 of ") && !said.starts_with("0 of 0 "), "{name}: {said}");
}

#[test]
fn generic_intrinsics_match_bytewise_results() {
    agrees("intrinsics.c", include_str!("intrinsics.c"));
}

#[test]
fn generic_intrinsics_match_bytewise_results_in_cplusplus() {
    agrees("intrinsics.cc", include_str!("intrinsics.c"));
}

#[test]
fn specific_intrinsics_match_bytewise_results() {
    agrees("specific.c", include_str!("specific.c"));
}

#[test]
fn specific_intrinsics_match_bytewise_results_in_cplusplus() {
    agrees("specific.cc", include_str!("specific.c"));
}

fn ppe_agrees(name: &str) {
    let tool = if name.ends_with(".cc") { Tool::with_cplusplus() } else { Tool::new() };
    let Some(tool) = tool else { return };
    let source = tool.write(name, include_str!("altivec.c"));
    let language = if name.ends_with(".cc") { "ppu++" } else { "ppu" };
    let own = tool.source("tests/programs");
    let strict = ["-O2", "-Wall", "-Wextra", "-Werror", "-Wno-parentheses", "-I"];
    let files = [own.to_str().unwrap(), "-o", "program", source.to_str().unwrap()];
    tool.cellcc(&[&[language][..], &strict, &files].concat()).unwrap();
    let said = tool.succeed(&tool.path("program"), &[]);
    assert!(said.starts_with("0 of ") && !said.starts_with("0 of 0 "), "{name}: {said}");
}

#[test]
fn ppe_intrinsics_match_elementwise_results() {
    ppe_agrees("altivec.c");
}

#[test]
fn ppe_intrinsics_match_elementwise_results_in_cplusplus() {
    ppe_agrees("altivec.cc");
}

/// Each function's name ends with the start of its only instruction.
#[test]
fn intrinsics_compile_to_single_instructions() {
    let Some(tool) = Tool::new() else { return };
    let source = tool.source("tests/programs/single.c");
    let compile = [
        "spu",
        "--no-count",
        "-std=gnu11",
        "-O2",
        "-c",
        "-o",
        "single.o",
        source.to_str().unwrap(),
    ];
    tool.cellcc_for("x86-64-v3", &compile).unwrap();
    let object = tool.path("single.o");
    let Ok(output) =
        Command::new("objdump").args(["-d", "--no-show-raw-insn"]).arg(object).output()
    else {
        seatmap_needs::skipped!("needs objdump");
        return;
    };
    let functions = disassembled(&String::from_utf8(output.stdout).unwrap());
    assert!(functions.len() > 40, "{functions:?}");
    for (name, instructions) in &functions {
        let (_, expected) = name.split_once("__").unwrap();
        let is_one = instructions.len() == 1 && instructions[0].starts_with(expected);
        assert!(is_one, "{name}: {instructions:?}");
    }
}

/// Each function's instructions, except return and padding.
fn disassembled(text: &str) -> Vec<(String, Vec<String>)> {
    let mut functions: Vec<(String, Vec<String>)> = Vec::new();
    for line in text.lines() {
        if let Some(name) = line.strip_suffix(">:").and_then(|line| line.split('<').nth(1)) {
            functions.push((name.to_owned(), Vec::new()));
            continue;
        }
        let instruction =
            line.split_once(":\t").and_then(|(_, code)| code.split_whitespace().next());
        let Some(instruction) = instruction else { continue };
        let is_filling = matches!(instruction, "ret" | "data16" | "cs" | "xchg")
            || instruction.starts_with("nop");
        if let (false, Some(function)) = (is_filling, functions.last_mut()) {
            function.1.push(instruction.to_owned());
        }
    }
    functions
}
