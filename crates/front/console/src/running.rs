//! The running program: its name, its command line, and the known values of its arguments.

use crate::guide::Guides;
use clap::{Arg, Command};
use seatmap_os::{Root, holder};
use std::sync::OnceLock;

/// A possible value of an argument.
pub struct KnownValue {
    /// Word to type.
    pub value: String,
    /// A description of an unclear value, such as a process's name.
    pub about: Option<String>,
}

impl KnownValue {
    /// A value with a description.
    pub fn told(value: impl Into<String>, about: impl Into<String>) -> Self {
        KnownValue { value: value.into(), about: Some(about.into()) }
    }
}

impl<T: Into<String>> From<T> for KnownValue {
    fn from(value: T) -> Self {
        KnownValue { value: value.into(), about: None }
    }
}

/// The possible values of an argument, except files.
pub type KnownValues = fn() -> Vec<KnownValue>;

/// The values of a command's argument; `None` if unknown.
pub type Lookup = fn(&Command, &Arg) -> Option<KnownValues>;

/// One of Seatmap's programs.
pub struct CliProgram {
    /// Name, which precedes each of its messages.
    pub name: &'static str,
    /// Command line.
    pub command: fn() -> Command,
    /// Variable that a shell's script sets to request completions.
    pub completion_variable: &'static str,
    /// Values of arguments, for completions.
    pub known_values: Lookup,
    /// Examples, exit codes and files of its commands.
    pub guides: Guides,
    /// Commands and options of another program that users may look for here, as typed, each with
    /// the command to use.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

impl CliProgram {
    /// The command of another program for what was typed here.
    pub fn successor_of(&self, typed: &str) -> Option<&'static str> {
        self.elsewhere.iter().find(|(words, _)| *words == typed).map(|(_, command)| *command)
    }
}

static RUNNING: OnceLock<CliProgram> = OnceLock::new();

/// Sets the running program. Only the first call has an effect.
pub(crate) fn begin(program: CliProgram) -> &'static CliProgram {
    holder::learn_cells_from(|| seatmap_cell::standing(&Root::new("/")));
    RUNNING.get_or_init(|| program)
}

/// The running program's name; `seatmap` until it is set, and in tests.
pub fn name() -> &'static str {
    RUNNING.get().map_or("seatmap", |program| program.name)
}
