//! The page of two machines with the same processor.

use super::{back, chosen_by, page_name};
use crate::compare;
use crate::page::{Table, TableCell, html_section};
use maud::html;
use seatmap_measure::gallery::{GalleryMachine, LikePair};

/// The page of `seatmap compare`, with links to both machines.
pub fn page(first: &GalleryMachine, second: &GalleryMachine, pair: &LikePair) -> String {
    let links = html! {
        (back())
        p {
            a href=(page_name(first)) { (first.name) }
            " and "
            a href=(page_name(second)) { (second.name) }
        }
    };
    let command = format!("seatmap compare {} {}", chosen_by(first), chosen_by(second));
    let again = Table::facts([("compare them again", TableCell::code(command))]);
    let mut page = compare::page(&pair.comparison);
    page.sections.insert(0, html_section("", links));
    page.sections.push(html_section("Command", again));
    page.html()
}
