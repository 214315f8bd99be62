//! The module or kind of memory to which an address belongs, from `/proc/self/maps`, read without
//! the heap.

use std::ffi::{CStr, c_int};

const LONGEST: usize = 512;

pub struct Region {
    path: [u8; LONGEST],
    length: usize,
    /// Address at which the module begins; 0 for anonymous memory.
    pub base: usize,
    /// Whether a part of the module is executable, so that it has variables.
    is_code: bool,
}

struct Mapping<'a> {
    from: usize,
    to: usize,
    rights: &'a [u8],
    offset: usize,
    /// File or kind of memory; empty for anonymous memory.
    path: &'a [u8],
}

/// The region of an address. A module's variables without initial values follow its file and belong
/// to it.
pub fn region(address: usize) -> Option<Region> {
    let mut module = Region::anonymous();
    let mut end = 0;
    lines(|line| {
        let mapping = parse(line)?;
        // Other neighbours of modules do not count: a stack begins with unwritable pages, and a
        // data file has no variables.
        let follows = module.is_code && mapping.from == end && mapping.rights == b"rw-p";
        if !mapping.path.is_empty() {
            module.enter(&mapping);
        } else if !follows {
            module = Region::anonymous();
        }
        end = mapping.to;
        (mapping.from..mapping.to).contains(&address).then_some(())
    })?;
    Some(module)
}

impl Region {
    fn anonymous() -> Self {
        Region { path: [0; LONGEST], length: 0, base: 0, is_code: false }
    }

    pub fn path(&self) -> &[u8] {
        &self.path[..self.length]
    }

    /// The path as a C string, if the module is a file.
    pub fn file(&self) -> Option<&CStr> {
        let text = CStr::from_bytes_with_nul(self.path.get(..=self.length)?).ok()?;
        (self.path().first() == Some(&b'/')).then_some(text)
    }

    fn enter(&mut self, mapping: &Mapping) {
        // All parts of a module whose path is too long have the same truncated path.
        let path = &mapping.path[..mapping.path.len().min(LONGEST - 1)];
        if path != self.path() {
            self.base = mapping.from.wrapping_sub(mapping.offset);
            self.is_code = false;
        }
        self.is_code |= mapping.rights.get(2) == Some(&b'x');
        self.length = path.len();
        self.path = [0; LONGEST];
        self.path[..self.length].copy_from_slice(path);
    }
}

fn lines(mut each: impl FnMut(&[u8]) -> Option<()>) -> Option<()> {
    // SAFETY: the path is a C string.
    let file = unsafe { libc::open(c"/proc/self/maps".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) };
    let mut buffer = [0_u8; 4096];
    let mut used = 0;
    let mut is_rest = false;
    let mut found = None;
    while found.is_none() && file >= 0 {
        let got = read(file, &mut buffer[used..]);
        if got == 0 {
            break;
        }
        used += got;
        let end = match buffer[..used].iter().rposition(|byte| *byte == b'\n') {
            Some(end) => end,
            // A path of 4,000 bytes, or of 1,000 newlines, which the kernel writes as `\012`, does
            // not fit: the line is truncated.
            None if used == buffer.len() => used,
            None => continue,
        };
        let mut lines = buffer[..end].split(|byte| *byte == b'\n');
        if is_rest {
            lines.next();
        }
        found = lines.find_map(&mut each);
        is_rest = end == used;
        let next = used.min(end + 1);
        buffer.copy_within(next..used, 0);
        used -= next;
    }
    // SAFETY: the file was opened above.
    unsafe { libc::close(file) };
    found
}

fn read(file: c_int, buffer: &mut [u8]) -> usize {
    // SAFETY: the kernel writes at most the buffer's length.
    usize::try_from(unsafe { libc::read(file, buffer.as_mut_ptr().cast(), buffer.len()) })
        .unwrap_or(0)
}

fn parse(line: &[u8]) -> Option<Mapping<'_>> {
    let mut fields = line.split(|byte| *byte == b' ').filter(|field| !field.is_empty());
    let mut range = fields.next()?.split(|byte| *byte == b'-');
    let from = hex(range.next()?)?;
    let to = hex(range.next()?)?;
    let rights = fields.next()?;
    let offset = hex(fields.next()?)?;
    fields.nth(1)?;
    let start =
        fields.next().map_or(line.len(), |field| field.as_ptr() as usize - line.as_ptr() as usize);
    Some(Mapping { from, to, rights, offset, path: &line[start..] })
}

