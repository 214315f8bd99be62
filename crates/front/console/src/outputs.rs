//! The destinations of a verb's result: a file, a page, and stdout.

use crate::error::CliResult;
use crate::output::{self, Destination};
use clap::Args;
use seatmap_report::Page;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// The options for a result in other forms than text.
#[derive(Clone, Default, Args)]
pub struct ResultForms {
    /// Write one self-contained page; - is stdout.
    #[arg(long, value_name = "FILE")]
    pub html: Option<PathBuf>,
    /// Print the result as JSON on stdout, and nothing else.
    #[arg(long)]
    pub json: bool,
}

impl ResultForms {
    /// The destinations of these forms, and of a document in the file after `-o`.
    ///
    /// # Errors
    /// The file cannot be written, or two results would go to stdout.
    pub fn outputs(&self, file: Option<&Path>) -> CliResult<Outputs> {
        Outputs::new(self.json, file, self.html.as_deref())
    }
}

/// The destinations of a result, checked before the work begins.
pub struct Outputs {
    is_json: bool,
    /// Destination of `-o`.
    pub file: Option<Destination>,
    page: Option<Destination>,
}

impl Outputs {
    /// The destinations of `--json`, `-o` and `--html`.
    ///
    /// # Errors
    /// The file cannot be written, or two results would go to stdout.
    pub fn new(is_json: bool, file: Option<&Path>, page: Option<&Path>) -> CliResult<Self> {
        let mut outputs = Outputs { is_json, file: output::file(file, is_json)?, page: None };
        outputs.page = output::beside(page, outputs.on_stdout(), "--html")?;
        Ok(outputs)
    }

    /// The option whose result goes to stdout, if any.
    pub fn on_stdout(&self) -> Option<&'static str> {
        if self.is_json {
            Some("--json")
        } else if self.file == Some(Destination::Stdout) {
            Some("-o -")
        } else {
            (self.page == Some(Destination::Stdout)).then_some("--html -")
        }
    }

    /// The path of `-o`, if it can be written repeatedly: not stdout or a stream.
    pub fn path(&self) -> Option<&Path> {
        match &self.file {
            // A stream can be written only once, at the end.
            Some(Destination::File(path)) => Some(path),
            _ => None,
        }
    }

    /// Writes the document into the file, with a message unless `is_quiet`.
    ///
    /// # Errors
    /// The system's error.
    pub fn write(&self, document: &impl Serialize, is_quiet: bool) -> CliResult {
        let Some(file) = &self.file else { return Ok(()) };
        let text = seatmap_data::document::written(document);
        if is_quiet { file.write_silently(&text) } else { file.write(&text) }
    }

    /// Writes and prints one of several results: the document or, if stdout is free, the text.
    ///
    /// # Errors
    /// The system's error.
    pub fn step(&self, document: &impl Serialize, page: Option<Page>, is_quiet: bool) -> CliResult {
        self.write(document, is_quiet)?;
        self.print(document, page.as_ref())
    }

    /// Writes the page, and prints the document or, if stdout is free, the page.
    ///
    /// # Errors
    /// The system's error.
    pub fn show(&self, document: &impl Serialize, page: &Page) -> CliResult {
        if let Some(place) = &self.page {
            place.write(&page.html())?;
        }
        self.print(document, Some(page))
    }

    fn print(&self, document: &impl Serialize, page: Option<&Page>) -> CliResult {
        if self.is_json {
            return output::json(document);
        }
        // If the file of -o or the page uses stdout, no text may be added.
        page.filter(|_| self.on_stdout().is_none()).map_or(Ok(()), output::show)
    }
}
