//! Where results go: stdout, or a file that is whole or not there.

use crate::error::CliError;
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

/// Prints sentences on stdout, broken into the columns of a terminal. A reader that has gone ends
/// the program quietly; a stdout that is closed or full is a failure.
pub fn print(text: &str) -> Result<(), CliError> {
    print_exact(&fitted(printable(text), view::text_columns(&io::stdout())))
}

/// Prints a page on stdout, in the columns of a terminal. Failures are those of [`print()`].
pub fn show(page: &Page) -> Result<(), CliError> {
    print_exact(&printable(&page.text(view::text_columns(&io::stdout()))))
}

/// Prints text for people that has its width already, such as help and pictures.
pub fn print_drawn(text: &str) -> Result<(), CliError> {
    print_exact(&printable(text))
}

/// The lines in so many columns.
fn fitted(text: Cow<'_, str>, columns: Option<usize>) -> Cow<'_, str> {
    match columns {
        Some(columns) => text.lines().map(|line| wrapped(line, columns)).collect(),
        None => text,
    }
}

/// The outcome of printing where the exit code is a verdict: a reader that has gone does not hide
/// it, and `seatmap check | head` under `pipefail` fails as `seatmap check` does.
pub fn even_unread(printed: Result<(), CliError>) -> Result<(), CliError> {
    match printed {
        Err(CliError::NobodyListens) => Ok(()),
        printed => printed,
    }
}

/// Prints a document or a file of any format on stdout, or words for a program that reads them as
/// they are.
pub fn print_exact(text: &str) -> Result<(), CliError> {
    match to_stdout(text.as_bytes()) {
        Ok(()) => Ok(()),
        // A reader such as `head` that has seen enough does not make the command fail.
        Err(error) if error.kind() == ErrorKind::BrokenPipe => Err(CliError::NobodyListens),
        Err(error) => Err(CliError::work_at(Path::new("stdout"), error)),
    }
}

/// The standard library's own stdout takes one that is closed, or open for reading only, for a
/// sink.
fn to_stdout(bytes: &[u8]) -> io::Result<()> {
    if stdout_was_closed() {
        return Err(io::Error::other("is closed, so that what should be printed there is lost"));
    }
    // Around the buffer of the standard library, whose last write fails unseen when the program
    // ends.
    File::from(io::stdout().as_fd().try_clone_to_owned()?).write_all(bytes)
}

/// Whether stdout was closed when this program was started, as `>&-` does.
pub fn stdout_was_closed() -> bool {
    stdio::was_closed(io::stdout().as_raw_fd())
}

/// Prints a document as JSON, on one line.
pub fn json(document: &impl Serialize) -> Result<(), CliError> {
    print_exact(&seatmap_data::document::written(document))
}

/// A document without its machine's name, together with that name.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(inline))]
pub struct OfMachine<'a, T: Serialize> {
    /// The document, whose keys appear beside `machine`.
    #[serde(flatten)]
    pub document: &'a T,
    /// The machine's name; older documents do not say.
    #[cfg_attr(feature = "schema", schemars(default))]
    pub machine: &'a str,
}

thread_local! {
    /// The lines that this thread tells, where a caller collects them.
    static COLLECTED: RefCell<Option<Vec<String>>> = const { RefCell::new(None) };
}

/// Does work, and returns the lines that it tells from this thread instead of printing them: in a
/// library of another language, stderr is the program's.
pub fn collecting<T>(work: impl FnOnce() -> T) -> (T, Vec<String>) {
    let outer = COLLECTED.replace(Some(Vec::new()));
    let answer = work();
    let lines = COLLECTED.replace(outer).unwrap_or_default();
    (answer, lines)
}

/// Keeps a line for the caller that collects them; whether there is one.
fn is_collected(line: &str) -> bool {
    COLLECTED
        .with_borrow_mut(|lines| lines.as_mut().map(|lines| lines.push(visible(line))).is_some())
}

