//! Tables for all media: columns, rows and cells.

#[derive(Default)]
pub struct Table {
    pub columns: Vec<TableColumn>,
    pub rows: Vec<Vec<TableCell>>,
    /// Rows are facts, and there is no header.
    pub is_facts: bool,
    /// The first header is not indented.
    pub is_outdented: bool,
    /// No line is indented.
    is_flush: bool,
    /// One blank separates columns instead of two.
    is_dense: bool,
}

impl Table {
    /// A table with these columns, separated by `|`. As in a format string, the minimum width in a
    /// terminal may follow a head's colon, and `>` marks figures: `class | median:>7`.
    pub fn new(columns: &str) -> Self {
        let columns = columns.split('|').map(|column| {
            let (head, format) = column.rsplit_once(':').unwrap_or((column, ""));
            TableColumn {
                head: head.trim().to_owned(),
                is_figures: format.starts_with('>'),
                least: format.trim().trim_start_matches('>').parse().unwrap_or(0),
                is_page_only: false,
            }
        });
        Table { columns: columns.collect(), ..Table::default() }
    }

    pub fn words<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.columns(heads, false)
    }

    pub fn figures<'a>(self, heads: impl IntoIterator<Item = &'a str>) -> Self {
        self.columns(heads, true)
    }

    fn columns<'a>(mut self, heads: impl IntoIterator<Item = &'a str>, is_figures: bool) -> Self {
        self.columns.extend(heads.into_iter().map(|head| TableColumn {
            head: head.to_owned(),
            is_figures,
            ..TableColumn::default()
        }));
        self
    }

    /// The minimum widths of the first columns in a terminal, in letters.
    pub fn least(mut self, widths: impl IntoIterator<Item = usize>) -> Self {
        self.columns.iter_mut().zip(widths).for_each(|(column, width)| column.least = width);
        self
    }

    /// Omits a column in a terminal.
    pub fn page_only(mut self, column: usize) -> Self {
        self.columns[column].is_page_only = true;
        self
    }

    /// In a terminal, the first header is the table's title.
    pub fn outdented(self) -> Self {
        Table { is_outdented: true, ..self }
    }

    /// Removes the indentation in a terminal.
    pub fn flush(self) -> Self {
        Table { is_flush: true, ..self }
    }

    /// Separates columns by one blank in a terminal.
    pub fn dense(self) -> Self {
        Table { is_dense: true, ..self }
    }

    pub fn indent(&self) -> usize {
        if self.is_flush { 0 } else { 2 }
    }

    pub fn gap(&self) -> usize {
        if self.is_dense { 1 } else { 2 }
    }

    pub fn facts(
        rows: impl IntoIterator<Item = (impl Into<TableCell>, impl Into<TableCell>)>,
    ) -> Self {
        let facts = Table { is_facts: true, ..Table::new("|") };
        facts.rows(rows.into_iter().map(|(name, value)| [name.into(), value.into()]))
    }

    /// Missing cells at the ends of rows are empty.
    pub fn rows<R: IntoIterator<Item: Into<TableCell>>>(
        mut self,
        rows: impl IntoIterator<Item = R>,
    ) -> Self {
        let columns = self.columns.len();
        self.rows.extend(rows.into_iter().map(|row| {
            let mut cells = Vec::from_iter(row.into_iter().map(Into::into));
            cells.resize_with(columns, TableCell::default);
            cells
        }));
        self
    }

    /// Removes a column if all its cells are empty.
    pub fn where_filled(&self, column: usize) -> Self {
        let is_empty = self.rows.iter().all(|row| row[column].text.is_empty());
        self.pick((0..self.columns.len()).filter(|at| *at != column || !is_empty))
    }

    pub fn in_terminal(&self) -> Self {
        self.pick((0..self.columns.len()).filter(|at| !self.columns[*at].is_page_only))
    }

    pub fn pick(&self, columns: impl IntoIterator<Item = usize>) -> Self {
        let columns = Vec::from_iter(columns);
        Table {
            columns: columns.iter().map(|at| self.columns[*at].clone()).collect(),
            rows: self
                .rows
                .iter()
                .map(|row| columns.iter().map(|at| row[*at].clone()).collect())
                .collect(),
            ..*self
        }
    }
}

#[derive(Clone, Default)]
pub struct TableColumn {
    pub head: String,
    pub is_figures: bool,
    /// Minimum width in a terminal, in letters.
    pub least: usize,
    pub is_page_only: bool,
}

#[derive(Clone, Default)]
pub struct TableCell {
    pub text: String,
    pub look: TextStyle,
    /// A word before or after the text, with the class of its colour.
    pub level: Option<(&'static str, &'static str)>,
    pub tip: Option<String>,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub enum TextStyle {
    #[default]
    Plain,
    Strong,
    /// Text to paste into a shell.
    Code,
    /// A bar, in percent of the room for bars.
    Bar(f64),
    /// A terminal colour ("Select Graphic Rendition", ECMA-48).
    Painted(&'static str),
}

impl TableCell {
    pub fn strong(text: impl Into<String>) -> Self {
        TableCell { look: TextStyle::Strong, ..text.into().into() }
    }

    pub fn code(text: impl Into<String>) -> Self {
        TableCell { look: TextStyle::Code, ..text.into().into() }
    }

    /// A word in a terminal colour.
    pub fn painted(text: impl Into<String>, colour: &'static str) -> Self {
        TableCell { look: TextStyle::Painted(colour), ..text.into().into() }
    }

    /// `share` is relative to the largest.
    pub fn bar(text: impl Into<String>, share: f64) -> Self {
        TableCell { look: TextStyle::Bar(share), ..text.into().into() }
    }

    /// A rating, with the class of its colour.
    pub fn level(self, word: &'static str, class: &'static str) -> Self {
        TableCell { level: Some((word, class)), ..self }
    }

    /// The width in a terminal, in letters.
    pub fn width(&self) -> usize {
        self.text.chars().count()
    }

    pub fn tip(self, tip: impl Into<String>) -> Self {
        TableCell { tip: Some(tip.into()), ..self }
    }
}

impl<T: ToString> From<T> for TableCell {
    fn from(text: T) -> Self {
        TableCell { text: text.to_string(), ..TableCell::default() }
    }
}

/// The cells of a row.
macro_rules! cells {
    ($($cell:expr),*) => { [$($crate::page::TableCell::from($cell)),*] };
}
pub(crate) use cells;
