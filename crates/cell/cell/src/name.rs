//! Names of cells.

use serde::{Deserialize, Serialize};
use std::fmt;
use std::str::FromStr;

/// The default name.
pub const USUAL: &str = "cell";

/// Longest name in bytes; the kernel limits file names to 255 bytes.
const LONGEST: usize = 64;

/// A cell's name: letters, digits, `-`, `_` and `.`, starting with a letter or digit, because it
/// becomes part of paths.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[cfg_attr(feature = "schema", schemars(extend("pattern" = "^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$")))]
#[serde(try_from = "String", into = "String")]
pub struct Name(String);

/// An invalid name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "'{0}' is not a cell name: write up to {LONGEST} letters, digits, '-', '_' and '.', starting \
     with a letter or digit"
)]
pub struct NameError(String);

impl FromStr for Name {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        let begins = text.bytes().next().is_some_and(|byte| byte.is_ascii_alphanumeric());
        if begins && text.len() <= LONGEST && text.bytes().all(is_allowed) {
            Ok(Name(text.to_owned()))
        } else {
            Err(NameError(text.to_owned()))
        }
    }
}

fn is_allowed(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || b"-_.".contains(&byte)
}

impl TryFrom<String> for Name {
    type Error = NameError;

    fn try_from(text: String) -> Result<Self, NameError> {
        text.parse()
    }
}

impl From<Name> for String {
    fn from(name: Name) -> String {
        name.0
    }
}

impl fmt::Display for Name {
    fn fmt(&self, out: &mut fmt::Formatter) -> fmt::Result {
        self.0.fmt(out)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_cannot_lead_outside() {
        for good in ["quiet", "a", "7", "a.b-c_d", USUAL] {
            assert!(good.parse::<Name>().is_ok(), "{good}");
        }
        for bad in ["", ".", "..", "a/b", "-a", ".a", "a b", "ä", "a\n", "a\0", &"a".repeat(65)] {
            assert!(bad.parse::<Name>().is_err(), "{bad}");
        }
    }
}
