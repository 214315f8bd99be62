//! `<distances2>` over PUs, as core distances.

use super::super::ProfileNote;
use super::DISTANCES_NAME;
use super::element::{attribute, parsed, required};
use crate::document::whole_number;
use crate::machine::import::MAX_PUS;
use crate::machine::nanoseconds::MAX_ROUND_TRIP_NS;
use crate::machine::{CoreDistance, Matrix};
use crate::statistics::words::counted;
use quick_xml::events::BytesStart;

/// `HWLOC_DISTANCES_KIND_MEANS_LATENCY` of hwloc/distances.h.
const KIND_LATENCY: u64 = 1 << 2;

const MAX_PS: u64 = (MAX_ROUND_TRIP_NS * 1000.0) as u64;

#[derive(Debug)]
pub struct HwlocDistances {
    name: Option<String>,
    /// Whether these are latencies between PUs by OS index; the rest is ignored.
    useful: bool,
    objects: usize,
    indexes: Vec<u32>,
    values: Vec<u64>,
}

impl HwlocDistances {
    pub fn of(element: &BytesStart<'_>) -> Result<Self, String> {
        let kind = parsed(element, "kind", whole_number::<u64>)?;
        // hwloc also has distances between other objects, and bandwidths.
        let useful = says(element, "type", "PU")?
            && says(element, "indexing", "os")?
            && kind.is_some_and(|kind| kind & KIND_LATENCY != 0);
        Ok(HwlocDistances {
            name: attribute(element, "name")?.map(|name| name.into_owned()),
            useful,
            objects: required(element, "nbobjs", |text| {
                whole_number(text).filter(|n| !useful || *n <= MAX_PUS)
            })?,
            indexes: Vec::new(),
            values: Vec::new(),
        })
    }

    pub fn add_indexes(&mut self, text: &str) -> Result<(), String> {
        let room = self.objects;
        if self.useful { add(&mut self.indexes, text, room) } else { Ok(()) }
    }

    pub fn add_values(&mut self, text: &str) -> Result<(), String> {
        let room = self.objects.saturating_mul(self.objects);
        if self.useful { add(&mut self.values, text, room) } else { Ok(()) }
    }

    pub fn check(&self) -> Result<(), String> {
        let indexes = self.indexes.len();
        let values = self.values.len();
        let objects = self.objects;
        if !self.useful || (indexes == objects && values == objects * objects) {
            Ok(())
        } else {
            Err(format!(
                "<distances2> of {objects} has {indexes} and {values}",
                values = counted(values, "value"),
                indexes = counted(indexes, "index"),
                objects = counted(objects, "object")
            ))
        }
    }

    /// The first one in a known unit; notes on the others.
    pub fn choose(all: Vec<Self>) -> (Option<CoreDistance>, Vec<ProfileNote>) {
        let (ours, foreign): (Vec<_>, Vec<_>) =
            all.into_iter().filter(|distances| distances.useful).partition(|distances| {
                distances.name.as_deref().is_none_or(|name| name == DISTANCES_NAME)
            });
        let notes = foreign.into_iter().filter_map(|distances| distances.name);
        let notes = notes.map(|name| ProfileNote::ForeignDistances { name }).collect();
        (ours.into_iter().next().map(Self::into_core_distance), notes)
    }

    /// Zero between two PUs means unknown, because hwloc has only integers.
    fn into_core_distance(self) -> CoreDistance {
        let mut median_ns = Matrix::from_fn(self.objects, |i, j| {
            match (self.values[i * self.objects + j], i == j) {
                (_, true) => 0.0,
                (0, _) => f64::NAN,
                (ps, _) => ps as f64 / 1000.0,
            }
        });
        for (i, j) in (0..self.objects).flat_map(|i| (0..i).map(move |j| (i, j))) {
            // Some tools write the two directions separately; a round trip has one value.
            let mean = (median_ns[(i, j)] + median_ns[(j, i)]) / 2.0;
            median_ns.set_both(i, j, mean);
        }
        CoreDistance::imported(self.indexes, median_ns)
    }
}

fn says(element: &BytesStart<'_>, name: &str, value: &str) -> Result<bool, String> {
    attribute(element, name).map(|own| own.as_deref() == Some(value))
}

fn add<T: TryFrom<u64>>(numbers: &mut Vec<T>, text: &str, room: usize) -> Result<(), String> {
    for word in text.split_ascii_whitespace() {
        let number = whole_number::<u64>(word)
            .filter(|number| *number <= MAX_PS)
            .and_then(|number| number.try_into().ok());
        numbers.push(number.ok_or_else(|| {
            format!(
                "<distances2> has the invalid number '{}'",
                word.chars().take(24).collect::<String>()
            )
        })?);
        // Checked at each number, because a hostile text may exceed the memory limit.
        if numbers.len() > room {
            return Err(format!(
                "<distances2> has more than the {room} announced by nbobjs",
                room = counted(room, "number")
            ));
        }
    }
    Ok(())
}
