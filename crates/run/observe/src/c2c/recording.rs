//! Reads the files of perf(1).
//!
//! Layout: `tools/perf/Documentation/perf.data-file-format.txt`; records: perf_event_open(2).
//!
//! The library `linux-perf-data` (0.13) is not used: it allocates as many bytes as a damaged file
//! claims, which ends the process, and it builds zstd, a C library.

use super::PerfDataError;
use super::sample::{AccessSample, SampleLayout};
use crate::native::text;
use seatmap_os::{i32_at, u32_at, u64_at};
use std::collections::HashMap;
use std::io::{self, Read, Seek, SeekFrom};

/// The first bytes of a file in this computer's byte order.
const MAGIC: u64 = u64::from_le_bytes(*b"PERFILE2");
const HEADER_BYTES: usize = 56;
/// The bytes of the attributes in every version (`PERF_ATTR_SIZE_VER0`), and of the event numbers'
/// section.
const ATTRIBUTE_BYTES: u64 = 64;
const SECTION_BYTES: u64 = 16;
/// One per event, and a number per event and CPU; more mean damage.
const MOST_ATTRIBUTES: u64 = 1 << 10;
const MOST_NUMBERS: u64 = 1 << 20;

const OTHER_ORDER: &str =
    "it is from a computer with the other byte order; read it on such a computer";

/// Kinds of records: the kernel's, and perf's own from 64 (`tools/lib/perf/include/perf/event.h`).
const COMM: u32 = 3;
const FORK: u32 = 7;
const SAMPLE: u32 = 9;
const LOST: u32 = 2;
const LOST_SAMPLES: u32 = 13;
const AUXTRACE: u32 = 71;
const COMPRESSED: [u32; 2] = [81, 83];

#[derive(Clone, Debug, PartialEq)]
pub enum PerfDataRecord {
    /// A created thread.
    Created { pid: i32, tid: i32, creator: i32, time_ns: u64 },
    /// A thread has a name, since this time if known.
    Named { pid: i32, tid: i32, name: String, time_ns: Option<u64> },
    /// A memory access.
    Sampled(AccessSample),
    /// Lost records.
    Lost(u64),
}

pub struct PerfRecording<R> {
    file: R,
    position: u64,
    /// All, and that of each event number.
    layouts: Vec<SampleLayout>,
    numbers: HashMap<u64, usize>,
    next: u64,
    end: u64,
}

impl<R: Read + Seek> PerfRecording<R> {
    pub fn open(mut file: R) -> Result<Self, PerfDataError> {
        let mut header = [0; HEADER_BYTES];
        // A recording to a pipe begins with only 16 bytes (`struct perf_pipe_file_header`).
        file.read_exact(&mut header[..16])
            .map_err(|error| ended_early(error, PerfDataError::Foreign))?;
        match [0, 8].map(|place| u64_at(&header, place).unwrap_or_default()) {
            [MAGIC, 16] => {
                return Err(PerfDataError::Unread(
                    "it was written to a pipe; record again with -o FILE",
                ));
            }
            [MAGIC, _] => {}
            [other, _] if other == MAGIC.swap_bytes() => {
                return Err(PerfDataError::Unread(OTHER_ORDER));
            }
            _ => return Err(PerfDataError::Foreign),
        }
        file.read_exact(&mut header[16..])
            .map_err(|error| ended_early(error, PerfDataError::Damaged(16)))?;
        // `struct perf_file_header`: the size of an attribute, then offset and length of attributes
        // and of records.
        let [attribute_bytes, attributes_at, attributes_length, next, length] =
            [16, 24, 32, 40, 48].map(|place| u64_at(&header, place).unwrap_or_default());
        let mut recording = PerfRecording {
            file,
            position: HEADER_BYTES as u64,
            layouts: Vec::new(),
            numbers: HashMap::new(),
            next,
            end: next.saturating_add(length),
        };
        recording.read_attributes(attribute_bytes, attributes_at, attributes_length)?;
        Ok(recording)
    }

    fn read_attributes(&mut self, each: u64, from: u64, length: u64) -> Result<(), PerfDataError> {
        let count = length.checked_div(each).unwrap_or(0);
        // The kernel accepts no attribute longer than a page (`perf_copy_attr`).
        if !(ATTRIBUTE_BYTES + SECTION_BYTES..=4096).contains(&each)
            || !(1..=MOST_ATTRIBUTES).contains(&count)
        {
            return Err(PerfDataError::Damaged(16));
        }
        for attribute in 0..count {
            let place = from.saturating_add(attribute * each);
            let bytes = self.bytes(place, each as usize)?;
            let layout = SampleLayout::read(&bytes).ok_or(PerfDataError::Damaged(place))?;
            // Each attribute ends with the offset and length of its event numbers (`struct
            // perf_file_attr`).
            let ids = (each - SECTION_BYTES) as usize;
            let (ids, ids_bytes) =
                u64_at(&bytes, ids).zip(u64_at(&bytes, ids + 8)).unwrap_or_default();
            self.read_numbers(self.layouts.len(), ids, ids_bytes)?;
            self.layouts.push(layout);
        }
        Ok(())
    }

