//! Cells of tables, filled up with blanks.

/// The widest that a column of a table becomes, in characters. A longer cell is shown whole, and
/// the cells above and below it do not grow with it: one name of a file would make a table of many
/// rows as long as the name times the rows.
const MOST_COLUMNS: usize = 1000;

/// A text with blanks behind it, so that it is as wide as a column of so many characters. The
/// standard library's `{text:<width$}` panics if the width is above 65,535.
///
/// ```
/// assert_eq!(seatmap_data::document::left_aligned("ab", 4), "ab  ");
/// ```
#[must_use]
pub fn left_aligned(text: &str, width: usize) -> String {
    text.to_owned() + &blanks(text, width)
}

/// A text with blanks before it, as wide as a column of so many characters: figures end at the
/// right.
///
/// ```
/// assert_eq!(seatmap_data::document::right_aligned("7", 3), "  7");
/// ```
#[must_use]
pub fn right_aligned(text: &str, width: usize) -> String {
    blanks(text, width) + text
}

fn blanks(text: &str, width: usize) -> String {
    " ".repeat(width.min(MOST_COLUMNS).saturating_sub(text.chars().count()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_width_is_taken_and_no_row_grows_with_the_longest_cell() {
        let long = "x".repeat(100_000);
        assert_eq!(left_aligned(&long, long.len()), long);
        for width in [MOST_COLUMNS, 65_536, usize::MAX] {
            assert_eq!(left_aligned("", width).len(), MOST_COLUMNS);
            assert_eq!(right_aligned("é", width).chars().count(), MOST_COLUMNS);
        }
    }
}
