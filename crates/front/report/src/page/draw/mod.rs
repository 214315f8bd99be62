//! Draws pages in each medium.

mod html;
pub(crate) mod line;
mod markdown;
mod text;

pub(crate) use html::{sections, table as html_table};
pub(crate) use text::cut_middle;

#[cfg(test)]
mod tests;
