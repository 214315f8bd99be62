//! Stores figures exactly: the shortest decimals that restore every bit, in one string. (JSON
//! numbers may lose the last bit.)

use serde::{Deserialize, Deserializer, Serializer, de};

pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    let words: Vec<String> = values.iter().map(f64::to_string).collect();
    serializer.serialize_str(&words.join(" "))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.split_whitespace()
        .map(|word| {
            word.parse().map_err(|_| de::Error::custom(format!("'{word}' is not a number")))
        })
        .collect()
}
