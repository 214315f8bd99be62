//! Self-contained HTML pages: they make no requests, so they keep working.
//!
//! [`page`] shows a profile. [`document()`] is the frame of every page.

mod charts;
mod data;
pub(crate) mod document;
mod map;
mod numbers;
mod page;
mod replay;
pub(crate) mod tables;

pub use document::{document, head};
pub use page::page;
pub(crate) use page::page_with;
pub use replay::replay;
pub use tables::facts;
