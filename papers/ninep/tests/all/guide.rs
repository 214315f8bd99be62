//! The guide's page shows the compiled example.

#[test]
fn page_contains_example_verbatim() {
    let page = include_str!("../../../../docs/papers/src/controller.md");
    let example = include_str!("../../examples/files.rs");
    assert!(
        page.contains(&format!("```rust\n{example}```\n")),
        "examples/files.rs is not on the page as it is"
    );
}
