//! Each kind of file in its variants, and refused files.

use super::*;

fn imported(text: &str) -> Imported {
    let imported = read(text.as_bytes(), "x", None).unwrap();
    imported.pattern.check().unwrap();
    imported
}

fn edges(text: &str) -> Vec<(usize, usize, f64)> {
    imported(text).pattern.edges.iter().map(|edge| (edge.from, edge.to, edge.bytes)).collect()
}

fn refused(text: &str) -> String {
    read(text.as_bytes(), "x", None).unwrap_err().to_string()
}

const BOTH_WAYS: [(usize, usize, f64); 2] = [(0, 1, 5.0), (1, 0, 1.5)];

#[test]
fn matrix_variants_give_the_same_pattern() {
    let plain = [
        "0,5\n1.5,9\n",
        "0 5\n1.5 9",
        "# who\n0;5\n\n1.5;\n",
        "0\t5\r\n1.5\t\r\n",
        "\u{feff}0,5\n1.5,0",
    ];
    let counted = [",0,1\n0,0,5\n1,1.5,0\n", "task,0,1\n0,,5\n1,1.5,\n", ",1,2\n1,0,5\n2,1.5,0"];
    let named = [
        ",a,b\na,0,5\nb,1.5,0\n",
        "a,b\n0,5\n1.5,0",
        "a,b\na,0,5\nb,1.5,0",
        "a,0,5\nb,1.5,0",
        "of;a;b\na;;5\nb;1.5;",
    ];
    for text in plain.iter().chain(&counted).chain(&named) {
        assert_eq!(edges(text), BOTH_WAYS, "{text}");
    }
    assert!(plain.iter().all(|text| imported(text).pattern.names.is_empty()));
    assert!(named.iter().all(|text| imported(text).pattern.names == ["a", "b"]));
    assert_eq!(edges("0,5,2\n5,0,3\n2,3,0\n").len(), 6, "three rows need not be a list");
}

#[test]
fn edge_list_variants_give_the_same_pattern() {
    let numbers = [
        "from,to,bytes\n0,1,5\n1,0,1.5\n",
        "From;Bytes;To\n0;5;1\n1;1.5;0",
        "from to bytes\n0 1 5\n1 0 1.5",
    ];
    let names = [
        "from,to,bytes\nb,a,5\na,b,1.5\n",
        "\"from\",\"to\",\"bytes\"\n\"b\",\"a\",5\n\"a\",\"b\",1.5\n",
    ];
    for text in numbers.iter().chain(&names) {
        assert_eq!(edges(text), BOTH_WAYS, "{text}");
    }
    assert!(names.iter().all(|text| imported(text).pattern.names == ["b", "a"]));
    let log = imported("from,to,bytes\n0,2,5\n0,2,6\n").pattern;
    assert_eq!(
        (log.tasks, log.edges[0].bytes, log.edges[0].messages),
        (3, 11.0, 2.0),
        "a log adds up"
    );
    let with_messages = imported("from,to,bytes,messages\n0,1,5,3\n1,0,0,2\n").pattern;
    assert_eq!(
        with_messages.edges.iter().map(|edge| edge.messages).collect::<Vec<_>>(),
        [3.0, 2.0]
    );
    assert_eq!(
        edges(",from,to,bytes\nfrom,0,1,2\nto,3,0,4\nbytes,5,6,0\n").len(),
        6,
        "tasks may be called so"
    );
}

#[test]
fn matrix_market_variants_are_read() {
    let market = |rest: &str| edges(&format!("%%MatrixMarket matrix {rest}"));
    assert_eq!(market("coordinate real general\n% c\n2 2 2\n1 2 7\n2 2 9\n"), [(0, 1, 7.0)]);
    let both = [(0, 1, 3.0), (1, 0, 3.0)];
    assert_eq!(market("coordinate integer symmetric\n\n2 2 1\n2 1 3\n"), both);
    assert_eq!(market("array real symmetric\n2 2\n0\n3\n0\n"), both);
    assert_eq!(market("ARRAY Integer General\n2 2\n9 2\n1 9\n"), [(0, 1, 1.0), (1, 0, 2.0)]);
    assert_eq!(market("coordinate pattern general\n2 2 1\n2 1\n"), [(1, 0, 1.0)]);
    assert_eq!(
        market("coordinate pattern symmetric\n2 2 2\n2 2\n2 1\n"),
        [(0, 1, 1.0), (1, 0, 1.0)]
    );
}

