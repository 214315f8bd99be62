//! The program that runs: its name, its command line, the values that its arguments are known to
//! have.

use crate::guide::Guides;
use clap::{Arg, Command};
use seatmap_os::{Root, holder};
use std::sync::OnceLock;

/// A value that an argument may have.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct KnownValue {
    /// The word that is typed.
    pub value: String,
    /// The thing that it stands for, where the word does not say: the name of a process.
    pub about: Option<String>,
}

impl KnownValue {
    /// A value with the thing that it stands for.
    pub fn told(value: impl Into<String>, about: impl Into<String>) -> Self {
        KnownValue { value: value.into(), about: Some(about.into()) }
    }
}

impl<T: Into<String>> From<T> for KnownValue {
    fn from(value: T) -> Self {
        KnownValue { value: value.into(), about: None }
    }
}

/// The values that an argument may have, but for files.
pub type KnownValues = fn() -> Vec<KnownValue>;

/// The values of an argument of a command that both are known by name; `None` where they are not
/// known.
pub type Lookup = fn(&Command, &Arg) -> Option<KnownValues>;

/// A program of Seatmap's.
#[derive(Clone, Copy, Debug)]
pub struct CliProgram {
    /// Its name, which stands before each of its messages.
    pub name: &'static str,
    /// Its command line.
    pub command: fn() -> Command,
    /// The variable by which a shell's script asks for completions.
    pub completion_variable: &'static str,
    /// The values that an argument of a command may have, for completions.
    pub known_values: Lookup,
    /// Examples, exit codes and files of its commands.
    pub guides: Guides,
    /// Commands and options that a person may look for here, as typed, and the command of another
    /// program that has them.
    pub elsewhere: &'static [(&'static str, &'static str)],
}

impl CliProgram {
    /// The command of another program that has what was typed here.
    pub fn successor_of(&self, typed: &str) -> Option<&'static str> {
        self.elsewhere.iter().find(|(words, _)| *words == typed).map(|(_, command)| *command)
    }
}

static RUNNING: OnceLock<CliProgram> = OnceLock::new();

/// Makes a program the one that runs. The first one stays it.
pub(crate) fn begin(program: CliProgram) -> &'static CliProgram {
    holder::learn_cells_from(|| seatmap_cell::standing(&Root::new("/")));
    RUNNING.get_or_init(|| program)
}

/// The name of the program that runs; `seatmap` before it has begun, and in tests.
pub fn name() -> &'static str {
    RUNNING.get().map_or("seatmap", |program| program.name)
}
