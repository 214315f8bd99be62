//! The guide's page on workers: its programs compile and do as the page says.

use crate::installed::{How, can_compile, example, library, stdout};
use std::path::Path;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

#[test]
fn page_contains_examples_verbatim() {
    let page = read("../../docs/papers/src/workers.md");
    for (language, file) in [("rust", "../worker/examples/sum.rs"), ("c", "examples/sum.c")] {
        let block = format!("```{language}\n{}```\n", read(file));
        assert!(page.contains(&block), "{file} is not on the page as it is");
    }
}

#[test]
fn rust_and_c_find_the_same_sum() {
    if !can_compile() {
        return;
    }
    let c = stdout(&mut library().command("examples/sum.c", How::Shared, false));
    assert_eq!(stdout(&mut example("seatmap-worker", "sum")), c);
    assert!(
        read("../../docs/papers/src/workers.md").contains(&format!("```text\n{c}```")),
        "the page prints something else"
    );
}
