//! One page of blocks: a verb makes it once, and `draw` turns it into text, HTML and pictures.
//!
//! | module | is |
//! |---|---|
//! | `table` | rows of words and figures |
//! | `matrix` | a time for each pair |
//! | `draw` | the ways to draw a page |

pub(crate) mod draw;
mod matrix;
mod table;

pub(crate) use matrix::PairTimes;
pub(crate) use table::{Table, TableCell};

use crate::svg::curves::PlotCurve;
use crate::svg::frame::Title;
use crate::svg::intervals::Interval;
use maud::Markup;

/// One way to draw a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Medium {
    /// Text in a terminal, which has room for the most important figures only.
    Terminal,
    /// One HTML file.
    Html,
}

/// Everything that a verb says about a result.
#[derive(Default)]
pub struct Page {
    /// The title, above everything in HTML.
    pub(crate) title: String,
    /// The one sentence that says what to make of the page.
    pub(crate) headline: String,
    /// The text between the headline and the rest in a terminal; `None` if that omits the headline.
    pub(crate) gap_below_headline: Option<&'static str>,
    /// How much was done, and where: the first lines of text.
    pub(crate) lead: Vec<String>,
    /// The sections, in order.
    pub(crate) sections: Vec<PageSection>,
    /// The line at the end of a HTML page that says how the figures came to be.
    pub(crate) footer: &'static str,
}

impl Page {
    /// A page without sections.
    pub(crate) fn new(title: impl Into<String>, headline: impl Into<String>) -> Self {
        Page { title: title.into(), headline: headline.into(), ..Page::default() }
    }

    /// A page for a terminal alone.
    pub(crate) fn of(section: PageSection) -> Self {
        Page { sections: vec![section], ..Page::default() }
    }

    /// With a headline in a terminal, and a blank line below it.
    pub(crate) fn headed(self) -> Self {
        Page { gap_below_headline: Some("\n"), ..self }
    }

    /// With more sentences, below the last block.
    #[must_use]
    pub fn and(mut self, sentences: Vec<String>) -> Self {
        match self.sections.last_mut() {
            Some(section) => section.blocks.push(sentences.into()),
            None => self.lead.extend(sentences),
        }
        self
    }

    /// With more sentences, below a blank line.
    #[must_use]
    pub fn paragraph(mut self, sentences: Vec<String>) -> Self {
        self.sections.push(PageSection::new("").with(sentences));
        self
    }

    /// The page as text, in the columns of a terminal or with every line whole.
    #[must_use]
    pub fn text(&self, columns: Option<usize>) -> String {
        draw::text(self, columns)
    }

    /// The page as one HTML file.
    #[must_use]
    pub fn html(&self) -> String {
        draw::html(self)
    }

    /// The page for the summary of a job or a comment on a change.
    #[must_use]
    pub fn markdown(&self) -> String {
        draw::markdown(self)
    }
}

/// Blocks under one title.
pub(crate) struct PageSection {
    /// The title; a terminal shows none.
    title: String,
    /// The unit of the figures, beside the title.
    unit: &'static str,
    blocks: Vec<Block>,
    /// The only medium that shows the section.
    only: Option<Medium>,
    /// Whether it is narrow, so that it may stand beside another.
    is_narrow: bool,
}

impl PageSection {
    /// A section that all media show.
    pub fn new(title: impl Into<String>) -> Self {
        PageSection {
            title: title.into(),
            unit: "",
            blocks: Vec::new(),
            only: None,
            is_narrow: false,
        }
    }

    /// A section that a terminal leaves out.
    pub fn page(title: impl Into<String>) -> Self {
        PageSection { only: Some(Medium::Html), ..PageSection::new(title) }
    }

    /// With the unit of its figures.
    pub fn unit(self, unit: &'static str) -> Self {
        PageSection { unit, ..self }
    }

    /// A section without a title that a page leaves out.
    pub fn terminal() -> Self {
        PageSection { only: Some(Medium::Terminal), ..PageSection::new("") }
    }

    /// Beside other narrow ones, where a page has room for two.
    pub fn narrow(self) -> Self {
        PageSection { is_narrow: true, ..self }
    }

    /// With one more block.
    pub fn with(mut self, block: impl Into<Block>) -> Self {
        self.blocks.push(block.into());
        self
    }

    /// The blocks that a medium shows; none where it leaves the section out.
    fn drawn(&self, medium: Medium) -> impl Iterator<Item = &Block> {
        let is_shown = self.only.is_none_or(|only| only == medium);
        self.blocks.iter().filter(move |block| is_shown && !block.is_empty(medium))
    }
}

/// One thing on a page.
pub(crate) enum Block {
    /// Sentences, each in a line of its own.
    Text(Vec<String>),
    /// Remarks below each other, each behind a mark.
    List(Vec<String>),
    /// Rows of words and figures.
    Table(Table),
    /// A time for each pair of things that have names.
    Matrix(PairTimes),
    /// Differences with their intervals.
    Intervals {
        /// Each difference.
        rows: Vec<Interval>,
        /// The quantity on the axis.
        title: &'static str,
    },
    /// Curves over two axes.
    Curves {
        /// Each curve.
        curves: Vec<PlotCurve>,
        /// The horizontal axis.
        across: Title<'static>,
        /// The vertical axis.
        up: Title<'static>,
    },
    /// A drawing that a terminal leaves out: a heat map, a floor plan.
    Picture(Markup),
    /// Lines that are drawn for a terminal and have their width; a page leaves them out.
    Drawn(String),
    /// Blocks that stand beside each other where there is room, each below its title.
    Beside(Vec<(&'static str, Block)>),
}

impl Block {
    pub(crate) fn is_empty(&self, medium: Medium) -> bool {
        match self {
            Block::Text(lines) | Block::List(lines) => lines.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Picture(picture) => picture.0.is_empty(),
            Block::Drawn(text) => medium == Medium::Html || text.is_empty(),
            Block::Intervals { rows, .. } => rows.is_empty(),
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

impl From<Vec<String>> for Block {
    fn from(lines: Vec<String>) -> Self {
        Block::Text(lines)
    }
}
