//! One line of text: its visible characters, each with the colours before it.

/// Ends all colours: "Select Graphic Rendition" (ECMA-48) without parameters but 0.
const RESET: &str = "\u{1b}[0m";

/// The programs with which remedies begin: such a line is pasted into a shell.
const PROGRAMS: [&str; 12] = [
    "chcpu",
    "echo",
    "migratepages",
    "mpirun",
    "numactl",
    "seatmap",
    "sh",
    "srun",
    "sudo",
    "sysctl",
    "systemctl",
    "taskset",
];

/// A visible character, with the escape sequences that stand before it.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Glyph {
    colours: String,
    letter: char,
}

/// A line without its end.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct StyledLine {
    glyphs: Vec<Glyph>,
    /// Escape sequences behind the last character.
    tail: String,
}

/// A run of characters without a blank, or a quoted command; and the blanks before it.
#[derive(Clone, Debug, Default)]
struct Word {
    gap: usize,
    glyphs: Vec<Glyph>,
}

impl StyledLine {
    pub fn of(text: &str) -> Self {
        let mut glyphs = Vec::new();
        let mut colours = String::new();
        let mut letters = text.chars().peekable();
        while let Some(letter) = letters.next() {
            if letter != '\u{1b}' {
                glyphs.push(Glyph { colours: std::mem::take(&mut colours), letter });
                continue;
            }
            // A sequence for colours ends with an m, and no other gets here.
            colours.push(letter);
            for part in letters.by_ref() {
                colours.push(part);
                if part == 'm' {
                    break;
                }
            }
        }
        StyledLine { glyphs, tail: colours }
    }

    pub fn width(&self) -> usize {
        self.glyphs.len()
    }

    pub fn is_empty(&self) -> bool {
        self.glyphs.iter().all(|glyph| glyph.letter == ' ')
    }

    /// The line as it was, with its end.
    pub fn text(&self) -> String {
        written(&self.glyphs) + &self.tail + "\n"
    }

    pub fn is_blank(&self, column: usize) -> bool {
        self.glyphs.get(column).is_none_or(|glyph| glyph.letter == ' ')
    }

    /// The blanks before its first word.
    pub fn indent(&self) -> usize {
        self.glyphs.iter().take_while(|glyph| glyph.letter == ' ').count()
    }

    /// Whether two of its cells are two blanks apart.
    pub fn is_row(&self) -> bool {
        let words = self.words();
        words.iter().skip(1).any(|word| word.gap > 1)
    }

    /// The characters from one column to before another, without the blanks around them.
    pub fn cell(&self, from: usize, to: usize) -> StyledLine {
        let to = to.min(self.width());
        let mut part = self.glyphs.get(from.min(to)..to).unwrap_or_default();
        while let [rest @ .., last] = part
            && last.letter == ' '
        {
            part = rest;
        }
        let blanks = part.iter().take_while(|glyph| glyph.letter == ' ').count();
        let glyphs = part[blanks..].to_vec();
        let is_coloured = glyphs.iter().any(|glyph| !glyph.colours.is_empty());
        // The blank that ended the colour is not in the cell.
        let tail = if is_coloured { RESET.to_owned() } else { String::new() };
        StyledLine { glyphs, tail }
    }

    /// The line with its middle replaced by `~` where it is wider.
    pub fn cut(&self, width: usize) -> StyledLine {
        if self.width() <= width {
            return self.clone();
        }
        let end = width.saturating_sub(1) / 2;
        let begin = width.saturating_sub(end + 1);
        let mark = Glyph { colours: String::new(), letter: '~' };
        let kept = self.glyphs[..begin].iter().chain([&mark]);
        let glyphs = kept.chain(&self.glyphs[self.width() - end..]).cloned().collect();
        StyledLine { glyphs, tail: self.tail.clone() }
    }

    /// The line as it was, without its end, with blanks before or behind it up to this width.
    pub fn padded(&self, width: usize, is_at_the_right: bool) -> String {
        let blanks = " ".repeat(width.saturating_sub(self.width()));
        let text = written(&self.glyphs) + &self.tail;
        if is_at_the_right { blanks + &text } else { text + &blanks }
    }

    /// The words broken into lines of at most `width` columns, the first as it stands and the
    /// others behind `hang` blanks.
    pub fn broken(&self, width: usize, hang: usize) -> Vec<String> {
        if self.is_command() && self.width() > width {
            // A shell takes lines that end so for one.
            let mut lines = self.plainly_broken(width.saturating_sub(2), hang);
            let last = lines.len().saturating_sub(1);
            lines.iter_mut().take(last).for_each(|line| line.push_str(" \\"));
            return lines;
        }
        self.plainly_broken(width, hang)
    }

    fn plainly_broken(&self, width: usize, hang: usize) -> Vec<String> {
        let mut lines: Vec<(usize, String)> = Vec::new();
        for word in self.words().iter().flat_map(|word| word.parts(width.saturating_sub(hang))) {
            let length = word.glyphs.len();
            match lines.last_mut() {
                Some((used, line)) if *used + word.gap + length <= width => {
                    *used += word.gap + length;
                    *line += &(" ".repeat(word.gap) + &written(&word.glyphs));
                }
                Some(_) => {
                    let blanks = " ".repeat(hang);
                    lines.push((hang + length, blanks + &written(&word.glyphs)));
                }
                None => {
                    let blanks = " ".repeat(word.gap);
                    lines.push((word.gap + length, blanks + &written(&word.glyphs)));
                }
            }
        }
        if let Some((_, last)) = lines.last_mut() {
            *last += &self.tail;
        }
        lines.into_iter().map(|(_, line)| line).collect()
    }

