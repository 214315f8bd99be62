//! Writes results to stdout or to a file, which is either complete or absent.

use crate::error::{AtPath, CliError, CliResult};
use crate::printable::printable;
use crate::{running, stdio, view};
pub use seatmap_data::document::visible;
use seatmap_os::whole_file::{self, behind_links, check_writable, folder_of, replace};
use seatmap_report::Page;
use seatmap_report::terminal::wrapped;
use serde::Serialize;
use std::borrow::Cow;
use std::cell::RefCell;
use std::fs::File;
use std::io::{self, ErrorKind, IsTerminal, Write};
use std::os::fd::{AsFd, AsRawFd};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// Prints sentences on stdout, wrapped to the terminal's columns. Fails if stdout is closed or
/// full; a closed pipe ends the program without a message.
pub fn print(text: &str) -> CliResult {
    print_exact(&fitted(printable(text), view::text_columns(&io::stdout())))
}

/// Prints a page as [`print()`] prints sentences.
pub fn show(page: &Page) -> CliResult {
    print_exact(&printable(&page.text(view::text_columns(&io::stdout()))))
}

/// Prints text that already has its width, such as help.
pub fn print_drawn(text: &str) -> CliResult {
    print_exact(&printable(text))
}

fn fitted(text: Cow<'_, str>, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) => text.lines().map(|line| wrapped(line, columns)).collect(),
        None => text,
    }
}

/// Ignores a closed pipe, for commands whose exit code is a verdict: with `pipefail`, `seatmap
/// check | head` fails as `seatmap check` does.
pub fn even_unread(printed: CliResult) -> CliResult {
    match printed {
        Err(CliError::NobodyListens) => Ok(()),
        printed => printed,
    }
}

/// Prints text on stdout unchanged, for example a document.
pub fn print_exact(text: &str) -> CliResult {
    match to_stdout(text.as_bytes()) {
        Ok(()) => Ok(()),
        // A reader such as `head` may stop early.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(CliError::NobodyListens),
        Err(error) => Err(CliError::work_at(Path::new("stdout"), error)),
    }
}

/// The standard library's own stdout silently discards writes to a closed or read-only descriptor.
fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    if stdio::was_closed(io::stdout().as_raw_fd()) {
        return Err(io::Error::other("is closed; the output is lost"));
    }
    // Bypasses the standard library's buffer, whose last write fails silently at exit.
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write_all(bytes)
}

/// Prints a document as JSON, on one line.
pub fn json(document: &impl Serialize) -> CliResult {
    print_exact(&seatmap_data::document::written(document))
}

/// A document and the name of its machine.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct OfMachine<'a, T: Serialize> {
    /// The document; its keys appear next to `machine`.
    #[serde(flatten)]
    pub document: &'a T,
    /// The machine's name; absent in older documents.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub machine: &'a str,
}

thread_local! {
    /// The messages of this thread, if a caller collects them.
    static COLLECTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Returns this thread's messages instead of printing them: in a library of another language,
/// stderr belongs to the program.
pub fn collecting<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = COLLECTED.replace(Some(Vec::new()));
    let answer = work();
    let lines = COLLECTED.replace(outer).unwrap_or_default();
    (answer, lines)
}

fn is_collected(line: &str) -> bool {
    COLLECTED
        .with_borrow_mut(|lines| lines.as_mut().map(|lines| lines.push(visible(line))).is_some())
}

