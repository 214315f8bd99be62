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
pub(crate) struct Page {
    /// The title, above everything in HTML.
    pub title: String,
    /// The one sentence that says what to make of the page.
    pub headline: String,
    /// How much was done, and where: the first lines of text.
    pub lead: Vec<String>,
    /// The sections, in order.
    pub sections: Vec<PageSection>,
    /// The line at the end of a HTML page that says how the figures came to be.
    pub footer: &'static str,
}

impl Page {
    /// A page without sections.
    pub fn new(title: impl Into<String>, headline: impl Into<String>) -> Self {
        Page {
            title: title.into(),
            headline: headline.into(),
            lead: Vec::new(),
            sections: Vec::new(),
            footer: "",
        }
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
    /// Blocks that stand beside each other where there is room, each below its title.
    Beside(Vec<(&'static str, Block)>),
}

impl Block {
    fn is_empty(&self, medium: Medium) -> bool {
        match self {
            Block::Text(lines) | Block::List(lines) => lines.is_empty(),
            Block::Table(table) => table.rows.is_empty(),
            Block::Picture(picture) => picture.0.is_empty(),
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
