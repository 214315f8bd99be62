//! Nanoseconds in files, with a limit.

use serde::de::{Error, Visitor};
use serde::{Deserialize, Deserializer, Serialize};
use std::fmt;

/// The longest round trip, in nanoseconds: two seconds, far beyond any memory. Sums of such
/// distances with the largest weights of patterns stay far from infinity, even in single precision,
/// so every search on them ends.
pub const MAX_ROUND_TRIP_NS: f64 = 2e9;

/// A figure in a file; `None` is `null`. A figure that is too long is refused while it is read, so
/// that the error has its line and column.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(
    feature = "schema",
    derive(schemars::JsonSchema),
    schemars(inline, description = "Nanoseconds; null if unknown.")
)]
#[serde(transparent)]
pub struct Nanoseconds(
    /// The figure, if known.
    #[cfg_attr(feature = "schema", schemars(range(max = MAX_ROUND_TRIP_NS)))]
    pub Option<f64>,
);

impl<'de> Deserialize<'de> for Nanoseconds {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_option(Figure)
    }
}

/// Refuses a figure at its position: one step later the reader is at the next figure.
struct Figure;

impl<'de> Visitor<'de> for Figure {
    type Value = Nanoseconds;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str("nanoseconds or null")
    }

    fn visit_none<E: Error>(self) -> Result<Nanoseconds, E> {
        Ok(Nanoseconds(None))
    }

    fn visit_unit<E: Error>(self) -> Result<Nanoseconds, E> {
        Ok(Nanoseconds(None))
    }

    fn visit_some<D: Deserializer<'de>>(self, deserializer: D) -> Result<Nanoseconds, D::Error> {
        deserializer.deserialize_f64(self)
    }

    fn visit_f64<E: Error>(self, ns: f64) -> Result<Nanoseconds, E> {
        too_long(ns).map_or(Ok(Nanoseconds(Some(ns))), |problem| Err(E::custom(problem)))
    }

    fn visit_u64<E: Error>(self, ns: u64) -> Result<Nanoseconds, E> {
        // JSON's numbers without a point arrive as integers.
        self.visit_f64(ns as f64)
    }

    fn visit_i64<E: Error>(self, ns: i64) -> Result<Nanoseconds, E> {
        self.visit_f64(ns as f64)
    }
}

/// Offsets may be negative; NaN means unknown.
pub(crate) fn too_long(ns: f64) -> Option<String> {
    (ns.abs() > MAX_ROUND_TRIP_NS)
        .then(|| format!("{ns:e} ns is too long; the limit is {MAX_ROUND_TRIP_NS:e} ns"))
}

pub(crate) fn rows<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<Vec<f64>>, D::Error> {
    let rows = Vec::<Vec<Nanoseconds>>::deserialize(deserializer)?;
    rows.into_iter()
        .map(|row| {
            row.into_iter()
                .map(|cell| cell.0.ok_or_else(|| D::Error::custom("expected a number, found null")))
                .collect()
        })
        .collect()
}

pub(crate) fn optional_rows<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Vec<Vec<f64>>>, D::Error> {
    #[derive(Deserialize)]
    // A separate type, because serde applies `deserialize_with` only to fields.
    struct Rows(#[serde(deserialize_with = "rows")] Vec<Vec<f64>>);
    Ok(Option::<Rows>::deserialize(deserializer)?.map(|rows| rows.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn too_long_time_is_refused_with_its_position() {
        let read = |text: &str| {
            serde_json::from_str::<Vec<Vec<Nanoseconds>>>(text).map_err(|error| error.to_string())
        };
        assert_eq!(read("[[null, 2e9]]").unwrap(), [[Nanoseconds(None), Nanoseconds(Some(2e9))]]);
        let error = read("[[1],\n[0, 1e100,\n 3]]").unwrap_err();
        assert_eq!(error, "1e100 ns is too long; the limit is 2e9 ns at line 2 column 9");
        assert!(read("[[-2.1e9]]").is_err());
    }
}
