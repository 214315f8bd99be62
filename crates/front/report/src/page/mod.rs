//! A page of blocks: a verb makes it once, and `draw` turns it into text, HTML and pictures.

pub mod draw;
mod matrix;
mod table;

pub use matrix::PairTimes;
pub(crate) use table::cells;
pub use table::{Table, TableCell};

use crate::svg::{Interval, PlotCurve, Title};
use maud::Markup;

#[derive(Clone, Copy, PartialEq)]
pub enum Medium {
    /// Has room for only the most important figures.
    Terminal,
    Html,
}

/// The report of a verb: a title, a headline and sections.
#[derive(Default)]
pub struct Page {
    pub(crate) title: String,
    /// One sentence that states the result.
    pub(crate) headline: String,
    /// `None` omits the headline in a terminal.
    pub(crate) gap_below_headline: Option<&'static str>,
    /// The first lines: how much was done, and where.
    pub(crate) lead: Vec<String>,
    pub(crate) sections: Vec<PageSection>,
    /// The last line: how the figures were obtained.
    pub(crate) footer: &'static str,
}

impl Page {
    pub(crate) fn new(title: impl Into<String>, headline: impl Into<String>) -> Self {
        Page { title: title.into(), headline: headline.into(), ..Page::default() }
    }

    pub(crate) fn of(section: PageSection) -> Self {
        Page { sections: vec![section], ..Page::default() }
    }

    /// Shows the headline in a terminal.
    pub(crate) fn headed(self) -> Self {
        Page { gap_below_headline: Some("\n"), ..self }
    }

    /// Adds sentences below the last block.
    pub fn and(mut self, sentences: Vec<String>) -> Self {
        match self.sections.last_mut() {
            Some(section) => section.blocks.push(sentences.into()),
            None => self.lead.extend(sentences),
        }
        self
    }

    /// Adds sentences below a blank line.
    pub fn paragraph(mut self, sentences: Vec<String>) -> Self {
        self.sections.push(section("", sentences));
        self
    }
}

#[derive(Default)]
pub struct PageSection {
    /// Title; a terminal omits it.
    title: String,
    unit: &'static str,
    blocks: Vec<Block>,
    only: Option<Medium>,
    is_narrow: bool,
}

impl PageSection {
    pub fn new(title: impl Into<String>) -> Self {
        PageSection { title: title.into(), ..PageSection::default() }
    }

    pub fn unit(self, unit: &'static str) -> Self {
        PageSection { unit, ..self }
    }

    pub fn narrow(self) -> Self {
        PageSection { is_narrow: true, ..self }
    }

    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// Empty if the medium omits the section.
    fn drawn(&self, medium: Medium) -> impl Iterator<Item = &Block> {
        let is_shown = self.only.is_none_or(|only| only == medium);
        self.blocks.iter().filter(move |block| is_shown && !block.is_empty(medium))
    }
}

/// A section with its first block.
pub fn section(title: impl Into<String>, block: impl Into<Block>) -> PageSection {
    PageSection::new(title).with(block)
}

/// A section for HTML only.
pub fn html_section(title: impl Into<String>, block: impl Into<Block>) -> PageSection {
    PageSection { only: Some(Medium::Html), ..section(title, block) }
}

/// A section for a terminal only, without a title.
pub fn terminal_section(block: impl Into<Block>) -> PageSection {
    PageSection { only: Some(Medium::Terminal), ..section("", block) }
}

pub enum Block {
    /// Sentences, one a line.
    Text(Vec<String>),
    /// Remarks, one a line, with bullets.
    List(Vec<String>),
    Table(Table),
    /// A time for each pair of named things.
    Matrix(PairTimes),
    /// Differences in percent.
    Intervals(Vec<Interval>),
    /// Curves over counts, such as the numbers of blocks.
    Curves {
        curves: Vec<PlotCurve>,
        across: &'static str,
        up: Title<'static>,
    },
    /// A drawing for HTML: a heat map, a floor plan.
    Picture(Markup),
    /// Lines for a terminal, with their final width.
    Drawn(String),
    /// Blocks next to each other if there is room.
    Beside(Vec<(&'static str, Block)>),
}

impl Block {
    pub fn is_empty(&self, medium: Medium) -> bool {
        match self {
            Block::Text(lines) | Block::List(lines) => lines.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Picture(picture) => picture.0.is_empty(),
            Block::Drawn(text) => medium == Medium::Html || text.is_empty(),
            Block::Intervals(rows) => rows.is_empty(),
            Block::Matrix(times) => !times.fits(medium),
            Block::Curves { curves, .. } => curves.is_empty(),
            Block::Beside(blocks) => blocks.is_empty(),
        }
    }
}

impl From<Table> for Block {
    fn from(table: Table) -> Self {
        Block::Table(table)
    }
}

impl From<Markup> for Block {
    fn from(markup: Markup) -> Self {
        Block::Picture(markup)
    }
}

impl From<Option<String>> for Block {
    fn from(line: Option<String>) -> Self {
        Block::Text(Vec::from_iter(line))
    }
}

impl From<Vec<String>> for Block {
    fn from(lines: Vec<String>) -> Self {
        Block::Text(lines)
    }
}
