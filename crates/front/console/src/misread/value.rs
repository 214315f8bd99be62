//! Explains in our own words why an option's value is invalid.

use crate::time::time;
use clap::error::{ContextKind, ContextValue};
use std::error::Error;
use std::num::{IntErrorKind, ParseFloatError, ParseIntError};

/// The sentence for an invalid value.
pub fn sentence(error: &clap::Error) -> Option<String> {
    let argument = error.get(ContextKind::InvalidArg)?.to_string();
    let value = error.get(ContextKind::InvalidValue)?.to_string();
    let problem = problem(&value, error.source()?);
    Some(format!("{argument}: {problem}{}", hint(&argument, &value)))
}

/// The sentence for a missing value, or one not among an option's words.
pub fn one_of(error: &clap::Error) -> Option<String> {
    let argument = super::argument(error)?;
    let value = error.get(ContextKind::InvalidValue).map(ToString::to_string).unwrap_or_default();
    if value.is_empty() {
        return Some(format!("{argument} needs a value"));
    }
    let Some(ContextValue::Strings(values)) = error.get(ContextKind::ValidValue) else {
        return None;
    };
    Some(format!("{argument}: '{value}' is not one of {}", values.join(", ")))
}

/// Our own parsers already explain it.
fn problem(value: &str, cause: &(dyn Error + 'static)) -> String {
    if let Some(cause) = cause.downcast_ref::<ParseIntError>() {
        return match cause.kind() {
            IntErrorKind::PosOverflow => format!("'{value}' is too large"),
            IntErrorKind::Zero => format!("'{value}' is too small; the minimum is 1"),
            IntErrorKind::NegOverflow => format!("'{value}' is too small"),
            _ => format!("'{value}' is not a whole number"),
        };
    }
    if cause.is::<ParseFloatError>() {
        return format!("'{value}' is not a number");
    }
    let text = cause.to_string();
    match bounds(&text) {
        Some((least, most)) => format!("'{value}' is not a whole number from {least} to {most}"),
        None => text,
    }
}

/// The bounds in the parser's error "0 is not in 1..=65535".
fn bounds(text: &str) -> Option<(i128, i128)> {
    let (_, range) = text.split_once(" is not in ")?;
    let (least, end) = range.split_once("..")?;
    let most = match end.strip_prefix('=') {
        Some(most) => most.parse().ok()?,
        // A range without '=' excludes its end.
        None => end.parse::<i128>().ok()? - 1,
    };
    Some((least.parse().ok()?, most))
}

fn is_list(value: &str) -> bool {
    let mut numbers = value.split([',', ' ']).filter(|part| !part.is_empty());
    value.contains([',', ' ']) && numbers.all(|number| number.parse::<u32>().is_ok())
}

fn hint(argument: &str, value: &str) -> String {
    let option = argument.split([' ', '=']).next().unwrap_or_default();
    let is_name = !value.is_empty() && value.parse::<i128>().is_err();
    match option {
        "--pid" if is_list(value) => "; give --pid once for each process".to_owned(),
        "--pid" if is_name => match shlex::try_quote(value) {
            Ok(name) => format!("; 'pidof {name}' prints the PIDs of this program"),
            Err(_) => String::new(),
        },
        "--budget" | "--runs" if is_name && time(value).is_some() => {
            format!("; {option} is a number of runs, and --seconds {value} limits the time")
        }
        _ => String::new(),
    }
}
