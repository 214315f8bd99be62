//! A check of the threads of running programs.

use crate::page::{Page, PageSection, Table, TableCell, cells};
use seatmap_watch::judge::judged::{CheckText, FindingLine};

/// The programs, then the findings.
pub fn page(text: &CheckText, is_coloured: bool) -> Page {
    Page::of(added(PageSection::new("Check"), text, is_coloured))
}

/// Adds a check at the end of a section.
pub(crate) fn added(section: PageSection, text: &CheckText, is_coloured: bool) -> PageSection {
    let table = Table::new(":7 | :12 |").flush().dense();
    let findings = table.rows(text.lines.iter().map(|line| row(line, is_coloured)));
    section.with(text.sentences.clone()).with(findings)
}

fn row(line: &FindingLine, is_coloured: bool) -> [TableCell; 3] {
    // Red, cyan, yellow and green: the words say the same without colours.
    let colour = match line.word {
        "WRONG" => "31",
        "UNSEEN" => "36",
        "NOTE" => "33",
        _ => "32",
    };
    let has_colour = is_coloured && !line.word.is_empty();
    let word = if has_colour { TableCell::painted(line.word, colour) } else { line.word.into() };
    let text = if line.is_command { TableCell::code(&line.text) } else { (&line.text).into() };
    cells![word, &line.rule, text]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn finding_shows_remedy_below_and_escapes_names() {
        let line = |word, rule: &str, text: &str| FindingLine {
            word,
            rule: rule.to_owned(),
            text: text.to_owned(),
            is_command: word.is_empty(),
        };
        let text = CheckText {
            sentences: vec!["a\u{1b}[31m (7): 2 threads on CPU 1: 1 wrong".to_owned()],
            lines: vec![
                line("WRONG", "shared-cpu", "two threads want CPU 1"),
                line("", "", "-> taskset -cp 0 8"),
            ],
        };
        insta::assert_snapshot!(page(&text, false).text(None), @r"
        a\u{1b}[31m (7): 2 threads on CPU 1: 1 wrong
        WRONG   shared-cpu   two threads want CPU 1
                             -> taskset -cp 0 8
        ");
        let coloured = page(&text, true).text(None);
        assert!(coloured.contains("\x1b[31mWRONG  \x1b[0m shared-cpu "), "{coloured}");
    }
}
