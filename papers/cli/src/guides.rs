//! Examples, exit codes, files and variables of each verb, for help texts and manual pages.

use seatmap_console::guide::Guides;

pub const GUIDES: Guides = include_str!("guides.txt");

#[cfg(test)]
mod tests {
    use super::GUIDES;
    use crate::args::command;
    use seatmap_console::{for_tests, manual};

    #[test]
    fn guide_examples_parse() {
        let wrong = for_tests::mistakes(GUIDES, "seatmap-papers", command);
        assert!(wrong.is_empty(), "{wrong:#?}");
    }

    #[test]
    fn manual_explains_every_option() {
        let bare = for_tests::unexplained(command(), GUIDES).unwrap();
        assert!(bare.is_empty(), "{bare:#?}");
    }

    #[test]
    fn every_page_has_an_example() {
        for page in manual::pages(command(), GUIDES).unwrap() {
            assert!(page.text.contains(".SH EXAMPLES"), "{}", page.file);
        }
    }
}
