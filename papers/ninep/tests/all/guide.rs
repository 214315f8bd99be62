//! The guide's page shows the compiled example.

#[test]
fn the_page_shows_the_example_word_for_word() {
    let page = include_str!("../../../../docs/papers/src/controller.md");
    let example = include_str!("../../examples/files.rs");
    assert!(
        page.contains(&format!("```rust\n{example}```\n")),
        "examples/files.rs is not on the page as it is"
    );
}
