//! Completions, manual pages, help.

use crate::common::{Place, files};

#[test]
fn shells_are_told_the_verbs() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish"] {
        let script = place.stdout(&["completions", shell]);
        assert!(["measure", "import", "doctor"].iter().all(|verb| script.contains(verb)), "{shell}");
    }
}

#[test]
fn each_verb_has_a_manual_page() {
    let place = Place::new();
    place.stdout(&["man", "pages"]);
    for page in ["seatmap.1", "seatmap-measure.1", "seatmap-show.1"] {
        assert!(place.path("pages").join(page).exists(), "{page}");
    }
    assert_eq!(files(&place), ["pages"]);
    assert!(place.stdout(&["man"]).contains(".TH"));
}

#[test]
fn help_names_every_verb() {
    let help = Place::new().stdout(&["--help"]);
    for verb in ["measure", "import", "export", "show", "doctor", "machines", "completions"] {
        assert!(help.contains(verb), "{verb}");
    }
}
