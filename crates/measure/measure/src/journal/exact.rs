//! Stores figures exactly: the shortest decimals that restore every bit, in one string. (JSON
//! numbers may lose the last bit.)

use seatmap_data::statistics::words::joined;
use serde::{Deserialize, Deserializer, Serializer, de};

pub fn serialize<S: Serializer>(values: &[f64], serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&joined(values, " "))
}

pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<f64>, D::Error> {
    let text = String::deserialize(deserializer)?;
    text.split_whitespace()
        .map(|word| {
            word.parse().map_err(|_| de::Error::custom(format!("'{word}' is not a number")))
        })
        .collect()
}
