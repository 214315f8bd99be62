//! Text in columns that have room for it, and in others.

use super::*;
use proptest::prelude::*;

#[test]
fn what_fits_stays_as_it_is() {
    let text = "  one  two\n\n  a    b\nA sentence.\n";
    assert_eq!(fit(text, 80), text);
}

#[test]
fn sentences_are_broken_at_blanks_and_set_off() {
    let text =
        "This session shows differences below and above some figures, 'sleep 0.02' too.\nNext.\n";
    assert_eq!(
        fit(text, 66),
        "This session shows differences below and above some figures,\n  'sleep 0.02' too.\nNext.\n"
    );
    assert_eq!(
        fit("  - a mark stands before the text of a list, and nothing below it\n", 40),
        "  - a mark stands before the text of a\n    list, and nothing below it\n"
    );
    let labelled = "  CPU 3  LOC Local timer interrupts 301.8, softirq RCU 161.6\n";
    assert_eq!(
        fit(labelled, 40),
        "  CPU 3  LOC Local timer interrupts\n         301.8, softirq RCU 161.6\n"
    );
}

#[test]
fn commands_and_paths_stay_whole() {
    let path = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
    assert_eq!(
        fit(&format!("look at {path} first\n"), 40),
        format!("look at\n  {path}\n  first\n")
    );
    assert_eq!(
        fit("type then 'seatmap run --cpus 0-3 -- ./app', and look\n", 40),
        "type then\n  'seatmap run --cpus 0-3 -- ./app', and\n  look\n"
    );
    assert_eq!(fit("one two's three's four and a five's word\n", 40).lines().count(), 1);
    let list = "CPUs 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36 are free\n";
    assert_eq!(
        fit(list, 40),
        "CPUs\n  0,2,4,6,8,10,12,14,16,18,20,22,24,26,\n  28,30,32,34,36 are free\n"
    );
}

#[test]
fn a_broken_command_can_be_pasted() {
    let text = "FIX   huge pages  0 free of 0 (2 MiB each)
                  -> echo 32 > /sys/devices/system/node/node0/hugepages/nr_hugepages\n";
    assert_eq!(
        fit(text, 70),
        "FIX  huge pages  0 free of 0 (2 MiB each)
                 -> echo 32 > \\
                    /sys/devices/system/node/node0/hugepages/nr_hugepages\n"
    );
    assert_eq!(
        fit("  undo          taskset -cp 0-63 4711 && taskset -cp 0-63 4712\n", 50),
        "  undo  taskset -cp 0-63 4711 && taskset -cp \\\n        0-63 4712\n"
    );
}

const WORDS: &str = "\
INFO  clock           tsc, step 10.01 ns: coarse
NO    tick            this kernel is built without NO_HZ_FULL: the tick comes
                      -> a kernel with CONFIG_NO_HZ_FULL, started with nohz_full=1
";

#[test]
fn the_last_column_is_broken_within_itself() {
    assert_eq!(
        fit(WORDS, 56),
        "INFO  clock  tsc, step 10.01 ns: coarse\n\
         NO    tick   this kernel is built without NO_HZ_FULL:\n             the tick comes\n             \
         -> a kernel with CONFIG_NO_HZ_FULL, started\n                with nohz_full=1\n"
    );
}

const FIGURES: &str = "  CPU   stolen     gaps/s     longest  FWQ median
    0  93.32 %     2073.8   56.038 ms   33.311 us
   11   3.12 %        3.5    7.435 ms    3.311 us
";

#[test]
fn columns_without_room_are_left_out_by_name() {
    assert_eq!(
        fit(FIGURES, 40),
        "  CPU   stolen  gaps/s    longest\n    0  93.32 %  2073.8  56.038 ms\n   11   3.12 %     3.5   7.435 ms\n  \
         (left out: FWQ median; --wide shows\n    all)\n"
    );
}

#[test]
fn colours_take_no_room_and_end_with_their_words() {
    let text = WORDS.replace("NO  ", "\u{1b}[31mNO  \u{1b}[0m");
    let fitted = fit(&text, 56);
    assert!(fitted.contains("\u{1b}[31mNO\u{1b}[0m    tick "), "{fitted:?}");
    let plain = fitted.replace("\u{1b}[31m", "").replace("\u{1b}[0m", "");
    assert_eq!(plain, fit(WORDS, 56));
}

#[test]
fn long_names_are_cut_in_their_middle() {
    let text = "  program                                    PID  CPU\n  \
                a-program-with-a-name-beyond-all-measure  4711    3\n";
    assert_eq!(fit(text, 40).lines().nth(1).unwrap(), "  a-program-wit~d-all-measure  4711    3");
}

proptest! {
    /// Words of at most 12 letters, so that each has room.
    #[test]
    fn no_line_is_longer(
        text in "([a-z.']{1,12}[ ]{1,3}|\n| {3}|[0-9]{1,4} {2}){0,60}",
        columns in 40_usize..130,
    ) {
        for line in fit(&text, columns).lines() {
            // A quotation is broken only where it is longer than the line.
            prop_assert!(line.chars().count() <= columns, "{line:?} of {text:?}");
        }
    }

    #[test]
    fn nothing_is_lost_of_sentences(
        words in prop::collection::vec("[a-z]{1,9}", 0..60),
        columns in 40_usize..90,
    ) {
        // A line that begins with a program's name is a command, and broken by backslashes.
        let text = format!("that {}\n", words.join(" "));
        let fitted = fit(&text, columns);
        prop_assert!(fitted.split_whitespace().eq(text.split_whitespace()), "{fitted}");
    }

    #[test]
    fn no_text_makes_it_panic(text in any::<String>(), columns in 0_usize..200) {
        let _ = fit(&text, columns);
    }
}
