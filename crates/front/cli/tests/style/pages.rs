//! The pages against the repository: links that lead somewhere, and functions that the architecture
//! page names.

use super::{assert_none, root, texts};

/// Hops that a reader follows before the thread is lost.
const LONGEST_WALK: usize = 12;
/// A hop of a walk: `path: function`.
#[derive(Debug, PartialEq)]
struct Hop {
    path: String,
    function: String,
}

/// The walks of a page: headings that begin with "Walk", and the hops below each.
fn walks(page: &str) -> Vec<(String, Vec<Hop>)> {
    let mut walks: Vec<(String, Vec<Hop>)> = Vec::new();
    for line in page.lines() {
        if let Some(name) = line.strip_prefix("## ") {
            walks.push((name.to_owned(), Vec::new()));
        }
        let quoted = line.split_once(". `").and_then(|(_, rest)| rest.split_once('`'));
        if let (Some((path, function)), Some((_, hops))) =
            (quoted.and_then(|(hop, _)| hop.split_once(": ")), walks.last_mut())
        {
            hops.push(Hop { path: path.to_owned(), function: function.to_owned() });
        }
    }
    walks.retain(|(name, _)| name.starts_with("Walk"));
    walks
}

fn is_missing(hop: &Hop) -> bool {
    let text = std::fs::read_to_string(root().join(&hop.path)).unwrap_or_default();
    let named = |end: &str| text.contains(&format!("fn {}{end}", hop.function));
    !named("(") && !named("<")
}

#[test]
fn walks_lead_through_functions_that_exist() {
    let page = std::fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let walks = walks(&page);
    // A measurement, a placement, a simulated load, a program on seats, an observation, a race.
    assert_eq!(walks.len(), 6);
    let mut missing = Vec::new();
    for (name, hops) in &walks {
        assert!((8..=LONGEST_WALK).contains(&hops.len()), "{name}: {} hops", hops.len());
        missing.extend(
            hops.iter().filter(|hop| is_missing(hop)).map(|hop| format!("{name}: {hop:?}")),
        );
    }
    assert_none("hops that are not in the code", &missing);
}

#[test]
fn places_for_a_change_exist() {
    let page = std::fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let named = page
        .split('`')
        .skip(1)
        .step_by(2)
        .filter(|text| text.starts_with("crates/") && !text.contains(": "));
    let missing: Vec<String> =
        named.filter(|path| !root().join(path).exists()).map(str::to_owned).collect();
    assert_none("paths that are not there", &missing);
}

/// The targets of a page's links to files: no web addresses, no places within the page.
fn links(page: &str) -> impl Iterator<Item = &str> {
    let targets = page.split("](").skip(1).filter_map(|rest| rest.split(')').next());
    let files = targets.filter(|target| !target.contains("://") && !target.starts_with('#'));
    files.map(|target| target.split('#').next().unwrap_or_default())
}

#[test]
fn links_lead_to_files() {
    let is_page = |name: &str| {
        !name.contains('/') || name.starts_with("docs/src/") || name.ends_with("README.md")
    };
    let mut broken = Vec::new();
    for (name, text) in texts(&[".md"]).into_iter().filter(|(name, _)| is_page(name)) {
        let folder = root().join(&name).parent().unwrap().to_owned();
        let lost = links(&text).filter(|link| !folder.join(link).exists());
        broken.extend(lost.map(|link| format!("{name}: {link}")));
    }
    assert_none("links that lead nowhere", &broken);
}

#[test]
fn pages_can_offend() {
    let page = "## Walk 1\n1. `crates/a.rs: run` goes.\n2. `crates/none.rs: run` goes.\n## Other\n3. `x: y` is not one.\n";
    let walks = walks(page);
    assert_eq!((walks.len(), walks[0].1.len()), (1, 2));
    assert!(is_missing(&walks[0].1[1]));
    let main = Hop { path: "crates/front/cli/src/main.rs".to_owned(), function: "run".to_owned() };
    assert!(!is_missing(&main) && is_missing(&Hop { function: "ru".to_owned(), ..main }));
    assert_eq!(links("[a](b.md#c) [d](https://e) [f](#g)").collect::<Vec<_>>(), ["b.md"]);
}
