//! The ways to draw a page.

mod html;
mod markdown;
mod text;

pub(crate) use html::{html, sections, table as html_table};
pub(crate) use markdown::markdown;
pub(crate) use text::{table as text_table, text};