#[test]
fn qaplib_matrix_choice_selects_first_or_second() {
    let text = b"2\n0 1\n2 0\n0 5\n6 0\n";
    let first = read(text, "x", None).unwrap();
    assert_eq!(
        (first.pattern.edges[0].bytes, &first.notes[..]),
        (1.0, &[PatternNote::FirstOfTwo][..])
    );
    let second = read(text, "x", Some(Which::Second)).unwrap();
    assert_eq!((second.pattern.edges[0].bytes, &second.notes[..]), (5.0, &[][..]));
    assert!(matches!(
        read(b"0,1\n1,0\n", "x", Some(Which::First)),
        Err(PatternImportError::OneMatrix)
    ));
}

#[test]
fn oddities_produce_notes() {
    let notes = |text: &str| imported(text).notes;
    assert_eq!(notes("7,1\n1,0\n"), [PatternNote::ToItself { entries: 1 }]);
    assert_eq!(
        notes("from,to,bytes\n1,2,5\n2,2,5\n"),
        [PatternNote::ToItself { entries: 1 }, PatternNote::FromOne]
    );
    assert_eq!(notes("0,1\n1,0\n"), []);
    insta::assert_snapshot!(PatternNote::FromOne, @"no edge has task 0, but tasks are counted from 0; if the file counts from 1, subtract 1 or name the tasks with letters");
    insta::assert_snapshot!(PatternNote::FirstOfTwo, @"the file has two matrices and does not say which one is the flow: the first was taken; 'seatmap pattern convert --matrix second' takes the other");
    insta::assert_snapshot!(PatternNote::ToItself { entries: 3 }, @"left out 3 entries from a task to itself, which costs the same on any CPU");
}

fn refusals(texts: &[&str]) -> String {
    texts.iter().map(|text| refused(text) + "\n").collect()
}