/// Prints one line on stderr. An unreadable stderr is not a failure: the work goes on, and the exit
/// code shows the result.
pub fn tell(line: &str) {
    if is_collected(line) {
        return;
    }
    // In one write: ranks share the stderr of their launcher, and lines of two would mix.
    let line = format!("{}: {}\n", running::name(), shortened(visible(line)));
    let line = fitted(line.into(), view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(line.as_bytes());
}

/// The most characters of a line on stderr: a message may repeat a text of a file.
const MOST_TOLD: usize = 20_000;

fn shortened(mut line: String) -> String {
    if let Some((end, _)) = line.char_indices().nth(MOST_TOLD) {
        line.truncate(end);
        line += " ...";
    }
    line
}

/// Tells a person at a terminal what a script knows or does not care about.
pub fn tell_person(line: &str) {
    if io::stderr().is_terminal() {
        tell(line);
    }
}

/// The files that were told of: some are written again and again.
static TOLD: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

fn tell_of_file(path: &Path) {
    // A thread that died while it told of a file has told, or not; both are fine.
    let mut told = TOLD.lock().unwrap_or_else(PoisonError::into_inner);
    if !told.iter().any(|other| other == path) {
        told.push(path.to_owned());
        tell_person(&format!("wrote {}", path.display()));
    }
}

/// Tells of the quotas of CPU time that were used up since the watch began: what was measured then
/// is the quota.
pub fn tell_of_quotas(watch: &seatmap_os::quota::QuotaWatch) {
    watch.used_up().iter().for_each(|quotas| tell_of_used_up(quotas));
}

/// Tells of quotas that were used up while something was measured.
pub fn tell_of_used_up(quotas: &str) {
    tell(&format!(
        "{quotas} meanwhile, so that the figures are partly those of the quota: repeat with fewer \
         CPUs or threads than it has, or with a higher one"
    ));
}

/// Prints several lines on stderr, where the program that was started has stdout. A
/// missing reader is not a failure.
pub fn tell_text(text: &str) {
    let text = fitted(printable(text), view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(text.as_bytes());
}

/// Prints a page on stderr, where the program that was started has stdout. A missing reader is not
/// a failure.
pub fn tell_page(page: &Page) {
    let text = page.text(view::text_columns(&io::stderr()));
    let _ = io::stderr().write_all(printable(&text).as_bytes());
}

/// A destination for a result, checked before the work that makes it begins.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Destination {
    /// Standard output.
    Stdout,
    /// A regular file, replaced as a whole: the one behind the link where a link was typed.
    File(PathBuf),
    /// A device or pipe, or a file in a folder that takes no new ones: written as it comes.
    Stream(PathBuf),
}

impl Destination {
    /// The destination for the path after `-o`, if it can be written.
    ///
    /// # Errors
    /// A file or folder that cannot be written.
    pub fn new(path: &Path) -> Result<Self, CliError> {
        if path == Path::new("-") {
            return Ok(Destination::Stdout);
        }
        Self::at(path).map_err(|error| CliError::at(path, error))
    }

    fn at(path: &Path) -> io::Result<Self> {
        // An open file, as /dev/stdout is, has no name to be replaced.
        let Some(place) = behind_links(path)? else {
            if !path.exists() {
                return Err(io::Error::other("there is no such file, and none can be made there"));
            }
            return Ok(Destination::Stream(path.to_owned()));
        };
        check_writable(&place)?;
        match std::fs::symlink_metadata(&place) {
            Ok(found) if found.is_dir() => Err(io::Error::other("is a folder; give a file's name")),
            Ok(found) if found.is_file() => Self::of_file(place),
            Ok(_) => Ok(Destination::Stream(place)),
            Err(error) if error.kind() == ErrorKind::NotFound => Self::of_new_file(place),
            Err(error) => Err(error),
        }
    }

    fn of_file(place: PathBuf) -> io::Result<Self> {
        // Opening tells more than permission bits do: a file system may be read-only, a file
        // immutable.
        File::options().append(true).open(&place)?;
        // In a folder that takes no new files, the file cannot be replaced as a whole and is
        // written as it comes.
        let is_replaced = whole_file::check_takes_files(folder_of(&place)).is_ok();
        Ok(if is_replaced { Destination::File(place) } else { Destination::Stream(place) })
    }

    fn of_new_file(place: PathBuf) -> io::Result<Self> {
        // A name such as 'results/' means a folder, and no file can have it.
        if place.as_os_str().as_encoded_bytes().ends_with(b"/") {
            return Err(io::Error::other("there is no such folder, and a file needs a name"));
        }
        if !folder_of(&place).is_dir() {
            return Err(io::Error::other("its folder does not exist; make it first"));
        }
        whole_file::check_takes_files(folder_of(&place))?;
        Ok(Destination::File(place))
    }

    /// Writes the whole text, and tells a person at a terminal, once a file, which file is there.
    ///
    /// # Errors
    /// The system's error; a file that was there before is then unchanged.
    pub fn write(&self, text: &str) -> Result<(), CliError> {
        self.write_silently(text)?;
        if let Destination::File(path) = self {
            tell_of_file(path);
        }
        Ok(())
    }

    /// Writes the whole text without a word about it, as --quiet asks.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_silently(&self, text: &str) -> Result<(), CliError> {
        match self {
            Destination::Stdout => print_exact(text),
            Destination::Stream(path) => {
                let written =
                    whole_file::create(path).and_then(|mut file| file.write_all(text.as_bytes()));
                written.map_err(|error| CliError::work_at(path, error))
            }
            Destination::File(path) => {
                replace(path, text.as_bytes()).map_err(|error| CliError::work_at(path, error))
            }
        }
    }

    /// Writes the whole text, and names the file on stderr, by its path as it was typed.
    ///
    /// # Errors
    /// As [`Destination::write`].
    pub fn write_named(&self, text: &str, typed: Option<&Path>) -> Result<(), CliError> {
        self.write_silently(text)?;
        if let Some(path) = typed.filter(|_| *self != Destination::Stdout) {
            tell(&format!("wrote {}", path.display()));
        }
        Ok(())
    }
}