    fn read_numbers(&mut self, layout: usize, from: u64, length: u64) -> Result<(), PerfDataError> {
        if length / 8 > MOST_NUMBERS {
            return Err(PerfDataError::Damaged(from));
        }
        let bytes = self.bytes(from, length as usize)?;
        self.numbers
            .extend(bytes.chunks_exact(8).filter_map(|number| Some((u64_at(number, 0)?, layout))));
        Ok(())
    }

    pub fn tells_addresses(&self) -> bool {
        self.layouts.iter().any(|layout| layout.tells_address())
    }

    pub fn records(&mut self, mut each: impl FnMut(PerfDataRecord)) -> Result<(), PerfDataError> {
        while self.end.saturating_sub(self.next) >= 8 {
            let place = self.next;
            let header = self.bytes(place, 8)?;
            // `struct perf_event_header`: the kind in four bytes, then flags and length in two
            // each.
            let kind = u32_at(&header, 0).unwrap_or_default();
            let bytes = u64::from(u16::from_ne_bytes([header[6], header[7]]));
            if bytes < 8 || bytes > self.end - place {
                return Err(PerfDataError::Damaged(place));
            }
            let body = self.bytes(place + 8, bytes as usize - 8)?;
            self.next = place + bytes + behind(kind, &body);
            match kind {
                kind if COMPRESSED.contains(&kind) => {
                    return Err(PerfDataError::Unread(
                        "its records are compressed; record again without -z",
                    ));
                }
                SAMPLE => {
                    let sample =
                        self.sample(&header, &body).ok_or(PerfDataError::Damaged(place))?;
                    each(PerfDataRecord::Sampled(sample));
                }
                kind => drop(self.plain(kind, &body).map(&mut each)),
            }
        }
        Ok(())
    }

    fn sample(&self, header: &[u8], body: &[u8]) -> Option<AccessSample> {
        let layout = match &self.layouts[..] {
            [only] => only,
            [first, ..] => {
                let number = u64_at(body, first.number_place()?)?;
                self.layouts.get(*self.numbers.get(&number)?)?
            }
            [] => return None,
        };
        layout.sample(u16::from_ne_bytes([header[4], header[5]]), body)
    }

    /// Other records than samples end alike in one recording.
    fn plain(&self, kind: u32, body: &[u8]) -> Option<PerfDataRecord> {
        match kind {
            // Process and thread in four bytes each, then the name up to a zero byte.
            COMM => {
                let name = text(body.get(8..)?);
                let time_ns = self.layouts.first().and_then(|first| first.time_of_other(body));
                let pid = i32_at(body, 0)?;
                Some(PerfDataRecord::Named { pid, tid: i32_at(body, 4)?, name, time_ns })
            }
            // `pid`, `ppid`, `tid` and `ptid` in four bytes each, then the time.
            FORK => Some(PerfDataRecord::Created {
                pid: i32_at(body, 0)?,
                tid: i32_at(body, 8)?,
                creator: i32_at(body, 12)?,
                time_ns: u64_at(body, 16)?,
            }),
            LOST => Some(PerfDataRecord::Lost(u64_at(body, 8)?)),
            LOST_SAMPLES => Some(PerfDataRecord::Lost(u64_at(body, 0)?)),
            _ => None,
        }
    }

    fn bytes(&mut self, place: u64, count: usize) -> Result<Vec<u8>, PerfDataError> {
        let mut bytes = Vec::new();
        // Each seek discards a buffered reader's data.
        if place != self.position {
            self.file.seek(SeekFrom::Start(place)).map_err(PerfDataError::Read)?;
        }
        let mut part = self.file.by_ref().take(count as u64);
        let read = part.read_to_end(&mut bytes).map_err(PerfDataError::Read)?;
        self.position = place.saturating_add(read as u64);
        if read == count { Ok(bytes) } else { Err(PerfDataError::Damaged(place)) }
    }
}

fn ended_early(error: io::Error, short: PerfDataError) -> PerfDataError {
    match error.kind() {
        io::ErrorKind::UnexpectedEof => short,
        _ => PerfDataError::Read(error),
    }
}

/// Bytes of a processor's trace after a record, beyond its length.
fn behind(kind: u32, body: &[u8]) -> u64 {
    // Prevents an overflow with a record's offset.
    if kind == AUXTRACE { u64_at(body, 0).unwrap_or_default().min(1 << 40) } else { 0 }
}