#[test]
fn invalid_matrices_are_refused() {
    let texts = [
        "0,1\n-2,0\n",
        "0,1\n1, x\n",
        "0,nan\n1,0\n",
        "0,1\n2\n",
        "0,1\n2,0,7\n",
        "0,1,2\n1,0,3\n",
        ",a,b\nb,0,5\na,1,0\n",
        "a,b,c\n0,5\n1,0\n",
        "a,b\n0,5\n,1,0",
        ",5\n1.5,\n",
        ",0,1\n0,,5\n1,5,\n",
        "# three edges\n0,1,5\n1,2,7\n2,0,3\n",
        "source,target,weight\n0,1,5\n1,2,7\n2,0,3\n",
        "0,\"1\n1,0\n",
        "0,1e19\n1,0",
    ];
    insta::assert_snapshot!(refusals(&texts), @"
        line 2, column 1: '-2' is not between 0 and 1e18; cells are bytes; an empty cell is 0
        line 2, column 4: 'x' is not a number; cells are bytes; an empty cell is 0
        line 1, column 3: 'nan' is not between 0 and 1e18; cells are bytes; an empty cell is 0
        line 2, column 2: this row has 1 cell, but the matrix has 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        line 2, column 5: this row has 3 cells, but the matrix has 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        line 1, column 5: this row has 3 cells, but the matrix has 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        line 2, column 1: row 'b' does not match column 'a'; give rows and columns the same names, in the same order
        line 1, column 6: 3 names for 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        line 3, column 4: this row has 3 cells, but the matrix has 2 rows; a matrix must be square; a list of edges begins with the line from,to,bytes
        line 1, column 1: the first cell is not a number; write 0 on the diagonal, or name the tasks with letters
        line 1, column 1: the first line may hold cells or task numbers; write 0 on the diagonal, or name the tasks with letters
        line 2, column 1: 3 rows of 3 numbers may be a matrix or a list of edges; begin a list of edges with the line from,to,bytes; write 0 on the diagonal of a matrix
        line 1, column 1: 3 rows of 3 numbers may be a matrix or a list of edges; begin a list of edges with the line from,to,bytes; write 0 on the diagonal of a matrix
        line 1, column 5: unclosed quotation mark; close it on its line, or double it inside a quoted name
        line 1, column 3: '1e19' is not between 0 and 1e18; cells are bytes; an empty cell is 0
        ");
}

#[test]
fn invalid_edge_lists_are_refused() {
    let texts = [
        "from,to\n0,1\n",
        "from,to,bytes,bytes\n0,1,5,5\n",
        "from,to,bytes,mesages\n",
        "from,to,bytes\n",
        "from,to,bytes\n0,1\n",
        "from,to,bytes\n0,1,5,6\n",
        "from,to,bytes\n0,a,5\n",
        "from,to,bytes\na,0,5\n",
        "from,to,bytes\n-1,0,5\n",
        "from,to,bytes\n0,5000000000,5\n",
        "from,to,bytes\n0,1,-5\n",
        "from,to,bytes\n,1,5\n",
    ];
    insta::assert_snapshot!(refusals(&texts), @"
        line 1, column 8: the column 'bytes' is missing; the first line of a list of edges names from, to, bytes and optionally messages, each once
        line 1, column 15: unexpected column 'bytes'; the first line of a list of edges names from, to, bytes and optionally messages, each once
        line 1, column 15: unexpected column 'mesages'; the first line of a list of edges names from, to, bytes and optionally messages, each once
        line 1, column 14: the list has no edges; the first line of a list of edges names from, to, bytes and optionally messages, each once
        line 2, column 4: 2 fields for 3 columns; each row needs one field for each column of the first line
        line 2, column 7: 4 fields for 3 columns; each row needs one field for each column of the first line
        line 2, column 3: 'a' is a name among task numbers; write all tasks as numbers counted from 0, or all as names
        line 2, column 3: '0' is a number among task names; write all tasks as numbers counted from 0, or all as names
        line 2, column 1: '-1' is not a task; write all tasks as numbers counted from 0, or all as names
        line 2, column 3: task 5000000000 is out of range: tasks are numbered 0 to 4294967295; merge tasks that belong together
        line 2, column 5: '-5' is not between 0 and 1e18; bytes and messages are plain numbers
        line 2, column 1: '' is not a task; write all tasks as numbers counted from 0, or all as names
        ");
}

#[test]
fn invalid_matrix_market_files_are_refused() {
    let refused = |rest: &&str| refused(&format!("%%MatrixMarket matrix {rest}")) + "\n";
    let texts = [
        "coordinate complex general\n",
        "array pattern general\n",
        "array real\n",
        "coordinate real skew-symmetric\n",
        "coordinate real general\n% only\n",
        "coordinate real general\n2 3 1\n",
        "coordinate real general\n2 2\n",
        "array real general\n2 x\n",
        "coordinate real general\n4000000000 4000000000 1\n",
        "coordinate real general\n2 2 1\n3 1 4\n",
        "coordinate real general\n2 2 1\n1 2\n",
        "coordinate real general\n2 2 2\n1 2 4\n",
        "coordinate real general\n2 2 1\n1 2 4\n2 1 4\n",
        "coordinate real symmetric\n2 2 1\n1 2 4\n",
        "coordinate integer general\n2 2 1\n1 2 4.5\n",
        "array real general\n1 1\n3\n4\n",
        "array real general\n2 2\n3\n4\n",
    ];
    insta::assert_snapshot!(texts.iter().map(refused).collect::<String>(), @"
        line 1, column 34: 'complex' is not supported; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        line 1, column 29: an array needs amounts, but a pattern has none; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        line 1, column 33: the first line is incomplete; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        line 1, column 39: 'skew-symmetric' is not supported; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        line 2, column 7: the line with the sizes is missing; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 2, column 1: 2 rows and 3 columns: the matrix must be square; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 2, column 1: this line has 2 sizes; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 2, column 3: 'x' is not a size; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 2, column 1: a pattern has 1 to 1048576 tasks, not 4000000000; merge tasks that belong together
        line 3, column 1: '3' is not between 1 and 2; each line gives a row, a column and, unless the header says pattern, an amount
        line 3, column 1: this line has 2 words; each line gives a row, a column and, unless the header says pattern, an amount
        line 3, column 6: the file ends after 1 of 2 entries; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 4, column 1: more entries than the 1 in the header; the first line after the comments gives the numbers of rows, columns and, for coordinates, entries
        line 3, column 1: an entry above the diagonal; a symmetric file has only the lower triangle: swap row and column, or change the header to general
        line 3, column 5: '4.5' is not a whole number; the first line must be %%MatrixMarket matrix coordinate|array real|integer|pattern general|symmetric
        line 4, column 1: more amounts than cells; an array has one amount for each cell, column by column; a symmetric one has only the lower triangle
        line 4, column 2: the file ends after 2 of 4 entries; an array has one amount for each cell, column by column; a symmetric one has only the lower triangle
        ");
}

#[test]
fn unrecognised_files_are_refused() {
    let texts = [
        "",
        " \n",
        "hello",
        "Dear all,",
        "<xml/>",
        "[1]",
        "{}",
        "{\"format\":\"seatmap-plan/1\"}",
        "7\n1 2 3\n",
        ",\n,\n",
    ];
    insta::assert_snapshot!(refusals(&texts), @"
        the file is empty; create it again
        the file is empty; create it again
        unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line from,to,bytes)
        unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line from,to,bytes)
        unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line from,to,bytes)
        unrecognised format of a pattern; expected one of: seatmap-pattern JSON, MatrixMarket, METIS graphs, QAPLIB .dat, CSV matrices, CSV lists of edges (with the first line from,to,bytes)
        line 1, column 2: missing field `format`
        its format is 'seatmap-plan/1', but this program reads seatmap-pattern/1
        line 2, column 6: two 7 x 7 matrices need 98 numbers, but the file has 3
        line 1, column 1: the first cell is not a number; write 0 on the diagonal, or name the tasks with letters
        ");
    assert!(
        read(b"0,1\n\xff,0", "x", None)
            .unwrap_err()
            .to_string()
            .starts_with("line 2, column 1: this is not UTF-8")
    );
}

const LENIENT: [&str; 9] =
    ["1.234,5", "1e-320", "1e-400", "0x10", "1_000", "nan", "inf", "1e999", "1.5x"];

#[test]
fn ambiguous_numbers_are_refused_in_every_format() {
    for number in LENIENT {
        let files = [
            format!("0;{number}\n1.5;0\n"),
            format!("from;to;bytes\n0;1;{number}\n1;0;1.5\n"),
            format!("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 2 {number}\n"),
            format!("2\n0 {number}\n1 0\n0 1\n1 0\n"),
        ];
        for text in files {
            assert!(read(text.as_bytes(), "x", None).is_err(), "{text}");
        }
    }
    for number in LENIENT.into_iter().chain(["+2", "2.0", "-2", "2e0"]) {
        let files = [
            format!("%%MatrixMarket matrix coordinate real general\n2 2 1\n1 {number} 5\n"),
            format!("%%MatrixMarket matrix coordinate real general\n2 2 {number}\n1 2 5\n1 2 5\n"),
            format!("2 1\n{number}\n1\n"),
        ];
        for text in files {
            assert!(read(text.as_bytes(), "x", None).is_err(), "{text}");
        }
    }
}

#[test]
fn sparse_task_numbers_become_names() {
    let imported = read(b"from,to,bytes\n7,4000000000,5\n7,100000,1\n", "x", None).unwrap();
    assert_eq!(imported.pattern.names, ["7", "100000", "4000000000"]);
    let edges: Vec<_> = imported.pattern.edges.iter().map(|edge| (edge.from, edge.to)).collect();
    assert_eq!(edges, [(0, 1), (0, 2)]);
    assert_eq!(
        imported.notes[0].to_string(),
        "only 3 of the numbers up to 4000000000 occur; these are the tasks, each named by its number"
    );
    let silent = read(b"from,to,bytes\n0,4000,5\n", "x", None).unwrap();
    assert_eq!((silent.pattern.tasks, silent.pattern.names.len()), (4001, 0), "ranks are silent");
}
