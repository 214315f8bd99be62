//! Tests lines and tables, with and without enough columns.

use super::line::{command, wrapped};
use crate::page::{Page, Table, TableCell, section};
use proptest::prelude::*;

fn drawn(table: Table, columns: usize) -> String {
    Page::of(section("", table)).text(Some(columns))
}

#[test]
fn fitting_text_is_unchanged() {
    let line = "  one  two";
    assert_eq!(wrapped(line, 80), "  one  two\n");
    assert_eq!(wrapped("", 80), "\n");
    let table = Table::new("name:6 | ns:>5").rows([["a", "1"]]);
    assert_eq!(drawn(table, 40), "  name       ns\n  a           1\n");
}

#[test]
fn sentences_wrap_at_blanks_with_indent() {
    let line = "This session shows differences below and above some figures, 'sleep 0.02' too.";
    assert_eq!(
        wrapped(line, 66),
        "This session shows differences below and above some figures,\n  'sleep 0.02' too.\n"
    );
    assert_eq!(
        wrapped("  - a mark stands before the text of a list, and nothing below it", 40),
        "  - a mark stands before the text of a\n    list, and nothing below it\n"
    );
    let labelled = "  CPU 3  LOC Local timer interrupts 301.8, softirq RCU 161.6";
    assert_eq!(
        wrapped(labelled, 40),
        "  CPU 3  LOC Local timer interrupts\n         301.8, softirq RCU 161.6\n"
    );
}

#[test]
fn commands_and_paths_are_not_broken() {
    let path = "/sys/devices/system/node/node0/hugepages/hugepages-2048kB/nr_hugepages";
    assert_eq!(
        wrapped(&format!("look at {path} first"), 40),
        format!("look at\n  {path}\n  first\n")
    );
    assert_eq!(
        wrapped("type then 'seatmap run --cpus 0-3 -- ./app', and look", 40),
        "type then\n  'seatmap run --cpus 0-3 -- ./app', and\n  look\n"
    );
    assert_eq!(wrapped("one two's three's four and a five's word", 40).lines().count(), 1);
    let list = "CPUs 0,2,4,6,8,10,12,14,16,18,20,22,24,26,28,30,32,34,36 are free";
    assert_eq!(
        wrapped(list, 40),
        "CPUs 0,2,4,6,8,10,12,14,16,18,20,22,24,\n  26,28,30,32,34,36 are free\n"
    );
}

#[test]
fn wrapped_command_can_be_pasted() {
    assert_eq!(
        command("  seatmap run --cpus 0-3 --report seats.json -- ./app", 40),
        "  seatmap run --cpus 0-3 --report \\\n    seats.json -- ./app\n"
    );
    let remedy = "-> echo 32 > /sys/devices/system/node/node0/hugepages/nr_hugepages";
    let table = Table::new(":4 | :14 |").flush().rows([
        ["FIX", "huge pages", "0 free of 0 (2 MiB each)"].map(TableCell::from),
        ["".into(), "".into(), TableCell::code(remedy)],
    ]);
    assert_eq!(
        drawn(table, 70),
        "FIX  huge pages  0 free of 0 (2 MiB each)
                 -> echo 32 > \\
                    /sys/devices/system/node/node0/hugepages/nr_hugepages\n"
    );
}

fn doctor(word: TableCell) -> Table {
    let no = "this kernel is built without NO_HZ_FULL: the tick comes";
    let remedy = "-> a kernel with CONFIG_NO_HZ_FULL, started with nohz_full=1";
    Table::new(":4 | :14 |").flush().rows([
        ["INFO", "clock", "tsc, step 10.01 ns: coarse"].map(TableCell::from),
        [word, "tick".into(), no.into()],
        ["", "", remedy].map(TableCell::from),
    ])
}

#[test]
fn last_column_wraps_within_itself() {
    let expected = "\
INFO  clock  tsc, step 10.01 ns: coarse
NO    tick   this kernel is built without NO_HZ_FULL:
             the tick comes
             -> a kernel with CONFIG_NO_HZ_FULL, started
                with nohz_full=1
";
    assert_eq!(drawn(doctor("NO".into()), 56), expected);
    let coloured = drawn(doctor(TableCell::painted("NO", "31")), 56);
    assert_eq!(coloured, expected.replace("NO    ", "\u{1b}[31mNO  \u{1b}[0m  "));
}

#[test]
fn omitted_columns_are_named() {
    let columns = "CPU:>3 | stolen:>7 | gaps/s:>9 | longest:>10 | FWQ median:>10";
    let table = Table::new(columns).rows([
        ["0", "93.32 %", "2073.8", "56.038 ms", "33.311 us"],
        ["11", "3.12 %", "3.5", "7.435 ms", "3.311 us"],
    ]);
    assert_eq!(
        drawn(table, 40),
        "  CPU   stolen  gaps/s    longest\n    0  93.32 %  2073.8  56.038 ms\n   11   3.12 %     3.5   7.435 ms\n  \
         (left out: FWQ median; --wide shows\n    all)\n"
    );
}

#[test]
fn long_names_are_cut_in_middle() {
    let name = "a-program-with-a-name-beyond-all-measure";
    let table = Table::new("program | PID:> | CPU:>");
    let text = drawn(table.rows([[name, "4711", "3"]]), 40);
    assert_eq!(text.lines().nth(1).unwrap(), "  a-program-wit~d-all-measure  4711    3");
}

proptest! {
    /// Words have at most 12 letters, so each fits.
    #[test]
    fn wrapped_line_never_exceeds_columns(
        line in "([a-z.']{1,12}[ ]{1,3}| {3}|[0-9]{1,4} {2}){0,40}",
        columns in 40_usize..130,
    ) {
        for part in wrapped(line.trim_end(), columns).lines() {
            // Only a quotation longer than the line is broken.
            prop_assert!(part.chars().count() <= columns, "{part:?} of {line:?}");
        }
    }

    #[test]
    fn table_row_never_exceeds_columns(
        rows in prop::collection::vec(prop::array::uniform4("[a-z0-9]{0,12}( [a-z]{1,9}){0,9}"), 0..9),
        columns in 40_usize..130,
        figures in 0_usize..4,
    ) {
        let table = Table::default().figures(vec![""; figures]).words(vec!["a"; 4 - figures]);
        for line in drawn(table.rows(rows), columns).lines() {
            prop_assert!(line.chars().count() <= columns, "{line:?}");
        }
    }

    #[test]
    fn wrapping_keeps_every_word(
        words in prop::collection::vec("[a-z]{1,9}", 0..60),
        columns in 40_usize..90,
    ) {
        let line = words.join(" ");
        let text = wrapped(&line, columns);
        prop_assert!(text.split_whitespace().eq(line.split_whitespace()), "{text}");
    }

    #[test]
    fn arbitrary_text_never_panics(line in any::<String>(), columns in 0_usize..200) {
        let _ = wrapped(&line, columns);
        let _ = command(&line, columns);
    }
}
