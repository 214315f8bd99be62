//! The loads of tasks as users write them.

use crate::document::{DocumentError, decimal_number};
use crate::pattern::edge::{MAX_AMOUNT, is_amount};
use crate::pattern::words::{quoted, words};

/// The loads in a text: numbers between commas or spaces, such as `4,1,1,1`. A `#` begins a
/// comment.
///
/// # Errors
/// [`DocumentError::Syntax`] with the first invalid word.
///
/// ```
/// # use seatmap_data::pattern::loads;
/// assert_eq!(loads::read("4, 1 1 # the first does most\n0.5").unwrap(), [4.0, 1.0, 1.0, 0.5]);
/// ```
pub fn read(text: &str) -> Result<Vec<f64>, DocumentError> {
    let kept = text.lines().map(|line| line.split('#').next().unwrap_or_default());
    // A comma becomes a blank, so words keep their positions.
    let plain: String = kept.map(|line| line.replace(',', " ") + "\n").collect();
    words(&plain)
        .map(|(place, word)| {
            let load = decimal_number(word).filter(|load| is_amount(*load));
            load.ok_or_else(|| {
                let word = quoted(word);
                let problem =
                    format!("{word} is not a load; write a number between 0 and {MAX_AMOUNT:e}");
                DocumentError::at(place, problem)
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn invalid_load_is_refused_with_its_position() {
        assert_eq!(read("").unwrap(), Vec::<f64>::new());
        let problem = |text: &str| read(text).unwrap_err().to_string();
        assert!(
            problem("1,2\n 3,x").starts_with("line 2, column 4: 'x' is not a load"),
            "{}",
            problem("1,2\n 3,x")
        );
        for bad in ["-1", "nan", "inf", "1e19", "1;2", "1e-320", "1e-400", "0x10", "1_000"] {
            assert!(read(bad).is_err(), "{bad}");
        }
    }
}
