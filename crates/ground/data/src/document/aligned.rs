//! Cells of tables, padded with blanks.

/// The largest width of a column, in characters. A longer cell does not widen the other rows,
/// because one name would multiply the size of a long table.
const MOST_COLUMNS: usize = 1000;

/// A text padded with blanks on the right. The standard library's `{text:<width$}` panics if the
/// width is above 65,535.
///
/// ```
/// assert_eq!(seatmap_data::document::left_aligned("ab", 4), "ab  ");
/// ```
pub fn left_aligned(text: &str, width: usize) -> String {
    text.to_owned() + &blanks(text, width)
}

/// A text padded with blanks on the left, for figures.
///
/// ```
/// assert_eq!(seatmap_data::document::right_aligned("7", 3), "  7");
/// ```
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
    fn alignment_limits_the_width() {
        let long = "x".repeat(100_000);
        assert_eq!(left_aligned(&long, long.len()), long);
        for width in [MOST_COLUMNS, 65_536, usize::MAX] {
            assert_eq!(left_aligned("", width).len(), MOST_COLUMNS);
            assert_eq!(right_aligned("é", width).chars().count(), MOST_COLUMNS);
        }
    }
}
