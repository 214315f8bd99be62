//! Binary files, recognised by their start.

/// The start of a file, its kind, and the command that unpacks it (file(1) has the same bytes).
const PACKED: [(&[u8], &str, &str); 7] = [
    (b"\x1f\x8b", "a gzip file", "unpack it: gunzip -c OLD > NEW"),
    (b"\x28\xb5\x2f\xfd", "a zstd file", "unpack it: zstd -dc OLD > NEW"),
    (b"\xfd7zXZ", "an xz file", "unpack it: xz -dc OLD > NEW"),
    (b"BZh", "a bzip2 file", "unpack it: bzip2 -dc OLD > NEW"),
    (b"PK\x03\x04", "a zip file or a spreadsheet", "unpack it, or save the sheet as CSV"),
    (b"\x89HDF", "an HDF5 file", "export the data set as CSV"),
    (
        b"\x93NUMPY",
        "a NumPy array",
        "write it as CSV: python3 -c \"import numpy; numpy.savetxt('NEW.csv', numpy.load('OLD'), \
         delimiter=',')\"",
    ),
];

/// The kind of a packed or binary file and the command that converts it to text, if known.
///
/// ```
/// let (format, remedy) = seatmap_data::document::packed(b"\x1f\x8b\x08").unwrap();
/// assert_eq!(format, "a gzip file");
/// assert_eq!(remedy, "unpack it: gunzip -c OLD > NEW");
/// assert_eq!(seatmap_data::document::packed(b"0,1"), None);
/// ```
pub fn packed(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    let known = PACKED.iter().find(|(start, ..)| bytes.starts_with(start))?;
    Some((known.1, known.2))
}
