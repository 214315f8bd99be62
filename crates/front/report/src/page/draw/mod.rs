//! Draws pages in each medium.

mod html;
pub(crate) mod line;
mod markdown;
mod text;

pub(crate) use html::{html, sections, table as html_table};
pub(crate) use markdown::markdown;
pub(crate) use text::text;

#[cfg(test)]
mod tests;
