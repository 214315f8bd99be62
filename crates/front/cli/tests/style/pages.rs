//! Links to files and headings, and the functions named on the architecture page.

use super::{assert_none, lines_that, root, texts};

/// A reader cannot follow a longer walk.
const LONGEST_WALK: usize = 12;
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
fn walks_name_existing_functions() {
    let page = std::fs::read_to_string(root().join("docs/src/architecture.md")).unwrap();
    let walks = walks(&page);
    // The three walks: a placement, a program on seats, a guardian.
    assert_eq!(walks.len(), 3);
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
fn places_named_for_changes_exist() {
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

/// The links of a page, in Markdown and in HTML tags, with anchors. Omits other sites and code
/// blocks.
fn links(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut text = String::new();
    for line in page.lines() {
        let is_fence = line.trim_start().starts_with("```");
        inside ^= is_fence;
        if !inside && !is_fence {
            let parts = line.split('`').step_by(2);
            text += &parts.collect::<Vec<_>>().join("`");
        }
        text.push('\n');
    }
    let targets = |start: &'static str, end: char| {
        let rests: Vec<String> = text.split(start).skip(1).map(str::to_owned).collect();
        rests.into_iter().filter_map(move |rest| rest.split(end).next().map(str::to_owned))
    };
    let all = targets("](", ')').chain(targets("src=\"", '"')).chain(targets("href=\"", '"'));
    all.filter(|target| !target.contains("://")).collect()
}

/// The anchor of a heading, as hosting services and mdbook generate it.
fn anchor(heading: &str) -> String {
    // A link counts by its text.
    let mut words = String::new();
    let mut rest = heading;
    while let Some((before, link)) = rest.split_once('[') {
        words += before;
        match link.split_once("](") {
            Some((text, target)) => {
                words += text;
                rest = target.split_once(')').map_or("", |(_, after)| after);
            }
            None => rest = link,
        }
    }
    words += rest;
    let kept = words.trim().chars().filter_map(|letter| match letter {
        ' ' => Some('-'),
        _ if letter.is_alphanumeric() || letter == '-' || letter == '_' => Some(letter),
        _ => None,
    });
    kept.collect::<String>().to_lowercase()
}

/// The anchors of headings (numbered if repeated) and of tags.
fn anchors(page: &str) -> Vec<String> {
    let mut inside = false;
    let mut found: Vec<String> = Vec::new();
    for line in page.lines() {
        inside ^= line.trim_start().starts_with("```");
        let level = line.bytes().take_while(|byte| *byte == b'#').count();
        if inside || level == 0 || !line[level..].starts_with(' ') {
            continue;
        }
        let plain = anchor(&line[level..]);
        let again = found.iter().filter(|other| **other == plain).count();
        found.push(if again == 0 { plain } else { format!("{plain}-{again}") });
    }
    let ids = page.split("id=\"").skip(1).filter_map(|rest| rest.split('"').next());
    found.extend(ids.map(str::to_owned));
    found
}

fn is_lost(folder: &std::path::Path, page: &str, link: &str) -> bool {
    let (file, place) = link.split_once('#').unwrap_or((link, ""));
    let target = folder.join(file);
    if !file.is_empty() && !target.exists() {
        return true;
    }
    let is_page = file.is_empty() || file.ends_with(".md");
    if place.is_empty() || !is_page {
        return false;
    }
    let mut text = page.to_owned();
    if !file.is_empty() {
        text = std::fs::read_to_string(&target).unwrap_or_default();
    }
    !anchors(&text).iter().any(|anchor| anchor == place)
}

#[test]
fn links_lead_to_existing_files_and_headings() {
    let is_page = |name: &str| {
        !name.contains('/') || name.starts_with("docs/") || name.ends_with("README.md")
    };
    let mut broken = Vec::new();
    let pages: Vec<_> = texts(&[".md"]).into_iter().filter(|(name, _)| is_page(name)).collect();
    assert!(pages.len() > 50, "the pages are not where they were");
    for (name, text) in pages {
        let folder = root().join(&name).parent().unwrap().to_owned();
        let lost = links(&text).into_iter().filter(|link| is_lost(&folder, &text, link));
        broken.extend(lost.map(|link| format!("{name}: {link}")));
    }
    assert_none("links that lead nowhere", &broken);
}

/// A repository browser shows mdbook's directives as plain text.
#[test]
fn pages_use_no_mdbook_directives() {
    let directives = lines_that(&texts(&[".md"]), |lines, at| lines[at].contains("{{#"));
    assert_none("directives of mdbook", &directives);
}

#[test]
fn page_offences_are_found() {
    let page = "## Walk 1\n1. `crates/a.rs: run` goes.\n2. `crates/none.rs: run` goes.\n## Other\n3. `x: y` is not one.\n";
    let walks = walks(page);
    assert_eq!((walks.len(), walks[0].1.len()), (1, 2));
    assert!(is_missing(&walks[0].1[1]));
    let main = Hop { path: "crates/front/cli/src/main.rs".to_owned(), function: "run".to_owned() };
    assert!(!is_missing(&main) && is_missing(&Hop { function: "ru".to_owned(), ..main }));
    let page = "# One `two`, [three](x.md)\n[a](b.md#c) [d](https://e) [f](#g) `[no](link)`\n\
                ```text\n[no](link)\n# No heading\n```\n<img src=\"p.svg\">\n# One two, three\n";
    assert_eq!(links(page), ["x.md", "b.md#c", "#g", "p.svg"]);
    assert_eq!(anchors(page), ["one-two-three", "one-two-three-1"]);
    let docs = root().join("docs/src");
    assert!(!is_lost(&docs, page, "#one-two-three") && is_lost(&docs, page, "#g"));
    assert!(!is_lost(&docs, "", "architecture.md#the-floors"));
    assert!(is_lost(&docs, "", "architecture.md#the-roof") && is_lost(&docs, "", "none.md"));
}
