//! The programs of the guide's page on the library do as it says.

use crate::installed::{How, can_compile, example, library, stdout};
use seatmap_data::machine::catalog;
use std::path::Path;

fn read(name: &str) -> String {
    std::fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join(name)).unwrap()
}

fn cost(placement: &[u32]) -> f64 {
    let machine = catalog::load("xeon-e5-2680-2s").unwrap();
    let pattern = seatmap_data::pattern::generate("stencil2d:4x4").unwrap();
    let distance = machine.core_distance.unwrap();
    let row = |task: usize| distance.index_of(placement[task]).unwrap();
    pattern
        .edges
        .iter()
        .map(|edge| edge.bytes * distance.median_ns[(row(edge.from), row(edge.to))])
        .sum()
}

#[test]
fn library_page_contains_examples_verbatim() {
    let page = read("../../../docs/src/library.md");
    for (language, file) in
        [("rust", "../../place/place/examples/place.rs"), ("c", "examples/place.c")]
    {
        let block = format!("```{language}\n{}```\n", read(file));
        assert!(page.contains(&block), "{file} is not on the page as it is");
    }
}

#[test]
fn rust_and_c_find_the_same_cost() {
    if !can_compile() {
        return;
    }
    // Searches by the clock may find another placement of the same cost.
    let printed = stdout(&mut library().command("examples/place.c", How::Shared, false));
    let (head, tasks) = printed.split_once('\n').unwrap();
    let rust = stdout(&mut example("seatmap-place", "place"));
    assert_eq!(rust.lines().next().unwrap(), head);
    assert!(
        read("../../../docs/src/library.md").contains(&format!("\n{head}\n")),
        "the page prints something else"
    );
    let placement: Vec<u32> =
        tasks.lines().map(|line| line.rsplit(' ').next().unwrap().parse().unwrap()).collect();
    assert!(head.starts_with(&format!("cost {:.0},", cost(&placement))), "{printed}");
}
