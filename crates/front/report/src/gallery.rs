//! The gallery: a site of plain files about many machines.
//!
//! The site works from a folder, without a server or a network.

mod index;
mod pair;
#[cfg(test)]
mod tests;
mod thumbnail;

use crate::html;
use crate::page::{Table, TableCell, cells, section};
use maud::{Markup, html};
use seatmap_data::document::shell_file;
use seatmap_data::machine::OriginKind;
use seatmap_measure::gallery::{Gallery, GalleryMachine, LikePair, like_pairs};

/// A file of the site.
pub struct SiteFile {
    /// Name in the site's folder.
    pub name: String,
    /// Contents.
    pub text: String,
}

/// The page of all machines, a page for each machine and for each pair with the same processor, and
/// the profiles not bundled.
pub fn site(gallery: &Gallery) -> Vec<SiteFile> {
    let pairs = like_pairs(gallery);
    let mut files = vec![SiteFile { name: INDEX.to_owned(), text: index::page(gallery, &pairs) }];
    for (place, machine) in gallery.machines().iter().enumerate() {
        files.push(SiteFile {
            name: page_name(machine),
            text: machine_page(gallery, place, &pairs),
        });
        if !is_bundled(machine) {
            let text = machine.profile.to_json();
            files.push(SiteFile { name: profile_name(machine), text });
        }
    }
    for pair in &pairs {
        let [first, second] = pair.places.map(|place| &gallery.machines()[place]);
        let text = pair::page(first, second, pair);
        files.push(SiteFile { name: pair_name(first, second), text });
    }
    files
}

/// The page of all machines.
pub const INDEX: &str = "index.html";

fn page_name(machine: &GalleryMachine) -> String {
    format!("{}.html", machine.name)
}

fn profile_name(machine: &GalleryMachine) -> String {
    format!("{}.json", machine.name)
}

fn pair_name(first: &GalleryMachine, second: &GalleryMachine) -> String {
    format!("{}--{}.html", first.name, second.name)
}

fn is_bundled(machine: &GalleryMachine) -> bool {
    machine.summary.is_some()
}

/// The machine's name in a reader's command.
fn chosen_by(machine: &GalleryMachine) -> String {
    if is_bundled(machine) { machine.name.clone() } else { shell_file(&profile_name(machine)) }
}

fn back() -> Markup {
    html! { p.gallery-links { a href=(INDEX) { "All machines" } } }
}

/// The page of `seatmap show`, with links to other pages.
fn machine_page(gallery: &Gallery, place: usize, pairs: &[LikePair]) -> String {
    let machine = &gallery.machines()[place];
    let links = html! {
        ul {
            @for pair in pairs.iter().filter(|pair| pair.places.contains(&place)) {
                @let [first, second] = pair.places.map(|at| &gallery.machines()[at]);
                @let other = if pair.places[0] == place { second } else { first };
                li {
                    "Same processor: "
                    a href=(pair_name(first, second)) { "compared with " (other.name) }
                }
            }
            @if !is_bundled(machine) {
                li { a href=(profile_name(machine)) { "The profile" } " as JSON" }
            }
        }
    };
    let summary = machine.summary.as_ref().map(|summary| format!("{summary}."));
    let sources = crate::page::Block::List(machine.sources.clone());
    let sections = vec![
        section("In the gallery", links).with(summary).with(commands(machine)),
        section("Sources of the figures", sources),
    ];
    html::page_with(&machine.profile, machine.machine.model(), &[], &back(), sections)
}

fn commands(machine: &GalleryMachine) -> Table {
    let chosen = chosen_by(machine);
    let mut rows = vec![
        ("show these figures", format!("seatmap show {chosen}")),
        ("compare them with your computer", format!("seatmap compare {chosen} host")),
        (
            "place a program on this machine",
            format!("seatmap place --on {chosen} --pattern app.pattern.json"),
        ),
    ];
    if machine.profile.origin.kind == OriginKind::Measured {
        let on_such = "measure them again on such a computer";
        rows.push((on_such, "seatmap measure --share mine.json".to_owned()));
    }
    to_type(rows)
}

/// Tasks of a reader, each with its command.
fn to_type<T: Into<String>>(rows: impl IntoIterator<Item = (&'static str, T)>) -> Table {
    let rows = rows.into_iter();
    Table::new("to | type").rows(rows.map(|(to, command)| cells![to, TableCell::code(command)]))
}
