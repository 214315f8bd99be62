//! The guide's pages on programs for the Cell and on the examples: their commands work as written.

use crate::sdk::copy;
use crate::tool::Tool;
use std::process::Command;

fn blocks<'a>(page: &'a str, language: &str) -> Vec<&'a str> {
    let opening = format!("```{language}\n");
    page.split(&opening).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn typed(tool: &Tool, block: &str, home: &str) -> String {
    let path = format!("{home}/cell/bin:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new("sh");
    command
        .args(["-e", "-c", block])
        .current_dir(tool.path(""))
        .env("PATH", path)
        .env("HOME", home);
    let output = command.env_remove("MAKEFLAGS").env_remove("MAKELEVEL").output().unwrap();
    assert!(output.status.success(), "{block}{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8([output.stdout, output.stderr].concat()).unwrap()
}

fn home(tool: &Tool) -> String {
    tool.install();
    std::os::unix::fs::symlink(tool.path("prefix"), tool.path("cell")).unwrap();
    tool.path("").to_str().unwrap().to_owned()
}

#[test]
fn guide_ports_a_program_as_written() {
    let Some(tool) = Tool::new() else { return };
    let page = include_str!("../../../../docs/papers/src/cell-programs.md");
    for source in blocks(page, "c") {
        let name = source.strip_prefix("/* ").and_then(|text| text.split(':').next()).unwrap();
        tool.write(name, source);
    }
    let home = home(&tool);
    let printed: Vec<String> =
        blocks(page, "sh").into_iter().map(|block| typed(&tool, block, &home)).collect();
    assert_eq!(printed, ["the sum is 523776\n"; 2]);
    assert!(blocks(page, "text").contains(&printed[0].as_str()));
    assert!(std::fs::read_to_string(tool.path("sum.json")).unwrap().contains("traceEvents"));
}

#[test]
fn examples_page_commands_work_as_written() {
    let Some(tool) = Tool::new() else { return };
    if !seatmap_needs::tool("make") {
        return;
    }
    let block = blocks(include_str!("../../../examples/README.md"), "sh")[0];
    // Cargo built the library before this test.
    let (install, rest) = block.split_once('\n').unwrap();
    assert_eq!(install, "make install-lib PREFIX=$HOME/cell");
    std::fs::create_dir(tool.path("papers")).unwrap();
    copy(&tool.source("../examples"), &tool.path("papers/examples"));
    let printed = typed(&tool, rest, &home(&tool));
    assert!(printed.contains("0 wrong") && printed.contains("libspe2: cell-qs20, "), "{printed}");
}