/// Prints one line on stderr. A failed write is ignored: the exit code shows the result.
pub fn tell(line: &str) {
    if is_collected(line) {
        return;
    }
    // One write: ranks share their launcher's stderr, and their lines would mix.
    let line = format!("{}: {}\n", running::name(), shortened(visible(line)));
    let line = fitted(line.into(), view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(line.as_bytes());
}

/// Prints each line as [`tell`] does.
pub fn tell_each(lines: impl IntoIterator<Item: ToString>) {
    lines.into_iter().for_each(|line| tell(&line.to_string()));
}

/// The longest line, in characters: a message may quote a file.
const MOST_TOLD: usize = 20_000;

fn shortened(mut line: String) -> String {
    if let Some((end, _)) = line.char_indices().nth(MOST_TOLD) {
        line.truncate(end);
        line += " ...";
    }
    line
}

/// Prints a line on stderr if it is a terminal: scripts do not need it.
pub fn tell_person(line: &str) {
    if io::stderr().is_terminal() {
        tell(line);
    }
}

/// The files already reported: some are written repeatedly.
static TOLD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn tell_of_file(path: &Path) {
    // A poisoned list is usable: at worst one file is reported twice.
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.iter().any(|other| other == path) {
        told.push(path.to_owned());
        tell_person(&format!("wrote {}", path.display()));
    }
}

/// Warns of each CPU quota used up since the watch began: the figures then measure the quota.
pub fn tell_of_quotas(watch: &seatmap_os::quota::QuotaWatch) {
    watch.used_up().iter().for_each(|quotas| tell_of_used_up(quotas));
}

/// Warns that CPU quotas were used up during a measurement.
pub fn tell_of_used_up(quotas: &str) {
    tell(&format!(
        "{quotas} during the measurement, so the figures partly reflect the quota; repeat with \
         fewer CPUs or threads than the quota has, or raise the quota"
    ));
}

/// Prints lines on stderr, because stdout belongs to the started program.
pub fn tell_text(text: &str) {
    let text = fitted(printable(text), view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a page as [`tell_text`] prints lines.
pub fn tell_page(page: &Page) {
    let text = page.text(view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(printable(&text).as_bytes());
}

/// The destination of a result, checked before the work begins.
#[derive(PartialEq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A regular file (the target, if the path is a link), replaced atomically.
    File(PathBuf),
    /// A device, a pipe, or a file in a folder that accepts no new files: written directly.
    Stream(PathBuf),
}

impl Destination {
    /// The destination for the path after `-o`.
    ///
    /// # Errors
    /// The file or folder cannot be written.
    pub fn new(path: &Path) -> CliResult<Self> {
        if path == Path::new("-") {
            return Ok(Destination::Stdout);
        }
        Self::at(path).at(path)
    }

    fn at(path: &Path) -> io::Result<Self> {
        // An open file, such as /dev/stdout, has no name to replace.
        let Some(place) = behind_links(path)? else {
            if !path.exists() {
                return Err(io::Error::other("there is no such file, and it cannot be created"));
            }
            return Ok(Destination::Stream(path.to_owned()));
        };
        check_writable(&place)?;
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => Err(io::Error::other("is a folder; give a file name")),
            Ok(found) if found.is_file() => Self::of_file(place),
            Ok(_) => Ok(Destination::Stream(place)),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::of_new_file(place),
            Err(error) => Err(error),
        }
    }

    fn of_file(place: PathBuf) -> io::Result<Self> {
        // Permission bits are not enough: the file system may be read-only, the file immutable.
        File::options().append(true).open(&place)?;
        // The folder accepts no new files, so the file is written directly.
        let is_replaced = whole_file::check_takes_files(folder_of(&place)).is_ok();
        Ok(if is_replaced { Destination::File(place) } else { Destination::Stream(place) })
    }

    fn of_new_file(place: PathBuf) -> io::Result<Self> {
        // A name such as 'results/' means a folder; no file can have it.
        if place.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(io::Error::other("there is no such folder; give a file name"));
        }
        if !folder_of(&place).is_dir() {
            return Err(io::Error::other("its folder does not exist; create it first"));
        }
        whole_file::check_takes_files(folder_of(&place))?;
        Ok(Destination::File(place))
    }

    /// Writes the whole text, and reports each file once if stderr is a terminal.
    ///
    /// # Errors
    /// The system's error; an existing file is then unchanged.
    pub fn write(&self, text: &str) -> CliResult {
        self.write_silently(text)?;
        if let Destination::File(path) = self {
            tell_of_file(path);
        }
        Ok(())
    }

    /// Writes the whole text without a message, as for `--quiet`.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_silently(&self, text: &str) -> CliResult {
        match self {
            Destination::Stdout => print_exact(text),
            Destination::Stream(path) => {
                let written =
                    whole_file::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
                written.work_at(path)
            }
            Destination::File(path) => replace(path, text.as_bytes()).work_at(path),
        }
    }

    /// Writes the whole text, and names the file on stderr by its path as given.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_named(&self, text: &str, typed: Option<&Path>) -> CliResult {
        self.write_silently(text)?;
        if let Some(path) = typed.filter(|_| *self != Destination::Stdout) {
            tell(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

/// The destination of `-o`, if given.
///
/// # Errors
/// The file cannot be written, or the file and JSON would both go to stdout.
pub fn file(typed: Option<&Path>, json: bool) -> CliResult<Option<Destination>> {
    beside(typed, json.then_some("--json"), "-o")
}

/// The destination of `--html`, if given.
///
/// # Errors
/// As [`file()`].
pub fn page(typed: Option<&Path>, json: bool) -> CliResult<Option<Destination>> {
    beside(typed, json.then_some("--json"), "--html")
}

const FORMATS: [(&str, &str, &[&str]); 5] = [
    ("-o", "JSON", &["json"]),
    ("--share", "JSON", &["json"]),
    ("--html", "HTML", &["html", "htm"]),
    ("--svg", "SVG", &["svg"]),
    ("--markdown", "Markdown", &["md"]),
];

const OTHER_ENDINGS: [&str; 6] = ["csv", "tsv", "xml", "xlsx", "png", "pdf"];

/// Refuses an extension of another format: `-o distances.csv` would hold JSON. Unknown extensions
/// are accepted.
fn check_format(path: &Path, option: &str) -> CliResult {
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    let Some((_, format, own)) = FORMATS.iter().find(|(of, ..)| *of == option) else {
        return Ok(());
    };
    let is_known = FORMATS.iter().any(|(.., endings)| endings.contains(&ending))
        || OTHER_ENDINGS.contains(&ending);
    if own.contains(&ending) || !is_known {
        return Ok(());
    }
    let name = path.with_extension(own[0]);
    Err(CliError::input(format!(
        "{}: {option} writes {format}; name it {}, or use 'seatmap export' for other formats",
        path.display(),
        name.display()
    )))
}

/// The files of the options so far.
static TAKEN: Mutex<Vec<(PathBuf, String)>> = Mutex::new(Vec::new());

/// The second of two options with one file would replace the result of the first.
fn take(destination: &Destination, option: &str) -> CliResult {
    let Destination::File(place) = destination else { return Ok(()) };
    let mut taken = TAKEN.lock().unwrap_or_else(PoisonError::into_inner);
    let before = taken.iter().find(|(path, other)| path == place && other != option);
    if let Some((path, other)) = before {
        return Err(CliError::input(format!(
            "{}: {other} and {option} name the same file; give each its own",
            path.display()
        )));
    }
    taken.push((place.clone(), option.to_owned()));
    Ok(())
}

/// The destination of an option, if given; `on_stdout` is the option that already uses stdout.
///
/// # Errors
/// The file cannot be written, its extension means another format, another option has it, or both
/// results would go to stdout.
pub fn beside(
    typed: Option<&Path>,
    on_stdout: Option<&str>,
    option: &str,
) -> CliResult<Option<Destination>> {
    typed.map_or(Ok(()), |path| check_format(path, option))?;
    let destination = typed.map(Destination::new).transpose()?;
    destination.as_ref().map_or(Ok(()), |destination| take(destination, option))?;
    match on_stdout.filter(|_| destination == Some(Destination::Stdout)) {
        Some(other) => Err(CliError::input(format!(
            "{other} and {option} - both print to stdout; give {option} a file name"
        ))),
        None => Ok(destination),
    }
}
