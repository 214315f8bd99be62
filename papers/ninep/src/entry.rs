//! Entries of folders.

use crate::qid::Qid;
use crate::wire::{Malformed, MessageField, Rest};

/// One entry of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FolderEntry<'a> {
    /// The file.
    pub qid: Qid,
    /// The offset from which the following entries are listed.
    pub offset: u64,
    /// `DT_*` of readdir(3).
    pub kind: u8,
    /// Its name.
    pub name: &'a [u8],
}

impl<'a> MessageField<'a> for FolderEntry<'a> {
    fn put(&self, out: &mut Vec<u8>) {
        self.qid.put(out);
        self.offset.put(out);
        self.kind.put(out);
        self.name.put(out);
    }

    fn take(from: &mut Rest<'a>) -> Result<Self, Malformed> {
        let qid = Qid::take(from)?;
        let offset = u64::take(from)?;
        Ok(FolderEntry { qid, offset, kind: u8::take(from)?, name: MessageField::take(from)? })
    }
}

impl FolderEntry<'_> {
    /// Its length in a reply, in bytes.
    pub fn size_bytes(&self) -> usize {
        Qid::SIZE_BYTES + size_of::<u64>() + size_of::<u8>() + size_of::<u16>() + self.name.len()
    }

    /// Returns whether it fits.
    pub(crate) fn fits_into(&self, out: &mut Vec<u8>, most_bytes: usize) -> bool {
        let fits = out.len() + self.size_bytes() <= most_bytes;
        if fits {
            self.put(out);
        }
        fits
    }
}

/// A reply's entries.
#[derive(Clone, Copy, Debug)]
pub struct FolderEntries<'a>(pub &'a [u8]);

impl<'a> Iterator for FolderEntries<'a> {
    type Item = Result<FolderEntry<'a>, Malformed>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.0.is_empty() {
            return None;
        }
        let mut rest = Rest(self.0);
        let entry = FolderEntry::take(&mut rest);
        // The rest after a malformed entry is ignored.
        self.0 = if entry.is_ok() { rest.0 } else { &[] };
        Some(entry)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_read_until_truncated_one() {
        let entry = FolderEntry {
            qid: Qid { kind: 1, version: 2, path: 3 },
            offset: 4,
            kind: 8,
            name: b"name",
        };
        let mut bytes = Vec::new();
        assert!(
            entry.fits_into(&mut bytes, entry.size_bytes())
                && !entry.fits_into(&mut bytes, 2 * entry.size_bytes() - 1)
        );
        assert_eq!(bytes.len(), entry.size_bytes());
        bytes.extend_from_slice(&bytes.clone()[..10]);
        assert_eq!(FolderEntries(&bytes).collect::<Vec<_>>(), [Ok(entry), Err(Malformed::Short)]);
    }
}