fn hex(digits: &[u8]) -> Option<usize> {
    usize::from_str_radix(std::str::from_utf8(digits).ok()?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::AsRawFd;

    /// 16 or 64 KiB on some Arm computers.
    fn page_bytes() -> usize {
        // SAFETY: the call has no preconditions.
        usize::try_from(unsafe { libc::sysconf(libc::_SC_PAGESIZE) }).unwrap()
    }

    static ZEROS: std::sync::atomic::AtomicUsize = std::sync::atomic::AtomicUsize::new(0);

    #[test]
    fn variable_region_is_own_executable() {
        let region = region(&raw const ZEROS as usize).unwrap();
        let own = std::env::current_exe().unwrap();
        assert_eq!(std::str::from_utf8(region.path()).unwrap(), own.to_str().unwrap());
        assert!(region.base != 0 && region.file().is_some());
    }

    /// Three adjacent pages: this program's file with these rights, an inaccessible one, a writable
    /// one.
    fn beside_a_file(rights: c_int) -> [usize; 3] {
        let page = page_bytes();
        let file = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        let private = libc::MAP_PRIVATE;
        // SAFETY: the pages are new, and those that are mapped over are among them.
        unsafe {
            let anywhere = std::ptr::null_mut();
            let anonymous = private | libc::MAP_ANONYMOUS;
            let pages = libc::mmap(anywhere, 5 * page, libc::PROT_NONE, anonymous, -1, 0);
            let fixed = private | libc::MAP_FIXED;
            let at = pages.byte_add(page);
            assert_eq!(libc::mmap(at, page, rights, fixed, file.as_raw_fd(), 0), at);
            let both = libc::PROT_READ | libc::PROT_WRITE;
            assert_eq!(libc::mprotect(at.byte_add(2 * page), page, both), 0);
            [1, 2, 3].map(|number| pages as usize + number * page)
        }
    }

    #[test]
    fn adjacent_stack_is_not_part_of_module() {
        let [file, guard, stack] = beside_a_file(libc::PROT_READ | libc::PROT_EXEC);
        assert!(region(file).unwrap().file().is_some());
        for address in [guard, stack] {
            let region = region(address).unwrap();
            assert!(region.file().is_none() && region.base == 0);
        }
    }

    #[test]
    fn only_adjacent_writable_memory_joins_module() {
        for (rights, is_part) in
            [(libc::PROT_READ | libc::PROT_EXEC, true), (libc::PROT_READ, false)]
        {
            let [file, guard, ..] = beside_a_file(rights);
            // SAFETY: the page was mapped for this.
            let status = unsafe {
                libc::mprotect(
                    guard as *mut libc::c_void,
                    page_bytes(),
                    libc::PROT_READ | libc::PROT_WRITE,
                )
            };
            assert_eq!(status, 0);
            assert!(region(file).unwrap().file().is_some());
            assert_eq!(region(guard).unwrap().file().is_some(), is_part);
        }
    }

    #[test]
    fn long_path_hides_no_other_mapping() {
        let folder = tempfile::tempdir().unwrap();
        // The kernel writes each newline as four bytes.
        let path = (0..9).fold(folder.path().to_owned(), |path, _| path.join("\n".repeat(250)));
        std::fs::create_dir_all(&path).unwrap();
        let page = page_bytes();
        for name in ["first", "second"] {
            let name = path.join(name);
            std::fs::write(&name, "x").unwrap();
            let file = std::fs::File::open(&name).unwrap();
            // SAFETY: the pages are new.
            let at = unsafe {
                let anywhere = std::ptr::null_mut();
                let private = libc::MAP_PRIVATE;
                libc::mmap(anywhere, page, libc::PROT_READ, private, file.as_raw_fd(), 0)
            };
            assert_ne!(at, libc::MAP_FAILED);
            let region = region(at as usize).unwrap();
            assert!(region.path().starts_with(folder.path().to_str().unwrap().as_bytes()));
        }
        let mut last = 0;
        lines(|line| {
            last = parse(line)?.from;
            None
        });
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let expected = maps.lines().last().unwrap().split('-').next().unwrap();
        assert_eq!(Some(last), hex(expected.as_bytes()));
    }

    #[test]
    fn heap_and_stack_are_not_modules() {
        let on_stack = 0;
        assert!(region(&raw const on_stack as usize).is_none_or(|region| region.file().is_none()));
        assert!(parse(b"nonsense").is_none());
        assert_eq!(parse(b"10-20 rw-p 00000000 00:00 0   /a b").unwrap().path, b"/a b");
    }
}