    /// The blanks before all lines but the first: below the text behind a mark or a label.
    pub fn hang(&self, columns: usize) -> usize {
        let words = self.words();
        let Some(first) = words.first() else { return 0 };
        let behind = first.gap + first.glyphs.len();
        let label = words.iter().skip(1).scan(behind, |at, word| {
            let begin = *at + word.gap;
            *at = begin + word.glyphs.len();
            Some((word.gap, begin))
        });
        let labelled = label.take(3).find(|(gap, _)| *gap > 1).map(|(_, begin)| begin);
        match labelled.filter(|begin| *begin <= columns / 2) {
            _ if first.is_mark() => behind + 1,
            Some(begin) => begin,
            None => first.gap + 2,
        }
    }

    /// Whether a command stands behind its mark or label.
    fn is_command(&self) -> bool {
        let words = self.words();
        let begin = words.iter().enumerate().skip(1).take(2).find_map(|(at, word)| {
            let follows_mark = at == 1 && words[0].is_mark();
            (word.gap > 1 || follows_mark).then_some(at)
        });
        let first = words.get(begin.unwrap_or(0));
        first.is_some_and(|word| PROGRAMS.contains(&word.letters().as_str()))
    }

    /// The columns that the mark takes before its text; 0 without one.
    pub fn mark(&self) -> usize {
        let words = self.words();
        let mark = words.first().filter(|word| word.is_mark());
        mark.map_or(0, |word| word.gap + word.glyphs.len() + 1)
    }

    fn words(&self) -> Vec<Word> {
        // A quoted command is pasted as one piece, and half of it would be another command.
        let mut is_open = false;
        let mut joined: Vec<Word> = Vec::new();
        for word in self.single_words() {
            let continues = is_open && word.gap == 1;
            is_open = if continues { !word.ends_quote() } else { word.opens_quote() };
            match joined.last_mut().filter(|_| continues) {
                Some(before) => {
                    before.glyphs.push(Glyph { colours: String::new(), letter: ' ' });
                    before.glyphs.extend(word.glyphs);
                }
                None => joined.push(word),
            }
        }
        joined
    }

    fn single_words(&self) -> Vec<Word> {
        let mut words: Vec<Word> = Vec::new();
        let mut gap = 0;
        let mut colours = String::new();
        for glyph in &self.glyphs {
            colours += &glyph.colours;
            if glyph.letter == ' ' {
                gap += 1;
                continue;
            }
            let glyph = Glyph { colours: std::mem::take(&mut colours), letter: glyph.letter };
            match words.last_mut().filter(|_| gap == 0) {
                Some(word) => word.glyphs.push(glyph),
                None => words.push(Word { gap, glyphs: vec![glyph] }),
            }
            gap = 0;
        }
        words
    }
}

impl Word {
    fn letters(&self) -> String {
        self.glyphs.iter().map(|glyph| glyph.letter).collect()
    }

    fn is_mark(&self) -> bool {
        let letters = self.letters();
        let number = letters.strip_suffix('.').unwrap_or_default();
        matches!(letters.as_str(), "-" | "->") || number.parse::<u8>().is_ok()
    }

    fn opens_quote(&self) -> bool {
        let letters = self.letters();
        letters.trim_start_matches('(').starts_with('\'') && !self.ends_quote()
    }

    fn ends_quote(&self) -> bool {
        let letters = self.letters();
        letters.trim_end_matches([',', '.', ';', ':', ')', '?']).ends_with('\'')
            && letters.len() > 1
    }

    /// The word in pieces of at most `room` columns. A quotation is broken at its blanks, a list
    /// after its commas; any other word stays whole.
    fn parts(&self, room: usize) -> Vec<Word> {
        if self.glyphs.len() <= room {
            return vec![self.clone()];
        }
        let mut parts = vec![Word { gap: self.gap, glyphs: Vec::new() }];
        for part in self.pieces() {
            let Some(last) = parts.last_mut() else { continue };
            if last.glyphs.len() + part.gap + part.glyphs.len() > room && !last.glyphs.is_empty() {
                parts.push(part);
                continue;
            }
            let blanks = std::iter::repeat_n(' ', part.gap);
            last.glyphs.extend(blanks.map(|letter| Glyph { colours: String::new(), letter }));
            last.glyphs.extend(part.glyphs);
        }
        parts
    }

    /// The smallest pieces that it may be broken into.
    fn pieces(&self) -> Vec<Word> {
        let is_list = self.letters().chars().all(|c| c.is_ascii_digit() || ",-".contains(c));
        let mut pieces = vec![Word::default()];
        for glyph in &self.glyphs {
            let Some(last) = pieces.last_mut() else { continue };
            if glyph.letter == ' ' {
                pieces.push(Word { gap: 1, glyphs: Vec::new() });
                continue;
            }
            last.glyphs.push(glyph.clone());
            if is_list && glyph.letter == ',' {
                pieces.push(Word::default());
            }
        }
        pieces
    }
}

fn written(glyphs: &[Glyph]) -> String {
    glyphs.iter().flat_map(|glyph| glyph.colours.chars().chain([glyph.letter])).collect()
}

/// A line that belongs to no table, broken at blanks; what follows is indented, so that the next
/// sentence is told from it.
pub(super) fn sentence(line: &StyledLine, columns: usize) -> String {
    let lines = line.broken(columns, line.hang(columns));
    // Blanks alone are a line as well.
    if lines.is_empty() {
        return "\n".to_owned();
    }
    lines.into_iter().map(|line| line + "\n").collect()
}