/// Where `-o` goes, if it was typed.
///
/// # Errors
/// A file that cannot be written, or the file and JSON both on stdout.
pub fn file(typed: Option<&Path>, json: bool) -> Result<Option<Destination>, CliError> {
    beside_json(typed, json, "-o")
}

/// Where `--html` goes, if it was typed.
///
/// # Errors
/// A file that cannot be written, or a page and JSON both on stdout.
pub fn page(typed: Option<&Path>, json: bool) -> Result<Option<Destination>, CliError> {
    beside_json(typed, json, "--html")
}

fn beside_json(
    typed: Option<&Path>,
    json: bool,
    option: &str,
) -> Result<Option<Destination>, CliError> {
    beside(typed, json.then_some("--json"), option)
}

/// The format that each option writes, and how the names of such files end.
const FORMATS: [(&str, &str, &[&str]); 5] = [
    ("-o", "JSON", &["json"]),
    ("--share", "JSON", &["json"]),
    ("--html", "HTML", &["html", "htm"]),
    ("--svg", "SVG", &["svg"]),
    ("--markdown", "Markdown", &["md"]),
];

/// Endings that mean a format which another option writes, or none.
const OTHER_ENDINGS: [&str; 6] = ["csv", "tsv", "xml", "xlsx", "png", "pdf"];

/// Refuses a name that means another format than the option writes: `-o distances.csv` would be a
/// file of JSON. An ending of which nothing is known means nothing.
fn check_format(path: &Path, option: &str) -> Result<(), CliError> {
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
        "{}: {option} writes {format}: call it {}; 'seatmap export' has other formats",
        path.display(),
        name.display()
    )))
}

/// Where an option's result goes, if it was typed, beside the one that has stdout already.
///
/// # Errors
/// A file that cannot be written or whose name means another format, or two results on stdout.
pub fn beside(
    typed: Option<&Path>,
    on_stdout: Option<&str>,
    option: &str,
) -> Result<Option<Destination>, CliError> {
    typed.map_or(Ok(()), |path| check_format(path, option))?;
    let destination = typed.map(Destination::new).transpose()?;
    // Two results in one stream could not be told apart.
    match on_stdout.filter(|_| destination == Some(Destination::Stdout)) {
        Some(other) => Err(CliError::input(format!(
            "{other} and {option} - both print on stdout; give {option} a file's name"
        ))),
        None => Ok(destination),
    }
}
